"""Distributions as users give them: arrays, names, data frames, or a plan."""

from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError
from mfbo.population import Population, cells_by_name
from mfbo.records.plan import Plan
from mfbo.validation import SUM_TOLERANCE, distribution_array, finite_number

SHARE_COLUMNS = ("share",)


def read_distribution(values: Any, population: Population, name: str = "distribution") -> FloatArray:
    """Check a distribution given by a user and return it, (C, A).

    values: shares (C, A), or (A,) for one context; a mapping action → share, (context, action) → share or context →
    {action: share}, in which an action that is not named has the share 0; a data frame's column labeled so; a data
    frame with the columns "action", "share" and, for several contexts, "context"; or a plan: what it really puts in
    place.
    """
    if isinstance(values, Plan):
        return distribution_array(values.realized, name, *population.shape)
    cells = cells_by_name(values, population.contexts, population.actions, name, SHARE_COLUMNS)
    if cells is None:
        return distribution_array(values, name, *population.shape)
    shares = np.zeros(population.shape)
    for cell, value in cells.items():
        shares[cell] = finite_number(value, f"{name}, share of {_called(cell, population)}")
        if shares[cell] < 0:
            raise InvalidInputError(
                f"{name}: the share of {_called(cell, population)} must be at least 0, not {shares[cell]:.9g}"
            )
    _require_whole(shares, population, name)
    return distribution_array(shares, name, *population.shape)


def _require_whole(shares: FloatArray, population: Population, name: str) -> None:
    """Refuse shares by name that do not sum to 1, with the way out."""
    with np.errstate(over="ignore"):
        sums = shares.sum(axis=1)
    for context, total in zip(population.contexts, sums.tolist(), strict=True):
        if abs(total - 1.0) <= SUM_TOLERANCE:
            continue
        where = f" of context {context!r}" if len(sums) > 1 else ""
        way_out = "actions that are not named have the share 0"
        if population.size is not None and total == population.size:
            way_out = "whole agents are given with placed=, or divided by their number"
        raise InvalidInputError(f"{name}: the shares{where} sum to {total:.9g}, not to 1; {way_out}")


def _called(cell: tuple[int, int], population: Population) -> str:
    context, action = population.contexts[cell[0]], population.actions[cell[1]]
    return repr(action) if len(population.contexts) == 1 else f"({context!r}, {action!r})"
