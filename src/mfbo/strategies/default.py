"""The default strategy: our kernel, population UCB, L-BFGS; few rounds for every kind of feedback.

Optimism is small (0.3 standard deviations) as long as rounds improve, and doubles each time the strategy sits on its
best plan without gaining, so that it leaves local optima ("stall rule"). All of it is a function of the history.
"""

from dataclasses import dataclass

import numpy as np

from mfbo.acquisition import PopulationUCB
from mfbo.arrays import FloatArray, one_blas_thread
from mfbo.maximizers import Lbfgs
from mfbo.models import Kernel, agents_kernel, default_kernel, only_system
from mfbo.population import Population
from mfbo.records import History, Proposal
from mfbo.simplex import dirichlet, uniform
from mfbo.strategies.modeled import ModeledStrategy
from mfbo.strategies.surrogate import pending_shares, steered

STALL_WINDOW = 5
STALL_TOLERANCE = 1e-3  # in standard deviations of the told payoffs
HIGHEST_MULTIPLIER = 8.0
NOISY = 1e-3  # fitted noise variance, in variances of the told payoffs


@dataclass(frozen=True)
class Default(ModeledStrategy):
    """One setting for every problem; nothing to tune.

    multiplier: optimism while rounds improve. noisy_multiplier: the same once the fitted noise is not negligible.
    """

    multiplier: float = 0.3
    noisy_multiplier: float = 1.0
    name: str = "default"

    def kernel_for(self, population: Population, system: bool) -> Kernel:
        """Return our kernel for population payoffs, or the one for agents' payoffs as soon as one is told."""
        return default_kernel(population) if system else agents_kernel(population)

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        """Return the uniform plan first, then a few random ones near it, then the maximizer of population UCB."""
        shape = history.population.shape
        first = 2 if only_system(history.told) else 5
        if not history.rounds:
            return Proposal(uniform(*shape))
        if not history.told or max(len(history.rounds), len(history.told)) < first:
            return Proposal(dirichlet(3.0, *shape, rng))
        with one_blas_thread():
            return self._modeled(history, rng)

    def _modeled(self, history: History, rng: np.random.Generator) -> Proposal:
        process, note = self.surrogate.prepared(history)
        visited = steered(history)
        means = process.posterior().population_means(visited)
        noise = process.kernel.noise_value(note.fit.theta)
        base = self.noisy_multiplier if noise > NOISY else self.multiplier
        level = _stall_level(means, history)
        multiplier = min(base * 2.0**level, HIGHEST_MULTIPLIER) if _sits(means) else base
        acquisition = PopulationUCB(process.posterior(pending_shares(history)), multiplier)
        starts = [
            history.rounds[-1].plan.distribution,
            visited[int(np.argmax(means))],
            dirichlet(1.0, *history.population.shape, rng),
        ]
        distribution, _ = Lbfgs(_iterations(visited[0].size))(acquisition, starts)
        return Proposal(distribution, {**note.to_notes(), "level": (float(level),), "multiplier": (multiplier,)})


def _iterations(cells: int) -> int:
    """Return how long to climb: 60 steps up to 2,000 cells, fewer beyond, so that a plan for 10,000 takes a second."""
    return max(15, min(60, 60 * 2000 // cells))


def _sits(means: FloatArray) -> bool:
    """Tell whether the last plan is as good as the best and the best has not risen over the window."""
    if len(means) <= STALL_WINDOW:
        return False
    best = means.max()
    return bool(best - means[:-STALL_WINDOW].max() <= STALL_TOLERANCE and best - means[-1] <= STALL_TOLERANCE)


def _stall_level(means: FloatArray, history: History) -> int:
    """Return how often the strategy has stalled in a row: noted level + 1 when it sits, 0 after a gain."""
    noted = int(history.last_notes.get("level", (0.0,))[0])
    if len(means) > 1 and means.max() - means[:-1].max() > STALL_TOLERANCE:
        return 0
    return noted + 1 if _sits(means) else noted
