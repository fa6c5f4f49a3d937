"""Portfolio: mean return minus a price of variance; seven stock markets whose best portfolio is the market itself."""

from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.problems.concave import concave_problem
from mfbo.problems.problem import Problem
from mfbo.problems.quadratic import QuadraticPayoff

AVERSION = 2.5  # δ of He and Litterman
MARKETS = ("Australia", "Canada", "France", "Germany", "Japan", "UK", "USA")
VOLATILITY = (0.160, 0.203, 0.248, 0.271, 0.210, 0.200, 0.187)
CAPITAL = (0.016, 0.022, 0.052, 0.055, 0.116, 0.124, 0.615)
CORRELATION = (
    (0.488,),
    (0.478, 0.664),
    (0.515, 0.655, 0.861),
    (0.439, 0.310, 0.355, 0.354),
    (0.512, 0.608, 0.783, 0.777, 0.405),
    (0.491, 0.779, 0.668, 0.653, 0.306, 0.652),
)  # of each market with those before it


def portfolio(size: int | None = None) -> Problem:
    """Return seven stock markets whose returns make holding them by capital optimal (reverse optimization)."""
    covariance = market_covariance()
    capital = np.array(CAPITAL) / sum(CAPITAL)
    problem = portfolio_problem(MARKETS, AVERSION * covariance @ capital, covariance, size=size, name="portfolio")
    source = "He and Litterman, The intuition behind Black–Litterman model portfolios (1999), tables 1 and 2"
    return Problem(**{**vars(problem), "source": source})


def market_covariance() -> FloatArray:
    """Return the covariance of the seven markets' yearly returns, (7, 7)."""
    correlation = np.eye(len(MARKETS))
    for row, values in enumerate(CORRELATION, start=1):
        correlation[row, :row] = correlation[:row, row] = values
    return np.asarray(correlation * np.outer(VOLATILITY, VOLATILITY))


def portfolio_problem(
    names: Any,
    returns: Any,
    covariance: Any,
    *,
    aversion: float = AVERSION,
    size: int | None = None,
    name: str = "portfolio-of-assets",
) -> Problem:
    """Return the problem of holding assets (A,): expected returns minus aversion / 2 times the variance, no debts."""
    mean, risk = np.asarray(returns, dtype=np.float64), np.asarray(covariance, dtype=np.float64)
    if mean.ndim != 1 or risk.shape != (len(mean), len(mean)):
        raise InvalidInputError(f"{mean.shape} returns need a square covariance of their own, not {risk.shape}")
    if not (aversion > 0 and np.allclose(risk, risk.T) and np.linalg.eigvalsh(risk)[0] >= -1e-12 * risk.trace()):
        raise InvalidInputError("a portfolio needs an aversion above 0 and a positive semidefinite covariance")
    payoff = QuadraticPayoff(mean[None, :], -0.5 * aversion * risk)
    population = Population(list(names), size=size)
    return concave_problem(
        payoff,
        population,
        name=name,
        summary="hold assets for a high mean and a low variance of returns",
        source="the user's own assets",
    )
