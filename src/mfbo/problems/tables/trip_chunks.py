"""Trip files as a stream of arrays: moments, places and marks of the trips, chunk by chunk, in constant memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.errors import InvalidInputError
from mfbo.problems.tables.bike_stations import ELSEWHERE, StationBook, StationFile
from mfbo.problems.tables.columns import Source
from mfbo.problems.tables.moments import Moments
from mfbo.problems.tables.rawfiles import PathsLike, Progress, sources
from mfbo.problems.tables.trip_layouts import Layout, layout_of
from mfbo.problems.tables.trip_spots import StationsOfTrips
from mfbo.problems.tables.zones import ZoneBook

_START_PLACE = ("station", "name", "longitude", "latitude")
_END_PLACE = ("to", "to_name", "to_longitude", "to_latitude")
_MIXERS = np.array([-7046029254386353131, -4417276706812531889, 1609587929392839161, 9650029242287828579 >> 1])


@dataclass(frozen=True, eq=False)
class TripChunk:
    """Some trips of one source, in the order of the file.

    source: the position of the table among all that are read. short: rows that were too short. starts, ends: moments,
    as ``Moments`` reads them (month first, day first or None). origins, destinations: places or codes (negative).
    marks: what tells a trip from others. marked: whether two trips cannot share a mark.
    """

    source: int
    short: int
    starts: tuple[FloatArray, FloatArray | None]
    ends: tuple[FloatArray, FloatArray | None]
    origins: IntArray
    destinations: IntArray
    marks: IntArray
    marked: bool

    def __len__(self) -> int:
        return len(self.origins)


class TripReader:
    """Reads trip files of any known layout; the stations are those of its book once the first file is open.

    stations: a station file, or None to take the stations from the trips. columns: purpose → column name, for layouts
    that are not known. ends: whether the ends of the trips are wanted too. points: whether coordinates are a must.
    """

    def __init__(
        self,
        stations: str | PathLike[str] | None = None,
        city: str | None = None,
        *,
        columns: Mapping[str, str] | None = None,
        ends: bool = True,
        points: bool = False,
    ) -> None:
        if stations is None and city is not None:
            raise InvalidInputError(
                f"city={city!r} needs the station file: trips do not say which city a station is in"
            )
        self.book: StationBook | None = None if stations is None else StationFile(stations, city)
        self.zones = False
        self.labels: list[str] = []
        self._columns = columns
        self._wants_ends = ends
        self._needs_points = points
        self._moments = Moments()

    def chunks(self, paths: PathsLike, progress: Progress | None = None) -> Iterator[TripChunk]:
        """Yield all trips of all files, table by table."""
        for number, source in enumerate(sources(paths, progress)):
            layout = layout_of(source, self._columns)
            book = self._open(source, layout)
            self.labels.append(source.label)
            yield from self._read(number, source, layout, book)

    def _open(self, source: Source, layout: Layout) -> StationBook:
        """Return the book for a source: one for all files, so zones and stations do not mix."""
        if self.book is None:
            self.book = ZoneBook() if layout.zones else StationsOfTrips()
            self.zones = layout.zones
        located = layout.zones or {"longitude", "latitude"} <= set(layout.columns)
        if self._needs_points and isinstance(self.book, StationsOfTrips) and not located:
            raise InvalidInputError(
                f"{source.label} has no start coordinates; give the station file of the same system too (stations=…)"
            )
        if layout.zones != self.zones:
            kinds = ("taxi zones", "stations") if layout.zones else ("stations", "taxi zones")
            raise InvalidInputError(f"{source.label} has {kinds[0]}, the files before it {kinds[1]}; read them apart")
        return self.book

    def _read(self, number: int, source: Source, layout: Layout, book: StationBook) -> Iterator[TripChunk]:
        purposes = [purpose for purpose in layout.columns if self._wants_ends or not _is_end(purpose)]
        wanted = list(dict.fromkeys(layout.columns[purpose] for purpose in purposes))
        for rows, short in source.chunks(wanted):
            values = dict(zip(wanted, zip(*rows, strict=True), strict=False)) if rows else dict.fromkeys(wanted, ())
            by_purpose = {purpose: values[layout.columns[purpose]] for purpose in purposes}
            yield self._chunk(number, short, by_purpose, layout, book)

    def _chunk(
        self, number: int, short: int, values: Mapping[str, Sequence[Any]], layout: Layout, book: StationBook
    ) -> TripChunk:
        count = len(values["start"])
        starts = self._moments.column(values["start"])
        ends: tuple[FloatArray, FloatArray | None] = (np.full(count, np.nan), None)
        if "end" in values:
            ends = self._moments.column(values["end"])
        origins = _places(book, values, _START_PLACE, count)
        destinations = _places(book, values, _END_PLACE, count) if "to" in values else np.full(count, ELSEWHERE)
        return TripChunk(
            number,
            short,
            starts,
            ends,
            origins,
            destinations,
            _marks(values, _readable(*starts), origins, _readable(*ends)),
            layout.marked,
        )


def _is_end(purpose: str) -> bool:
    return purpose == "end" or purpose.startswith("to")


def _places(book: StationBook, values: Mapping[str, Sequence[Any]], purposes: Sequence[str], count: int) -> IntArray:
    nothing = [None] * count
    columns = [values.get(purpose, nothing) for purpose in purposes]
    return np.fromiter(map(book.place, *columns), dtype=np.int64, count=count)


def _readable(month_first: FloatArray, day_first: FloatArray | None) -> FloatArray:
    """Return moments that tell trips apart before it is known which of the two readings is right."""
    return month_first if day_first is None else np.where(np.isnan(month_first), day_first, month_first)


def _marks(values: Mapping[str, Sequence[Any]], starts: FloatArray, origins: IntArray, ends: FloatArray) -> IntArray:
    """Mix what is known of every trip into one whole number; equal trips get equal ones within one reading."""
    texts = [values[purpose] for purpose in ("trip", "bike") if purpose in values]
    mixed = np.zeros(len(starts), dtype=np.int64)
    if texts:
        mixed = np.fromiter(map(hash, zip(*texts, strict=True)), dtype=np.int64, count=len(starts))
    for factor, column in zip(_MIXERS, (starts, ends), strict=False):
        mixed = (mixed ^ np.nan_to_num(column * 1000).astype(np.int64)) * factor
    return np.asarray((mixed ^ origins) * _MIXERS[2])
