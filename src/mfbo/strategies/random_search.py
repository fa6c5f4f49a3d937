"""Random search as in the paper: the softmax of a uniform random vector for every context (E18)."""

from dataclasses import dataclass

import numpy as np

from mfbo.records import History, Proposal
from mfbo.simplex import softmax
from mfbo.strategies.model_free import ModelFreeStrategy


@dataclass(frozen=True)
class RandomSearch(ModelFreeStrategy):
    """Proposes without looking at the history."""

    name: str = "random"

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        """Return softmax(U[0, 1]) per context: shares differ by a factor e at most."""
        return Proposal(softmax(rng.uniform(size=history.population.shape)))
