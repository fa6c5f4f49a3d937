"""Limits of a placement: how many agents an action holds and needs, cells that are closed or fixed, moves a round."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from mfbo.arrays import IntArray, read_only
from mfbo.errors import InvalidInputError
from mfbo.population.by_cell import cells_by_name
from mfbo.simplex import Region
from mfbo.validation import (
    LARGEST_POPULATION,
    as_numbers,
    by_label,
    finite_number,
    is_missing,
    listed,
    place_of,
    said,
    whole_number,
)

AGENT_COLUMNS = ("agents", "placed")  # of a data frame of counted agents


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
        budget = max(self.move_budget, region.fewest_moves())  # what was played may have broken a limit: mend that
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
        arrays = {key: _frozen(record[key]) for key in ("least", "most", "lower", "upper")}
        placed, budget = record["placed"], record["move_budget"]
        return Limits(
            **arrays,
            move_budget=None if budget is None else whole_number(budget, "move_budget", least=0),
            placed=None if placed is None else _frozen(placed),
        )


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
    for context, action, count in _fixed_cells(fixed, names):
        if upper[context, action] == 0 and count > 0:
            raise InvalidInputError(f"{_cell(names, context, action)} is forbidden and fixed at {count} agents")
        lower[context, action] = upper[context, action] = count
    budget = None if move_budget is None else whole_number(move_budget, "move_budget", least=0)
    start = None if placed is None else _frozen(read_placed(placed, names))
    limits = Limits(_frozen(least), _frozen(most), _frozen(lower), _frozen(upper), budget, start)
    refuse_impossible(limits, names)
    wrong = "" if start is None else misfit(start, names, limits)
    if wrong:
        raise InvalidInputError(f"{wrong}; if it was counted so, give it to create_study(…, allow_misfit=True)")
    return limits


def misfit(counts: IntArray, names: Names, limits: Limits | None, *, fixed_contexts: bool = True) -> str:
    """Say why counted agents (C, A) cannot be the whole fleet in its docks; empty if they can.

    fixed_contexts: whether every context always has the same number of agents.
    """
    found = counts.sum(axis=1)
    pairs = zip(names.contexts, found.tolist(), names.totals.tolist(), strict=True)
    rows = [(f" in context {name!r}" * (len(found) > 1), *numbers) for name, *numbers in pairs]
    for where, there, wanted in rows if fixed_contexts else [("", int(found.sum()), names.size)]:
        if there != wanted:
            off = f"{wanted - there} are missing" if there < wanted else f"{there - wanted} too many"
            return f"placed must have {wanted} agents{where}, not {there}: {off}"
    if limits is None:
        return ""
    for action in np.flatnonzero(counts.sum(axis=0) > limits.most).tolist():
        there = counts[:, action].sum()
        return f"placed has {there} agents at {names.actions[action]!r}, which holds at most {limits.most[action]}"
    for context, action in np.argwhere(counts > limits.upper).tolist():
        most = limits.upper[context, action]
        return f"placed has {counts[context, action]} agents in {_cell(names, context, action)}, which takes {most}"
    return ""


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
        if needed > limits.move_budget:
            raise InvalidInputError(
                f"from the current placement at least {needed} agents must move to keep the other limits;"
                f" the move budget is {limits.move_budget}"
            )


def _per_action(bounds: Any, name: str, names: Names, missing: int) -> IntArray:
    """Read one number for all, a mapping action → number, or a list of A numbers; None and NaN mean no limit."""
    if bounds is None:
        return np.full(len(names.actions), missing, dtype=np.int64)
    if isinstance(bounds, np.ndarray) and bounds.ndim == 0:
        bounds = bounds.item()
    if isinstance(bounds, Real):
        return np.full(len(names.actions), whole_limit(bounds, name), dtype=np.int64)
    bounds = by_label(bounds)
    if isinstance(bounds, str) or not isinstance(bounds, Iterable):
        raise InvalidInputError(f"{name} must be a number, a list or a mapping action → number, not {said(bounds)}")
    if isinstance(bounds, Mapping):
        values: list[Any] = [None] * len(names.actions)
        places = _places(bounds, name, lambda key: place_of(key, "action", names.actions))
        for place, value in zip(places, bounds.values(), strict=True):
            values[place] = value
    else:
        values = listed(bounds, name)
        if len(values) != len(names.actions):
            raise InvalidInputError(f"{name} must have one number per action, {len(names.actions)}, not {len(values)}")
    counts = [
        missing if is_missing(value) else whole_limit(value, f"{name} of {action!r}")
        for action, value in zip(names.actions, values, strict=True)
    ]
    return np.array(counts, dtype=np.int64)


def _cells(closed: Any, names: Names) -> list[tuple[int, int]]:
    """Read (context, action) pairs, or actions that are closed to all contexts, or a (C, A) array of truth."""
    if closed is None:
        return []
    array = np.asarray(closed) if isinstance(closed, np.ndarray) or _is_truth_table(closed) else None
    if array is not None and array.dtype == np.bool_:
        if array.shape != names.shape:
            raise InvalidInputError(f"forbidden must have shape {names.shape}, not {array.shape}")
        return [(int(c), int(a)) for c, a in np.argwhere(array)]
    if isinstance(closed, str) or not isinstance(closed, Iterable):
        raise InvalidInputError(f"forbidden must be a list of (context, action) or of actions, not {said(closed)}")
    found: list[tuple[int, int]] = []
    for entry in listed(closed, "forbidden"):
        if isinstance(entry, str | int | np.integer):
            action = place_of(entry, "action", names.actions)
            found.extend((context, action) for context in range(names.shape[0]))
        else:
            found.append(_pair(entry, "forbidden", names))
    return found


def _is_truth_table(values: Any) -> bool:
    rows = list(values) if isinstance(values, list | tuple) else []
    return bool(rows) and all(isinstance(row, list | tuple) and all(isinstance(x, bool) for x in row) for row in rows)


def _counted_cells(counts: Any, name: str, names: Names) -> list[tuple[int, int, int]] | None:
    """Read agents by name, see ``cells_by_name``; None if no cells are named."""
    named = cells_by_name(counts, names.contexts, names.actions, name, AGENT_COLUMNS)
    if named is None:
        return None
    return [
        (context, action, _count(value, f"{name}[{said((names.contexts[context], names.actions[action]))}]"))
        for (context, action), value in named.items()
    ]


def _fixed_cells(fixed: Any, names: Names) -> list[tuple[int, int, int]]:
    counted = [] if fixed is None else _counted_cells(fixed, "fixed", names)
    if counted is None:
        raise InvalidInputError(f"fixed must map (context, action) to a number of agents, not {said(fixed)}")
    return counted


def _places(by_key: Mapping[Any, Any], name: str, place: Callable[[Any], Any]) -> list[Any]:
    """Return where the keys of a mapping stand; refuse two keys for one place, such as a name and its position."""
    found: dict[Any, Any] = {}
    for key in by_key:
        where = place(key)
        if where in found:
            raise InvalidInputError(f"{name}: {said(found[where])} and {said(key)} are the same place")
        found[where] = key
    return list(found)


def _pair(entry: Any, name: str, names: Names) -> tuple[int, int]:
    if isinstance(entry, str | int | np.integer) and len(names.contexts) == 1:
        entry = (0, entry)
    if isinstance(entry, str) or not isinstance(entry, Sequence | np.ndarray) or len(entry) != 2:
        raise InvalidInputError(f"{name}: {said(entry)} must be (context, action)")
    return place_of(entry[0], "context", names.contexts), place_of(entry[1], "action", names.actions)


def read_placed(placed: Any, names: Names) -> IntArray:
    """Return where agents are: counts (C, A), or (A,) for one context, or by name as in ``fixed``; see ``misfit``."""
    counted = _counted_cells(placed, "placed", names)
    if counted is not None:
        counts = np.zeros(names.shape, dtype=np.int64)
        for context, action, count in counted:
            counts[context, action] = count
        return counts
    array = as_numbers(placed, "placed")
    array = array[None] if array.shape == (names.shape[1],) and names.shape[0] == 1 else array
    if array.shape != names.shape:
        raise InvalidInputError(f"placed must have shape {names.shape}, not {array.shape}")
    return np.array([[_count(value, "placed") for value in row] for row in array], dtype=np.int64)


def whole_limit(value: Any, name: str) -> int:
    """Return a limit; infinitely many stands for no limit."""
    if isinstance(value, int | float | np.number) and not isinstance(value, bool) and value >= LARGEST_POPULATION:
        return LARGEST_POPULATION
    return _count(value, name)


def _count(value: Any, name: str) -> int:
    """Return a number of agents; tables hold whole numbers as floats."""
    if isinstance(value, float | np.floating):
        number = finite_number(value, name)
        value = int(number) if number.is_integer() else value
    return whole_number(value, name, least=0)


def _cell(names: Names, context: int, action: int) -> str:
    return f"cell ({names.contexts[context]!r}, {names.actions[action]!r})"


def _frozen(values: Any) -> IntArray:
    return np.asarray(read_only(np.asarray(values, dtype=np.int64), np.int64))
