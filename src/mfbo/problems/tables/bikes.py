"""Demand per station, from trips of any known layout: bikes at stations, taxis in zones."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.problems.tables.bike_stations import ELSEWHERE, NO_ZONE, PLACELESS, REASONS, UNKNOWN, Located, Station
from mfbo.problems.tables.counting import DailyCounts, Method, Tally, check_method, demand_shares
from mfbo.problems.tables.days import Weeks, hour_numbers, weeks_of
from mfbo.problems.tables.demand_table import DemandTable
from mfbo.problems.tables.moments import DAY_SECONDS
from mfbo.problems.tables.provenance import USER_FILES, Origin, call, file_names, origin_details, period
from mfbo.problems.tables.rawfiles import PathsLike, Progress
from mfbo.problems.tables.trip_chunks import TripChunk, TripReader
from mfbo.problems.tables.trip_files import DATE, NOWHERE, SHORT, TWICE, id_key, unique_station_names

BAY_AREA = Origin("Bay Area Bike Share open data, trips and stations", "CC0 1.0 (public domain)")
LOUVELO = Origin("LouVelo trips, Louisville Metro Open Data, https://data.louisvilleky.gov", "terms of that portal")

_DAY, _HOUR, _WEEKS = "on other weekdays", "at other hours", "outside the weeks"
_REASONS = (SHORT, DATE, _DAY, *(REASONS[code] for code in (PLACELESS, UNKNOWN, ELSEWHERE)), _WEEKS, NOWHERE)
_SELDOM = (TWICE, _HOUR, REASONS[NO_ZONE])  # told only where they occur
_ALL_HOURS = tuple(range(24))


def build_bikes(
    trips: PathsLike,
    stations: str | PathLike[str] | None = None,
    *,
    city: str | None = None,
    weekdays: str | int | Iterable[str | int] = "saturday",
    hours: str | int | Iterable[int] | None = None,
    first_day: str | date | None = None,
    weeks: int | None = 20,
    method: Method = "daily",
    columns: Mapping[str, str] | None = None,
    by_day: bool = False,
    command: str | None = None,
    origin: Origin = USER_FILES,
    progress: Progress | None = None,
) -> DemandTable:
    """Build the demand table of stations from trip files of any known layout; one row for each with a pickup.

    stations: the station file; without it the trips must carry start coordinates, or be of taxi zones. city: only
    that ``landmark``. hours: "15-18" counts pickups from 15:00 up to 18:00 only. weeks: consecutive ones from
    ``first_day`` on (default: the first such weekday with a pickup); None takes all. method "daily" is the paper's, the
    mean of the normalized days; "pooled" the share of all pickups. columns: purpose → column, for unknown layouts.
    by_day: keep the pickups of every day too, in columns like 2014-05-03. A table that was read before, in another file
    or twice in one archive, is counted once.
    """
    chosen = _Chosen(weeks_of(weekdays, first_day, weeks), None if hours is None else hour_numbers(hours))
    check_method(method)
    reader = TripReader(stations, city, columns=columns, ends=False, points=True)
    tally, total = Tally((*_REASONS, *_SELDOM)), _Pickups()
    _count(reader, trips, chosen, tally, total, progress)
    days = chosen.weeks.days(total.counts.days, total)
    found, listed = _located(total, days, reader, tally)
    if not tally.kept:
        raise tally.refusal(file_names(trips), "check the city, the weekday and the weeks against the files")
    tally.reasons = (*_REASONS, *(reason for reason in _SELDOM if tally.skipped[reason]))
    options = chosen.as_details(city, method, columns)
    details = origin_details(origin, trips, stations)
    details |= {"period": period(days, np.unique(found[0]).tolist()), "filter": options, "counts": tally.as_details()}
    details["command"] = command or call("build_bikes", trips, stations=stations and Path(stations), **options)
    return _table(found, listed, method, details, by_day=by_day)


@dataclass(frozen=True)
class _Chosen:
    """Which pickups count; hours: None for all."""

    weeks: Weeks
    hours: tuple[int, ...] | None

    def as_details(self, city: str | None, method: Method, columns: Mapping[str, str] | None) -> dict[str, Any]:
        """Return what was chosen, for the table's details and its command."""
        details: dict[str, Any] = {"city": city, "method": method} | self.weeks.as_details()
        details |= {} if self.hours is None else {"hours": list(self.hours)}
        return details | ({} if columns is None else {"columns": dict(columns)})


