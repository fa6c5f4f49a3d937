"""Taxi dispatch: a driver earns the local fare times the chance of a rider, and shares the riders, eq. (27)."""

from dataclasses import dataclass
from os import PathLike

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaincinv

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError
from mfbo.problems.demand import nyc
from mfbo.problems.problem import Optimum, Problem
from mfbo.problems.tables import DemandTable

RIDERS_PER_TAXI = 1.0  # κ


@dataclass(frozen=True, eq=False)
class DispatchPayoff:
    """f = v_a (1 − exp(−κ q_a / P_a)), own payoff of a taxi in zone a; concave and separable in P.

    fares: v (A,); demand: q (A,), sums to 1. The same formula holds for finitely many taxis.
    """

    fares: FloatArray
    demand: FloatArray

    def cells(self, shares: FloatArray, size: int | None = None) -> FloatArray:
        """Return f in every cell; an empty zone with riders pays its full fare."""
        return np.broadcast_to(-self.fares * np.expm1(-self._riders(shares)), shares.shape)

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g."""
        return float((shares * self.cells(shares)).sum())

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return ∂g/∂w = v (1 − e^−x (1 + x)), x = κ q / P: what one more taxi adds, the others' loss included."""
        riders = np.minimum(self._riders(shares), 700.0)  # e^−700 (1 + 700) is zero in float64
        return np.broadcast_to(self.fares * (1.0 - np.exp(-riders) * (1.0 + riders)), shares.shape)

    def _riders(self, shares: FloatArray) -> FloatArray:
        occupancy = shares.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            riders = RIDERS_PER_TAXI * self.demand / occupancy
        return np.asarray(np.where(self.demand > 0, riders, 0.0))


def taxi_dispatch(data: DemandTable | str | PathLike[str] | None = None) -> Problem:
    """Return 20,000 taxis on the 12x20 grid of Manhattan (or a user's file) with fares that vary over the map."""
    city = nyc("12x20", data)
    if city.places is None or city.optimum is None:
        raise InvalidInputError(f"{data}: taxi-dispatch needs coordinates (longitude and latitude, or x and y)")
    demand = city.optimum.distribution[0]
    payoff = DispatchPayoff(smooth_fares(city.places), demand)
    best = dispatch_optimum(payoff)
    return Problem(
        name="taxi-dispatch",
        summary="place 20,000 taxis: fare times the chance of a rider",
        population=city.population,
        payoff=payoff,
        optimum=Optimum(payoff.population(best[None, :]), best[None, :]),
        feedback=("system", "agents", "cells"),
        source=city.source,
        license=city.license,
        places=city.places,
        grid=city.grid,
        demand=demand,
    )


def smooth_fares(places: FloatArray) -> FloatArray:
    """Return a fare level per zone: 1, rising smoothly to 1.8 around a point in the south-west of the map, (A,)."""
    low, high = places.min(axis=0), places.max(axis=0)
    unit = (places - low) / np.where(high > low, high - low, 1.0)
    return np.asarray(1.0 + 0.8 * np.exp(-((unit - np.array([0.3, 0.2])) ** 2).sum(axis=1) / (2 * 0.3**2)))


def dispatch_optimum(payoff: DispatchPayoff) -> FloatArray:
    """Return the exact maximizer P (A,): every used zone has one marginal payoff ν.

    1 − e^−x (1 + x) is the incomplete gamma function P(2, x), so x = its inverse at ν / v, P = κ q / x, and ν is found
    by bisection so that the shares sum to 1.
    """

    def occupancy(level: float) -> FloatArray:
        ratio = np.minimum(level / payoff.fares, 1.0)
        return np.asarray(RIDERS_PER_TAXI * payoff.demand / gammaincinv(2.0, ratio))

    top = float(payoff.fares[payoff.demand > 0].max())
    level = brentq(lambda tried: float(occupancy(tried).sum()) - 1.0, 1e-9 * top, top, xtol=1e-15, rtol=1e-14)
    found = occupancy(level)
    return np.asarray(found / found.sum())
