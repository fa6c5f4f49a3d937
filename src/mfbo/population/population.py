"""The population: actions with features, contexts with weights, and how many agents there are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from numbers import Real
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray, read_only
from mfbo.cards import Card, CardTable, Shown, amount, place_dots
from mfbo.cards.card import ROWS
from mfbo.errors import InvalidInputError
from mfbo.population.limits import Limits, Names, misfit, read_limits, read_placed, refuse_impossible
from mfbo.population.named import Named, read_named
from mfbo.simplex import quota
from mfbo.validation import LARGEST_POPULATION, feature_array, place_of, share_array, unique_names, whole_number

WEIGHT_COLUMN = "weight"
MAPPED = (("longitude", "latitude"), ("x", "y"))  # features that are places on a map; the first ones are degrees


@dataclass(frozen=True, eq=False)
class CellLabels:
    """What the cells of a plan are called, and where the actions lie: enough to show a plan by itself.

    contexts, actions: their names. weights: (C,), the agents' share of each context. places: (A, 2), None if the
    population knows none. geographic: whether places are degrees of longitude and latitude.
    """

    contexts: tuple[str, ...]
    actions: tuple[str, ...]
    weights: FloatArray
    places: FloatArray | None = None
    geographic: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class _Checked(Shown):
    """What a population holds, read and checked; see ``Population`` for the fields."""

    actions: tuple[str, ...]
    features: FloatArray | None
    feature_names: tuple[str, ...]
    contexts: tuple[str, ...]
    weights: FloatArray
    context_features: FloatArray | None
    size: int | None
    limits: Limits | None
    closed: tuple[str, ...] = ()
    all_open: Limits | None = None


class Population(_Checked):
    """Who is placed.

    Actions and contexts have names. Wherever one is spoken of, a text is always a name and a whole number always a
    position, counted from 0: "2" is the station called 2, 2 is the third station. Everything in a CSV is a name.

    actions: names of the places (A of them), in the order of every array's last axis.
    features: (A, d) coordinates or other numbers per action, or None; similar features mean similar payoffs.
    contexts: names of the agents' types (C of them; one, "all", unless given).
    weights: (C,) share of the agents in each context, p; they sum to 1.
    context_features: (C, e) or None.
    size: number of agents, M; None stands for the mean-field limit.
    limits: what every placement keeps, or None.
    closed: actions that are closed and hold nobody; ``changed`` closes and opens them. all_open: what the limits would
    be with all of them open; None if none was ever closed.
    """

    def __init__(
        self,
        actions: Any,
        contexts: Any = None,
        size: int | None = None,
        *,
        weights: Any = None,
        context_features: Any = None,
        capacity: Any = None,
        minimum: Any = None,
        forbidden: Any = None,
        fixed: Any = None,
        move_budget: int | None = None,
        placed: Any = None,
    ) -> None:
        """Read any accepted form of actions and contexts (see ``read_named``) and check it all.

        contexts: names (equal weights, or ``weights``), a mapping name → weight, or a table with a column
        "weight" and optional feature columns.

        Limits, all in whole agents: capacity and minimum per action (a number, a list, or a mapping action → number),
        forbidden cells ((context, action) pairs, or actions), fixed cells (a mapping to numbers), move_budget (how
        many may move from one placement to the next) and placed (where they are now, (C, A)).
        """
        named = read_named(actions, "actions")
        types, shares = _read_contexts(contexts, weights)
        types = types if context_features is None else types.with_features(context_features, "context_features")
        count = None if size is None else whole_number(size, "size", least=1)
        bounds = (capacity, minimum, forbidden, fixed, move_budget, placed)
        limited = any(bound is not None for bound in bounds)
        super().__init__(
            actions=named.names,
            features=_read_only(named.features),
            feature_names=named.feature_names,
            contexts=types.names,
            weights=read_only(shares),
            context_features=_read_only(types.features),
            size=count,
            limits=read_limits(Names(named.names, types.names, _totals(shares, count)), *bounds) if limited else None,
        )

    @staticmethod
    def kept(
        actions: Sequence[str],
        contexts: Sequence[str],
        size: Any,
        *,
        features: FloatArray | None,
        feature_names: Sequence[str],
        weights: FloatArray,
        context_features: FloatArray | None,
    ) -> "Population":
        """Return a population without limits as a storage kept it, its arrays to the bit; refuse what none can be."""
        named, types = unique_names(actions, "actions"), unique_names(contexts, "contexts")
        share_array(weights, "context weights", len(types))
        if features is not None:
            features = read_only(feature_array(features, "features", (len(named), len(feature_names))))
        if context_features is not None:
            shape = (len(types), np.shape(context_features)[1])
            context_features = read_only(feature_array(context_features, "context_features", shape))
        made = Population.__new__(Population)
        _Checked.__init__(
            made,
            actions=named,
            features=features,
            feature_names=tuple(feature_names),
            contexts=types,
            weights=read_only(weights),
            context_features=context_features,
            size=None if size is None else whole_number(size, "size", least=1),
            limits=None,
        )
        return made

    def replaced(self, **changes: Any) -> "Population":
        """Return the same population with other fields, which have been checked."""
        values = {checked.name: getattr(self, checked.name) for checked in fields(self)}
        changed = Population.__new__(Population)
        _Checked.__init__(changed, **{**values, **changes})
        return changed

    @cached_property
    def shape(self) -> tuple[int, int]:
        """(C, A), the shape of every distribution and allocation."""
        return len(self.contexts), len(self.actions)

    def with_size(self, size: int | None) -> "Population":
        """Return the same population with another number of agents; limits, being in agents, must be given anew."""
        if self.limits is not None:
            raise InvalidInputError("limits are in whole agents: make a new Population to change its size")
        return self.replaced(size=None if size is None else whole_number(size, "size", least=1))

    def with_weights(self, weights: FloatArray) -> "Population":
        """Return the same population with weights (C,) that were checked before, to the bit: none is divided again."""
        return self.replaced(weights=read_only(weights))

    def with_limits(self, limits: Limits) -> "Population":
        """Return the same population under these limits; refuse limits that no placement keeps."""
        refuse_impossible(limits, self.names)
        return self.replaced(limits=limits)

    def read_placed(self, placed: Any) -> IntArray:
        """Read where agents are, (C, A), given as counts or as a mapping, and return it read-only; see ``misfit``."""
        return np.asarray(read_only(read_placed(placed, self.names), np.int64))

    def misfit(self, placed: IntArray, *, fixed_contexts: bool = True) -> str:
        """Say why counted agents (C, A) cannot be the whole fleet in its docks; empty if they can.

        fixed_contexts: whether every context always has the same number of agents.
        """
        return misfit(placed, self.names, self.limits, fixed_contexts=fixed_contexts)

    @property
    def names(self) -> Names:
        """The names that limits speak of, and how many agents each context has."""
        return Names(self.actions, self.contexts, self.context_totals)

    @cached_property
    def labels(self) -> CellLabels:
        """What the cells of its plans are called, and where the actions lie."""
        names, features = self.feature_names, self.features
        for pair in MAPPED:
            if features is not None and set(pair) <= set(names):
                places = features[:, [names.index(name) for name in pair]]
                return CellLabels(self.contexts, self.actions, self.weights, places, pair == MAPPED[0])
        return CellLabels(self.contexts, self.actions, self.weights)

    @property
    def spoken(self) -> str:
        """Who is placed, in a few words."""
        agents = "shares of all agents" if self.size is None else f"{self.size:,} agent{'s' * (self.size != 1)}"
        actions = f"{len(self.actions):,} action{'s' * (len(self.actions) != 1)}"
        contexts = f" in {len(self.contexts):,} contexts" * (len(self.contexts) > 1)
        return f"{agents} at {actions}{contexts}" + f", {len(self.closed):,} closed" * bool(self.closed)

    def _card(self) -> Card:
        limits, labels = self.limits, self.labels
        shares = zip(self.contexts[:ROWS], self.weights.tolist(), strict=False)
        facts = [("contexts", ", ".join(f"{name} {100 * share:.3g} %" for name, share in shares))]
        facts = facts * (len(self.contexts) > 1) + [("features", ", ".join(self.feature_names))] * bool(
            self.feature_names
        )
        if limits is not None:
            budget = "" if limits.move_budget is None else f", {limits.move_budget:,} moves a round"
            facts.append(("limits", f"room for {min(int(limits.most.sum()), LARGEST_POPULATION):,}{budget}"))
        drawings: tuple[Callable[[], str], ...] = ()
        if labels.places is not None:
            even = np.ones(len(self.actions))
            drawings = (partial(place_dots, labels.places, even, self.actions, geographic=labels.geographic),)
        return Card(f"Population: {self.spoken}", tuple(facts), drawings, self._first_actions())

    def _first_actions(self) -> CardTable:
        rows = []
        for place, action in enumerate(self.actions[:ROWS]):
            features = () if self.features is None else tuple(amount(float(value)) for value in self.features[place])
            rows.append((action, *features))
        return CardTable(("action", *self.feature_names), tuple(rows), len(self.actions) - len(rows))

    def action_index(self, action: Any) -> int:
        """Return the position of an action given by name (text) or by position (whole number)."""
        return place_of(action, "action", self.actions)

    def context_index(self, context: Any) -> int:
        """Return the position of a context given by name (text) or by position (whole number)."""
        return place_of(context, "context", self.contexts)

    @cached_property
    def context_totals(self) -> IntArray:
        """Agents of every context, (C,): as its weight says, rounded."""
        return _totals(self.weights, self.size)

    @cached_property
    def agent_contexts(self) -> IntArray:
        """Context of every single agent, (M,), in order: as many of each as its weight says."""
        return np.repeat(np.arange(len(self.contexts)), self.context_totals)

    def counted(self, assignment: IntArray) -> IntArray:
        """Count agents per cell, (C, A), given the action of every single agent (M,)."""
        contexts, actions = self.shape
        cells = self.agent_contexts * actions + assignment
        return np.bincount(cells, minlength=contexts * actions).reshape(contexts, actions)

    def joint_shares(self, distribution: FloatArray) -> FloatArray:
        """Return w = p_c ξ_ca, the share of all agents in each cell, eq. (1)."""
        return np.asarray(self.weights[:, None] * distribution)


def _totals(weights: FloatArray, size: int | None) -> IntArray:
    if size is None:
        raise InvalidInputError("the mean-field limit counts no agents: give the population a size")
    return np.asarray(read_only(quota(weights, size), np.int64))


def _read_only(features: FloatArray | None) -> FloatArray | None:
    return None if features is None else read_only(features)


def _read_contexts(contexts: Any, weights: Any) -> tuple[Named, FloatArray]:
    if contexts is None:
        if weights is not None:
            raise InvalidInputError("weights need contexts: name them in contexts=")
        return Named(("all",)), np.ones(1)
    if isinstance(contexts, Mapping) and all(isinstance(value, Real) for value in contexts.values()):
        if weights is not None:
            raise InvalidInputError("weights are given twice: in contexts= and in weights=")
        names = tuple(contexts)
        return read_named(names, "contexts"), share_array(list(contexts.values()), "context weights", len(names))
    named, column = read_named(contexts, "contexts").without(WEIGHT_COLUMN)
    count = len(named.names)
    if weights is not None and column is not None:
        raise InvalidInputError("weights are given twice: in the table of contexts and in weights=")
    told = weights if weights is not None else column
    shares = np.full(count, 1.0 / count) if told is None else share_array(told, "context weights", count)
    return named, shares
