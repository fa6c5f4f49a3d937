"""A user's file, whatever it is: told apart by its columns, and made a demand table."""

from os import PathLike
from typing import Literal

from mfbo.errors import InvalidInputError
from mfbo.problems.tables import bike_stations, taxi, world_ports
from mfbo.problems.tables.bikes import build_bikes
from mfbo.problems.tables.columns import Source, find_column
from mfbo.problems.tables.demand_table import DemandTable
from mfbo.problems.tables.rawfiles import Progress, sources
from mfbo.problems.tables.table_reader import NAME_COLUMNS, PORT_COLUMNS, read_demand
from mfbo.problems.tables.taxi import build_taxi

FileKind = Literal["demand table", "port table", "taxi trips", "bike trips", "bike stations", "world port index"]


def file_kind(path: str | PathLike[str]) -> FileKind:
    """Return what a file holds, by the columns of its (first) table; only its beginning is read."""
    for source in sources(path):
        kind = _kind(source)
        if kind is not None:
            return kind
        shown = ", ".join(name[:40] for name in source.columns[:12])
        raise InvalidInputError(
            f"{source.label} is neither a demand table (name, demand, features) nor a trip file we know; "
            f"it starts with the columns {shown}"
        )
    raise InvalidInputError(f"{path} holds no table")


def _kind(source: Source) -> FileKind | None:
    tests: dict[FileKind, bool] = {
        "demand table": "demand" in source.columns and find_column(source, NAME_COLUMNS) is not None,
        "port table": set(PORT_COLUMNS) <= set(source.columns),
        "world port index": _has_all(source, world_ports.COLUMNS),
        "taxi trips": find_column(source, taxi.COLUMNS["the pickup time"]) is not None,
        "bike trips": _has_all(source, bike_stations.StationFile.columns),
        "bike stations": _has_all(source, bike_stations.STATION_COLUMNS),
    }
    return next((kind for kind, fits in tests.items() if fits), None)


def _has_all(source: Source, wanted: dict[str, tuple[str, ...]]) -> bool:
    return all(find_column(source, names) is not None for names in wanted.values())


def load_demand(path: str | PathLike[str], *, progress: Progress | None = None) -> DemandTable:
    """Make a demand table of a user's file: a table as it is, raw bike or taxi trips with the default filter."""
    kind = file_kind(path)
    if kind == "demand table":
        return read_demand(path)
    if kind == "bike trips":
        return build_bikes(path, weekdays="mon-sun", weeks=None, progress=progress)
    if kind == "taxi trips":
        return build_taxi(path, progress=progress)
    raise InvalidInputError(f"{path} holds {kind}, not demand; give a table with name and demand, or trip files")
