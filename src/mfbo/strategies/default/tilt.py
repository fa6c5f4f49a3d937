"""Where to look in the street: the mean, tilted by random slopes as large as what is not known.

Under much noise a guarded plan teaches so little that optimism repeats one direction for weeks. A tilt drawn anew every
round, as steep as the posterior is uncertain, is an approximate draw from the posterior (Thompson): all directions are
looked at, those that are believed in more often, and it vanishes as knowledge grows.
"""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import Posterior
from mfbo.population import Population

WAVES, LENGTH = 64, 0.25  # of the smooth part of the slopes, on features scaled to [0, 1]
STEEPNESS = 0.1  # measured: steeper, the search wanders and follows what it has found too little
TRIALS = 16  # random moves at which tilt and uncertainty are compared
TRIAL_STEP = 0.1  # share of the agents that they move


@dataclass(frozen=True, eq=False)
class TiltedMean:
    """μ(ξ) + ⟨slopes, ξ⟩; slopes: (C, A)."""

    posterior: Posterior
    slopes: FloatArray

    @staticmethod
    def drawn(
        posterior: Posterior, population: Population, center: FloatArray, rng: np.random.Generator
    ) -> "TiltedMean":
        """Draw slopes, ``STEEPNESS`` as steep as the changes around a center (C, A) are uncertain."""
        slopes = _pattern(population, rng)
        moves = rng.dirichlet(np.ones(center.shape[1]), size=(TRIALS, len(center)))
        plans = center + TRIAL_STEP * (moves - center)
        tilts = ((plans - center) * slopes).sum(axis=(1, 2))
        _, variances = posterior.changes(center, plans)
        size = STEEPNESS * np.sqrt(variances.mean() / max(float((tilts**2).mean()), 1e-300))
        return TiltedMean(posterior, np.asarray(slopes * size))

    def __call__(self, distribution: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient, (C, A)."""
        moments = self.posterior.population(distribution)
        tilt = float((self.slopes * distribution).sum())
        return moments.mean + tilt, moments.pullback(1.0, 0.0) + self.slopes


def _pattern(population: Population, rng: np.random.Generator) -> FloatArray:
    """Return random numbers per cell (C, A), weighted by context; alike for like actions, as far as features say."""
    own = rng.standard_normal(population.shape)
    features = population.features
    if features is not None:
        low, high = features.min(axis=0), features.max(axis=0)
        scaled = (features - low) / np.where(high > low, high - low, 1.0)
        waves = rng.standard_normal((scaled.shape[1], WAVES)) / LENGTH
        phases = rng.uniform(0.0, 2.0 * np.pi, WAVES)
        heights = rng.standard_normal((len(own), WAVES)) * np.sqrt(2.0 / WAVES)
        own = own + heights @ np.cos(scaled @ waves + phases).T
    return np.asarray(population.weights[:, None] * own)
