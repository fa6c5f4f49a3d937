"""What is kept of a study: plans, feedback, rounds, history. Frozen, and checked at birth."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from mfbo.arrays import FloatArray, IntArray, read_only
from mfbo.errors import InvalidInputError
from mfbo.population import Population, rounded_placement
from mfbo.simplex import Region, realized
from mfbo.validation import (
    LARGEST_POPULATION,
    as_numbers,
    by_label,
    distribution_array,
    finite_number,
    listed,
    number_array,
    said,
)

LARGEST_PAYOFF = 1e150  # its square must still be a number
FEWEST_COUNTED = 1e-6  # a mean over fewer agents is no information, and its noise no number

RoundState = Literal["open", "done", "failed", "abandoned"]
Note = tuple[float | str, ...]
Notes = Mapping[str, Note]
Aim = Literal["find", "earn"]
RISK = 0.05  # what a round may cost against the status quo if nobody says otherwise, in shares of what it earns


@dataclass(frozen=True, eq=False)
class Proposal:
    """What a strategy answers: a distribution (C, A), and numbers and words it wants to find again in the history.

    assignment: the action of every single agent (M,), agents ordered by context, from strategies that place agents one
    by one; then the distribution is theirs.
    """

    distribution: FloatArray
    notes: Notes = field(default_factory=dict)
    assignment: IntArray | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """What to try in one round: where which share of the agents goes, and the same in whole agents.

    number: the round it belongs to, counted from 0.
    distribution: ξ (C, A), rows sum to 1.
    allocation: whole agents (C, A), or None in the mean-field limit.
    assignment: the action of every single agent (M,), agents ordered by context; None unless the strategy says so.
    """

    number: int
    distribution: FloatArray
    allocation: IntArray | None = None
    assignment: IntArray | None = None

    @property
    def realized(self) -> FloatArray:
        """What is really played when the plan is carried out: the allocation as shares, (C, A)."""
        if self.allocation is None:
            return self.distribution
        return realized(self.allocation, self.distribution)


@dataclass(frozen=True, eq=False)
class Feedback:
    """What was seen after a round; any of the three kinds, or several together.

    payoff: the population payoff g.
    agents: (context index, action index, own payoff) of some agents.
    cells: mean own payoff per cell, (C, A), NaN where nobody was seen.
    counts: agents behind each cell mean, (C, A); 1 where not given.
    """

    payoff: float | None = None
    agents: tuple[tuple[int, int, float], ...] = ()
    cells: FloatArray | None = None
    counts: FloatArray | None = None

    @staticmethod
    def read(
        population: Population, payoff: Any = None, agents: Any = None, cells: Any = None, counts: Any = None
    ) -> "Feedback":
        """Check what a user tells: names or indices, finite numbers, shapes; refuse it all or take it all."""
        if payoff is None and agents is None and cells is None:
            raise InvalidInputError("nothing was told: give payoff=, agents= or cells=")
        if counts is not None and cells is None:
            raise InvalidInputError("counts= says how many agents are behind each cell mean: give cells= too")
        number = None if payoff is None else _payoff(payoff, "payoff")
        seen = () if agents is None else _read_agents(agents, population)
        table = None if cells is None else _read_cells(cells, population)
        heads = None if table is None else _read_counts(counts, table, population)
        return Feedback(number, seen, table, heads)


class PayoffRange(NamedTuple):
    """How many payoffs were told of a round, the lowest and the highest."""

    told: int
    lowest: float
    highest: float

    @staticmethod
    def of(feedback: Feedback) -> "PayoffRange":
        """Look at all kinds of feedback."""
        payoffs = [payoff for _, _, payoff in feedback.agents]
        if feedback.payoff is not None:
            payoffs.append(feedback.payoff)
        if feedback.cells is not None:
            payoffs.extend(feedback.cells[~np.isnan(feedback.cells)].tolist())
        return PayoffRange(len(payoffs), min(payoffs, default=0.0), max(payoffs, default=0.0))


@dataclass(frozen=True)
class Lease:
    """Who carries out a plan, and until when it is theirs alone.

    worker: its holder's name, None if it was asked without one. expires: seconds since 1970; None: never.
    former: who held it before and let it expire.
    """

    worker: str | None = None
    expires: float | None = None
    former: tuple[str | None, ...] = ()

    def has_expired(self, now: float) -> bool:
        """Tell whether the plan may be offered to others."""
        return self.expires is not None and now > self.expires


@dataclass(frozen=True, eq=False)
class Round:
    """One try: the plan, what was really played, what was seen, and in which state it is.

    told: position in the order of tells (not of asks), None until told; the model reads rounds in this order.
    added: whether it was never asked but brought along (a past day). lease: who has the plan.
    late: whether it was told after its lease had expired, or by someone who no longer held it.
    start: where agents stood when it was asked, if they were counted then, (C, A). placed: whole agents as really
    placed, if they were counted, (C, A). seen: position of the round's last word on where agents stand (counted when
    asked; or told or failed, counted or not) in the order of such words of all rounds, None if it has none.
    """

    plan: Plan
    notes: Notes = field(default_factory=dict)
    state: RoundState = "open"
    realized: FloatArray | None = None
    feedback: Feedback | None = None
    told: int | None = None
    error: str = ""
    added: bool = False
    lease: Lease = Lease()
    late: bool = False
    start: IntArray | None = None
    placed: IntArray | None = None
    seen: int | None = None

    @property
    def number(self) -> int:
        """The round's position in the order of asks, counted from 0."""
        return self.plan.number

    @property
    def payoff(self) -> float | None:
        """The told population payoff, if one was told."""
        return None if self.feedback is None else self.feedback.payoff

    @cached_property
    def payoff_range(self) -> "PayoffRange":
        """All payoffs told of this round, from the lowest to the highest."""
        return PayoffRange.of(Feedback() if self.feedback is None else self.feedback)

    @cached_property
    def as_system(self) -> "Round":
        """This round with its payoff told as the population payoff and nothing else, for payoffs that all share."""
        return replace(self, feedback=Feedback(self.payoff_range.lowest))

    @property
    def played(self) -> FloatArray:
        """What was really played, (C, A); before it is told, what the plan's whole agents would play."""
        return self.plan.realized if self.realized is None else self.realized

    @cached_property
    def played_key(self) -> bytes:
        """What was played, as a key: equal for equal distributions."""
        return self.played.tobytes()

    def standing(self, totals: IntArray) -> IntArray | None:
        """Return where agents stand by this round's last word, (C, A); totals: agents per context (C,).

        A failed plan was carried out, an abandoned one was not.
        """
        if self.state in ("open", "abandoned"):
            return self.start
        allocation = self.plan.allocation
        if self.placed is not None or self.state == "failed":
            return allocation if self.placed is None else self.placed
        if allocation is not None and self.plan.realized.tobytes() == self.played_key:
            return allocation
        return rounded_placement(self.played, totals)

    def done(
        self,
        feedback: Feedback,
        played: FloatArray,
        told: int,
        *,
        late: bool = False,
        placed: IntArray | None = None,
        seen: int | None = None,
    ) -> "Round":
        """Return this round with its result."""
        return replace(
            self,
            state="done",
            feedback=feedback,
            realized=read_only(played),
            told=told,
            late=late,
            placed=placed,
            seen=seen,
        )

    def ended(
        self, state: RoundState, error: str = "", *, placed: IntArray | None = None, seen: int | None = None
    ) -> "Round":
        """Return this round without a result: failed (``placed`` and ``seen`` as above) or abandoned."""
        if state == "abandoned":
            return replace(self, state=state, error=error)
        return replace(self, state=state, error=error, placed=placed, seen=seen)

    def counted(self, start: IntArray | None, seen: int) -> "Round":
        """Return this open round with where agents stood before it; None: nobody counted, nothing changes."""
        return self if start is None else replace(self, start=start, seen=seen)


