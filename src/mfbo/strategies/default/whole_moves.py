"""Moves single agents to where the acquisition is highest: with few agents, rounding undoes what a climb has found.

A climb spreads a step over all actions, in parts of agents; the nearest whole placement is often the one before.
"""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.interfaces import Acquisition
from mfbo.simplex import Region, realized, whole_agents
from mfbo.strategies.default.seen import Seen

FEW = 10  # agents per cell, up to which a single one counts
TRIED = 12  # moves that are compared at a time: those that the slopes promise most of
MOVES = 30  # at most


@dataclass(frozen=True, eq=False)
class WholeMoves:
    """seen: with the region that placements are held to. acquisition: what is to be high."""

    seen: Seen
    acquisition: Acquisition

    def onwards_from(self, plan: FloatArray) -> FloatArray:
        """Return a whole placement (C, A) that no single move betters, as far as was tried, begun at a plan."""
        history = self.seen.history
        population = history.population
        if population.size is None or history.steers != "realized" or population.size > FEW * plan.size:
            return plan
        counts = whole_agents(plan, population.context_totals, self.seen.region)
        value, slopes = self.acquisition(realized(counts, plan))
        for _ in range(MOVES):
            moved = [other for other in _promising(counts, slopes) if self._allowed(other)]
            found = [(*self.acquisition(realized(other, plan)), other) for other in moved]
            best = max(found, key=lambda each: each[0], default=None)
            if best is None or best[0] <= value:
                break
            value, slopes, counts = best
        return realized(counts, plan)

    def _allowed(self, counts: IntArray) -> bool:
        region = self.seen.region
        if region is None:
            return True
        return region.contains(counts) and Region.contains(region, counts)  # the move budget, and the step itself


def _promising(counts: IntArray, slopes: FloatArray) -> list[IntArray]:
    """Return placements with one agent moved within its context, those first that slopes (C, A) promise most of."""
    totals = np.maximum(counts.sum(axis=1), 1)[:, None]
    gains = slopes / totals
    found = gains[:, None, :] - gains[:, :, None]  # (C, from, to)
    found = np.where((counts > 0)[:, :, None] & ~np.eye(counts.shape[1], dtype=bool), found, -np.inf)
    order = np.argsort(-found, axis=None, kind="stable")[:TRIED]
    moved = []
    for context, left, taken in zip(*np.unravel_index(order, found.shape), strict=True):
        if np.isfinite(found[context, left, taken]):
            other = counts.copy()
            other[context, left] -= 1
            other[context, taken] += 1
            moved.append(other)
    return moved
