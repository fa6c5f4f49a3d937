"""The logarithm of the expected improvement over a known best, stable where improvement is unlikely."""

from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, ndtr

from mfbo.arrays import FloatArray
from mfbo.interfaces import Posterior

ROOT_HALF_PI = float(np.sqrt(np.pi / 2.0))
LOG_ROOT_TWO_PI = 0.5 * float(np.log(2.0 * np.pi))
FAR = -1e3  # standard deviations below the best: from here on the leading term is all there is in float64
LEAST_VARIANCE = 1e-16


@dataclass(frozen=True, eq=False)
class LogExpectedImprovement:
    """log E[max(g(ξ) − best, 0)] under the posterior (Ament et al., 2023); best in the posterior's units."""

    posterior: Posterior
    best: float

    def __call__(self, distribution: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient, (C, A).

        With z = (μ − best) / σ and h(z) = φ(z) + z Φ(z) it is log σ + log h(z), and h′ = Φ.
        """
        moments = self.posterior.population(distribution)
        sd = float(np.sqrt(max(moments.variance, LEAST_VARIANCE)))
        value, slope, density = log_improvement((moments.mean - self.best) / sd)
        gradient = moments.pullback(slope / sd, density / (2.0 * sd * sd))
        return float(np.log(sd)) + value, gradient


def log_improvement(z: float) -> tuple[float, float, float]:
    """Return log h(z), Φ(z) / h(z) and φ(z) / h(z) for h(z) = φ(z) + z Φ(z)."""
    log_density = -0.5 * z * z - LOG_ROOT_TWO_PI
    if z > -1.0:
        density, below = float(np.exp(log_density)), float(ndtr(z))
        improvement = density + z * below
        return float(np.log(improvement)), below / improvement, density / improvement
    tail = ROOT_HALF_PI * float(erfcx(-z / np.sqrt(2.0)))  # Φ / φ
    ratio = 1.0 + z * tail if z > FAR else 1.0 / (z * z)  # h / φ
    return log_density + float(np.log(ratio)), tail / ratio, 1.0 / ratio
