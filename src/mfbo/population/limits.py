"""Limits of a placement: how many agents an action holds and needs, cells that are closed or fixed, moves a round."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from mfbo.arrays import IntArray, read_only
from mfbo.errors import InvalidInputError
from mfbo.simplex import Region, quota
from mfbo.validation import LARGEST_POPULATION, known_name, whole_number


@dataclass(frozen=True, eq=False)
class Limits:
    """What every placement keeps, in whole agents.

    least, most: per action (A,). lower, upper: per cell (C, A). move_budget: agents that may move from one placement
    to the next, or None. placed: where agents are before the first plan (C, A), or None if that is open.
    """

    least: IntArray
    most: IntArray
    lower: IntArray
    upper: IntArray
    move_budget: int | None = None
    placed: IntArray | None = None

    def region(self, totals: IntArray, placed: IntArray | None) -> Region:
        """Return the allowed placements for so many agents per context (C,), from where they are now."""
        upper = np.minimum(self.upper, totals[:, None])
        if self.move_budget is None or placed is None:
            return Region(totals, self.lower, upper, self.least, self.most)
        region = Region(totals, self.lower, upper, self.least, self.most, placed, self.move_budget)
        if region.contains(placed):
            return region
        needed = region.fewest_moves()  # what was really played may have broken a limit: as many moves as mend it
        budget = self.move_budget if needed is None else max(self.move_budget, needed)
        return Region(totals, self.lower, upper, self.least, self.most, placed, budget)

    def to_record(self) -> dict[str, Any]:
        """Return plain lists and numbers."""
        return {
            "least": self.least.tolist(),
            "most": self.most.tolist(),
            "lower": self.lower.tolist(),
            "upper": self.upper.tolist(),
            "move_budget": self.move_budget,
            "placed": None if self.placed is None else self.placed.tolist(),
        }

    @staticmethod
    def from_record(record: Mapping[str, Any]) -> "Limits":
        """Read what ``to_record`` wrote."""
        arrays = {key: _kept(record[key]) for key in ("least", "most", "lower", "upper")}
        placed = record["placed"]
        return Limits(**arrays, move_budget=record["move_budget"], placed=None if placed is None else _kept(placed))


@dataclass(frozen=True)
class Names:
    """The names that limits speak of, and how many agents each context has (C,)."""

    actions: tuple[str, ...]
    contexts: tuple[str, ...]
    totals: IntArray

    @property
    def shape(self) -> tuple[int, int]:
        """(C, A)."""
        return len(self.contexts), len(self.actions)

    @property
    def size(self) -> int:
        """Number of agents."""
        return int(self.totals.sum())


def read_limits(
    names: Names, capacity: Any, minimum: Any, forbidden: Any, fixed: Any, move_budget: Any, placed: Any
) -> Limits:
    """Check what a user gives, and that some placement keeps it all; otherwise say what does not fit."""
    contexts, actions = names.shape
    most = _per_action(capacity, "capacity", names, names.size)
    least = _per_action(minimum, "minimum", names, 0)
    lower = np.zeros((contexts, actions), dtype=np.int64)
    upper = np.full((contexts, actions), names.size, dtype=np.int64)
    for context, action in _cells(forbidden, names):
        upper[context, action] = 0
    for context, action, count in _counted_cells(fixed, "fixed", names):
        if upper[context, action] == 0 and count > 0:
            raise InvalidInputError(f"{_cell(names, context, action)} is forbidden and fixed at {count} agents")
        lower[context, action] = upper[context, action] = count
    budget = None if move_budget is None else whole_number(move_budget, "move_budget", least=0)
    start = None if placed is None else read_only(read_placed(placed, names), np.int64)
    limits = Limits(_kept(least), _kept(most), _kept(lower), _kept(upper), budget, start)
    refuse_impossible(limits, names)
    return limits


def refuse_impossible(limits: Limits, names: Names) -> None:
    """Raise what does not fit, if no placement keeps the limits."""
    above = np.flatnonzero(limits.least > limits.most)
    if len(above):
        first = int(above[0])
        raise InvalidInputError(
            f"action {names.actions[first]!r} needs at least {limits.least[first]} agents"
            f" but holds at most {limits.most[first]}"
        )
    if limits.least.sum() > names.size:
        raise InvalidInputError(
            f"the minimum of all actions adds up to {limits.least.sum()} agents, and there are {names.size}"
        )
    if limits.most.sum() < names.size:
        raise InvalidInputError(
            f"the capacity of all actions adds up to {limits.most.sum()}, which is less than {names.size} agents"
        )
    for context, total in enumerate(names.totals):
        room = int(np.minimum(np.minimum(limits.upper[context], limits.most), total).sum())
        if room < total or limits.lower[context].sum() > total:
            raise InvalidInputError(
                f"context {names.contexts[context]!r} has {total} agents; its fixed cells take"
                f" {limits.lower[context].sum()} and all cells open to it hold {room}"
            )
    if not limits.region(names.totals, None).feasible():
        raise InvalidInputError(
            "no placement keeps all limits together: each can be kept alone, but capacity, minimum, forbidden and fixed"
            " cells contradict each other; drop one to see which"
        )
    if limits.placed is not None and limits.move_budget is not None:
        fixed = Region(names.totals, limits.lower, limits.upper, limits.least, limits.most, limits.placed, None)
        needed = fixed.fewest_moves()
        if needed is not None and needed > limits.move_budget:
            raise InvalidInputError(
                f"from the current placement at least {needed} agents must move to keep the other limits;"
                f" the move budget is {limits.move_budget}"
            )


def _per_action(given: Any, name: str, names: Names, missing: int) -> IntArray:
    """Read one number for all, a mapping action → number, or a list of A numbers; None and NaN mean no limit."""
    if given is None:
        return np.full(len(names.actions), missing, dtype=np.int64)
    if isinstance(given, Real):
        return np.full(len(names.actions), _whole(given, name), dtype=np.int64)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInputError(f"{name} must be a number, a list or a mapping action → number, not {given!r}")
    if isinstance(given, Mapping):
        values = [given.get(action) for action in names.actions]
        for action in given:
            known_name(action, "action", names.actions)
    else:
        values = list(given)
        if len(values) != len(names.actions):
            raise InvalidInputError(f"{name} must have one number per action, {len(names.actions)}, not {len(values)}")
    counts = [
        missing if value is None or value != value else _whole(value, f"{name} of {action!r}")
        for action, value in zip(names.actions, values, strict=True)
    ]
    return np.array(counts, dtype=np.int64)


def _cells(given: Any, names: Names) -> list[tuple[int, int]]:
    """Read (context, action) pairs, or actions that are closed to all contexts, or a (C, A) array of truth."""
    if given is None:
        return []
    array = np.asarray(given) if isinstance(given, np.ndarray) or _is_truth_table(given) else None
    if array is not None and array.dtype == np.bool_:
        if array.shape != names.shape:
            raise InvalidInputError(f"forbidden must have shape {names.shape}, not {array.shape}")
        return [(int(c), int(a)) for c, a in np.argwhere(array)]
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInputError(f"forbidden must be a list of (context, action) or of actions, not {given!r}")
    found: list[tuple[int, int]] = []
    for entry in given:
        if isinstance(entry, str):
            action = names.actions.index(known_name(entry, "action", names.actions))
            found.extend((context, action) for context in range(names.shape[0]))
        else:
            found.append(_pair(entry, "forbidden", names))
    return found


def _is_truth_table(given: Any) -> bool:
    rows = list(given) if isinstance(given, list | tuple) else []
    return bool(rows) and all(isinstance(row, list | tuple) and all(isinstance(x, bool) for x in row) for row in rows)


def _counted_cells(given: Any, name: str, names: Names) -> list[tuple[int, int, int]]:
    """Read a mapping (context, action), or action with one context, → agents."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"{name} must map (context, action) to a number of agents, not {given!r}")
    return [(*_pair(key, name, names), _whole(value, f"{name}[{key!r}]")) for key, value in given.items()]


