"""Keeps whole agents from being sent where they already were: a known allocation teaches nothing."""

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.interfaces import Acquisition
from mfbo.records import History
from mfbo.simplex import quota, realized

MOVES = 64  # single-agent moves that are compared


def is_known(history: History, distribution: FloatArray) -> bool:
    """Tell whether a distribution rounds to an allocation that was played or is open.

    Only quotas are looked at: there the allocation is a function of the distribution.
    """
    counts = _quotas(history, distribution)
    return counts is not None and counts.tobytes() in _known(history)


def fresh(history: History, distribution: FloatArray, acquisition: Acquisition, rng: np.random.Generator) -> FloatArray:
    """Return the distribution, or if it is known the best of some neighbors that are not: one agent moved."""
    counts = _quotas(history, distribution)
    known = _known(history)
    if counts is None or counts.tobytes() not in known:
        return distribution
    region = history.region
    allowed = [moved for moved in _moved(counts, rng) if region is None or region.contains(moved)]
    neighbors = [moved for moved in allowed if moved.tobytes() not in known]
    plans = [realized(each, distribution) for each in neighbors]
    return max(plans, key=lambda plan: acquisition(plan)[0]) if plans else distribution


def _quotas(history: History, distribution: FloatArray) -> IntArray | None:
    population = history.population
    if population.size is None or history.steers != "realized":
        return None
    region = history.region
    if region is not None:
        return region.whole(distribution)
    shared = zip(distribution, quota(population.weights, population.size), strict=True)
    return np.stack([quota(row, int(total)) for row, total in shared])


def _known(history: History) -> set[bytes]:
    return {each.plan.allocation.tobytes() for each in history.rounds if each.plan.allocation is not None}


def _moved(counts: IntArray, rng: np.random.Generator) -> list[IntArray]:
    """Return allocations with one agent moved to another action of its context, fullest cells drawn more often."""
    actions = counts.shape[1]
    if actions < 2:
        return []
    cells = rng.choice(counts.size, size=MOVES, p=counts.ravel() / counts.sum())
    found = []
    for cell, step in zip(cells, rng.integers(1, actions, size=MOVES), strict=True):
        context, action = divmod(int(cell), actions)
        moved = counts.copy()
        moved[context, action] -= 1
        moved[context, (action + int(step)) % actions] += 1
        found.append(moved)
    return found
