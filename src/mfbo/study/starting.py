"""What an operator says when a study begins: the aim, the plan that would be followed otherwise, the risk allowed."""

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np

from mfbo.arrays import FloatArray, IntArray, read_only
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.records import Aim, Plan, read_distribution
from mfbo.simplex import realized, uniform
from mfbo.validation import as_numbers, by_label, finite_number, said

AIMS: tuple[Aim, ...] = get_args(Aim)
SHARES_SUM = 1e-3  # rows that sum to 1 up to this are shares, others agents


def read_status_quo(start: Any, placed: IntArray | None, population: Population) -> FloatArray | None:
    """Return the distribution (C, A) of a starting plan, or else of where agents stand; None if neither is known.

    start: a plan, shares (C, A), whole agents (C, A), or a mapping to whole agents.
    """
    if start is None:
        return None if placed is None else _shares(placed, population)
    if isinstance(start, Plan):
        return np.asarray(read_only(read_distribution(start.realized, population, "start")))
    table = by_label(start)
    if not isinstance(table, Mapping):
        shares = as_numbers(table, "start")
        with np.errstate(over="ignore"):  # what is too large is refused as whole agents
            sums = np.atleast_2d(shares).sum(axis=-1)
        if np.abs(sums - 1.0).max(initial=0.0) <= SHARES_SUM:
            return np.asarray(read_only(read_distribution(shares, population, "start")))
    try:
        return _shares(population.read_placed(table), population)
    except InvalidInputError as error:
        raise InvalidInputError(f"start must be a plan in shares or in whole agents: {error}") from None


def read_risk(risk: Any) -> float:
    """Check a share of what the status quo earns."""
    value = finite_number(risk, "risk")
    if not 0.0 <= value <= 1.0:
        raise InvalidInputError(
            f"risk must be a share from 0 to 1 of what the status quo earns, not {said(risk)}; None allows anything"
        )
    return value


def _shares(counts: IntArray, population: Population) -> FloatArray:
    if not counts.any():
        raise InvalidInputError("a starting plan must place somebody")
    return np.asarray(read_only(realized(counts, uniform(*population.shape))))
