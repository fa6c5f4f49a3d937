"""Earlier rounds in the shape of a population that has grown.

Nobody was at an action that was not open yet, and no agent was of a context that had not joined yet: it has the weight
0 in such a round, and its row, which must be a distribution, is the mean of the others.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from mfbo.arrays import read_only
from mfbo.population import Population, in_later_names
from mfbo.records.rounds import Feedback, Round


def lifted(read: Round, population: Population) -> Round:
    """Return a round with columns for actions that opened and rows for contexts that joined later; itself if none."""
    plan, cells = read.plan, None if read.feedback is None else read.feedback.cells
    tables = (plan.distribution, read.realized, read.start, read.placed, cells)
    if all(table is None or np.shape(table) == population.shape for table in tables):
        return read
    return replace(
        read,
        plan=replace(
            plan,
            distribution=padded_shares(plan.distribution, population),
            allocation=padded(plan.allocation, population),
            labels=population.labels,
        ),
        realized=padded_shares(read.realized, population),
        start=padded(read.start, population),
        placed=padded(read.placed, population),
        feedback=_lifted_feedback(read.feedback, population),
    )


def before_change(read: Round, before: Population, after: Population) -> Round:
    """Return a round from before a change as it is told after it: in the new shape, with its own size and weights.

    What was otherwise on its day is said in the names that stations have now.
    """
    lift = lifted(read, after)
    if before.labels is not after.labels and lift is read:
        lift = replace(read, plan=replace(read.plan, labels=after.labels))
    if read.today:
        lift = replace(lift, today=in_later_names(read.today, before, after))
    if before.size != after.size and read.size is None:
        lift = replace(lift, size=before.size)
    if before.weights is not after.weights:
        weights = before.weights if read.weights is None else read.weights
        joined = np.zeros(len(after.weights) - len(weights))
        lift = replace(lift, weights=read_only(np.concatenate([weights, joined])) if joined.size else weights)
    return lift


def padded(values: Any, population: Population, filled: float = 0.0) -> Any:
    """Return a table (C, A) with columns and rows for actions and contexts that came later; None stays None."""
    if values is None or np.ndim(values) != 2 or not _is_smaller(values, population):
        return values
    table = np.full(population.shape, filled).astype(values.dtype)
    table[: values.shape[0], : values.shape[1]] = values
    return read_only(table, values.dtype)


def padded_shares(distribution: Any, population: Population) -> Any:
    """Return a distribution (C, A) in the same way; rows of contexts that joined later are the mean of the others."""
    table = padded(distribution, population)
    if table is None or table is distribution or len(table) == len(distribution):
        return table
    table = table.copy()
    table[len(distribution) :] = table[: len(distribution)].mean(axis=0)
    return read_only(table)


def _is_smaller(values: Any, population: Population) -> bool:
    smaller = [own < wanted for own, wanted in zip(values.shape, population.shape, strict=True)]
    larger = [own > wanted for own, wanted in zip(values.shape, population.shape, strict=True)]
    return any(smaller) and not any(larger)


def _lifted_feedback(feedback: Feedback | None, population: Population) -> Feedback | None:
    if feedback is None or feedback.cells is None:
        return feedback
    cells, counts = padded(feedback.cells, population, np.nan), padded(feedback.counts, population)
    return replace(feedback, cells=cells, counts=counts)
