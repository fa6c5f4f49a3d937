"""Worlds an operator would know: two cities with docks and weather, and recorded trips of Jersey City replayed."""

import csv
import gzip
import heapq
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from mfbo import Population
from mfbo.arrays import FloatArray, IntArray

STATIONS, BIKES, BUDGET = 60, 500, 40
TURNS = 4.0  # rides a day that a bike makes where it never waits
RIDES = 1700.0  # a day that are wanted


@dataclass(frozen=True)
class City:
    """Stations with demand and docks; a station serves demand · (1 − exp(−TURNS · bikes / demand)) rides."""

    places: FloatArray
    demand: FloatArray
    docks: IntArray
    standing: IntArray

    def rides(self, bikes: IntArray) -> FloatArray:
        """Return the rides of a fair day at every station, (A,)."""
        return np.asarray(self.demand * (1.0 - np.exp(-TURNS * bikes / self.demand)))

    @property
    def optimum(self) -> float:
        """The most rides a day: bikes are placed one by one, which is exact for separable concave rides."""
        bikes = np.zeros(STATIONS, dtype=np.int64)
        for _ in range(BIKES):
            gains = np.where(bikes < self.docks, self.rides(bikes + 1) - self.rides(bikes), -1.0)
            bikes[int(np.argmax(gains))] += 1
        return float(self.rides(bikes).sum())

    @property
    def population(self) -> Population:
        """Stations with coordinates, docks as capacity, and a move budget."""
        named = {f"s{index}": tuple(place) for index, place in enumerate(self.places)}
        return Population(named, size=BIKES, capacity=self.docks, move_budget=BUDGET, placed=self.standing[None])


def city(kind: str, seed: int) -> City:
    """Return a city whose bikes stand by its docks ("hills") or where riders have piled them up ("harbor")."""
    rng = np.random.default_rng([seed, 16])
    places = rng.uniform(0.0, 1.0, (STATIONS, 2))
    centers, heights = rng.uniform(0.0, 1.0, (4, 2)), rng.uniform(0.5, 2.0, 4)
    squared = ((places[:, None] - centers) ** 2).sum(axis=2)
    demand = (np.exp(squared / (-2.0 * 0.12**2)) @ heights + 0.04) * rng.lognormal(0.0, 0.6, STATIONS)
    docks = np.clip(np.round(rng.lognormal(np.log(15.0), 0.3, STATIONS)), 8, 40).astype(np.int64)
    shares = docks / docks.sum() if kind == "hills" else rng.dirichlet(np.full(STATIONS, 0.7))
    standing = np.minimum(docks, np.floor(shares * BIKES).astype(np.int64))
    while standing.sum() < BIKES:
        standing[rng.choice(np.flatnonzero(standing < docks))] += 1
    return City(places, demand / demand.sum() * RIDES, docks, standing)


@dataclass(frozen=True)
class Replay:
    """Recorded days: (start, end) stations of trips in order of time, with the minute a bike arrives."""

    stations: tuple[str, ...]
    places: FloatArray
    days: tuple[tuple[tuple[int, int, float, float], ...], ...]

    def served(self, bikes: IntArray, day: int) -> float:
        """Return the share of one day's trips that find a bike; it arrives at the trip's end when the trip ended."""
        standing, served = bikes.copy(), 0
        arriving: list[tuple[float, int]] = []
        for start, end, left, arrived in self.days[day]:
            while arriving and arriving[0][0] <= left:
                standing[heapq.heappop(arriving)[1]] += 1
            if standing[start] > 0:
                standing[start] -= 1
                served += 1
                heapq.heappush(arriving, (arrived, end))
        return served / len(self.days[day])

    def mean(self, bikes: IntArray) -> float:
        """Return the mean share served over all days."""
        return float(np.mean([self.served(bikes, day) for day in range(len(self.days))]))

    def rule(self, bikes: int) -> IntArray:
        """Return the placement by the mean over days of the largest running deficit of a station."""
        deficits = np.zeros(len(self.stations))
        for day in self.days:
            level, lowest = np.zeros(len(self.stations)), np.zeros(len(self.stations))
            events = [(left, start, -1) for start, _, left, _ in day] + [(there, end, 1) for _, end, _, there in day]
            for _, station, change in sorted(events):
                level[station] += change
                lowest[station] = min(lowest[station], level[station])
            deficits -= lowest / len(self.days)
        target = deficits / deficits.sum() * bikes
        counts = np.floor(target).astype(np.int64)
        counts[np.argsort(counts - target, kind="stable")[: bikes - int(counts.sum())]] += 1
        return np.asarray(counts)


def replay(path: Path) -> Replay:
    """Read a month of Citi Bike trips as they were published until 2021."""
    seen: dict[str, tuple[float, float]] = {}
    days: dict[int, list[tuple[str, str, float, float]]] = defaultdict(list)
    with gzip.open(path, "rt", newline="") as file:
        for row in csv.DictReader(file):
            left, there = (datetime.fromisoformat(row[key]) for key in ("starttime", "stoptime"))
            names = row["start station name"], row["end station name"]
            seen[names[0]] = float(row["start station latitude"]), float(row["start station longitude"])
            minutes = left.hour * 60 + left.minute + left.second / 60
            days[left.day].append((*names, minutes, minutes + (there - left).total_seconds() / 60))
    stations = tuple(sorted(seen))
    index = {name: place for place, name in enumerate(stations)}
    trips = [
        tuple(
            (index[a], index[b], left, there)
            for a, b, left, there in sorted(day, key=lambda trip: trip[2])
            if b in index
        )
        for _, day in sorted(days.items())
    ]
    return Replay(stations, np.array([seen[name] for name in stations]), tuple(trips))
