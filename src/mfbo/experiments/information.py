"""How much a run has learned in the theorem's own terms: the realized information gain of what was played."""

from collections.abc import Sequence

import numpy as np

from mfbo.acquisition import Theorem
from mfbo.arrays import FloatArray, one_blas_thread
from mfbo.models import Rows, paper_kernel, system_rows
from mfbo.models.fitting import Design
from mfbo.population import Population


def information_gain(population: Population, plans: Sequence[FloatArray]) -> FloatArray:
    """Return ½ log det(I + K / R²) after each round, (T,), below eq. (15): the theorem's γ as it really came out.

    plans: what was played, (C, A) each. K is the paper's additive kernel at its prior medians, so the gain depends on
    the plans alone and is comparable between strategies.
    """
    shares = np.stack([population.joint_shares(plan) for plan in plans])
    noise = _noise(population)
    with one_blas_thread():
        gram = _gram(population, system_rows(shares, np.zeros(len(shares))))
        factor = np.linalg.cholesky(np.eye(len(gram)) + gram / noise**2)
    return np.cumsum(np.log(np.diag(factor)))


def regret_bounds(population: Population, gains: FloatArray) -> FloatArray:
    """Return the theorem's bound on the cumulative regret after each round, eq. (15), with a = b = 1.

    gains: information gain of each run after each round, (S, T), as is the result.

    It is in units of the kernel: a payoff whose prior standard deviation is √k0.
    """
    contexts, actions = population.shape
    theorem = Theorem(actions, contexts, root=True)
    one_agent = np.zeros((1, contexts, actions))
    one_agent[0, 0, 0] = 1.0
    shares = population.joint_shares(np.full((contexts, actions), 1.0 / actions))[None]
    row = Rows(one_agent, shares, np.zeros(1), np.ones(1))
    prior_variance = float(_gram(population, row)[0, 0])
    noise = _noise(population)
    return np.array(
        [
            [theorem.bound(t, gain, prior_variance, noise) for t, gain in enumerate(run, start=1)]
            for run in gains.tolist()
        ]
    )


def _noise(population: Population) -> float:
    return float(np.sqrt(paper_kernel(population).noise.median))


def _gram(population: Population, rows: Rows) -> FloatArray:
    kernel = paper_kernel(population)
    design = Design(kernel)
    design.append(rows)
    lower = design.gram(kernel.values(kernel.start))
    return lower + np.tril(lower, -1).T
