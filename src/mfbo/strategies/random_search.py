"""Random search as in the paper: the softmax of a uniform random vector for every context (E18)."""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import Posterior
from mfbo.records import History, Proposal
from mfbo.simplex import softmax
from mfbo.strategies.surrogate import steered, told_payoff


@dataclass(frozen=True)
class RandomSearch:
    """Proposes without looking at the history."""

    name: str = "random"

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        """Return softmax(U[0, 1]) per context: shares differ by a factor e at most."""
        return Proposal(softmax(rng.uniform(size=history.population.shape)))

    def recommend(self, history: History) -> FloatArray:
        """Return the distribution of the round with the best told payoff."""
        best = int(np.argmax([told_payoff(each) for each in history.told]))
        return np.asarray(steered(history)[best])

    def posterior(self, history: History) -> Posterior | None:
        """Return None: there is no model."""
        return None
