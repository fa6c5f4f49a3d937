"""What strategies without a model of the payoff share: they recommend the best told plan and predict nothing."""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import Posterior
from mfbo.records import History
from mfbo.strategies.surrogate import steered, told_payoff


@dataclass(frozen=True)
class ModelFreeStrategy:
    """A strategy without a model; subclasses propose."""

    def recommend(self, history: History) -> FloatArray:
        """Return the distribution of the round with the best told payoff."""
        best = int(np.argmax([told_payoff(each) for each in history.told]))
        return np.asarray(steered(history)[best])

    def posterior(self, history: History) -> Posterior | None:
        """Return None: there is no model."""
        return None
