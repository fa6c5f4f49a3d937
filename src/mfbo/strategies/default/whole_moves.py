"""Moves single agents to where the acquisition is highest: with few agents, rounding undoes what a climb has found.

A climb spreads a step over all actions, in parts of agents; the nearest whole placement is often the one before.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.interfaces import Acquisition
from mfbo.simplex import Region, realized, whole_agents
from mfbo.strategies.default.seen import Seen

FEW = 10  # agents per cell, up to which a single one counts
TRIED = 12  # moves that are compared at a time: those that the slopes promise most of …
MOST_ASKED = 96  # … and limits allow, of so many
SIDES = 24  # places of a context that agents may leave, and that they may go to
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
            moved = islice(filter(self._allowed, islice(_promising(counts, slopes), MOST_ASKED)), TRIED)
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


def _promising(counts: IntArray, slopes: FloatArray) -> Iterator[IntArray]:
    """Give placements with one agent moved within its context, those first that slopes (C, A) promise most of.

    Of every context the moves between the best places and the worst that have agents: others promise less.
    """
    contexts, actions = counts.shape
    gains = slopes / np.maximum(counts.sum(axis=1), 1)[:, None]
    best = np.argsort(-gains, axis=1, kind="stable")[:, :SIDES]
    worst = np.argsort(np.where(counts > 0, gains, np.inf), axis=1, kind="stable")[:, :SIDES]
    rows = np.arange(contexts)[:, None]
    found = gains[rows, best][:, None, :] - gains[rows, worst][:, :, None]  # (C, from, to)
    agents = (counts[rows, worst] > 0)[:, :, None] & (worst[:, :, None] != best[:, None, :])
    context, left, taken = np.nonzero(agents)
    promised, left, taken = found[agents], worst[context, left], best[context, taken]
    for place in np.lexsort(((context * actions + left) * actions + taken, -promised)):
        other = counts.copy()
        other[context[place], left[place]] -= 1
        other[context[place], taken[place]] += 1
        yield other
