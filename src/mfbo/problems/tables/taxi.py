"""Taxi demand on a grid, from the trip records of the New York Taxi & Limousine Commission, any official layout."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from mfbo.arrays import IntArray
from mfbo.errors import InvalidInputError
from mfbo.problems.tables.columns import Source, find_column, needed_columns
from mfbo.problems.tables.counting import DailyCounts, Method, Tally, check_method, demand_shares
from mfbo.problems.tables.days import Clock, Weeks, hour_numbers, weeks_of
from mfbo.problems.tables.demand_table import DemandTable
from mfbo.problems.tables.grid import Box, Grid
from mfbo.problems.tables.points import on_the_map
from mfbo.problems.tables.provenance import Origin, call, described_files, file_names, period
from mfbo.problems.tables.rawfiles import PathsLike, Progress, sources

NYC_TLC = Origin(
    "NYC Taxi & Limousine Commission trip records, https://www.nyc.gov/site/tlc/about/tlc-trip-record-data.page",
    "open data of the City of New York; the table holds counts only",
)
MANHATTAN = Box(west=-74.015, south=40.705, east=-73.955, north=40.785)

COLUMNS: dict[str, tuple[str, ...]] = {
    "the pickup time": ("tpep_pickup_datetime", "lpep_pickup_datetime", "trip_pickup_datetime", "pickup_datetime"),
    "the pickup longitude": ("pickup_longitude", "start_lon"),
    "the pickup latitude": ("pickup_latitude", "start_lat"),
}
_ZONES = ("pulocationid", "pickup_location_id", "locationid")

_SHORT, _DATE, _MAP = "incomplete row", "unreadable date", "coordinates off the map"
_DAY, _HOUR, _BOX, _WEEKS = "on other weekdays", "at other hours", "outside the box", "outside the weeks"
_REASONS = (_SHORT, _DATE, _MAP, _DAY, _HOUR, _BOX, _WEEKS)


@dataclass(frozen=True)
class TaxiFilter:
    """Which pickups count, and how counts become shares. Make one with ``taxi_filter``."""

    box: Box
    weeks: Weeks
    hours: tuple[int, ...]
    method: Method

    def reason_or_pickup(self, row: tuple[Any, ...], clock: Clock) -> str | tuple[int, float, float]:
        """Return why a row (time, longitude, latitude) is skipped, or its (day, longitude, latitude)."""
        moment = clock.read(row[0])
        if moment is None:
            return _DATE
        point = on_the_map(row[1], row[2])
        if point is None:
            return _MAP
        day, weekday, hour = moment
        if weekday not in self.weeks.weekdays:
            return _DAY
        if hour not in self.hours:
            return _HOUR
        if not self.box.holds(*point):
            return _BOX
        return day, *point

    def as_details(self, grid: Grid) -> dict[str, Any]:
        """Return the filter for a table's details."""
        box = self.box
        return {
            "box": {"west": box.west, "south": box.south, "east": box.east, "north": box.north},
            "grid": {"columns": grid.columns, "rows": grid.rows, "cells": "those with demand"},
            "hours": list(self.hours),
            "method": self.method,
        } | self.weeks.as_details()


def taxi_filter(
    *,
    box: Box = MANHATTAN,
    weekdays: str | int | Iterable[str | int] = "mon-fri",
    hours: str | int | Iterable[int] = "15-18",
    first_day: str | date | None = None,
    weeks: int | None = None,
    method: Method = "pooled",
) -> TaxiFilter:
    """Return a checked filter; the defaults are the project's: weekdays from 15:00 to 18:00, all weeks of the files.

    ``weeks`` counts consecutive weeks from ``first_day`` on (default: from the first day with a pickup).

    method "pooled" takes the share of all pickups; "daily" is the paper's way, the mean of the normalized daily
    distributions. The embedded tables are pooled: their 5 % sample leaves about 46 pickups a day for 158 to 409
    squares, so a single day's distribution is mostly noise, and weighing quiet days like busy ones only adds to it.
    """
    return TaxiFilter(box, weeks_of(weekdays, first_day, weeks), hour_numbers(hours), check_method(method))