@dataclass
class _Pickups:
    """Pickups counted by day and place, what was skipped, and the first and last day seen."""

    counts: DailyCounts = field(default_factory=DailyCounts)
    skipped: Counter[str] = field(default_factory=Counter)
    first_day: int | None = None
    last_day: int | None = None

    def add(self, moments: FloatArray, places: IntArray, chosen: _Chosen) -> None:
        """Count the pickups of a chunk; each row is skipped for the first reason that holds."""
        readable = ~np.isnan(moments)
        self.skipped[DATE] += int((~readable).sum())
        moments, places = moments[readable], places[readable]
        days = (moments // DAY_SECONDS).astype(np.int64)
        if len(days):
            self.see(int(days.min()), int(days.max()))
        left = np.ones(len(days), dtype=bool)
        tests = {
            _DAY: np.isin((days - 1) % 7, chosen.weeks.weekdays),  # day 1 was a Monday
            _HOUR: np.isin(moments % DAY_SECONDS // 3600, _ALL_HOURS if chosen.hours is None else chosen.hours),
        } | {reason: places != code for code, reason in REASONS.items()}
        for reason, fits in tests.items():
            self.skipped[reason] += int((left & ~fits).sum())
            left &= fits
        if left.any():
            self.counts.add(days[left], places[left])

    def see(self, first: int, last: int) -> None:
        """Widen the days seen."""
        self.first_day = first if self.first_day is None else min(self.first_day, first)
        self.last_day = last if self.last_day is None else max(self.last_day, last)

    def merge(self, other: "_Pickups") -> None:
        """Add what another reading has counted."""
        self.counts.merge(other.counts)
        self.skipped.update(other.skipped)
        if other.first_day is not None and other.last_day is not None:
            self.see(other.first_day, other.last_day)


class _SourceCount:
    """The pickups of one source under both readings of its dates, until it is known which one fits."""

    def __init__(self) -> None:
        self.rows = 0
        self.short = 0
        self.month_first = _Pickups()
        self.day_first: _Pickups | None = None
        self.only = [0, 0]  # stamps that can be read month first only, day first only
        self.digest = 0

    def add(self, chunk: TripChunk, chosen: _Chosen) -> None:
        """Count a chunk."""
        starts, other = chunk.starts
        if other is not None:
            one_way, other_way = np.isnan(other) & ~np.isnan(starts), np.isnan(starts) & ~np.isnan(other)
            self.only = [self.only[0] + int(one_way.sum()), self.only[1] + int(other_way.sum())]
            if self.day_first is None and self.rows == 0:
                self.day_first = _Pickups()
        self.month_first.add(starts, chunk.origins, chosen)
        if self.day_first is not None:
            self.day_first.add(starts if other is None else other, chunk.origins, chosen)
        self.rows += len(chunk)
        self.short += chunk.short
        self.digest = (self.digest + int(chunk.marks.astype(np.uint64).sum())) % 2**64

    @property
    def pickups(self) -> _Pickups:
        """The reading that fits: day first only if some stamps can be read no other way, and none is month first."""
        day_first = self.day_first is not None and self.only[1] > 0 and self.only[0] == 0
        return self.day_first if day_first and self.day_first is not None else self.month_first


def _count(
    reader: TripReader, trips: PathsLike, chosen: _Chosen, tally: Tally, total: _Pickups, progress: Progress | None
) -> None:
    seen: set[tuple[int, int]] = set()

    def finish(source: _SourceCount) -> None:
        tally.rows += source.rows + source.short
        tally.skipped[SHORT] += source.short
        if source.rows and (source.rows, source.digest) in seen:
            tally.skipped[TWICE] += source.rows
            return
        seen.add((source.rows, source.digest))
        total.merge(source.pickups)
        tally.skipped.update(source.pickups.skipped)

    current, number = _SourceCount(), 0
    for chunk in reader.chunks(trips, progress):
        if chunk.source != number:
            finish(current)
            current, number = _SourceCount(), chunk.source
        current.add(chunk, chosen)
    finish(current)


def _located(
    total: _Pickups, days: tuple[int, ...], reader: TripReader, tally: Tally
) -> tuple[tuple[IntArray, IntArray, IntArray], list[Station]]:
    """Return (days, places, counts) inside the weeks and on the map, with places renumbered in order of their ids."""
    day, place, count = total.counts.of_days(days)
    tally.skipped[_WEEKS] = total.counts.total - int(count.sum())
    located = _stations(reader, total.counts)
    order = sorted(
        (id_key(station.id), number)
        for number, station in enumerate(located.stations)
        if not np.isnan(station.longitude)
    )
    rank = np.full(len(located.stations) + 1, -1)  # the last entry is what −1 finds
    for position, (_, number) in enumerate(order):
        rank[number] = position
    station = rank[located.of_place[place]] if len(place) else place
    on_map = station >= 0
    tally.skipped[NOWHERE] = int(count[~on_map].sum())
    return (day[on_map], station[on_map], count[on_map]), [located.stations[number] for _, number in order]


def _stations(reader: TripReader, counts: DailyCounts) -> Located:
    """Return the stations, given all pickups of all chosen weekdays."""
    if reader.book is None:
        return Located([], np.empty(0, dtype=np.int64))
    day, place, count = counts.of_days(counts.days)
    size = int(place.max(initial=-1)) + 1
    trips = np.bincount(place, weights=count, minlength=size).astype(np.int64)
    last = np.full(size, -np.inf)
    np.maximum.at(last, place, day.astype(np.float64))
    return reader.book.located(trips, last)


def _table(
    found: tuple[IntArray, IntArray, IntArray],
    stations: list[Station],
    method: Method,
    details: dict[str, Any],
    *,
    by_day: bool,
) -> DemandTable:
    places, pickups, demand = demand_shares(*found, method)
    chosen = [stations[place] for place in places.tolist()]
    extras = {"pickups": pickups}
    docks = [station.docks for station in chosen if station.docks is not None]
    if len(docks) == len(chosen):
        extras = {"docks": np.array(docks, dtype=np.int64), "pickups": pickups}
    if by_day:
        extras |= _daily(*found, places)
    return DemandTable(
        names=unique_station_names(chosen),
        feature_names=("longitude", "latitude"),
        features=np.array([[round(station.longitude, 6), round(station.latitude, 6)] for station in chosen]),
        demand=demand,
        extras=extras,
        details=details,
    )


def _daily(days: IntArray, places: IntArray, counts: IntArray, listed: IntArray) -> dict[str, IntArray]:
    """Return the pickups of every day at the listed places, by date."""
    table = np.zeros((len(np.unique(days)), len(listed)), dtype=np.int64)
    every_day, row = np.unique(days, return_inverse=True)
    table[row, np.searchsorted(listed, places)] = counts
    return {date.fromordinal(day).isoformat(): table[place] for place, day in enumerate(every_day.tolist())}
