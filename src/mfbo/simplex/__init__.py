"""Distributions over actions: maps onto the simplex, distances between distributions, whole agents."""

from mfbo.simplex.allocation import AllocationMethod, allocate, quota, realized, sampled
from mfbo.simplex.distances import hellinger, jensen_shannon, total_variation
from mfbo.simplex.maps import (
    dirichlet,
    projected,
    softmax,
    softmax_pullback,
    squares,
    squares_pullback,
    uniform,
)
from mfbo.simplex.moves import Moves
from mfbo.simplex.region import Region

__all__ = [
    "AllocationMethod",
    "Moves",
    "Region",
    "allocate",
    "dirichlet",
    "hellinger",
    "jensen_shannon",
    "projected",
    "quota",
    "realized",
    "sampled",
    "softmax",
    "softmax_pullback",
    "squares",
    "squares_pullback",
    "total_variation",
    "uniform",
]
