"""Stations gathered from trips: ids that were given to another dock, stations that moved, were renamed or renumbered.

A *spot* is one spelling of a station in the files: (id, name, longitude, latitude). Spots of one id within 250 m are
one cluster. Clusters of one id are one station if they share a name or have none (it moved: it lies where it was last);
with other names they are stations of their own (the id was given to another dock). Clusters of one name within 250 m
are one station under two ids (it was renumbered).
"""

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.problems.tables.bike_stations import PLACELESS, Located, Station, station_id
from mfbo.problems.tables.points import on_the_map

NEAR_METERS = 250.0
MOST_SPOTS = 100_000  # beyond, points are rounded to a hundred meters: bikes without docks stand everywhere
LEAST_SHARE = 0.05  # of a station's trips, for a place to be where it moved to rather than a faulty receiver
_METERS_PER_DEGREE = 111_195.0


@dataclass
class _Cluster:
    """Spots of one id that are near each other; the first one, with the most trips, is its middle."""

    identity: str
    spots: list[int] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    trips: int = 0
    last: float = 0.0


class StationsOfTrips:
    """Gathers spots while trips are read, and makes stations of them at the end."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._rounded: dict[tuple[Any, ...], int] = {}
        self._spots: list[tuple[str, str, float, float]] = []

    def place(self, identity: Any, name: Any, longitude: Any, latitude: Any) -> int:
        """Return the number of a spot, or the code of the reason why there is none."""
        key = (identity, name, longitude, latitude)
        number = self._numbers.get(key)
        return self._new(key) if number is None else number

    def _new(self, key: tuple[Any, ...]) -> int:
        identity, name = station_id(key[0]), station_id(key[1])
        if not identity and not name:
            return PLACELESS
        east, north = on_the_map(key[2], key[3]) or (np.nan, np.nan)
        if len(self._numbers) < MOST_SPOTS:
            number = self._numbers[key] = len(self._spots)
        else:
            coarse = (identity, name, round(east, 3), round(north, 3)) if east == east else (identity, name)
            number = self._rounded.setdefault(coarse, len(self._spots))
        if number == len(self._spots):
            self._spots.append((identity or name, name, east, north))
        return number

    def located(self, trips: IntArray, last: FloatArray) -> Located:
        """Return the stations, and the station of every spot, given each spot's trips and last moment."""
        places = np.array([spot[2:] for spot in self._spots]).reshape(-1, 2)
        trips = np.concatenate([trips, np.zeros(len(places) - len(trips), dtype=np.int64)])
        last = np.concatenate([last, np.full(len(places) - len(last), -np.inf)])
        clusters = self._clusters(places, trips, last)
        groups = _groups(clusters, places)
        stations: list[Station] = []
        number_of_spot = np.full(len(places), -1)
        for group in groups:
            number_of_spot[[spot for cluster in group for spot in cluster.spots]] = len(stations)
            stations.append(self._station(group, places, trips, last))
        return Located(stations, number_of_spot)

    def _clusters(self, places: FloatArray, trips: IntArray, last: FloatArray) -> list[_Cluster]:
        by_id: defaultdict[str, list[int]] = defaultdict(list)
        for number in np.lexsort((-trips, np.isnan(places[:, 0]))).tolist():
            by_id[self._spots[number][0]].append(number)
        clusters: list[_Cluster] = []
        for identity, numbers in by_id.items():
            own: list[_Cluster] = []
            for number in numbers:
                fitting = (other for other in own if _near(places[other.spots[0]], places[number]))
                cluster = next(fitting, None)
                if cluster is None:
                    cluster = _Cluster(identity)
                    own.append(cluster)
                cluster.spots.append(number)
                cluster.names.add(self._spots[number][1])
                cluster.trips += int(trips[number])
                cluster.last = max(cluster.last, float(last[number]))
            clusters += own
        return clusters

    def _station(self, group: list[_Cluster], places: FloatArray, trips: IntArray, last: FloatArray) -> Station:
        total = sum(cluster.trips for cluster in group)
        named = [cluster for cluster in group if cluster.names != {""}]
        # Without names an id is all that is known; its points are averaged, as they may be blurred on purpose.
        lasting = [cluster for cluster in named if cluster.trips >= LEAST_SHARE * total]
        chosen = [max(lasting, key=lambda cluster: cluster.last)] if lasting else group
        numbers = np.array([spot for cluster in chosen for spot in cluster.spots])
        numbers = numbers[~np.isnan(places[numbers, 0])]
        newest = max((spot for cluster in group for spot in cluster.spots), key=lambda spot: last[spot])
        identity, name = self._spots[newest][:2]
        name = name or (f"station {identity}" if identity.isdecimal() else identity)
        if not len(numbers):
            return Station(identity, name, np.nan, np.nan)
        weights = np.maximum(trips[numbers], 1)
        east, north = (weights[:, None] * places[numbers]).sum(axis=0) / weights.sum()
        return Station(identity, name, float(east), float(north))


def _near(one: FloatArray, other: FloatArray) -> bool:
    """Say whether two points are within 250 m; a point that is not known is near every other."""
    if np.isnan(one[0]) or np.isnan(other[0]):
        return True
    north = one[1] - other[1]
    east = (one[0] - other[0]) * np.cos(np.radians(one[1]))
    return bool(np.hypot(north, east) * _METERS_PER_DEGREE <= NEAR_METERS)


def _groups(clusters: list[_Cluster], places: FloatArray) -> list[list[_Cluster]]:
    """Join clusters to stations: of one id with a common name, or of one name at one place."""
    parents = list(range(len(clusters)))

    def root(number: int) -> int:
        while parents[number] != number:
            parents[number] = number = parents[parents[number]]
        return number

    meeting: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for number, cluster in enumerate(clusters):
        for name in cluster.names:
            meeting["id " + cluster.identity, name].append(number)
            if name:
                meeting["name", name].append(number)
    for (kind, _), numbers in meeting.items():
        for one, other in pairwise(numbers):
            middles = places[clusters[one].spots[0]], places[clusters[other].spots[0]]
            if kind != "name" or _near(*middles):
                parents[root(other)] = root(one)
    joined: defaultdict[int, list[_Cluster]] = defaultdict(list)
    for number, cluster in enumerate(clusters):
        joined[root(number)].append(cluster)
    return list(joined.values())