def told_payoff(done: Round) -> float:
    """Return the told payoff of a round as one number: the system payoff, or the mean of what agents got."""
    feedback = done.feedback
    if feedback is None:
        raise AssertionError(f"round {done.number} has no result")  # History.told holds finished rounds only
    if feedback.payoff is not None:
        return feedback.payoff
    if feedback.agents:
        return float(np.mean([payoff for _, _, payoff in feedback.agents]))
    cells = np.nan_to_num(np.asarray(feedback.cells, dtype=np.float64))
    return float(np.average(cells, weights=feedback.counts))


@dataclass(frozen=True, eq=False)
class History:
    """All that a strategy may know: the population and the rounds so far, in the order of asks.

    noise: known standard deviation of one told payoff; None when unknown.
    steers: which distribution the designer controls, the realized one or (sampled agents) the planned one.
    now: where agents stand, (C, A), if they were counted after the last round.
    aim: what counts, the final plan ("find") or the sum over all rounds ("earn"). status_quo: the distribution (C, A)
    that would be played otherwise; None if nobody said. risk: what a round may cost against it, in shares of what it
    earns; None: anything.
    """

    population: Population
    rounds: tuple[Round, ...] = ()
    noise: float | None = None
    steers: Literal["realized", "planned"] = "realized"
    now: IntArray | None = None
    aim: Aim = "find"
    status_quo: FloatArray | None = None
    risk: float | None = RISK

    @cached_property
    def told(self) -> tuple[Round, ...]:
        """Finished rounds in the order in which they were told."""
        done = [each for each in self.rounds if each.state == "done"]
        return tuple(sorted(done, key=lambda each: -1 if each.told is None else each.told))

    @property
    def open(self) -> tuple[Round, ...]:
        """Rounds that were asked and not yet told."""
        return tuple(each for each in self.rounds if each.state == "open")

    @property
    def region(self) -> Region | None:
        """Placements allowed next, from where agents are now; None without limits."""
        limits = self.population.limits
        if limits is None:
            return None
        return limits.region(self.population.context_totals, self.placed)

    @property
    def placed(self) -> IntArray | None:
        """Whole agents as they stand now, (C, A): by the last word of any round, or as the limits say; None if unknown.

        Past days move nobody.
        """
        if self.now is not None or self.population.size is None:
            return self.now
        totals = self.population.context_totals
        spoken = [each for each in self.rounds if each.seen is not None and not each.added]
        for each in sorted(spoken, key=lambda each: -(each.seen or 0)):
            found = each.standing(totals)
            if found is not None:
                return found
        return None if self.population.limits is None else self.population.limits.placed

    @property
    def next_word(self) -> int:
        """The position of the next word on where agents stand, see ``Round.seen``."""
        return 1 + max((each.seen for each in self.rounds if each.seen is not None), default=-1)

    @property
    def last_notes(self) -> Notes:
        """What the strategy noted at its latest proposal (empty before the first)."""
        return self.rounds[-1].notes if self.rounds else {}


