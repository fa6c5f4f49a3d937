"""What drawn agents can reach at all: every round the optimal distribution, each agent's action drawn from it."""

from dataclasses import dataclass

import numpy as np

from mfbo.problems import Problem
from mfbo.simplex import AllocationMethod, allocate

REPEATS = 20  # runs that are simulated


@dataclass(frozen=True)
class DrawnCeiling:
    """The optimal distribution played by drawn agents: mean payoff of a round, and mean of the best of T rounds."""

    one: float
    best: float


def drawn_ceiling(problem: Problem, rounds: int, context_allocation: AllocationMethod) -> DrawnCeiling | None:
    """Return the ceiling for T rounds; None in the mean-field limit, or if the optimum is unknown.

    context_allocation: whether each round has every context's exact share of the agents, or draws them too.
    """
    population, optimum = problem.population, problem.optimum
    if population.size is None or optimum is None:
        return None
    rng = np.random.default_rng(0)
    values = np.empty((REPEATS, rounds))
    for at in np.ndindex(values.shape):
        counts = allocate(
            optimum.distribution,
            population.weights,
            population.size,
            rng,
            method="sampled",
            context_method=context_allocation,
        )
        values[at] = problem.payoff.population(np.asarray(counts / population.size), population.size)
    return DrawnCeiling(float(values.mean()), float(values.max(axis=1).mean()))
