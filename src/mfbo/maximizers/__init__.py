"""Climb an acquisition over the simplex: L-BFGS (fast, reaches faces) or Adam (the paper's)."""

from mfbo.maximizers.adam import Adam
from mfbo.maximizers.lbfgs import Lbfgs

__all__ = ["Adam", "Lbfgs"]