def _payoff(value: Any, name: str) -> float:
    try:
        number = finite_number(value, name)
    except InvalidInputError as error:
        hint = "tell a round without a usable result by study.fail(plan, reason)"
        raise InvalidInputError(f"{error}; {hint}") from None
    if abs(number) > LARGEST_PAYOFF:
        raise InvalidInputError(f"{name} must be below {LARGEST_PAYOFF:g} in size, not {number:g}: choose another unit")
    return number


def _read_agents(agents: Any, population: Population) -> tuple[tuple[int, int, float], ...]:
    if not isinstance(agents, Iterable) or isinstance(agents, str):
        raise InvalidInputError(f"agents must be a list of (context, action, payoff), not {said(agents)}")
    rows = []
    for position, entry in enumerate(listed(agents, "agents")):
        is_row = isinstance(entry, Iterable) and not isinstance(entry, str)
        parts = tuple(listed(entry, f"agents[{position}]")) if is_row else ()
        if len(parts) == 2 and len(population.contexts) == 1:
            parts = (0, *parts)
        if len(parts) != 3:
            raise InvalidInputError(f"agents[{position}] must be (context, action, payoff), not {said(entry)}")
        context = population.context_index(parts[0])
        action = population.action_index(parts[1])
        rows.append((context, action, _payoff(parts[2], f"agents[{position}] payoff")))
    if not rows:
        raise InvalidInputError("agents must hold at least one (context, action, payoff)")
    return tuple(rows)


