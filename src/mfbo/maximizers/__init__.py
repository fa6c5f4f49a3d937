"""Climb an acquisition over the simplex: L-BFGS (fast, reaches faces), Adam (the paper's), or ascent inside limits."""

from mfbo.maximizers.climbing import Adam, Lbfgs, ProjectedAscent

__all__ = ["Adam", "Lbfgs", "ProjectedAscent"]
