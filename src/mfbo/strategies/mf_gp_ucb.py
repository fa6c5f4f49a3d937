"""MF-GP-UCB, the paper's algorithm: additive kernel, per-cell upper confidence bound, Adam on fresh logits."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mfbo.acquisition import MeanFieldUCB, Theorem
from mfbo.arrays import FloatArray, one_blas_thread
from mfbo.maximizers import Adam
from mfbo.models import Kernel, joint_kernel, paper_kernel
from mfbo.population import Population
from mfbo.records import History, Proposal
from mfbo.simplex import softmax, uniform
from mfbo.strategies.modeled import ModeledStrategy
from mfbo.strategies.own_kernel import own_kernel
from mfbo.strategies.representative import drawn_notes, with_representatives
from mfbo.written_settings import ImportPath

FRESH_SHARE = 0.1  # of the uniform plan in a mixed start


@dataclass(frozen=True)
class MeanFieldGPUCB(ModeledStrategy):
    """The paper's strategy as its authors most likely ran it (docs/decisions/0009-fresh-logits.md).

    kernel: "paper" (additive), "joint", or the import path of one's own. multiplier: how many standard deviations
    of optimism, or "theorem" for the proven schedule √β_t, which is far too careful to exploit within a few
    hundred rounds (docs/theory.md).
    start: where Adam begins in every round: at the uniform plan, at standard normal logits, at nine parts of the last
    plan and one of the uniform one, or at the last plan. steps, rate: of Adam. rows: what the model is told of a round,
    the whole population's payoff ("system") or one representative agent's, as Algorithm 1 says ("agent").
    """

    kernel: Literal["paper", "joint"] | ImportPath = "paper"
    multiplier: float | Literal["theorem"] = 1.0
    start: Literal["uniform", "normal", "mixed", "last"] = "uniform"
    steps: int = 500
    rate: float = 0.01
    rows: Literal["system", "agent"] = "system"
    name: str = "mf-gp-ucb"

    def kernel_for(self, population: Population, kind: str) -> Kernel:
        """Return the kernel chosen by name, whatever kind of feedback is told."""
        if self.kernel == "paper":
            return paper_kernel(population)
        return joint_kernel(population) if self.kernel == "joint" else own_kernel(self.kernel, population)

    def as_modeled(self, history: History) -> History:
        """Return the history as told, or with one representative agent a round."""
        return with_representatives(history) if self.rows == "agent" else history

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        """Return what Adam makes of MF-UCB; the first plan is a random one."""
        notes = drawn_notes(rng) if self.rows == "agent" else {}
        history = self.as_modeled(history)
        population = history.population
        if not history.told:
            return Proposal(softmax(rng.uniform(size=population.shape)), notes)
        start = self._start(history, rng)
        with one_blas_thread():
            belief = self.belief(history)
            posterior = belief.after_open_plans
            acquisition = MeanFieldUCB(posterior, population.weights, self._multiplier_at(history))
            distribution, _ = Adam(self.rate, self.steps)(acquisition, [start])
        return Proposal(distribution, {**belief.notes, **notes})

    def _start(self, history: History, rng: np.random.Generator) -> FloatArray:
        shape = history.population.shape
        last = history.rounds[-1].plan.distribution
        match self.start:
            case "uniform":
                return uniform(*shape)
            case "normal":
                return softmax(rng.standard_normal(shape))
            case "mixed":
                return (1.0 - FRESH_SHARE) * last + FRESH_SHARE * uniform(*shape)
            case "last":
                return last

    def _multiplier_at(self, history: History) -> float:
        if self.multiplier != "theorem":
            return self.multiplier
        contexts, actions = history.population.shape
        return Theorem(actions, contexts).multiplier(len(history.rounds) + 1)
