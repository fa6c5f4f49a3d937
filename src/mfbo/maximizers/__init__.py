"""Climb an acquisition over the simplex: L-BFGS (fast, reaches faces), Adam (the paper's), or ascent inside limits."""

from mfbo.maximizers.adam import Adam
from mfbo.maximizers.lbfgs import Lbfgs
from mfbo.maximizers.projected import ProjectedAscent

__all__ = ["Adam", "Lbfgs", "ProjectedAscent"]