def _pair(entry: Any, name: str, names: Names) -> tuple[int, int]:
    if isinstance(entry, str) and len(names.contexts) == 1:
        entry = (names.contexts[0], entry)
    if isinstance(entry, str) or not isinstance(entry, Sequence) or len(entry) != 2:
        raise InvalidInputError(f"{name}: {entry!r} must be (context, action)")
    context = names.contexts.index(known_name(entry[0], "context", names.contexts))
    return context, names.actions.index(known_name(entry[1], "action", names.actions))


def read_placed(given: Any, names: Names) -> IntArray:
    """Return where agents are: counts (C, A), or (A,) for one context, or a mapping as in ``fixed``."""
    counts = np.zeros(names.shape, dtype=np.int64)
    if isinstance(given, Mapping):
        for context, action, count in _counted_cells(given, "placed", names):
            counts[context, action] = count
    else:
        array = np.asarray(given)
        array = array[None] if array.shape == (names.shape[1],) and names.shape[0] == 1 else array
        if array.shape != names.shape:
            raise InvalidInputError(f"placed must have shape {names.shape}, not {array.shape}")
        counts = np.array([[_whole(value, "placed") for value in row] for row in array], dtype=np.int64)
    if (counts.sum(axis=1) != names.totals).any():
        raise InvalidInputError(
            f"placed must have {names.totals.tolist()} agents per context, not {counts.sum(axis=1).tolist()}"
        )
    return counts


def _whole(value: Any, name: str) -> int:
    if isinstance(value, Real) and float(value) >= LARGEST_POPULATION:
        value = LARGEST_POPULATION  # "as many as you like"
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)  # tables hold whole numbers as floats
    return whole_number(value, name, least=0)


def _cell(names: Names, context: int, action: int) -> str:
    return f"cell ({names.contexts[context]!r}, {names.actions[action]!r})"


def _kept(values: Any) -> IntArray:
    return np.asarray(read_only(np.asarray(values, dtype=np.int64), np.int64))


def rounded_placement(distribution: Any, totals: IntArray) -> IntArray:
    """Return whole agents (C, A) for what was really played, given as a distribution."""
    return np.stack([quota(row, int(total)) for row, total in zip(distribution, totals, strict=True)])
