"""Stations as a GBFS feed tells them (versions 1.1, 2.3, 3.0): names, places, docks, bikes now, which are closed.

From a folder with station_information.json and station_status.json, from one of these files, or from an address that
the user gives. Only what the two files say is read; sizes and waiting times are bounded.
"""

import json
import math
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mfbo.errors import InvalidInputError
from mfbo.given_files import given_text
from mfbo.validation import positive, said

INFORMATION, STATUS, DISCOVERY = "station_information", "station_status", "gbfs"
TIMEOUT = 20.0
MOST_BYTES = 50_000_000  # the largest feeds have a few thousand stations and two million bytes
MOST_STATIONS = 100_000
_BLOCK = 1 << 16


@dataclass(frozen=True)
class FeedStation:
    """A station of a feed; capacity and bikes are None where the feed does not say. open: installed and renting."""

    id: str
    name: str
    longitude: float
    latitude: float
    capacity: int | None
    bikes: int | None
    open: bool


@dataclass(frozen=True)
class Feed:
    """The stations of a feed, in its order, with names that are unique; skipped: how many had no id or place.

    faults: numbers that the feed has wrong, in words, a line for each.
    """

    stations: tuple[FeedStation, ...]
    version: str
    skipped: int
    faults: tuple[str, ...] = ()

    @property
    def overfull(self) -> dict[str, tuple[int, int]]:
        """Stations with more bikes than docks: (bikes, docks) by name."""
        known = [station for station in self.stations if station.capacity is not None and station.bikes is not None]
        return {
            station.name: (station.bikes or 0, station.capacity or 0)
            for station in known
            if (station.bikes or 0) > (station.capacity or 0)
        }

    @property
    def columns(self) -> dict[str, Any]:
        """Names and coordinates, as ``Population`` takes them."""
        return {
            "name": [station.name for station in self.stations],
            "longitude": [station.longitude for station in self.stations],
            "latitude": [station.latitude for station in self.stations],
        }

    @property
    def capacity(self) -> dict[str, int]:
        """Docks by station, where the feed says; never fewer than bikes that stand there."""
        docked = [station for station in self.stations if station.capacity is not None]
        return {station.name: max(station.capacity or 0, station.bikes or 0) for station in docked}

    @property
    def placed(self) -> dict[str, int] | None:
        """Bikes by station now; None if the feed has no status. A station without a status has none."""
        if all(station.bikes is None for station in self.stations):
            return None
        return {station.name: station.bikes or 0 for station in self.stations}

    @property
    def closed(self) -> dict[str, int]:
        """Stations that do not rent, with the bikes that are locked in there: they stay."""
        return {station.name: station.bikes or 0 for station in self.stations if not station.open}


def read_gbfs(source: str | PathLike[str], *, timeout: float = TIMEOUT) -> Feed:
    """Read a feed from a folder, a file, or an address that begins with http:// or https://."""
    positive(timeout, "timeout")
    text = str(source)
    if "://" in text:
        information, status = _from_address(text, time.monotonic() + timeout)
    else:
        information, status = _from_files(Path(text))
    states = {} if status is None else {_id(state): state for state in _stations(status, f"{STATUS} of {text}")}
    listed = _stations(information, f"{INFORMATION} of {text}")
    faults: list[str] = []
    read = [_station(entry, states.get(_id(entry), {}), faults) for entry in listed]
    found = [station for station in read if station is not None]
    if not found:
        raise InvalidInputError(f"{text} lists no station with an id, a name and a place")
    silent = [station.name for station in found if states and station.id not in states]
    faults += [f"{said(name)} has no status; it counts as open and without bikes" for name in silent]
    skipped = len(listed) - len(found)
    return Feed(_named_apart(found), str(information.get("version", "1.0")), skipped, tuple(faults))


def _from_files(path: Path) -> tuple[Mapping[str, Any], Mapping[str, Any] | None]:
    if not path.exists():
        raise InvalidInputError(f"{path} does not exist; give a folder with {INFORMATION}.json, or an address")
    folder = path if path.is_dir() else path.parent
    information = folder / f"{INFORMATION}.json"
    if path.is_file() and path.stem not in (INFORMATION, STATUS, DISCOVERY):
        information = path
    if not information.is_file():
        raise InvalidInputError(f"{folder} has no {INFORMATION}.json; a feed's stations stand there")
    status = folder / f"{STATUS}.json"
    read = given_text(status, MOST_BYTES) if status.is_file() else None
    main = _parsed(given_text(information, MOST_BYTES), str(information))
    return main, None if read is None else _parsed(read, str(status))


def _from_address(address: str, until: float) -> tuple[Mapping[str, Any], Mapping[str, Any] | None]:
    first = _parsed(_fetched(address, until), address)
    if INFORMATION in urlsplit(address).path:
        status = address.replace(INFORMATION, STATUS)
        return first, _parsed(_fetched(status, until), status)
    feeds = _feeds(first)
    if INFORMATION not in feeds:
        raise InvalidInputError(f"{address} names no feed {INFORMATION}; give the address of gbfs.json or of that feed")
    information = _parsed(_fetched(feeds[INFORMATION], until), feeds[INFORMATION])
    if STATUS not in feeds:
        return information, None
    return information, _parsed(_fetched(feeds[STATUS], until), feeds[STATUS])


