"""Bike demand per station, from Bay Area trips with a station file or LouVelo trips that carry coordinates."""

from collections.abc import Iterable
from datetime import date
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mfbo.arrays import IntArray
from mfbo.errors import InvalidInputError
from mfbo.problems.tables.bike_stations import (
    ELSEWHERE,
    LATITUDE,
    LONGITUDE,
    NO_ID,
    UNKNOWN,
    Station,
    StationBook,
    StationFile,
    StationsOfTrips,
    station_book,
)
from mfbo.problems.tables.columns import Source, find_column, needed_columns
from mfbo.problems.tables.counting import DailyCounts, Method, Tally, check_method, demand_shares
from mfbo.problems.tables.days import Clock, weeks_of
from mfbo.problems.tables.demand_table import DemandTable
from mfbo.problems.tables.provenance import USER_FILES, Origin, call, described_files, file_names, period
from mfbo.problems.tables.rawfiles import PathsLike, Progress, checked_paths, sources

BAY_AREA = Origin("Bay Area Bike Share open data, trips and stations", "CC0 1.0 (public domain)")
LOUVELO = Origin("LouVelo trips, Louisville Metro Open Data, https://data.louisvilleky.gov", "terms of that portal")

_SHORT, _DATE, _DAY = "incomplete row", "unreadable date", "on other weekdays"
_NOWHERE, _WEEKS = "at a station without coordinates", "outside the weeks"
_REASONS = (_SHORT, _DATE, _DAY, NO_ID, UNKNOWN, ELSEWHERE, _WEEKS, _NOWHERE)


def build_bikes(
    trips: PathsLike,
    stations: str | PathLike[str] | None = None,
    *,
    city: str | None = None,
    weekdays: str | int | Iterable[str | int] = "saturday",
    first_day: str | date | None = None,
    weeks: int | None = 20,
    method: Method = "daily",
    command: str | None = None,
    origin: Origin = USER_FILES,
    progress: Progress | None = None,
) -> DemandTable:
    """Build the demand table of bike stations from trip files; one row for each station with a pickup.

    stations: the station file (Bay Area); without it the trips must carry start coordinates (LouVelo). city: only
    that ``landmark``. weeks: consecutive ones from ``first_day`` on (default: the first such weekday with a pickup);
    None takes all. method "daily" is the paper's, the mean of the normalized days; "pooled" the share of all pickups.
    """
    chosen = weeks_of(weekdays, first_day, weeks)
    check_method(method)
    book = station_book(stations, city)
    clock, tally, counts = Clock(), Tally(_REASONS), DailyCounts()
    for source in sources(trips, progress):
        _count(source, book, chosen.weekdays, clock, tally, counts)
    days = chosen.days(counts.days, clock)
    found, listed = _located(counts, days, book, tally)
    if not tally.kept:
        raise tally.refusal(file_names(trips), "check the city, the weekday and the weeks against the files")
    options = {"city": city, "method": method} | chosen.as_details()
    details = {
        "source": origin.source,
        "license": origin.license,
        "files": described_files(trips if stations is None else [*checked_paths(trips), stations]),
        "period": period(days, np.unique(found[0]).tolist()),
        "filter": options,
        "counts": tally.as_details(),
        "command": command or call("build_bikes", trips, stations=stations and Path(stations), **options),
    }
    return _table(found, listed, method, details)


def _count(
    source: Source, book: StationBook, weekdays: tuple[int, ...], clock: Clock, tally: Tally, counts: DailyCounts
) -> None:
    for rows, short in source.chunks(_trip_columns(source, book)):
        tally.rows += len(rows) + short
        tally.skipped[_SHORT] += short
        pickups = []
        for row in rows:
            moment = clock.read(row[0])
            if moment is None:
                tally.skipped[_DATE] += 1
            elif moment[1] not in weekdays:
                tally.skipped[_DAY] += 1
            else:
                place = book.place(row)
                if isinstance(place, str):
                    tally.skipped[place] += 1
                else:
                    pickups.append((moment[0], place))
        if pickups:
            days, places = zip(*pickups, strict=True)
            counts.add(days, places)


def _trip_columns(source: Source, book: StationBook) -> list[str]:
    located = find_column(source, LONGITUDE) is not None and find_column(source, LATITUDE) is not None
    columns = needed_columns(source, StationFile.columns, "a bike trip file")
    if isinstance(book, StationsOfTrips) and not located:
        raise InvalidInputError(
            f"{source.label} has no start coordinates; give the station file of the same system too (stations=…)"
        )
    return needed_columns(source, book.columns, "a bike trip file") if located else columns


def _located(
    counts: DailyCounts, days: tuple[int, ...], book: StationBook, tally: Tally
) -> tuple[tuple[IntArray, IntArray, IntArray], list[Station]]:
    """Return (days, places, counts) inside the weeks and on the map, with places renumbered in order of their ids."""
    day, place, count = counts.of_days(days)
    tally.skipped[_WEEKS] = counts.total - int(count.sum())
    stations = book.stations()
    order = sorted((_id_key(station.id), number, station) for number, station in enumerate(stations) if station)
    renumbered = np.full(len(stations), -1, dtype=np.int64)
    for position, (_, number, _) in enumerate(order):
        renumbered[number] = position
    known = renumbered[place] >= 0
    tally.skipped[_NOWHERE] = int(count[~known].sum())
    return (day[known], renumbered[place[known]], count[known]), [station for _, _, station in order]


def _id_key(identity: str) -> tuple[int, int, str]:
    return (0, int(identity), "") if identity.isdecimal() else (1, 0, identity)


def _table(
    found: tuple[IntArray, IntArray, IntArray], stations: list[Station], method: Method, details: dict[str, Any]
) -> DemandTable:
    places, pickups, demand = demand_shares(*found, method)
    chosen = [stations[place] for place in places.tolist()]
    names = [station.name for station in chosen]
    twice = {name for name in names if names.count(name) > 1}
    extras = {"pickups": pickups}
    docks = [station.docks for station in chosen if station.docks is not None]
    if len(docks) == len(chosen):
        extras = {"docks": np.array(docks, dtype=np.int64), "pickups": pickups}
    return DemandTable(
        names=tuple(f"{each.name} ({each.id})" if each.name in twice else each.name for each in chosen),
        feature_names=("longitude", "latitude"),
        features=np.array([[round(each.longitude, 6), round(each.latitude, 6)] for each in chosen]),
        demand=demand,
        extras=extras,
        details=details,
    )
