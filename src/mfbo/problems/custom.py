"""A problem made of any function of the distribution."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.problems.problem import Optimum, Problem

STEP = 1e-6
EXACT = 1e-9  # shares of contexts that are their weights up to rounding


@dataclass(frozen=True, eq=False)
class CallablePayoff:
    """g(ξ) given as a function; every agent's payoff is that of the population. weights: p (C,)."""

    function: Callable[[FloatArray], float]
    weights: FloatArray

    def cells(self, shares: FloatArray, size: int | None = None) -> FloatArray:
        """Return f in every cell."""
        return np.full(shares.shape, self.population(shares, size))

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g; of whole agents, each context may have a few more or fewer than its weight says."""
        own = shares.sum(axis=1)
        if size is None or np.abs(own - self.weights).max() <= EXACT:
            own = self.weights
        return float(self.function(shares / np.where(own > 0, own, 1.0)[:, None]))

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return ∂g/∂w by central differences."""
        slopes = np.zeros(shares.shape)
        for cell in np.ndindex(shares.shape):
            step = np.zeros(shares.shape)
            step[cell] = STEP
            slopes[cell] = (self.population(shares + step) - self.population(shares - step)) / (2 * STEP)
        return slopes


def custom_problem(
    name: str,
    population: Population,
    payoff: Callable[[FloatArray], float],
    *,
    optimum: Optimum | None = None,
    summary: str = "",
) -> Problem:
    """Return a problem whose population payoff is ``payoff(distribution (C, A))``; the optimum may be unknown."""
    if not callable(payoff):
        raise InvalidInputError(f"payoff must be a function of a distribution, not {payoff!r}")
    return Problem(
        name=name,
        summary=summary or "the user's own payoff",
        population=population,
        payoff=CallablePayoff(payoff, population.weights),
        optimum=optimum,
        feedback=("system",),
        source="the user's own function",
        license="the user's own",
    )
