"""New York's taxi zones: their centroids, embedded, and the book that numbers them by their ids."""

import csv
import io
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.problems.tables.bike_stations import NO_ZONE, PLACELESS, UNKNOWN, Located, Station, station_id

UNKNOWN_ZONES = ("264", "265")  # the commission's own ids for "unknown" and "outside of the city"


@cache
def taxi_zones() -> tuple[Station, ...]:
    """Return the 263 zones in the order of their ids; a name carries its id, since five zones share two names."""
    text = resources.files("mfbo.problems").joinpath("data/taxi-zones.csv").read_text(encoding="utf-8")
    return tuple(
        Station(row["id"], f"{row['id']} {row['zone']}", float(row["longitude"]), float(row["latitude"]))
        for row in csv.DictReader(io.StringIO(text))
    )


class ZoneBook:
    """Numbers taxi zones by their ids; 264 and 265 are not places."""

    def __init__(self) -> None:
        self._places = {zone.id: place for place, zone in enumerate(taxi_zones())}
        self._places |= dict.fromkeys(UNKNOWN_ZONES, NO_ZONE)

    def place(self, identity: Any, name: Any, longitude: Any, latitude: Any) -> int:
        """Return the place of a zone's id, or the code of the reason why there is none."""
        place = self._places.get(identity)
        if place is None:
            key = station_id(identity)
            place = self._places.get(key, UNKNOWN) if key else PLACELESS
        return place

    def located(self, trips: IntArray, last: FloatArray) -> Located:
        """Return all zones."""
        return Located(list(taxi_zones()), np.arange(len(taxi_zones())))
