"""Counts of a month of trips that tell no single one, and days drawn anew from them.

Terms like Citi Bike's allow analyses and forbid publishing the trips themselves. What is kept here are sums over a
month: starts by kind of day, hour and station; flows by part of the day, from station to station; trips a day; how
long rides take for their distance. ``drawn_trips`` draws days that agree with them: the same rushes, other riders.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.problems.tables.trip_table import ELSEWHERE, Trips

PARTS = (0, 6, 11, 16, 24)  # hours at which the parts of a day begin: night, morning, midday, evening
QUANTILES = np.linspace(0.025, 0.975, 20)
SHORTEST_MINUTES = 1.0
_KILOMETERS_PER_DEGREE = 111.195


@dataclass(frozen=True, eq=False)
class TripCounts:
    """Sums over the days of a record of trips between A stations.

    days, totals: ordinals and trips of each day (D,). starts: (2, 24, A), on weekdays and at weekends, by hour. flows:
    (4, A, A + 1), by part of the day, from, to; the last column is elsewhere. pace: minutes of a ride from station to
    station = pace[0] + pace[1] · km. stretch: quantiles of minutes over that, of rides elsewhere and of round trips
    (2, 20).
    """

    stations: tuple[str, ...]
    coordinates: FloatArray
    days: IntArray
    totals: IntArray
    starts: IntArray
    flows: IntArray
    pace: tuple[float, float]
    stretch: FloatArray

    def to_record(self) -> dict[str, Any]:
        """Return what JSON can hold; rows of counts are texts, to be short."""
        return {
            "stations": list(self.stations),
            "coordinates": np.round(self.coordinates, 5).tolist(),
            "days": self.days.tolist(),
            "totals": _row(self.totals),
            "starts": [[_row(hour) for hour in kind] for kind in self.starts],
            "flows": [[_row(station) for station in part] for part in self.flows],
            "pace": [round(value, 4) for value in self.pace],
            "stretch": np.round(self.stretch, 3).tolist(),
        }

    @staticmethod
    def from_record(record: Mapping[str, Any]) -> "TripCounts":
        """Read what ``to_record`` wrote."""
        return TripCounts(
            tuple(record["stations"]),
            np.array(record["coordinates"], dtype=np.float64),
            np.array(record["days"], dtype=np.int64),
            _counts(record["totals"]),
            np.array([[_counts(hour) for hour in kind] for kind in record["starts"]]),
            np.array([[_counts(station) for station in part] for part in record["flows"]]),
            (float(record["pace"][0]), float(record["pace"][1])),
            np.array(record["stretch"], dtype=np.float64),
        )


def counted_trips(trips: Trips) -> TripCounts:
    """Return the counts of recorded trips; their stations must have coordinates."""
    assert trips.coordinates is not None
    size = len(trips.stations)
    hours = (trips.starts // 3600).astype(np.int64)
    starts, flows = np.zeros((2, 24, size), dtype=np.int64), np.zeros((len(PARTS) - 1, size, size + 1), dtype=np.int64)
    np.add.at(starts, (_weekend(trips.days), hours, trips.origins), 1)
    to = np.where(trips.destinations == ELSEWHERE, size, trips.destinations)
    np.add.at(flows, (_part(hours), trips.origins, to), 1)
    minutes = (trips.ends - trips.starts) / 60
    timed = (minutes >= SHORTEST_MINUTES) & (minutes < 24 * 60) & (to < size)
    from_here, to_here, minutes = trips.origins[timed], to[timed], minutes[timed]
    kilometers = _kilometers(trips.coordinates)[from_here, to_here]
    away = from_here != to_here
    slope, start = np.polyfit(kilometers[away], np.minimum(minutes[away], 60.0), 1)
    ratio = minutes / (start + slope * kilometers)
    stretch = [np.quantile(ratio[chosen], QUANTILES) for chosen in (away, ~away)]
    days, totals = np.unique(trips.days, return_counts=True)
    return TripCounts(
        trips.stations, trips.coordinates, days, totals, starts, flows, (float(start), float(slope)), np.array(stretch)
    )


def drawn_trips(counts: TripCounts, seed: int, details: Mapping[str, Any] | None = None) -> Trips:
    """Return as many days as were counted, drawn anew: Poisson starts, destinations by the flows, rides by distance.

    Only the raw bits of the generator are used, which NumPy promises never to change.
    """
    bits = np.random.PCG64(seed)
    size = len(counts.stations)
    kinds = _weekend(counts.days)
    per_kind = np.array([counts.totals[kinds == kind].mean() for kind in (0, 1)])
    number = np.array([(kinds == kind).sum() for kind in (0, 1)])
    rates = (counts.starts / number[:, None, None])[kinds] * (counts.totals / per_kind[kinds])[:, None, None]
    drawn = _poisson(rates, _uniform(bits, rates.size).reshape(rates.shape))
    day, hour, origin = (np.repeat(index.ravel(), drawn.ravel()) for index in np.indices(drawn.shape))
    total = len(day)
    starts = np.floor(3600 * (hour + _uniform(bits, total)))
    shares = np.cumsum(counts.flows + 1e-9 * counts.flows.sum(axis=0), axis=2)  # where a part has no trip, all parts
    shares = (shares / shares[:, :, -1:])[_part(hour), origin]
    to = np.minimum((_uniform(bits, total)[:, None] > shares).sum(axis=1), size)
    rides = _minutes(counts, origin, np.where(to == size, origin, to), _uniform(bits, total))
    return Trips(
        counts.stations,
        counts.coordinates,
        counts.days[day],
        starts,
        origin,
        starts + np.round(60 * rides),
        np.where(to == size, ELSEWHERE, to),
        details or {},
    )


def _minutes(counts: TripCounts, origins: IntArray, destinations: IntArray, uniform: FloatArray) -> FloatArray:
    start, slope = counts.pace
    usual = start + slope * _kilometers(counts.coordinates)[origins, destinations]
    away, around = (np.interp(uniform, QUANTILES, quantiles) for quantiles in counts.stretch)
    return np.asarray(np.maximum(usual * np.where(origins == destinations, around, away), SHORTEST_MINUTES))


def _kilometers(places: FloatArray) -> FloatArray:
    """Return the distances of all stations, (A, A), on a plane map."""
    stretch = np.array([np.cos(np.radians(places[:, 1].mean())), 1.0])
    return np.asarray(np.linalg.norm((places[:, None] - places) * stretch, axis=2) * _KILOMETERS_PER_DEGREE)


def _weekend(days: IntArray) -> IntArray:
    return np.asarray((days - 1) % 7 >= 5).astype(np.int64)  # day 1 was a Monday


def _part(hours: IntArray) -> IntArray:
    return np.asarray(np.searchsorted(PARTS, hours, side="right") - 1)


def _uniform(bits: np.random.PCG64, count: int) -> FloatArray:
    raw = np.asarray(bits.random_raw(count), dtype=np.uint64)
    return np.asarray((raw >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def _poisson(rates: FloatArray, uniform: FloatArray) -> IntArray:
    """Return Poisson counts by inverting their distribution function."""
    counts = np.zeros(rates.shape, dtype=np.int64)
    term = np.exp(-rates)
    reached = term.copy()
    while (more := (uniform > reached) & (term > 0)).any():
        counts += more
        term = np.where(more, term * rates / np.maximum(counts, 1), term)
        reached = np.where(more, reached + term, reached)
    return counts


def _row(values: Sequence[int] | IntArray) -> str:
    return " ".join(str(int(value)) for value in values)


def _counts(row: str) -> IntArray:
    return np.array(row.split(), dtype=np.int64)
