"""The project's own tables, by name: how each is built from the official raw files."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mfbo.errors import InvalidInputError
from mfbo.problems.tables.bikes import BAY_AREA, LOUVELO, build_bikes
from mfbo.problems.tables.port_table import PortTable, choose_ports
from mfbo.problems.tables.provenance import USER_FILES, file_names
from mfbo.problems.tables.rawfiles import PathsLike, Progress, checked_paths
from mfbo.problems.tables.table_writer import Table
from mfbo.problems.tables.taxi import NYC_TLC, build_taxi_grids, taxi_filter
from mfbo.problems.tables.user_files import file_kind
from mfbo.problems.tables.world_ports import build_ports, composition
from mfbo.validation import known_name

NYC_GRIDS = {"nyc-12x20": (12, 20), "nyc-15x26": (15, 26), "nyc-20x36": (20, 36)}
CHOSEN_PORTS = 30
LEAST_PER_REGION = 2
PORTS_SEED = 0
ALL_DAYS: dict[str, Any] = {"weekdays": "mon-sun", "weeks": None}
TAXI_DAYS: dict[str, Any] = {"weekdays": "mon-fri", "hours": "15-18", "weeks": None, "method": "pooled"}
OWN_TRIPS = ("bikes", "taxi-zones")  # tables of whoever brings trips: all days of all stations, weekday rush of zones


def build_named(name: str, paths: PathsLike, *, progress: Progress | None = None) -> dict[str, Table]:
    """Build the table ``name`` of ``RECIPES`` from raw files, with the project's own filter.

    "nyc" builds the three grids in one reading of the files; any other name builds one table.
    """
    return RECIPES[known_name(name, "table", tuple(RECIPES))](name, paths, progress)


def _nyc(name: str, paths: PathsLike, progress: Progress | None) -> dict[str, Table]:
    names = tuple(NYC_GRIDS) if name == "nyc" else (name,)
    commands = [_command(grid, paths) for grid in names]
    grids = [NYC_GRIDS[grid] for grid in names]
    tables = build_taxi_grids(paths, grids, taxi_filter(), commands=commands, progress=progress)
    return dict(zip(names, tables, strict=True))


def _bay_area(name: str, paths: PathsLike, progress: Progress | None) -> dict[str, Table]:
    trips, stations = trips_and_stations(name, paths)
    table = build_bikes(
        trips,
        stations,
        city="San Francisco",
        weekdays="saturday",
        first_day="2014-05-03",
        weeks=20,
        command=_command(name, [*trips, *([stations] if stations else [])]),
        origin=BAY_AREA,
        progress=progress,
    )
    return {name: table}


def _bay_area_week(name: str, paths: PathsLike, progress: Progress | None) -> dict[str, Table]:
    trips, stations = trips_and_stations(name, paths)
    table = build_bikes(
        trips,
        stations,
        city="San Francisco",
        weekdays="mon-sun",
        weeks=None,
        by_day=True,
        command=_command(name, [*trips, *([stations] if stations else [])]),
        origin=BAY_AREA,
        progress=progress,
    )
    return {name: table}


def _louvelo(name: str, paths: PathsLike, progress: Progress | None) -> dict[str, Table]:
    trips, stations = trips_and_stations(name, paths)
    command = _command(name, paths)
    return {name: build_bikes(trips, stations, command=command, origin=LOUVELO, progress=progress)}


def _own(name: str, paths: PathsLike, progress: Progress | None) -> dict[str, Table]:
    trips, stations = trips_and_stations(name, paths)
    command = _command(name, paths)
    days, origin = (TAXI_DAYS, NYC_TLC) if name == "taxi-zones" else (ALL_DAYS, USER_FILES)
    return {name: build_bikes(trips, stations, **days, command=command, origin=origin, progress=progress)}


def trips_and_stations(name: str, paths: PathsLike, apart: Path | None = None) -> tuple[list[Path], Path | None]:
    """Return the trip files and the station file, which stands among the files or is told ``apart``.

    The Bay Area's trips name their stations only, so its station file is needed.
    """
    files = checked_paths(paths)
    listed = [path for path in files if file_kind(path) == "bike stations"]
    trips = [path for path in files if path not in listed]
    stations = listed if apart is None else [*listed, apart]
    needed = name.startswith("bay-area")
    if not trips or len(stations) > 1 or (needed and not stations):
        wanted = "one station file" if needed else "at most one station file"
        raise InvalidInputError(
            f"{name} needs trip files and {wanted} (among RAW or as --stations), not {len(trips)} and {len(stations)}"
        )
    return trips, stations[0] if stations else None


def _ports(name: str, paths: PathsLike, progress: Progress | None) -> dict[str, Table]:
    everything = build_ports(paths, command=_command(name, paths), progress=progress)
    if name == "ports":
        return {name: everything}
    return {name: some_ports(everything)}


def some_ports(everything: PortTable, count: int = CHOSEN_PORTS, seed: int = PORTS_SEED) -> PortTable:
    """Return a seeded choice of ports, with the choice written into its details."""
    few = choose_ports(everything, count, np.random.default_rng(seed), least=LEAST_PER_REGION)
    choice = {"count": count, "least_per_region": LEAST_PER_REGION, "seed": seed}
    details: dict[str, Any] = dict(everything.details)
    details["filter"] = details["filter"] | {"choice": choice}
    details["counts"] = details["counts"] | {"chosen": len(few)} | composition(few)
    return replace(few, details=details)


def _command(name: str, paths: PathsLike) -> str:
    return f"mfbo data build {name} {file_names(paths)}"


RECIPES: dict[str, Callable[[str, PathsLike, Progress | None], dict[str, Table]]] = {
    "nyc": _nyc,
    "nyc-12x20": _nyc,
    "nyc-15x26": _nyc,
    "nyc-20x36": _nyc,
    "bay-area-bike": _bay_area,
    "bay-area-week": _bay_area_week,
    "louvelo": _louvelo,
    "bikes": _own,
    "taxi-zones": _own,
    "ports": _ports,
    "ports-30": _ports,
}
