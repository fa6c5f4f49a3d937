"""The two upper confidence bounds: the paper's per-cell MF-UCB and the tighter population UCB, eqs. (11), (12)."""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import Posterior


@dataclass(frozen=True, eq=False)
class MeanFieldUCB:
    """α(ξ) = Σ p_c ξ_ca (μ_ca + m σ_ca): the expected upper bound of a representative agent (the paper's).

    weights: p (C,). multiplier: m, how many standard deviations of optimism.
    """

    posterior: Posterior
    weights: FloatArray
    multiplier: float

    def __call__(self, distribution: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient, (C, A)."""
        moments = self.posterior.cells(distribution)
        sd = np.sqrt(moments.variance)
        upper = moments.mean + self.multiplier * sd
        shares = self.weights[:, None] * distribution
        gradient = moments.pullback(shares, (0.5 * self.multiplier) * shares / sd)
        gradient += self.weights[:, None] * upper
        return float(np.vdot(shares, upper)), gradient


@dataclass(frozen=True, eq=False)
class PopulationUCB:
    """μ_g(ξ) + m σ_g(ξ): with the variance of the weighted sum itself, never above MF-UCB at the same m."""

    posterior: Posterior
    multiplier: float

    def __call__(self, distribution: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient, (C, A)."""
        moments = self.posterior.population(distribution)
        sd = moments.variance**0.5
        return moments.mean + self.multiplier * sd, moments.pullback(1.0, 0.5 * self.multiplier / sd)
