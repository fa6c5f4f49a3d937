"""Coverage: units at sites reach the demand around them, each further unit adds less."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.problems.concave import concave_problem
from mfbo.problems.problem import Problem

SITES = 30
DEMAND_POINTS = 80
REACH = 0.18  # of a unit, on a unit square
UNITS = 20
UNITS_FOR_ALL = 12.0  # so many units at every point's door would reach 1 − 1/e of the demand


@dataclass(frozen=True, eq=False)
class CoveragePayoff:
    """f = g = Σ_j v_j (1 − exp(−(R P)_j)) for everyone: the chance that demand j is reached by at least one unit.

    demand: v (J,), sums to 1. reach: R (J, A). Concave; the same formula holds for finitely many units.
    """

    demand: FloatArray
    reach: FloatArray

    def cells(self, shares: FloatArray, size: int | None = None) -> FloatArray:
        """Return f in every cell."""
        return np.full(shares.shape, self.population(shares))

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g."""
        return -float(self.demand @ np.expm1(-self.reach @ shares.sum(axis=0)))

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return ∂g/∂w."""
        missed = self.demand * np.exp(-self.reach @ shares.sum(axis=0))
        return np.broadcast_to(missed @ self.reach, shares.shape)


def coverage(size: int | None = UNITS) -> Problem:
    """Return 20 units at 30 sites of a town whose demand lies around three centers."""
    rng = np.random.default_rng(1974)
    sites = rng.uniform(size=(SITES, 2))
    centers = np.array([[0.25, 0.3], [0.7, 0.75], [0.8, 0.2]])
    points = np.clip(centers[rng.integers(3, size=DEMAND_POINTS)] + 0.13 * rng.normal(size=(DEMAND_POINTS, 2)), 0, 1)
    return coverage_problem(sites, points, rng.gamma(1.0, size=DEMAND_POINTS), size=size, name="coverage")


def coverage_problem(
    sites: Any, points: Any, demand: Any, *, reach: float = REACH, size: int | None = None, name: str = "coverage-map"
) -> Problem:
    """Return the problem of covering demand (J,) at points (J, 2) from sites (A, 2); coordinates on one scale.

    A unit reaches a point at distance d with the strength exp(−d² / (2 reach²)).
    """
    places, targets = np.asarray(sites, dtype=np.float64), np.asarray(points, dtype=np.float64)
    wanted = np.asarray(demand, dtype=np.float64)
    if places.ndim != 2 or targets.ndim != 2 or places.shape[1] != targets.shape[1] or len(wanted) != len(targets):
        raise InvalidInputError("coverage needs sites (A, d), points (J, d) and a demand for every point")
    if not (reach > 0 and (wanted >= 0).all() and wanted.sum() > 0):
        raise InvalidInputError("coverage needs a reach above 0 and a demand from 0 on, somewhere above 0")
    apart = ((targets[:, None, :] - places[None, :, :]) ** 2).sum(axis=2)
    payoff = CoveragePayoff(wanted / wanted.sum(), UNITS_FOR_ALL * np.exp(-apart / (2.0 * reach**2)))
    columns = {"name": [f"site {place + 1}" for place in range(len(places))]}
    columns |= {axis: places[:, i].tolist() for i, axis in enumerate("xyz"[: places.shape[1]])}
    population = Population(columns, size=size)
    return concave_problem(
        payoff,
        population,
        name=name,
        summary="units at sites reach the demand around them with diminishing returns",
        source="synthetic",
        places=places if places.shape[1] == 2 else None,
    )
