"""Times one replay of a month, with and without docks, against solving all stations at once with NumPy.

python benchmarks/replay_speed.py [TRIPS …]    (default: the embedded problem jersey-city, 21,000 trips, 51 stations)
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mfbo.arrays import BoolArray, IntArray
from mfbo.problems import ReplayPayoff, forecast_plan, jersey_city
from mfbo.problems.tables import Trips, read_trips

AGENTS = 100


class ReflectedWalks:
    """The same replay without docks, all stations and days at once: each is a walk that cannot fall below zero.

    A station's lost trips are the running maximum of starts − arrivals − bikes. Arrivals depend on who was served
    elsewhere, so sweeps are repeated until they agree; time only goes forward, so they must.
    """

    def __init__(self, trips: Trips) -> None:
        self.trips, stations = trips, len(trips.stations)
        day = np.unique(trips.days, return_inverse=True)[1]
        back = np.flatnonzero((trips.ends < 86_400) & (trips.destinations >= 0))
        segment = np.concatenate([day * stations + trips.origins, day[back] * stations + trips.destinations[back]])
        moment = np.concatenate([trips.starts, np.maximum(trips.ends[back], trips.starts[back])])
        kind = np.concatenate([np.ones(len(trips)), np.where(trips.ends[back] <= trips.starts[back], 2, 0)])
        order = np.lexsort((kind, moment, segment))
        self.trip = np.concatenate([np.arange(len(trips)), back])[order]
        self.starts = kind[order] == 1
        segment = segment[order]
        new = np.append(True, segment[1:] != segment[:-1])
        self.first = np.flatnonzero(new)
        self.lengths = np.diff(np.append(self.first, len(segment)))
        self.station = segment[self.first] % stations
        self.base = (np.cumsum(new) - 1) * (1 << 20)
        self.at = np.flatnonzero(self.starts)

    def served(self, bikes: IntArray) -> BoolArray:
        """Return which trips are served, (n,)."""
        served = np.ones(len(self.trips), dtype=bool)
        while True:
            step = np.where(self.starts, 1, -served[self.trip].astype(np.int64))
            walk = np.cumsum(step)
            shift = walk[self.first] - step[self.first] + bikes[self.station]
            highest = np.maximum.accumulate(np.maximum(walk - np.repeat(shift, self.lengths), 0) + self.base)
            before = np.maximum(np.append(0, highest[:-1]), self.base)
            again = np.ones(len(self.trips), dtype=bool)
            again[self.trip[self.at]] = highest[self.at] == before[self.at]
            if (again == served).all():
                return served
            served = again


def best_of(repeats: int, call: Callable[[], Any]) -> float:
    """Return the shortest time in milliseconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trips", type=Path, nargs="*")
    options = parser.parse_args()
    payoff = jersey_city().payoff
    assert isinstance(payoff, ReplayPayoff)
    trips = read_trips(options.trips) if options.trips else payoff.trips
    free = ReplayPayoff(trips, AGENTS)
    docked = ReplayPayoff(trips, AGENTS, np.full(len(trips.stations), 6), "served-overflow")
    walks = ReflectedWalks(trips)
    bikes = forecast_plan(trips, AGENTS, "deficit")
    assert walks.served(bikes).sum() == free.report(bikes).rides.sum()
    print(f"{len(trips):,} trips, {len(trips.stations)} stations, {len(trips.dates)} days, {AGENTS} bikes")
    docked.daily(bikes)
    print(f"replay without docks     {best_of(20, lambda: free.daily(bikes)):6.1f} ms")
    print(f"replay with 6 docks each {best_of(20, lambda: docked.daily(bikes)):6.1f} ms")
    print(f"report by station        {best_of(5, lambda: free.report(bikes)):6.1f} ms")
    print(f"reflected walks in NumPy {best_of(10, lambda: walks.served(bikes)):6.1f} ms")


if __name__ == "__main__":
    main()
