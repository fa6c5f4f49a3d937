"""Bike stations: from a station file, or from the trips themselves when those carry coordinates (LouVelo)."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from mfbo.errors import InvalidInputError
from mfbo.problems.tables.columns import find_column, needed_columns, rows_of
from mfbo.problems.tables.points import on_the_map
from mfbo.problems.tables.rawfiles import PathsLike, sources
from mfbo.validation import known_name

NO_ID, UNKNOWN, ELSEWHERE = "without a station id", "at an unknown station", "in another city"

TIME = ("start_date", "start_time", "started_at")
STATION = ("start_terminal", "start_station_id")
LONGITUDE = ("start_longitude", "start_lng", "start_lon")
LATITUDE = ("start_latitude", "start_lat")

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
    """One station; ``docks`` is None where the files do not say."""

    id: str
    name: str
    longitude: float
    latitude: float
    docks: int | None = None


class StationBook(Protocol):
    """Knows which columns of a trip file it needs, and the place number of a trip."""

    columns: ClassVar[dict[str, tuple[str, ...]]]

    def place(self, row: tuple[Any, ...]) -> int | str:
        """Return the place number of a trip, given the columns above, or the reason why it has none."""
        ...

    def stations(self) -> list[Station | None]:
        """Return the stations by place number; None for one whose coordinates are not known."""
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
        chosen = [station for station, town in listed.values() if city in (None, town)]
        self._stations: list[Station | None] = list(chosen)
        self._places = {station.id: place for place, station in enumerate(chosen)}
        self._elsewhere = set(listed) - set(self._places)

    def place(self, row: tuple[Any, ...]) -> int | str:
        """Return the place number of a trip (time, station id), or the reason why it has none."""
        identity = station_id(row[1])
        place = self._places.get(identity)
        if place is not None:
            return place
        if not identity:
            return NO_ID
        return ELSEWHERE if identity in self._elsewhere else UNKNOWN

    def stations(self) -> list[Station | None]:
        """Return the stations by place number."""
        return self._stations


class StationsOfTrips:
    """Stations gathered from trips with coordinates; a station lies at the mean of its trips' start points."""

    columns: ClassVar[dict[str, tuple[str, ...]]] = {
        "the start time": TIME,
        "the start station": STATION,
        "the start longitude": LONGITUDE,
        "the start latitude": LATITUDE,
    }

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._sums: list[tuple[int, float, float]] = []  # trips, sum of longitudes, sum of latitudes

    def place(self, row: tuple[Any, ...]) -> int | str:
        """Return the place number of a trip (time, station id, longitude, latitude), or why it has none."""
        identity = station_id(row[1])
        if not identity:
            return NO_ID
        place = self._places.setdefault(identity, len(self._places))
        if place == len(self._sums):
            self._sums.append((0, 0.0, 0.0))
        point = on_the_map(row[2], row[3])
        if point is not None:
            trips, longitude, latitude = self._sums[place]
            self._sums[place] = trips + 1, longitude + point[0], latitude + point[1]
        return place

    def stations(self) -> list[Station | None]:
        """Return the stations by place number."""
        return [
            Station(identity, f"station {identity}", longitude / trips, latitude / trips) if trips else None
            for identity, (trips, longitude, latitude) in zip(self._places, self._sums, strict=True)
        ]


def station_book(stations: PathsLike | None, city: str | None) -> StationBook:
    """Return the stations of a station file, or the gatherer of stations from trips if there is none."""
    if stations is not None:
        return StationFile(stations, city)
    if city is not None:
        raise InvalidInputError(f"city={city!r} needs the station file: trips do not say which city a station is in")
    return StationsOfTrips()


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
