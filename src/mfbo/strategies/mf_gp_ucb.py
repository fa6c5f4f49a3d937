"""MF-GP-UCB, the paper's algorithm: additive kernel, per-cell upper confidence bound, Adam on logits."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from mfbo.acquisition import MeanFieldUCB, Theorem
from mfbo.arrays import one_blas_thread
from mfbo.maximizers import Adam
from mfbo.models import Kernel, joint_kernel, paper_kernel
from mfbo.population import Population
from mfbo.records import History, Proposal
from mfbo.simplex import softmax
from mfbo.strategies.modeled import ModeledStrategy
from mfbo.strategies.reading import pending_shares


@dataclass(frozen=True)
class MeanFieldGPUCB(ModeledStrategy):
    """The paper's strategy on our core.

    kernel: "paper" (additive) or "joint". multiplier: how many standard deviations of optimism, or "theorem" for the
    proven schedule √β_t, which is far too careful to exploit within a few hundred rounds (docs/theory.md).
    """

    kernel: Literal["paper", "joint"] = "paper"
    multiplier: float | Literal["theorem"] = 1.0
    adam: Adam = field(default_factory=Adam)
    name: str = "mf-gp-ucb"

    def kernel_for(self, population: Population, kind: str) -> Kernel:
        """Return the kernel chosen by name, whatever kind of feedback is told."""
        return paper_kernel(population) if self.kernel == "paper" else joint_kernel(population)

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        """Return the maximizer of MF-UCB; the first plan is a random one."""
        population = history.population
        if not history.told:
            return Proposal(softmax(rng.uniform(size=population.shape)))
        with one_blas_thread():
            process, note = self.surrogate.prepared(history)
            posterior = process.posterior(pending_shares(history))
            acquisition = MeanFieldUCB(posterior, population.weights, self._multiplier_at(history))
            distribution, _ = self.adam(acquisition, [history.rounds[-1].plan.distribution])
        return Proposal(distribution, note.to_notes())

    def _multiplier_at(self, history: History) -> float:
        if self.multiplier != "theorem":
            return self.multiplier
        contexts, actions = history.population.shape
        return Theorem(actions, contexts).multiplier(len(history.rounds) + 1)
