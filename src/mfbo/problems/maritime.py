"""Maritime refueling: vessels of five regions choose among ports; crowds wait, and strangers pay, eqs. (28), (29)."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from mfbo.arrays import FloatArray
from mfbo.population import Population
from mfbo.problems.pictures import PortsPicture
from mfbo.problems.problem import Optimum, Problem
from mfbo.problems.tables import PortTable, embedded_ports

BASE = -0.5


@dataclass(frozen=True, eq=False)
class MaritimePayoff:
    """f = −½ − P_a / V_a + [the port is in the vessel's region]; concave, so its optimum is certain.

    capacity: V (A,), sums to 1. home: (C, A), 1 where port and vessel share the region. Finite M: the same formula.
    """

    capacity: FloatArray
    home: FloatArray

    def cells(self, shares: FloatArray, size: int | None = None) -> FloatArray:
        """Return f in every cell."""
        return np.asarray(BASE - shares.sum(axis=0) / self.capacity + self.home)

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g."""
        return float((shares * self.cells(shares)).sum())

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return ∂g/∂w."""
        return np.asarray(BASE + self.home - 2.0 * shares.sum(axis=0) / self.capacity)


def maritime(table: PortTable | None = None) -> Problem:
    """Return 3,000 vessels, a fifth of them from each region, over 30 ports of the World Port Index."""
    ports = embedded_ports("ports-30") if table is None else table
    regions = ports.region_names
    home = np.array([[float(region == port) for port in ports.regions] for region in regions])
    weights = np.full(len(regions), 1.0 / len(regions))
    payoff = MaritimePayoff(ports.capacity / ports.capacity.sum(), home)
    best = maritime_optimum(payoff, weights)
    on_globe = _on_globe(ports.coordinates)
    columns = {"name": ports.names, "x": on_globe[:, 0], "y": on_globe[:, 1], "z": on_globe[:, 2]}
    return Problem(
        name="maritime",
        summary="send 3,000 vessels to 30 ports without queues or detours",
        population=Population(columns, contexts=dict(zip(regions, weights, strict=True)), size=3000),
        payoff=payoff,
        optimum=Optimum(payoff.population(weights[:, None] * best), best),
        feedback=("system", "agents", "cells"),
        source=str(ports.details.get("source", "the user's own table")),
        license=str(ports.details.get("license", "the user's own")),
        places=ports.coordinates,
        picture=PortsPicture(home),
    )


def maritime_optimum(payoff: MaritimePayoff, weights: FloatArray) -> FloatArray:
    """Return the exact maximizer ξ (C, A) by reduction to the loads of the regions.

    With V_r the capacity of region r, maximize Σ min(p_r, q_r) − Σ q_r² / V_r over loads q that sum to 1:
    q_r = median(p_r, −λ V_r / 2, (1 − λ) V_r / 2), λ by bisection. Vessels stay at home as far as the load allows, the
    surplus fills the deficits in proportion, and inside a region ports are loaded by capacity.
    """
    by_region = payoff.home @ payoff.capacity

    def loads(multiplier: float) -> FloatArray:
        inner = np.stack([weights, -0.5 * multiplier * by_region, 0.5 * (1.0 - multiplier) * by_region])
        return np.asarray(np.where(by_region > 0, np.median(inner, axis=0), 0.0))

    multiplier = brentq(lambda tried: float(loads(tried).sum()) - 1.0, -1e3, 1e3, xtol=1e-15, rtol=1e-14)
    load = loads(multiplier)
    load = load / load.sum()
    at_home = np.minimum(weights, load)
    surplus, deficit = weights - at_home, load - at_home
    moved = np.outer(surplus, deficit) / max(float(deficit.sum()), 1e-300)
    joint = np.diag(at_home) + moved  # vessels of region r that go to region s
    inside = payoff.home * payoff.capacity / np.where(by_region > 0, by_region, 1.0)[:, None]
    distribution = joint @ inside / weights[:, None]
    return np.asarray(distribution / distribution.sum(axis=1, keepdims=True))


def _on_globe(coordinates: FloatArray) -> FloatArray:
    """Return longitude and latitude (A, 2) as points of the unit sphere (A, 3): the date line is not a border there."""
    longitude, latitude = np.radians(coordinates).T
    level = np.cos(latitude)
    return np.stack([level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude)], axis=1)
