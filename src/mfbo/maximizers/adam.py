"""Adam on logits, as the paper used it; only the strategy `mf-gp-ucb` climbs this way."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import Objective
from mfbo.maximizers.multistart import best_climb
from mfbo.simplex import softmax, softmax_pullback

SMALLEST_GAIN = 1e-4
SMALLEST_SHARE = 1e-12  # the logarithm of a start's share must be finite


@dataclass(frozen=True)
class Adam:
    """Plain Adam: at most ``steps`` steps of size ``rate`` from every start; keeps the best point seen.

    Stops early once ``patience`` steps in a row have gained less than a ten-thousandth of the value's scale.
    """

    rate: float = 0.01
    steps: int = 200
    patience: int = 20
    decay: float = 0.9
    square_decay: float = 0.999
    epsilon: float = 1e-8

    def __call__(self, objective: Objective, starts: Sequence[FloatArray]) -> tuple[FloatArray, float]:
        """Return the best distribution found, (C, A), and its value."""
        return best_climb(lambda start: self._climbed(objective, start), starts)

    def _climbed(self, objective: Objective, start: FloatArray) -> tuple[FloatArray, float]:
        logits = np.log(np.maximum(start, SMALLEST_SHARE))
        mean = np.zeros_like(logits)
        square = np.zeros_like(logits)
        distribution = softmax(logits)
        best_value, gradient = objective(distribution)
        best = distribution
        last_gain, level = 0, best_value
        for step in range(1, self.steps + 1):
            slope = softmax_pullback(distribution, gradient)
            mean *= self.decay
            mean += (1.0 - self.decay) * slope
            square *= self.square_decay
            square += (1.0 - self.square_decay) * (slope * slope)
            root = np.sqrt(square / (1.0 - self.square_decay**step))
            root += self.epsilon
            logits += (self.rate / (1.0 - self.decay**step)) * mean / root
            distribution = softmax(logits)
            value, gradient = objective(distribution)
            if value > best_value:
                best_value, best = value, distribution
            if best_value > level + SMALLEST_GAIN * (1.0 + abs(level)):
                last_gain, level = step, best_value
            elif step - last_gain >= self.patience:
                break
        return best, best_value
