"""Keeps whole agents from being sent where they already were: without noise a known placement teaches nothing.

Under noise it teaches less than a neighbor once it was played a few times, and rounding leads back to it for ever.

Measured: `arena` with 50 agents reaches 0.9937 in 100 rounds without looking further at once, 1.05447 with it.
"""

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.interfaces import Acquisition
from mfbo.population import Population
from mfbo.simplex import Region, realized, whole_agents
from mfbo.strategies.default.seen import Seen

MOVES = 64  # single-agent moves that are compared
KNOWN_FOR = 0.1  # of the length of drift: then payoffs have changed by a tenth of what plans differ by
PLAYED_OFTEN = 3  # rounds after which a placement with noisy payoffs counts as known


@dataclass(frozen=True, eq=False)
class KnownPlacements:
    """Whole agents as they were played or are open, under noise a few times.

    allocations: bytes of the (C, A) counts; None where a plan does not say where agents go: in the mean-field limit,
    and when they are sampled. region: placements allowed next.
    """

    allocations: frozenset[bytes] | None
    population: Population
    region: Region | None

    @staticmethod
    def of(seen: Seen, memory: float | None = None) -> "KnownPlacements":
        """Gather them; memory: the length of drift in rounds, after a tenth of which a placement is known no more."""
        history = seen.history
        if history.population.size is None or history.steers != "realized":
            return KnownPlacements(None, history.population, seen.region)
        latest = len(history.rounds) if memory is None else math.ceil(KNOWN_FOR * memory)
        often = PLAYED_OFTEN if seen.kind == "noisy" else 1
        allocations = (asked.plan.allocation for asked in history.rounds[-latest:])
        times = Counter(counts.tobytes() for counts in allocations if counts is not None)
        placed = frozenset(counts for counts, played in times.items() if played >= often)
        return KnownPlacements(placed, history.population, seen.region)

    def hold(self, distribution: FloatArray) -> bool:
        """Tell whether a distribution rounds to a known placement."""
        if self.allocations is None:
            return False
        counts = whole_agents(distribution, self.population.context_totals, self.region)
        return counts.tobytes() in self.allocations

    def left(self, distribution: FloatArray, acquisition: Acquisition, rng: np.random.Generator) -> FloatArray:
        """Return the distribution, or if it is known the best of some neighbors that are not: one agent moved."""
        if self.allocations is None or not self.hold(distribution):
            return distribution
        moved = _moved(whole_agents(distribution, self.population.context_totals, self.region), rng)
        allowed = [counts for counts in moved if self.region is None or self.region.contains(counts)]
        new = [counts for counts in allowed if counts.tobytes() not in self.allocations]
        plans = [realized(counts, distribution) for counts in new]
        return max(plans, key=lambda plan: acquisition(plan)[0]) if plans else distribution


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