def _feeds(discovery: Mapping[str, Any]) -> dict[str, str]:
    """Return name → address of a discovery file: by language up to version 2, flat in version 3."""
    data = discovery.get("data")
    if not isinstance(data, Mapping):
        return {}
    flat = data if "feeds" in data else data.get("en", next(iter(data.values()), {}))
    listed = flat.get("feeds") if isinstance(flat, Mapping) else None
    entries = [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []
    return {str(entry["name"]): str(entry["url"]) for entry in entries if "name" in entry and "url" in entry}


def _fetched(address: str, until: float) -> str:
    """Return the text at an address, within the time that is left and the largest size."""
    if urlsplit(address).scheme not in ("http", "https"):
        raise InvalidInputError(f"{said(address)} is not the address of a feed: it must begin with http:// or https://")
    content = bytearray()
    try:
        with urllib.request.urlopen(address, timeout=max(until - time.monotonic(), 0.1)) as answer:  # noqa: S310
            while block := answer.read(_BLOCK):
                content += block
                if len(content) > MOST_BYTES:
                    raise InvalidInputError(
                        f"{address} has more than {MOST_BYTES:,} bytes: that is not a feed of stations"
                    )
                if time.monotonic() > until:
                    raise TimeoutError("it takes too long")
        return content.decode("utf-8-sig")
    except (OSError, ValueError, urllib.error.URLError) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError(f"{address} cannot be read: {error}") from error


def _parsed(text: str, label: str) -> Mapping[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{label} is not JSON: {error}") from error
    if not isinstance(content, Mapping):
        raise InvalidInputError(f"{label} holds {type(content).__name__}, not a feed")
    return content


def _stations(feed: Mapping[str, Any], label: str) -> list[Mapping[str, Any]]:
    data = feed.get("data")
    listed = data.get("stations") if isinstance(data, Mapping) else None
    if not isinstance(listed, list):
        raise InvalidInputError(f"{label} has no list data.stations: it is not a GBFS feed of stations")
    if len(listed) > MOST_STATIONS:
        raise InvalidInputError(f"{label} lists {len(listed):,} stations, more than {MOST_STATIONS:,}")
    return [entry for entry in listed if isinstance(entry, Mapping)]


def _id(entry: Mapping[str, Any]) -> str:
    return str(entry.get("station_id", "")).strip()


def _station(entry: Mapping[str, Any], state: Mapping[str, Any], faults: list[str]) -> FeedStation | None:
    """Return a station from what the two feeds say of it, None without an id or a place; what is wrong is noted."""
    identity = _id(entry)
    name = _text(entry.get("name")) or f"station {identity}"
    longitude, latitude = (_number(entry.get(key)) for key in ("lon", "lat"))
    if not identity or longitude is None or latitude is None or not (abs(longitude) <= 180 and abs(latitude) <= 90):
        where = f"lies at longitude {said(entry.get('lon'))}, latitude {said(entry.get('lat'))}"
        faults.append(f"{said(name)} {where if identity else 'has no station_id'}; it is left out")
        return None
    available = "num_vehicles_available" if "num_vehicles_available" in state else "num_bikes_available"
    docks, bikes = (_told_count(source, key, name, faults) for source, key in ((entry, "capacity"), (state, available)))
    installed, renting = (_told_flag(state, key, name, faults) for key in ("is_installed", "is_renting"))
    return FeedStation(identity, name, longitude, latitude, docks, bikes, installed and renting)


def _told_count(source: Mapping[str, Any], key: str, name: str, faults: list[str]) -> int | None:
    """Return a number of a feed, None where it is not said or not a count; the latter is noted."""
    value = source.get(key)
    count = _count(value)
    if value is not None and count is None:
        faults.append(f"{said(name)} has {key} {said(value)}, which is not a whole number from 0; it counts as unknown")
    return count


def _told_flag(state: Mapping[str, Any], key: str, name: str, faults: list[str]) -> bool:
    """Return yes or no, 1 or 0; yes where it is not said or something else, which is noted."""
    value = state.get(key, True)
    if value in (0, 1):  # False and True are these
        return bool(value)
    faults.append(f"{said(name)} has {key} {said(value)}, which is neither true nor false; it counts as true")
    return True


def _text(value: Any) -> str:
    """Return a name: a text, or since version 3 a list of {text, language}, of which English is taken first."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        texts = [entry for entry in value if isinstance(entry, Mapping) and "text" in entry]
        english = [entry for entry in texts if str(entry.get("language", "")).startswith("en")]
        value = (english or texts or [{"text": ""}])[0]["text"]
    return "" if value is None else str(value).strip()


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _count(value: Any) -> int | None:
    number = _number(value)
    return None if number is None or number < 0 or number > 1e9 or number != int(number) else int(number)


def _named_apart(stations: Sequence[FeedStation]) -> tuple[FeedStation, ...]:
    """Return the stations, each id once, with their ids behind names that several have."""
    once = {station.id: station for station in stations}
    shared = Counter(station.name for station in once.values())
    return tuple(
        FeedStation(**(vars(station) | {"name": f"{station.name} ({station.id})"}))
        if shared[station.name] > 1
        else station
        for station in once.values()
    )
