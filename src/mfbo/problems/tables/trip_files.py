"""Trips of any known layout, read into one record; what was read and skipped, and why, is told in its details."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from mfbo.arrays import BoolArray, FloatArray, IntArray
from mfbo.problems.tables.bike_stations import PLACELESS, REASONS, Located, Station
from mfbo.problems.tables.counting import Tally
from mfbo.problems.tables.moments import DAY_SECONDS
from mfbo.problems.tables.provenance import USER_FILES, Origin, file_names, origin_details, period
from mfbo.problems.tables.rawfiles import PathsLike, Progress
from mfbo.problems.tables.trip_chunks import TripChunk, TripReader
from mfbo.problems.tables.trip_table import Trips

SHORT, DATE, TWICE = "incomplete row", "unreadable date", "read twice"
NOWHERE = "at a station without coordinates"
_REASONS = (SHORT, DATE, TWICE, *REASONS.values(), NOWHERE)


def read_trips(
    trips: PathsLike,
    stations: str | PathLike[str] | None = None,
    *,
    city: str | None = None,
    columns: Mapping[str, str] | None = None,
    origin: Origin = USER_FILES,
    progress: Progress | None = None,
) -> Trips:
    """Read trip files (.csv, .csv.gz, .zip, .parquet, any number) of any known layout, or with named ``columns``.

    stations: a station file, where the trips carry no coordinates. columns: purpose → name of the column, for a layout
    that is not known; purposes are start, station, end, to, name, longitude, latitude, to_name, …, trip and bike.
    Trips that stand in several of the files are taken once. Stations are those where a trip starts.
    """
    reader = TripReader(stations, city, columns=columns)
    tally, notes = Tally(_REASONS), Counter[str]()
    table = _gathered(reader, trips, tally, notes, progress)
    located = _located(reader, table)
    taken, station = _taken(table, located, tally)
    if not tally.kept:
        raise tally.refusal(file_names(trips), "check that these are trips, and name their columns if need be")
    used, origins = np.unique(station[table.origins[taken]], return_inverse=True)
    chosen = [located.stations[number] for number in used.tolist()]
    order = sorted(range(len(chosen)), key=lambda number: id_key(chosen[number].id))
    rank = np.argsort(order)
    destinations = _destinations(table.destinations[taken], station, used, rank)
    days = np.floor(table.starts[taken] / DAY_SECONDS).astype(np.int64)
    starts, ends = table.starts[taken] - days * DAY_SECONDS, table.ends[taken] - days * DAY_SECONDS
    notes |= _end_notes(starts, ends, destinations)
    details = origin_details(origin, trips, stations)
    details |= {"period": period((), np.unique(days).tolist()), "counts": tally.as_details()}
    details["notes"] = {note: count for note, count in notes.items() if count}
    names, points = _named_points([chosen[number] for number in order])
    return Trips(names, points, days, starts, rank[origins], ends, destinations, details=details)


def _named_points(stations: Sequence[Station]) -> tuple[tuple[str, ...], FloatArray | None]:
    """Return the stations' names, and their coordinates (A, 2) if all have some."""
    points = np.array([[station.longitude, station.latitude] for station in stations])
    return unique_station_names(stations), None if np.isnan(points).any() else points


def id_key(identity: str) -> tuple[int, int, str]:
    """Return what stations are sorted by: numbers first, by their size."""
    return (0, int(identity), "") if identity.isdecimal() and len(identity) < 20 else (1, 0, identity)


def unique_station_names(stations: Sequence[Station]) -> tuple[str, ...]:
    """Return the stations' names; those that two share get their ids, and if these are equal too, a number."""
    names = Counter(station.name for station in stations)
    labels = [f"{station.name} ({station.id})" if names[station.name] > 1 else station.name for station in stations]
    seen = Counter[str]()
    for position, label in enumerate(labels):
        seen[label] += 1
        if seen[label] > 1:
            labels[position] = f"{label} #{seen[label]}"
    return tuple(labels)


def reads_day_first(month_first: FloatArray, day_first: FloatArray | None) -> bool:
    """Say whether a file's dates are day first: only if some can be read no other way, and none is month first."""
    if day_first is None:
        return False
    one, other = np.isnan(month_first), np.isnan(day_first)
    return bool((one & ~other).any() and not (other & ~one).any())


@dataclass(frozen=True, eq=False)
class _Table:
    """All trips of all sources, (n,) each; moments and places as in ``TripChunk``."""

    starts: FloatArray
    ends: FloatArray
    origins: IntArray
    destinations: IntArray
    marks: IntArray