def _by_cell(table: Any, population: Population, name: str) -> FloatArray:
    """Read a (C, A) table, a flat row for one context, or a mapping (context, action) or action → number."""
    if hasattr(table, "columns"):
        raise InvalidInputError(
            f"{name}: the labels of a data frame would be lost; give a mapping (context, action) → number, or an array"
        )
    table = by_label(table)
    if not isinstance(table, Mapping):
        array = as_numbers(table, name)
        return array[None, :] if array.shape == (population.shape[1],) and population.shape[0] == 1 else array
    cells = np.full(population.shape, np.nan)
    for key, value in table.items():
        pair = key if isinstance(key, tuple) else (0, key)
        if len(pair) != 2 or (not isinstance(key, tuple) and len(population.contexts) > 1):
            raise InvalidInputError(f"{name}: key {said(key)} must be (context, action)")
        context, action = pair
        at = population.context_index(context), population.action_index(action)
        if not np.isnan(cells[at]):
            raise InvalidInputError(f"{name}: key {said(key)} names a cell that another key names too")
        cells[at] = finite_number(value, f"{name}[{said(key)}]")
    return cells


def _read_cells(cells: Any, population: Population) -> FloatArray:
    table = _by_cell(cells, population, "cells")
    if table.shape != population.shape:
        raise InvalidInputError(f"cells must have shape {population.shape}, not {table.shape}")
    if (np.abs(table[~np.isnan(table)]) > LARGEST_PAYOFF).any():
        raise InvalidInputError(f"cells must be finite, below {LARGEST_PAYOFF:g}, or NaN where nobody was seen")
    if np.isnan(table).all():
        raise InvalidInputError("cells must hold at least one mean payoff")
    return np.asarray(read_only(table))


def _read_counts(counts: Any, cells: FloatArray, population: Population) -> FloatArray:
    seen = ~np.isnan(cells)
    if counts is None:
        return np.asarray(read_only(np.where(seen, 1.0, 0.0)))
    given = _by_cell(counts, population, "counts")
    table = number_array(np.where(np.isnan(given), 0.0, given), "counts", population.shape)
    if (table[seen] <= 0).any():
        raise InvalidInputError("counts must be above 0 wherever cells holds a mean payoff")
    if (table[seen] < FEWEST_COUNTED).any() or (table[seen] > LARGEST_POPULATION).any():
        odd = table[seen][(table[seen] < FEWEST_COUNTED) | (table[seen] > LARGEST_POPULATION)][0]
        raise InvalidInputError(f"counts must be between {FEWEST_COUNTED:g} and {LARGEST_POPULATION:.0e}, not {odd:g}")
    return np.asarray(read_only(np.where(seen, table, 0.0)))


def read_distribution(values: Any, population: Population, name: str = "distribution") -> FloatArray:
    """Check a distribution given by a user, (C, A)."""
    return distribution_array(values, name, *population.shape)


def read_assignment(values: Any, population: Population) -> IntArray:
    """Check the actions of all single agents, (M,)."""
    size = population.size
    if size is None:
        raise InvalidInputError("an assignment places single agents: give the population a size")
    actions = np.asarray(values)
    if actions.shape != (size,) or not np.issubdtype(actions.dtype, np.integer):
        raise InvalidInputError(f"assignment must hold {size} whole numbers, not {actions.dtype} of {actions.shape}")
    if actions.min() < 0 or actions.max() >= population.shape[1]:
        raise InvalidInputError(f"assignment must hold actions from 0 to {population.shape[1] - 1}")
    return actions
