"""The search for the next plan: what is climbed, from which starts, and how far.

Measured: nearly equal starts climbed once instead of twice, `nyc-20x36`, 250 rounds, 41.8 → 17.0 s in `ask`. The
trusted occupancy: `taxi-dispatch` from cells stays at 0.663 for 15 rounds without it and reaches 0.8026 with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mfbo.acquisition import PopulationUCB, TrustRegion
from mfbo.arrays import FloatArray
from mfbo.interfaces import Acquisition, Maximizer, Posterior
from mfbo.maximizers import Lbfgs, ProjectedAscent
from mfbo.simplex import Region, dirichlet
from mfbo.strategies.default.seen import NEGLIGIBLE_NOISE, Seen
from mfbo.strategies.modeled import Belief
from mfbo.strategies.replay_plan import ROUND_BUDGET

NOISY_MULTIPLIER = 1.0  # the least optimism where the fitted noise is not negligible
LONGEST, SHORTEST = 60, 15  # steps of a climb …
MANY_CELLS = 2000  # … fewer than the most beyond so many cells, so that a plan for 10,000 takes a second
SAME_START = 0.01  # L1 distance per context below which two starts climb to the same place


@dataclass(frozen=True, eq=False)
class Starts:
    """Where to climb from, (C, A) each.

    last: the plan asked last; None if it is nearly the incumbent, and after many rounds, when what it led to has been
    climbed before. incumbent: the visited distribution with the highest mean, or the last plan if that is nearly the
    same. random: drawn anew.
    """

    last: FloatArray | None
    incumbent: FloatArray
    random: FloatArray

    @staticmethod
    def of(seen: Seen, incumbent: FloatArray, rng: np.random.Generator) -> "Starts":
        """Choose them for this round."""
        random = dirichlet(1.0, *seen.history.population.shape, rng)
        if len(seen.told) > ROUND_BUDGET:
            return Starts(None, incumbent, random)
        last = seen.history.rounds[-1].plan.distribution
        differs = np.abs(last - incumbent).sum() > SAME_START * len(last)
        return Starts(last, incumbent, random) if differs else Starts(None, last, random)

    @property
    def every(self) -> list[FloatArray]:
        """All of them, in the order in which they are climbed."""
        visited = [self.incumbent] if self.last is None else [self.last, self.incumbent]
        return [*visited, self.random]

    def mixed(self, share: float) -> list[FloatArray]:
        """Return all of them, the visited ones with a share of the random one: a climb hardly leaves a face."""
        *visited, random = self.every
        return [*((1.0 - share) * plan + share * random for plan in visited), random]

    def instead_of_first(self, plan: FloatArray) -> "Starts":
        """Return the starts with this plan in the place of the first one."""
        return replace(self, incumbent=plan) if self.last is None else replace(self, last=plan)


@dataclass(frozen=True, eq=False)
class Search:
    """What to climb, and within which bounds.

    weights: p (C,). trusted: occupancy up to which the model is trusted, (A,). held: whether plans are held to it.
    region: what is allowed. trust: as in ``trusted_occupancy``.
    """

    posterior: Posterior
    weights: FloatArray
    trusted: FloatArray
    held: bool
    region: Region | None
    trust: float

    @staticmethod
    def of(seen: Seen, belief: Belief, trust: float) -> "Search":
        """Search with what is believed once the open plans are told; ``trust`` as in ``trusted_occupancy``."""
        weights = seen.history.population.weights
        trusted = trusted_occupancy(weights @ seen.visited, trust)
        return Search(belief.after_open_plans, weights, trusted, seen.kind == "agents", seen.region, trust)

    def allowed(self, plan: FloatArray) -> FloatArray:
        """Return the nearest plan inside the limits, (C, A)."""
        return plan if self.region is None else self.region.projected(plan)

    def near(self, plan: FloatArray) -> "Search":
        """Return the same search, with the occupancy trusted that follows from having seen this plan (C, A) alone."""
        return replace(self, trusted=trusted_occupancy((self.weights @ plan)[None], self.trust))

    @property
    def held_back(self) -> "Search":
        """The same search held to the trusted occupancy."""
        return replace(self, held=True)

    def acquisition(self, multiplier: float) -> Acquisition:
        """Return population UCB with this multiplier, inside the trusted occupancy if plans are held to it."""
        return self.within(PopulationUCB(self.posterior, multiplier))

    def within(self, acquisition: Acquisition) -> Acquisition:
        """Return another acquisition, inside the trusted occupancy if plans are held to it."""
        return TrustRegion(acquisition, self.weights, self.trusted) if self.held else acquisition

    def climbed(self, multiplier: float, starts: Sequence[FloatArray]) -> FloatArray:
        """Return the best allowed distribution found from these starts, (C, A)."""
        return self.climbed_on(self.acquisition(multiplier), starts)

    def climbed_on(self, acquisition: Acquisition, starts: Sequence[FloatArray]) -> FloatArray:
        """Return the best allowed distribution found from these starts on another acquisition, (C, A)."""
        cells = starts[0].size
        iterations = max(SHORTEST, min(LONGEST, LONGEST * MANY_CELLS // cells))
        climb: Maximizer = Lbfgs(iterations) if self.region is None else ProjectedAscent(self.region, iterations)
        return climb(acquisition, starts)[0]


def trusted_occupancy(occupancies: FloatArray, trust: float) -> FloatArray:
    """Return how full each action may become, (A,), after these occupancies (m, A).

    ``trust`` times as full as ever seen, or as an even share.
    """
    even = 1.0 / occupancies.shape[1]
    return np.asarray(trust * np.maximum(occupancies.max(axis=0), even))


def least_multiplier(base: float, noise_variance: float) -> float:
    """Return the optimism of a round that does not stall: more where the fit finds noise."""
    return base if noise_variance <= NEGLIGIBLE_NOISE else max(base, NOISY_MULTIPLIER)
