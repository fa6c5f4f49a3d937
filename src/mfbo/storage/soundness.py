"""Whether a record says what a study can have: shapes, types, numbers. A right checksum only says who wrote it."""

from typing import Any

import numpy as np

from mfbo.errors import DamageError
from mfbo.population import Population
from mfbo.records import Feedback, Lease, Round
from mfbo.storage.contract import Event
from mfbo.validation import SUM_TOLERANCE


def unreadable(event: Event, why: object) -> DamageError:
    """Return the error for a record whose checksum is right and whose content is odd."""
    return DamageError(
        f"record {event.sequence} ({event.kind!r} of plan {event.number}) is not what mfbo writes: {why};"
        " `mfbo study doctor` says more"
    )


def require_sound(read: Round, population: Population) -> None:
    """Raise ``ValueError`` with the first thing that cannot be so."""
    plan = read.plan
    _distribution(plan.distribution, population, "the plan")
    if plan.allocation is not None:
        _whole(plan.allocation, population.shape, "the allocation")
    for counts, what in ((read.start, "the count before the plan"), (read.placed, "the count of what was placed")):
        if counts is not None:
            _whole(counts, population.shape, what)
    if plan.assignment is not None:
        _whole(plan.assignment, (population.size or 0,), "the assignment", below=population.shape[1])
    if read.realized is not None:
        _distribution(read.realized, population, "what was played")
    if read.feedback is not None:
        _feedback(read.feedback, population)
    _lease(read.lease)
    for key, values in read.notes.items():
        plain = len(values) > 0 and all(_is_number(value) or isinstance(value, str) for value in values)
        _require(plain, f"the note {key!r} holds something else than numbers and words")
    _require(isinstance(read.error, str), "the reason is no text")


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _distribution(values: Any, population: Population, what: str) -> None:
    _require(isinstance(values, np.ndarray) and values.dtype == np.float64, f"{what} holds no numbers")
    _require(values.shape == population.shape, f"{what} has shape {values.shape}, not {population.shape}")
    off = np.abs(values.sum(axis=1) - 1.0)  # NaN and infinities are not below the tolerance
    _require(bool((off <= SUM_TOLERANCE).all()) and bool((values >= 0).all()), f"{what} does not sum to 1")


def _whole(values: Any, shape: tuple[int, ...], what: str, below: int | None = None) -> None:
    _require(isinstance(values, np.ndarray) and values.dtype.kind == "i", f"{what} holds no whole numbers")
    _require(values.shape == shape, f"{what} has shape {values.shape}, not {shape}")
    _require(bool((values >= 0).all()) and (below is None or bool((values < below).all())), f"{what} is out of range")


def _feedback(feedback: Feedback, population: Population) -> None:
    contexts, actions = population.shape
    payoffs = [payoff for _, _, payoff in feedback.agents]
    if feedback.payoff is not None:
        payoffs.append(feedback.payoff)
    _require(bool(np.isfinite(payoffs).all()), "a payoff is not finite")
    for context, action, _ in feedback.agents:
        _require(0 <= context < contexts and 0 <= action < actions, "an agent stands outside the population")
    for table, what in ((feedback.cells, "the table of cells"), (feedback.counts, "the table of counts")):
        if table is not None:
            numbers = isinstance(table, np.ndarray) and table.dtype == np.float64
            _require(numbers and table.shape == population.shape, f"{what} has another shape")
            _require(not bool(np.isinf(table).any()), f"{what} is not finite")
    told = feedback.payoff is not None or bool(feedback.agents) or feedback.cells is not None
    _require(told, "it holds no payoff")
    _require(feedback.cells is None or feedback.counts is not None, "cells have no counts")


def _lease(lease: Lease) -> None:
    _require(lease.worker is None or isinstance(lease.worker, str), "the worker is no text")
    _require(
        lease.expires is None or (_is_number(lease.expires) and lease.expires == lease.expires), "no time of expiry"
    )
