"""The step of an earning study: how many agents may stand elsewhere than in the best plan believed in.

A share of the agents, small at first: before the model knows its own scale only this protects. It grows while plans
turn out to be the best and shrinks while they do not. Where payoffs are exact it grows only if it was used, and it is
spread: where many agents stand, no place may change by more than a multiple of the step. The most promising plan within
a number of moves empties few places and fills others, which teaches little of the rest and costs most where returns
diminish.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.population import Limits, Population
from mfbo.simplex import Region, quota, total_variation, whole_agents
from mfbo.strategies.default.seen import DEMAND, STREET, Seen
from mfbo.strategies.default.whole_moves import FEW

FIRST = 0.05
WORTH = 2.0  # times the mean: what an agent may bring before anything is known of it
USED = 1 / 3  # of a step: a success that moved less says nothing of larger steps
SPREAD = 10.0  # steps by which a cell may change, of what stands there or evenly would
LEAST, MOST = 0.02, 0.3
GROWTH, SHRINKAGE = 2.0, 0.84  # one success in five holds the balance
MOST_NOISY = 0.1  # under noise: there the model believes in its own successes before they are any …
GROWTH_NOISY, SHRINKAGE_NOISY = 1.5, 0.8  # … so one in three is asked for
FINE = 1_000_000  # agents that stand for the mean-field limit


@dataclass(frozen=True)
class Step:
    """share: of all agents."""

    share: float

    @staticmethod
    def of(seen: Seen, means: FloatArray) -> "Step":
        """Go on from the noted share; means: of the visited distributions in the order of tells, (m,)."""
        if seen.kind == DEMAND:  # no success can be seen yet
            return Step(MOST_NOISY)
        noted = seen.history.last_notes.get("step")
        if noted is None or len(means) < 2:
            return Step(FIRST)
        noisy = seen.kind in STREET
        growth, shrinkage = (GROWTH_NOISY, SHRINKAGE_NOISY) if noisy else (GROWTH, SHRINKAGE)
        factor = growth if means[-1] > means[:-1].max() else shrinkage
        if factor > 1.0 and seen.kind == "exact" and _moved(seen, means) < USED * float(noted[0]):
            factor = 1.0
        most = MOST_NOISY if noisy else MOST
        return Step(min(max(float(noted[0]) * factor, LEAST), most))

    def region(self, seen: Seen, center: FloatArray) -> Region:
        """Return what is allowed within this share of the agents from a center (C, A)."""
        population = seen.history.population
        limits, totals = _limits(population)
        placed = whole_agents(center, totals)
        share = self._careful(seen)
        budget = max(1, round(share * int(totals.sum())))
        if seen.kind == "exact" and totals.sum() > FEW * placed.size:  # fewer are moved one by one
            limits = _spread(limits, totals, placed, share)
        near = replace(limits, move_budget=budget).region(totals, placed)
        if seen.region is None or seen.region.budget is None:
            return near
        return Both(**{each.name: getattr(near, each.name) for each in fields(near)}, also=seen.region)

    def _careful(self, seen: Seen) -> float:
        """Return the share, or, while payoffs have no unit for the guard to judge by, half of the risk."""
        risk = seen.history.risk
        return self.share if risk is None or not seen.payoffs_are_equal else min(self.share, risk / WORTH)

    @property
    def notes(self) -> dict[str, tuple[float, ...]]:
        """What the next round goes on from."""
        return {"step": (self.share,)}


@dataclass(frozen=True, eq=False)
class Both(Region):
    """A region inside another one, which alone is kept exactly: ``also`` holds the move budget."""

    also: Region | None = None

    def projected(self, distribution: FloatArray) -> FloatArray:
        """Return a distribution near by: the nearest one in the step, then the nearest to that in ``also``."""
        near = Region.projected(self, distribution)
        return near if self.also is None else self.also.projected(near)

    def contains(self, counts: IntArray) -> bool:
        """Tell whether a whole placement keeps every limit of ``also``."""
        return Region.contains(self, counts) if self.also is None else self.also.contains(counts)

    def whole(self, distribution: FloatArray) -> IntArray:
        """Return the nearest whole placement in ``also``."""
        return Region.whole(self, distribution) if self.also is None else self.also.whole(distribution)


def _moved(seen: Seen, means: FloatArray) -> float:
    """Return the share of the agents that the last plan moved from the best one before it."""
    joint = seen.history.population.joint_shares
    best, last = joint(seen.visited[int(np.argmax(means[:-1]))]), joint(seen.visited[-1])
    return float(total_variation(best.ravel(), last.ravel()))


def _spread(limits: Limits, totals: IntArray, placed: IntArray, share: float) -> Limits:
    """Return limits that also keep every cell near ``placed`` (C, A); what breaks a limit is mended first.

    totals: agents per context (C,). share: the step.
    """
    if not replace(limits, move_budget=None).region(totals, None).contains(placed):
        return limits
    even = totals[:, None] / placed.shape[1]
    change = np.ceil(SPREAD * share * np.maximum(placed, even)).astype(np.int64)
    lower, upper = np.maximum(limits.lower, placed - change), np.minimum(limits.upper, placed + change)
    return replace(limits, lower=lower, upper=upper)


def _limits(population: Population) -> tuple[Limits, IntArray]:
    """Return limits and agents per context (C,); shares of all are taken as a million agents."""
    size = FINE if population.size is None else population.size
    totals = quota(population.weights, size)
    if population.limits is not None:
        return population.limits, totals
    contexts, actions = population.shape
    nothing, everything = np.zeros(actions, dtype=np.int64), np.full(actions, size, dtype=np.int64)
    cells = np.zeros((contexts, actions), dtype=np.int64)
    return Limits(nothing, everything, cells, cells + size), totals
