"""Earlier rounds in the shape of a population that has grown: nobody was at an action that was not open yet."""

from dataclasses import replace
from typing import Any

import numpy as np

from mfbo.arrays import read_only
from mfbo.population import Population
from mfbo.records.rounds import Feedback, Round


def lifted(read: Round, population: Population) -> Round:
    """Return a round with columns of zeros for actions that opened later; itself if there are none."""
    if read.plan.distribution.shape == population.shape and _fits(read, population):
        return read
    plan = read.plan
    return replace(
        read,
        plan=replace(
            plan,
            distribution=padded(plan.distribution, population),
            allocation=padded(plan.allocation, population),
        ),
        realized=padded(read.realized, population),
        start=padded(read.start, population),
        placed=padded(read.placed, population),
        feedback=_lifted_feedback(read.feedback, population),
    )


def before_change(read: Round, before: Population, after: Population) -> Round:
    """Return a round from before a change as it is told after it: in the new shape, with its own size and weights."""
    lift = lifted(read, after)
    if before.size != after.size and read.size is None:
        lift = replace(lift, size=before.size)
    if before.weights is not after.weights and read.weights is None:
        lift = replace(lift, weights=before.weights)
    return lift


def padded(values: Any, population: Population, filled: float = 0.0) -> Any:
    """Return a table (C, A) with columns for actions that opened later; None stays None."""
    missing = 0 if values is None or np.ndim(values) != 2 else population.shape[1] - values.shape[1]
    if missing <= 0:
        return values
    added = np.full((len(values), missing), filled).astype(values.dtype)
    return read_only(np.concatenate([values, added], axis=1), values.dtype)


def _fits(read: Round, population: Population) -> bool:
    tables = (read.realized, read.start, read.placed, None if read.feedback is None else read.feedback.cells)
    return all(table is None or np.shape(table) == population.shape for table in tables)


def _lifted_feedback(feedback: Feedback | None, population: Population) -> Feedback | None:
    if feedback is None or feedback.cells is None:
        return feedback
    cells, counts = padded(feedback.cells, population, np.nan), padded(feedback.counts, population)
    return replace(feedback, cells=cells, counts=counts)
