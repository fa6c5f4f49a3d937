"""Climbing an acquisition over the simplex, from several starts: by L-BFGS, by Adam, or inside a region."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError
from mfbo.interfaces import Objective
from mfbo.simplex import Region, softmax, softmax_pullback, squares, squares_pullback

SMALLEST_OF_ROOTS = 1e-8  # a start exactly on a face would never leave it: the gradient in t is zero there
SMALLEST_OF_LOGITS = 1e-12  # the logarithm of a start's share must be finite
MEMORY = 5  # values that an accepted projected step may fall below the best of
SUFFICIENT = 1e-4
FARTHEST = 100.0  # longest step before projection, in shares: far outside every region
HALVINGS = 20


class Climber(ABC):
    """Climbs from every start and keeps the best; a subclass says how one climb goes."""

    def __call__(self, objective: Objective, starts: Sequence[FloatArray]) -> tuple[FloatArray, float]:
        """Return the best distribution found, (C, A), and its value; the earlier wins a tie, any number beats NaN."""
        if not starts:
            raise InvalidInputError("a maximizer needs at least one start")
        best, highest = self.climbed(objective, starts[0]), -math.inf
        if math.isfinite(best[1]):
            highest = best[1]
        for start in starts[1:]:
            end = self.climbed(objective, start)
            if math.isfinite(end[1]) and end[1] > highest:
                best, highest = end, end[1]
        return best

    @abstractmethod
    def climbed(self, objective: Objective, start: FloatArray) -> tuple[FloatArray, float]:
        """Return where a climb from one start (C, A) ends, and the value there."""


@dataclass(frozen=True)
class Lbfgs(Climber):
    """L-BFGS in the coordinates ξ = t² / Σ t², eq. (18): at most ``iterations`` from every start, the best is kept."""

    iterations: int = 60

    def climbed(self, objective: Objective, start: FloatArray) -> tuple[FloatArray, float]:
        """Return where L-BFGS ends, and the value there."""
        negated = _Negated(objective, start.shape)
        first = np.sqrt(np.maximum(start, SMALLEST_OF_ROOTS)).ravel()
        result = scipy.optimize.minimize(
            negated.value, first, jac=negated.slope, method="L-BFGS-B", options={"maxiter": self.iterations}
        )
        return squares(result.x.reshape(start.shape)), -float(result.fun)


class _Negated:
    """Minus an objective in the coordinates t, flat, for SciPy.

    It asks for a value and then for the slope there; to keep the slope ourselves costs a quarter less around an
    evaluation than SciPy's own memory of it (``jac=True``), which compares coordinates twice.
    """

    def __init__(self, objective: Objective, shape: tuple[int, ...]) -> None:
        self._objective, self._shape = objective, shape
        self._place, self._slope = b"", np.empty(0)

    def value(self, flat: FloatArray) -> float:
        """Return the value, and keep the slope."""
        roots = flat.reshape(self._shape)
        distribution = squares(roots)
        value, gradient = self._objective(distribution)
        self._place, self._slope = flat.tobytes(), -squares_pullback(roots, distribution, gradient).ravel()
        return -value

    def slope(self, flat: FloatArray) -> FloatArray:
        """Return the slope; computed anew only if the last value was of another place."""
        if flat.tobytes() != self._place:
            self.value(flat)
        return self._slope


@dataclass(frozen=True)
class Adam(Climber):
    """Adam on logits as the paper used it: ``steps`` of size ``rate`` from every start, no rule that ends them early.

    The logits travel at most steps · rate, which keeps every share above zero: that is part of the method.
    """

    rate: float = 0.01
    steps: int = 500
    decay: float = 0.9
    square_decay: float = 0.999
    epsilon: float = 1e-8

    def climbed(self, objective: Objective, start: FloatArray) -> tuple[FloatArray, float]:
        """Return where the last step leads, and the value there."""
        logits = np.log(np.maximum(start, SMALLEST_OF_LOGITS))
        mean = np.zeros_like(logits)
        square = np.zeros_like(logits)
        distribution = softmax(logits)
        value, gradient = objective(distribution)
        for step in range(1, self.steps + 1):
            slope = softmax_pullback(distribution, gradient)
            mean *= self.decay
            mean += (1.0 - self.decay) * slope
            square *= self.square_decay
            slope *= slope
            slope *= 1.0 - self.square_decay
            square += slope
            root = np.sqrt(square)
            root *= (1.0 - self.square_decay**step) ** -0.5
            root += self.epsilon
            np.divide(mean, root, out=root)
            root *= self.rate / (1.0 - self.decay**step)
            logits += root
            distribution = softmax(logits)
            value, gradient = objective(distribution)
        return distribution, value


@dataclass(frozen=True, eq=False)
class ProjectedAscent(Climber):
    """Ascent inside a region of allowed placements: spectral projected gradient (Birgin, Martínez and Raydan, 2000).

    Climbs from every start, projected into the region, for at most ``iterations``, and keeps the best.
    """

    region: Region
    iterations: int = 60

    def climbed(self, objective: Objective, start: FloatArray) -> tuple[FloatArray, float]:
        """Return the best allowed distribution on the way, and the value there."""
        here = self.region.projected(start)
        value, gradient = objective(here)
        best = here, value
        recent = [value]
        step = 1.0 / _steepness(gradient)
        for _ in range(self.iterations):
            direction = self.region.projected(here + step * gradient) - here
            slope = float((gradient * direction).sum())
            if slope <= 1e-12 * max(abs(value), 1e-12):
                break
            share = 1.0
            for _ in range(HALVINGS):
                there = here + share * direction
                new_value, new_gradient = objective(there)
                if new_value >= min(recent[-MEMORY:]) + SUFFICIENT * share * slope:
                    break
                share *= 0.5
            moved, turned = there - here, gradient - new_gradient
            curvature = float((moved * turned).sum())
            length = float((moved * moved).sum())
            here, value, gradient = there, new_value, new_gradient
            longest = FARTHEST / _steepness(gradient)
            step = min(length / curvature, longest) if curvature > 0 else longest
            recent.append(value)
            if value > best[1]:
                best = here, value
        return best


def _steepness(gradient: FloatArray) -> float:
    return max(float(np.abs(gradient).max()), 1e-12)
