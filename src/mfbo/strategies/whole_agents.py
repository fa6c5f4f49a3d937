"""Keeps whole agents from being sent where they already were: a known allocation teaches nothing."""

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.interfaces import Acquisition
from mfbo.records import History
from mfbo.simplex import allocate, realized

MOVES = 64  # single-agent moves that are compared


def fresh(history: History, distribution: FloatArray, acquisition: Acquisition, rng: np.random.Generator) -> FloatArray:
    """Return the distribution, or the best of some neighbors of its allocation that were never played nor are open.

    Only quotas are looked at: there the allocation is a function of the distribution. A neighbor has one agent moved.
    """
    population = history.population
    if population.size is None or history.steers != "realized":
        return distribution
    played = {each.plan.allocation.tobytes() for each in history.rounds if each.plan.allocation is not None}
    counts = allocate(distribution, population.weights, population.size, rng)
    if counts.tobytes() not in played:
        return distribution
    neighbors = [moved for moved in _moved(counts, rng) if moved.tobytes() not in played]
    if not neighbors:
        return distribution
    plans = [realized(each, distribution) for each in neighbors]
    return max(plans, key=lambda plan: acquisition(plan)[0])


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
