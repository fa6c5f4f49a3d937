"""Cells that no told payoff came from: a model may be sure of them and wrong, so somebody is sent to look."""

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.records import History

LOOKERS = 0.5  # share of a context's agents that look, in a round that looks


def unseen_cells(history: History) -> "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]":
    """Return where no agent's payoff and no cell mean was ever told although agents may go there, (C, A)."""
    unseen = np.ones(history.population.shape, dtype=np.bool_)
    limits = history.population.limits
    if limits is not None:
        unseen = (limits.upper > 0) & (limits.most > 0)
    for each in history.told:
        if each.feedback is None:
            continue
        for context, action, _ in each.feedback.agents:
            unseen[context, action] = False
        if each.feedback.cells is not None:
            unseen[~np.isnan(each.feedback.cells)] = False
    return unseen


def with_lookers(history: History, distribution: FloatArray) -> FloatArray:
    """Return the distribution with half of each context's agents spread evenly over the cells it never saw."""
    unseen = unseen_cells(history)
    count = unseen.sum(axis=1, keepdims=True)
    spread = unseen / np.maximum(count, 1)
    return np.asarray(np.where(count > 0, (1.0 - LOOKERS) * distribution + LOOKERS * spread, distribution))
