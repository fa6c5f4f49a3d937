"""Distributions over actions: maps onto the simplex, distances between distributions, whole agents."""

from mfbo.simplex.coordinates import (
    dirichlet,
    projected,
    softmax,
    softmax_pullback,
    squares,
    squares_pullback,
    uniform,
)
from mfbo.simplex.distances import hellinger, jensen_shannon, total_variation
from mfbo.simplex.region import Region
from mfbo.simplex.slicing import with_share
from mfbo.simplex.whole_agents import AllocationMethod, Moves, allocate, quota, realized, sampled, whole_agents

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
    "whole_agents",
    "with_share",
]
