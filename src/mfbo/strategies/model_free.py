"""What strategies without a posterior to show share: they keep the best told round."""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import Posterior
from mfbo.records import History
from mfbo.strategies.reading import recommendable, told_payoffs


@dataclass(frozen=True)
class ModelFreeStrategy:
    """A strategy without a model of the payoff in every cell; subclasses propose."""

    def recommend(self, history: History) -> FloatArray:
        """Return the distribution of the round with the best told payoff, of those that keep the limits."""
        choice = recommendable(history)
        return np.asarray(history.steered[choice[int(np.argmax(told_payoffs(history)[choice]))]])

    def posterior(self, history: History) -> Posterior | None:
        """Return None: there is no model of the cells."""
        return None


def standardized(values: FloatArray) -> FloatArray:
    """Return (n,) values with mean 0 and deviation 1, whatever their size; equal values become zeros."""
    if not len(values):
        return values
    size = np.abs(values).max()
    centered = (values - values.mean()) / (size if size > 0 else 1.0)  # a square of 1e200 would be infinite
    spread = float(centered.std())
    return np.asarray(centered / spread if spread > 0 else np.zeros_like(centered))
