"""The unit in which payoffs are modeled: standardized, and warped below the best where that explains them better.

A stationary model finds it hard to say that a crowd may cost a hundred times what there is to gain, and that the last
percent is smooth: what explains the bad plans misleads about the good ones. Warped payoffs lie on a line near the best
of them and on a logarithm far below, eq. (41).
"""

import logging
from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray

_log = logging.getLogger(__package__)

GRID_DIGITS = 10  # of standardized payoffs, which the jitter leaves uncertain by 1e-5
FEWEST_ROBUST = 4  # payoffs from which quartiles mean something
NORMAL_QUARTILES = 1.349  # distance of the quartiles of a normal distribution, in standard deviations
EQUAL = 1e-13  # relative spread of payoffs that are taken for one


@dataclass(frozen=True)
class Warp:
    """y ↦ top − s log(1 + (top − y) / s) below the top, y itself above; s: its size."""

    top: float
    size: float

    @staticmethod
    def of(values: FloatArray) -> "Warp | None":
        """Return that of these payoffs, with their best and their standard deviation; None if they are equal."""
        top, size = float(values.max()), float(values.std())
        return Warp(top, size) if size > EQUAL * max(abs(float(values.mean())), abs(top)) else None

    def warped(self, values: FloatArray) -> FloatArray:
        """Return the payoffs warped."""
        return np.asarray(np.where(values < self.top, self.top - self.size * np.log1p(self._below(values)), values))

    def log_slopes(self, values: FloatArray) -> float:
        """Return Σ log db/dy over payoffs: densities of warped payoffs and of payoffs differ by it."""
        return -float(np.log1p(self._below(values)).sum())

    def _below(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(self.top - values, 0.0) / self.size)


@dataclass(frozen=True)
class Unit:
    """y ↦ (y − shift) / scale, of warped payoffs if there is a warp."""

    shift: float
    scale: float
    warp: Warp | None = None

    @staticmethod
    def of(values: FloatArray, *, robust: bool = False, level: bool = False, warp: Warp | None = None) -> "Unit":
        """Return the unit of these payoffs; robust, level: see ``standardization``."""
        read = values if warp is None else warp.warped(values)
        return Unit(*standardization(read, robust=robust, level=level), warp)

    def standardized(self, values: FloatArray) -> FloatArray:
        """Return payoffs in this unit."""
        return in_unit(values if self.warp is None else self.warp.warped(values), self.shift, self.scale)

    def log_slopes(self, values: FloatArray) -> float:
        """Return Σ log d(standardized) / dy: likelihoods in different units compare once it is added."""
        warped = 0.0 if self.warp is None else self.warp.log_slopes(values)
        return warped - len(values) * float(np.log(self.scale))


def in_unit(values: FloatArray, shift: float, scale: float) -> FloatArray:
    """Return (values − shift) / scale on a grid far below the jitter: the same in any currency, to the last bit."""
    return np.asarray(np.round((values - shift) / scale, GRID_DIGITS))


def standardization(values: FloatArray, *, robust: bool = False, level: bool = False) -> tuple[float, float]:
    """Return mean and standard deviation; equal payoffs are only shifted.

    robust: return the median, and what the standard deviation would be if all payoffs were spread like their middle
    half (at most the standard deviation, and at least a hundredth of it). level: return the median, and its size where
    that is larger.
    """
    shift = float(values.mean())
    scale = float(values.std())
    if robust and len(values) >= FEWEST_ROBUST:
        lower, median, upper = np.percentile(values, [25.0, 50.0, 75.0])
        shift = float(median)
        scale = min(scale, max(float(upper - lower) / NORMAL_QUARTILES, scale / 100.0))
    if level:
        shift = float(np.median(values))
        scale = max(scale, abs(shift))
    if scale <= EQUAL * max(abs(shift), 1e-300):
        _log.info("all %d told payoffs are equal: they are shifted, not scaled", len(values))
        return shift, max(abs(shift), 1.0)
    return shift, scale
