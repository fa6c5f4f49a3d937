"""A strategy of one's own: perturb the best plan so far. It gets the history and a generator, nothing else."""

from dataclasses import dataclass

import numpy as np

import mfbo
from mfbo.simplex import projected, uniform


@dataclass(frozen=True)
class HillClimb:
    """Moves the best plan a little in a random direction."""

    step: float = 0.05
    name: str = "hill-climb"

    def propose(self, history: mfbo.History, rng: np.random.Generator) -> mfbo.Proposal:
        """Return the neighbor to try."""
        if not history.told:
            return mfbo.Proposal(uniform(*history.population.shape))
        best = self.recommend(history)
        return mfbo.Proposal(projected(best + self.step * rng.standard_normal(best.shape)))

    def recommend(self, history: mfbo.History) -> np.ndarray:
        """Return the best plan so far."""
        return max(history.told, key=lambda told: told.payoff or 0.0).plan.distribution

    def posterior(self, history: mfbo.History) -> None:
        """Have no model."""


swarm = mfbo.make_problem("swarm")
result = mfbo.maximize(swarm.value, swarm.population, rounds=50, strategy=HillClimb(), seed=0)
print(f"optimum {swarm.known_optimum.value:.3f}, hill climbing {swarm.value(result.recommended):.3f}")
