"""Adam on logits, as the paper used it; only the strategy `mf-gp-ucb` climbs this way."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import Objective
from mfbo.maximizers.multistart import best_climb
from mfbo.simplex import softmax, softmax_pullback

SMALLEST_SHARE = 1e-12  # the logarithm of a start's share must be finite


@dataclass(frozen=True)
class Adam:
    """Plain Adam: ``steps`` steps of size ``rate`` from every start, and no rule that would end them early.

    The logits travel at most steps · rate, which keeps every share above zero: that is part of the method.
    """

    rate: float = 0.01
    steps: int = 500
    decay: float = 0.9
    square_decay: float = 0.999
    epsilon: float = 1e-8

    def __call__(self, objective: Objective, starts: Sequence[FloatArray]) -> tuple[FloatArray, float]:
        """Return the distribution (C, A) at which a climb ended, and its value; of several starts the best."""
        return best_climb(lambda start: self._climbed(objective, start), starts)

    def _climbed(self, objective: Objective, start: FloatArray) -> tuple[FloatArray, float]:
        logits = np.log(np.maximum(start, SMALLEST_SHARE))
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
