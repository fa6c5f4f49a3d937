"""Stations of trip files: what a station is, the books that number them, and the book of a station file."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.errors import InvalidInputError
from mfbo.problems.tables.columns import find_column, needed_columns, rows_of
from mfbo.problems.tables.points import on_the_map
from mfbo.problems.tables.rawfiles import PathsLike, sources
from mfbo.validation import known_name

PLACELESS, UNKNOWN, ELSEWHERE, NO_ZONE = -1, -2, -3, -4  # instead of the number of a place
REASONS = {
    PLACELESS: "without a station id",
    UNKNOWN: "at an unknown station",
    ELSEWHERE: "in another city",
    NO_ZONE: "in an unknown zone (264, 265)",
}

# What tells a file of bike trips from other tables; ``trip_layouts`` knows all columns of all layouts.
TIME = ("start_date", "start_time", "starttime", "started_at", "01_-_rental_details_local_start_time")
STATION = (
    "start_terminal",
    "start_station_id",
    "start_station_number",
    "from_station_id",
    "03_-_rental_start_station_id",
    "start_station",
)

STATION_COLUMNS: dict[str, tuple[str, ...]] = {
    "the station id": ("station_id", "id"),
    "the station name": ("name", "station_name"),
    "the longitude": ("long", "lon", "lng", "longitude"),
    "the latitude": ("lat", "latitude"),
}
_CITY = ("landmark", "city")
_DOCKS = ("dock_count", "dockcount", "docks")
_BLANK = {"", "null", "none", "nan", "na", "n/a"}


@dataclass(frozen=True)
class Station:
    """One station; its point is NaN and ``docks`` None where the files do not say."""

    id: str
    name: str
    longitude: float
    latitude: float
    docks: int | None = None


@dataclass(frozen=True, eq=False)
class Located:
    """The stations, and for every place of a book the position of its station among them (−1: none)."""

    stations: list[Station]
    of_place: IntArray


class StationBook(Protocol):
    """Numbers the places where trips start and end."""

    def place(self, identity: Any, name: Any, longitude: Any, latitude: Any) -> int:
        """Return the number of a place, or one of the codes in ``REASONS`` why there is none."""
        ...

    def located(self, trips: IntArray, last: FloatArray) -> Located:
        """Return the stations, given how many trips each place had and when the last of them was."""
        ...


class StationFile:
    """Stations of one city (or all) from a station file; of an id that stands there twice the last row holds."""

    columns: ClassVar[dict[str, tuple[str, ...]]] = {"the start time": TIME, "the start station": STATION}

    def __init__(self, path: PathsLike, city: str | None) -> None:
        listed = {identity: (station, town) for identity, station, town in _station_rows(path)}
        if not listed:
            raise InvalidInputError(f"{path} lists no station with an id and coordinates")
        if city is not None and not any(town for _, town in listed.values()):
            raise InvalidInputError(f"{path} does not say the city of a station (landmark); leave out city={city!r}")
        if city is not None:
            city = known_name(city, "city", sorted({town for _, town in listed.values() if town}))
        self._stations = [station for station, town in listed.values() if city in (None, town)]
        self._places = dict.fromkeys(listed, ELSEWHERE)
        self._places |= {station.id: place for place, station in enumerate(self._stations)}

    def place(self, identity: Any, name: Any, longitude: Any, latitude: Any) -> int:
        """Return the place of a station's id; its name and point in the trips do not matter."""
        place = self._places.get(identity)
        if place is None:
            key = station_id(identity)
            place = self._places.get(key, UNKNOWN) if key else PLACELESS
        return place

    def located(self, trips: IntArray, last: FloatArray) -> Located:
        """Return the stations of the file."""
        return Located(self._stations, np.arange(len(self._stations)))


def station_id(value: Any) -> str:
    """Return an id as text, '' if there is none; '12.0', as spreadsheets write it, is 12."""
    text = "" if value is None else str(value).strip()
    return "" if text.lower() in _BLANK else text.removesuffix(".0")


def _station_rows(path: PathsLike) -> list[tuple[str, Station, str]]:
    """Return (id, station, city or '') for each readable row of a station file, in its order."""
    listed = []
    for source in sources(path):
        needed = needed_columns(source, STATION_COLUMNS, "a bike station file")
        city, docks = find_column(source, _CITY), find_column(source, _DOCKS)
        optional = [name for name in (city, docks) if name is not None]
        for identity, name, longitude, latitude, *more in rows_of(source, [*needed, *optional]):
            values = dict(zip(optional, more, strict=True))
            point = on_the_map(longitude, latitude)
            key = station_id(identity)
            if not key or point is None:
                continue  # its trips are counted as trips at an unknown station
            count = station_id(values[docks]) if docks else ""
            station = Station(
                key, str(name).strip() or f"station {key}", *point, int(count) if count.isdecimal() else None
            )
            listed.append((key, station, str(values[city]).strip() if city else ""))
    return listed
