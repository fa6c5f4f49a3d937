"""Matching an unknown demand: the payoff is minus the Jensen–Shannon divergence of the occupancy, eq. (26)."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.problems.problem import Optimum, Problem
from mfbo.problems.tables import DemandTable, build_taxi, embedded_demand, file_kind, load_demand, parse_grid
from mfbo.simplex import jensen_shannon
from mfbo.validation import as_numbers, unique_names

SMALLEST_SHARE = 1e-12  # in the gradient only, which is infinite where nobody is but somebody is wanted


@dataclass(frozen=True, eq=False)
class DemandPayoff:
    """f = g = −JS(P, Q) for everyone: one agent's payoff is that of the system, as in the paper's experiments (E13).

    demand: Q (A,). The same formula holds for finitely many agents.
    """

    demand: FloatArray

    def cells(self, shares: FloatArray, size: int | None = None) -> FloatArray:
        """Return f in every cell."""
        return np.full(shares.shape, self.population(shares))

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g."""
        return -float(jensen_shannon(shares.sum(axis=0), self.demand))

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return ∂g/∂w = −½ log(2 P / (P + Q)); all other terms cancel."""
        occupancy = np.maximum(shares.sum(axis=0), SMALLEST_SHARE)
        return np.broadcast_to(-0.5 * np.log(2.0 * occupancy / (occupancy + self.demand)), shares.shape)


def demand_problem(
    names: Sequence[str], demand: Any, coordinates: Any = None, *, size: int | None = None, name: str = "demand"
) -> Problem:
    """Return the problem of matching a demand of your own: place names, demand (any scale), coordinates (A, d)."""
    names = unique_names(names, "names")
    features = np.empty((len(names), 0)) if coordinates is None else as_numbers(coordinates, "coordinates")
    if features.ndim not in (1, 2) or len(features) != len(names):
        raise InvalidInputError(f"coordinates must have shape ({len(names)}, d), not {features.shape}")
    features = features.reshape(len(names), -1) if features.size else features
    feature_names = ("x", "y") if features.shape[-1:] == (2,) else tuple(f"x{j}" for j in range(features.shape[-1]))
    table = DemandTable(names, feature_names, features, as_numbers(demand, "demand"))
    return problem_of_table(table, name, size)


def problem_of_table(table: DemandTable, name: str, size: int | None, summary: str = "") -> Problem:
    """Return the problem of matching the demand of a table."""
    details = table.details
    return Problem(
        name=name,
        summary=summary or f"match the demand at {len(table)} places",
        population=Population(_columns(table), size=size),
        payoff=DemandPayoff(table.demand),
        optimum=Optimum(0.0, table.demand[None, :]),
        feedback=("system", "agents", "cells"),
        source=str(details.get("source", "the user's own table")),
        license=str(details.get("license", "the user's own")),
        places=table.coordinates,
        grid=_grid(table),
        demand=table.demand,
    )


def bay_area_bike() -> Problem:
    """Return 300 bikes at the San Francisco stations, demand of twenty Saturdays of 2014."""
    table = embedded_demand("bay-area-bike")
    return problem_of_table(table, "bay-area-bike", 300, "place 300 bikes where Saturday's riders are")


def louvelo(data: DemandTable | str | PathLike[str] | None = None) -> Problem:
    """Return 300 bikes at the LouVelo stations of a trip file or table; without one, the Bay Area stand-in."""
    if data is not None:
        table = data if isinstance(data, DemandTable) else load_demand(data)
        return problem_of_table(table, "louvelo", 300, "place 300 LouVelo bikes where the riders are")
    table = embedded_demand("bay-area-bike")
    stand_in = problem_of_table(table, "louvelo", 300, "place 300 bikes (stand-in: Bay Area demand)")
    return stand_in.with_note("no LouVelo file given (--data FILE): using the embedded Bay Area demand as a stand-in")


def nyc_12x20(data: DemandTable | str | PathLike[str] | None = None) -> Problem:
    """Return ``nyc`` on the coarse grid."""
    return nyc("12x20", data)


def nyc_15x26(data: DemandTable | str | PathLike[str] | None = None) -> Problem:
    """Return ``nyc`` on the medium grid."""
    return nyc("15x26", data)


def nyc_20x36(data: DemandTable | str | PathLike[str] | None = None) -> Problem:
    """Return ``nyc`` on the fine grid."""
    return nyc("20x36", data)


def nyc(grid: str, data: DemandTable | str | PathLike[str] | None = None) -> Problem:
    """Return 20,000 taxis on a Manhattan grid ("12x20", "15x26", "20x36"), or on the places of a user's file."""
    if data is None:
        table = embedded_demand(f"nyc-{grid}")
    elif isinstance(data, DemandTable):
        table = data
    elif file_kind(data) == "taxi trips":
        table = build_taxi(data, grid=parse_grid(grid))
    else:
        table = load_demand(data)
    return problem_of_table(table, f"nyc-{grid}", 20_000, f"place 20,000 taxis on a {grid} grid of Manhattan")


def _columns(table: DemandTable) -> dict[str, Any]:
    features = {name: table.features[:, j] for j, name in enumerate(table.feature_names)}
    return {"name": table.names, **features}


def _grid(table: DemandTable) -> FloatArray | None:
    if not {"row", "column"} <= set(table.extras):
        return None
    return np.stack([table.extras["row"], table.extras["column"]], axis=1).astype(np.float64)
