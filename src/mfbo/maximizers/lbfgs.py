"""Multi-start L-BFGS over the simplex in the coordinates ξ = t² / Σ t², eq. (18)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from mfbo.arrays import FloatArray
from mfbo.interfaces import Objective
from mfbo.maximizers.multistart import best_climb
from mfbo.simplex import squares, squares_pullback

SMALLEST_SHARE = 1e-8  # a start exactly on a face would never leave it: the gradient in t is zero there


@dataclass(frozen=True)
class Lbfgs:
    """Climbs from every start for at most ``iterations`` and keeps the best."""

    iterations: int = 60

    def __call__(self, objective: Objective, starts: Sequence[FloatArray]) -> tuple[FloatArray, float]:
        """Return the best distribution found, (C, A), and its value."""
        return best_climb(lambda start: self._climbed(objective, start), starts)

    def _climbed(self, objective: Objective, start: FloatArray) -> tuple[FloatArray, float]:
        shape = start.shape

        def negated(flat: FloatArray) -> tuple[float, FloatArray]:
            roots = flat.reshape(shape)
            distribution = squares(roots)
            value, gradient = objective(distribution)
            return -value, -squares_pullback(roots, distribution, gradient).ravel()

        first = np.sqrt(np.maximum(start, SMALLEST_SHARE)).ravel()
        result = scipy.optimize.minimize(
            negated, first, jac=True, method="L-BFGS-B", options={"maxiter": self.iterations}
        )
        return squares(result.x.reshape(shape)), -float(result.fun)
