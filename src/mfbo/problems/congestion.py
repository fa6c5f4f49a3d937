"""The congestion penalty that `swarm` and `arena` share: σ log(1 + P_a) for everyone at action a (E6)."""

import numpy as np

from mfbo.arrays import FloatArray


def congestion(occupancy: FloatArray, factor: float) -> FloatArray:
    """Return one agent's penalty at each action, (A,)."""
    return np.asarray(factor * np.log1p(occupancy))


def congestion_slope(occupancy: FloatArray, factor: float) -> FloatArray:
    """Return d/dP of the population's penalty σ Σ P log(1 + P), (A,)."""
    return np.asarray(factor * (np.log1p(occupancy) + occupancy / (1.0 + occupancy)))
