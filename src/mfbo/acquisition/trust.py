"""A soft trust region: an acquisition minus a penalty on actions fuller than what was seen of them, eq. (30)."""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import Acquisition

STRENGTH = 10.0  # in standard deviations of the payoff, at twice the limit


@dataclass(frozen=True, eq=False)
class TrustRegion:
    """α(ξ) − 10 Σ_a max(0, P_a / limit_a − 1)²: models of own payoffs extrapolate badly to crowds never seen.

    weights: p (C,). limits: occupancy (A,) up to which the model is trusted.
    """

    acquisition: Acquisition
    weights: FloatArray
    limits: FloatArray

    def __call__(self, distribution: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient, (C, A)."""
        value, gradient = self.acquisition(distribution)
        excess = np.maximum(self.weights @ distribution / self.limits - 1.0, 0.0)
        slope = (2.0 * STRENGTH) * excess / self.limits
        return value - STRENGTH * float(excess @ excess), gradient - self.weights[:, None] * slope[None, :]
