"""What an operator says when a study begins: the plan that would be followed otherwise."""

from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray, read_only
from mfbo.errors import InvalidInputError
from mfbo.population import Population, cells_by_name
from mfbo.records import Plan, read_distribution
from mfbo.records.distributions import SHARE_COLUMNS
from mfbo.simplex import realized, uniform
from mfbo.validation import as_numbers, finite_number

SHARES_SUM = 1e-3  # rows that sum to 1 up to this are shares, others agents


def read_status_quo(start: Any, placed: IntArray | None, population: Population) -> FloatArray | None:
    """Return the distribution (C, A) of a starting plan, or else of where agents stand; None if neither is known.

    start: a plan, shares (C, A), whole agents (C, A), or either by name, as ``placed`` is.
    """
    if start is None:
        return None if placed is None else _shares(placed, population)
    if isinstance(start, Plan) or _is_shares(start, population):
        return np.asarray(read_only(read_distribution(start, population, "start")))
    try:
        return _shares(population.read_placed(start), population)
    except InvalidInputError as error:
        raise InvalidInputError(f"start must be a plan in shares or in whole agents: {error}") from None


def _is_shares(start: Any, population: Population) -> bool:
    """Tell whether a table is in shares: every row sums to 1, or nearly, or a data frame says so."""
    if hasattr(start, "columns"):
        return any(column in start.columns for column in SHARE_COLUMNS)
    cells = cells_by_name(start, population.contexts, population.actions, "start", SHARE_COLUMNS)
    if cells is None:
        table = np.atleast_2d(as_numbers(start, "start"))
    else:
        table = np.zeros(population.shape)
        for cell, value in cells.items():
            table[cell] = finite_number(value, "start")
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large is refused as whole agents
        sums = table.sum(axis=-1)
    return bool(np.abs(sums - 1.0).max(initial=0.0) <= SHARES_SUM)


def _shares(counts: IntArray, population: Population) -> FloatArray:
    if not counts.any():
        raise InvalidInputError("a starting plan must place somebody")
    return np.asarray(read_only(realized(counts, uniform(*population.shape))))
