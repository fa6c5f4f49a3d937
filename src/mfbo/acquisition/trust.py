"""Soft regions: an acquisition minus a penalty on actions fuller than ever seen, eq. (30), or on plans far away."""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import Acquisition

STRENGTH = 10.0  # in standard deviations of the payoff, at twice the limit
CORNER = 0.1  # of the share per cell that may move: below it |w − w₀| is rounded off, so that it has a gradient


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


@dataclass(frozen=True, eq=False)
class Nearby:
    """α(ξ) − 10 max(0, moved / share − 1)²: most of the agents stay where they are in a center.

    moved: the share of all agents that stand elsewhere, ½ Σ |w − w₀|. weights: p (C,). center: (C, A).
    """

    acquisition: Acquisition
    weights: FloatArray
    center: FloatArray
    share: float

    def __call__(self, distribution: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient, (C, A)."""
        value, gradient = self.acquisition(distribution)
        corner = CORNER * self.share / distribution.size
        change = self.weights[:, None] * (distribution - self.center)
        sizes = np.sqrt(change**2 + corner**2)
        excess = max(0.5 * float((sizes - corner).sum()) / self.share - 1.0, 0.0)
        slope = STRENGTH * excess / self.share * self.weights[:, None] * change / sizes
        return value - STRENGTH * excess**2, np.asarray(gradient - slope)