def build_taxi(
    paths: PathsLike,
    *,
    grid: tuple[int, int] = (12, 20),
    box: Box = MANHATTAN,
    weekdays: str | int | Iterable[str | int] = "mon-fri",
    hours: str | int | Iterable[int] = "15-18",
    first_day: str | date | None = None,
    weeks: int | None = None,
    method: Method = "pooled",
    command: str | None = None,
    origin: Origin = NYC_TLC,
    progress: Progress | None = None,
) -> DemandTable:
    """Build the demand table of one grid (columns, rows) from taxi trip files; options as in ``taxi_filter``.

    One row for each square with demand: 'r05c03' is row 5 from the south, column 3 from the west; features are the
    longitude and latitude of its center; extras are row, column and pickups. ``command`` goes into the details.
    """
    chosen = taxi_filter(box=box, weekdays=weekdays, hours=hours, first_day=first_day, weeks=weeks, method=method)
    return build_taxi_grids(paths, (grid,), chosen, commands=(command,), origin=origin, progress=progress)[0]


def build_taxi_grids(
    paths: PathsLike,
    grids: Sequence[tuple[int, int]],
    chosen: TaxiFilter,
    *,
    commands: Sequence[str | None],
    origin: Origin = NYC_TLC,
    progress: Progress | None = None,
) -> tuple[DemandTable, ...]:
    """Build one demand table for each grid (columns, rows), in one reading of the files; one command for each."""
    meshes = [Grid(chosen.box, columns, rows) for columns, rows in grids]
    clock, tally = Clock(), Tally(_REASONS)
    counts = [DailyCounts() for _ in meshes]
    for source in sources(paths, progress):
        for days, longitude, latitude in _pickups(source, chosen, clock, tally):
            for mesh, count in zip(meshes, counts, strict=True):
                count.add(days, mesh.squares(np.array(longitude), np.array(latitude)))
    days = chosen.weeks.days(counts[0].days, clock)
    inside = [count.of_days(days) for count in counts]
    tally.skipped[_WEEKS] = counts[0].total - int(inside[0][2].sum())
    if not tally.kept:
        raise tally.refusal(file_names(paths), "check the box, weekdays, hours and weeks against the files")
    common = {
        "source": origin.source,
        "license": origin.license,
        "files": described_files(paths),
        "period": period(days, np.unique(inside[0][0]).tolist()),
        "counts": tally.as_details(),
    }
    return tuple(
        _table(mesh, found, chosen, common | {"command": command or _python_call(paths, mesh, chosen)})
        for mesh, found, command in zip(meshes, inside, commands, strict=True)
    )


def _pickups(
    source: Source, chosen: TaxiFilter, clock: Clock, tally: Tally
) -> Iterable[tuple[tuple[int, ...], tuple[float, ...], tuple[float, ...]]]:
    """Yield (days, longitudes, latitudes) of the pickups that count, chunk by chunk, and tally the rest."""
    for rows, short in source.chunks(_taxi_columns(source)):
        tally.rows += len(rows) + short
        tally.skipped[_SHORT] += short
        pickups = []
        for row in rows:
            found = chosen.reason_or_pickup(row, clock)
            if isinstance(found, str):
                tally.skipped[found] += 1
            else:
                pickups.append(found)
        if pickups:
            days, longitude, latitude = zip(*pickups, strict=True)
            yield days, longitude, latitude


def _taxi_columns(source: Source) -> list[str]:
    zone = find_column(source, _ZONES)
    if zone is not None and find_column(source, COLUMNS["the pickup longitude"]) is None:
        raise InvalidInputError(
            f"{source.label} has zone ids ({zone}) and no coordinates, so it fits no grid; count its zones "
            "instead: mfbo data build taxi-zones FILE (files with coordinates end in June 2016)"
        )
    return needed_columns(source, COLUMNS, "a taxi trip file with coordinates")


def _table(
    mesh: Grid, found: tuple[IntArray, IntArray, IntArray], chosen: TaxiFilter, details: dict[str, Any]
) -> DemandTable:
    squares, pickups, demand = demand_shares(*found, chosen.method)
    rows, columns = np.divmod(squares, mesh.columns)
    return DemandTable(
        names=tuple(mesh.name(square) for square in squares.tolist()),
        feature_names=("longitude", "latitude"),
        features=mesh.centers(squares),
        demand=demand,
        extras={"row": rows, "column": columns, "pickups": pickups},
        details=details | {"filter": chosen.as_details(mesh)},
    )


def _python_call(paths: PathsLike, mesh: Grid, chosen: TaxiFilter) -> str:
    return call(
        "build_taxi",
        paths,
        grid=(mesh.columns, mesh.rows),
        box=chosen.box,
        hours=chosen.hours,
        method=chosen.method,
        **chosen.weeks.as_details(),
    )