def _gathered(
    reader: TripReader, paths: PathsLike, tally: Tally, notes: Counter[str], progress: Progress | None
) -> _Table:
    parts: list[_Table] = []
    waiting: list[TripChunk] = []
    for chunk in reader.chunks(paths, progress):
        tally.rows += len(chunk) + chunk.short
        tally.skipped[SHORT] += chunk.short
        if waiting and waiting[0].source != chunk.source:
            parts.append(_resolved(waiting, notes))
            waiting = []
        waiting.append(chunk)
    if waiting:
        parts.append(_resolved(waiting, notes))
    if not parts:
        nothing = np.empty(0, dtype=np.int64)
        return _Table(np.empty(0), np.empty(0), nothing, nothing, nothing)
    names = ("starts", "ends", "origins", "destinations", "marks")
    return _Table(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _resolved(chunks: list[TripChunk], notes: Counter[str]) -> _Table:
    """Join the chunks of one source, with its dates read the way that fits all of them."""
    starts, other = _joined([chunk.starts for chunk in chunks])
    ends, other_ends = _joined([chunk.ends for chunk in chunks])
    if reads_day_first(starts, other):
        assert other is not None
        starts, ends = other, ends if other_ends is None else other_ends
        notes["tables with the day before the month"] += 1
    marks = np.concatenate([chunk.marks for chunk in chunks])
    if not chunks[0].marked:
        marks = marks ^ (_occurrences(marks) << 40)  # without ids two riders may well look the same
    origins, destinations = (
        np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in ("origins", "destinations")
    )
    return _Table(starts, ends, origins, destinations, marks)


def _joined(columns: Sequence[tuple[FloatArray, FloatArray | None]]) -> tuple[FloatArray, FloatArray | None]:
    first = np.concatenate([column[0] for column in columns])
    if all(column[1] is None for column in columns):
        return first, None
    return first, np.concatenate([column[0] if column[1] is None else column[1] for column in columns])


def _occurrences(marks: IntArray) -> IntArray:
    """Return how many equal marks stand before each, (n,)."""
    order = np.argsort(marks, kind="stable")
    ordered = marks[order]
    new = np.append(True, ordered[1:] != ordered[:-1])
    first = np.maximum.accumulate(np.where(new, np.arange(len(marks)), 0))
    counts = np.empty(len(marks), dtype=np.int64)
    counts[order] = np.arange(len(marks)) - first
    return counts


def _located(reader: TripReader, table: _Table) -> Located:
    size = 1 + max(int(table.origins.max(initial=-1)), int(table.destinations.max(initial=-1)), -1)
    trips, last = np.zeros(size, dtype=np.int64), np.full(size, -np.inf)
    for places, moments in ((table.origins, table.starts), (table.destinations, table.ends)):
        trips += np.bincount(places[places >= 0], minlength=size)
        timed = (places >= 0) & ~np.isnan(moments)
        np.maximum.at(last, places[timed], moments[timed])
    assert reader.book is not None or not len(table.origins)
    return Located([], np.empty(0, dtype=np.int64)) if reader.book is None else reader.book.located(trips, last)


def _taken(table: _Table, located: Located, tally: Tally) -> tuple[BoolArray, IntArray]:
    """Return which trips stay, (n,), and the station of each place; the others are tallied by the first reason."""
    left = np.ones(len(table.starts), dtype=bool)

    def drop(reason: str, chosen: BoolArray) -> None:
        nonlocal left
        tally.skipped[reason] += int((left & chosen).sum())
        left = left & ~chosen

    drop(DATE, np.isnan(table.starts))
    first = np.zeros(len(left), dtype=bool)
    first[np.unique(table.marks, return_index=True)[1]] = True
    drop(TWICE, ~first)
    for code, reason in REASONS.items():
        drop(reason, table.origins == code)
    placeless = np.array([np.isnan(station.longitude) for station in located.stations], dtype=bool)
    station = located.of_place.copy()
    if placeless.any() and not placeless.all():
        station[np.isin(station, np.flatnonzero(placeless))] = -1
        drop(NOWHERE, (table.origins >= 0) & (station[table.origins] < 0))
    return left, station


def _destinations(places: IntArray, station: IntArray, used: IntArray, rank: IntArray) -> IntArray:
    """Return the destinations as positions in the table of stations, −1 for the others."""
    position = np.full(int(max(station.max(initial=0), used.max())) + 2, -1)  # the last entry is what −1 finds
    position[used] = rank
    stations = np.where(places >= 0, station[np.maximum(places, 0)], -1)
    return np.asarray(position[stations])


def _end_notes(starts: FloatArray, ends: FloatArray, destinations: IntArray) -> Counter[str]:
    return Counter(
        {
            "trips without the time of their end": int(np.isnan(ends).sum()),
            "trips that end before they start": int((ends < starts).sum()),
            "trips that end at no station of the table": int((destinations == PLACELESS).sum()),
        }
    )


def told_record(details: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return what was read of trip files as lines of (what, count): rows, what was skipped and why, trips, notes."""
    counts = details["counts"]
    skipped = [(f"skipped: {reason}", count) for reason, count in counts["skipped"].items() if count]
    return [("rows read", counts["rows"]), *skipped, ("trips", counts["kept"]), *details.get("notes", {}).items()]
