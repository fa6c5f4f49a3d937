"""Rules that make a plan of past trips before any round is played: baselines, and places to begin at.

``shares`` puts the bikes where past trips started. ``deficit`` puts them where they ran out: a station needs as many in
the morning as its starts ever were ahead of its arrivals; the rule takes the mean of that over the past days.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.errors import InvalidInputError
from mfbo.problems.tables.moments import DAY_SECONDS
from mfbo.problems.tables.trip_table import ELSEWHERE, Trips
from mfbo.problems.trip_replay import read_docks
from mfbo.simplex import quota
from mfbo.validation import known_name, whole_number


def forecast_plan(trips: Trips, agents: int, rule: str = "deficit", docks: Any = None) -> IntArray:
    """Return the bikes at each station (A,) that a rule of ``RULES`` makes of past trips.

    docks: how many bikes a station holds (a number, a list or a mapping); what a full station cannot take goes to the
    others by the same rule.
    """
    whole_number(agents, "agents", 1, 10**7)
    weights = RULES[known_name(rule, "rule", list(RULES))](trips)
    return shared_out(weights, agents, None, None if docks is None else read_docks(docks, trips.stations))


def evenly(agents: int, docks: IntArray | None, stations: int) -> IntArray:
    """Return the bikes of a fleet spread evenly over so many stations (A,), as far as docks (A,) allow."""
    return shared_out(np.full(stations, 1 / stations), agents, None, docks)


def start_shares(trips: Trips) -> FloatArray:
    """Return the share of all trips that start at each station, (A,)."""
    return np.bincount(trips.origins, minlength=len(trips.stations)) / len(trips)


def mean_deficits(trips: Trips) -> FloatArray:
    """Return the mean over the days of the largest running deficit of each station, (A,): starts ahead of arrivals.

    Stations that never run a deficit on any day need no bikes; if no station does, the shares of starts are returned.
    """
    days = len(trips.dates)
    deficits = daily_deficits(trips)
    return deficits.sum(axis=0) / days if deficits.any() else start_shares(trips)


def daily_deficits(trips: Trips) -> IntArray:
    """Return the largest running deficit of each day and station, (D, A)."""
    stations = len(trips.stations)
    day = np.unique(trips.days, return_inverse=True)[1]
    back = np.flatnonzero((trips.ends < DAY_SECONDS) & (trips.destinations != ELSEWHERE))
    segment = np.concatenate([day * stations + trips.origins, day[back] * stations + trips.destinations[back]])
    moment = np.concatenate([trips.starts, np.maximum(trips.ends[back], trips.starts[back])])
    change = np.concatenate([np.ones(len(trips), dtype=np.int64), np.full(len(back), -1)])
    # What comes back at a moment is there for who starts at it, unless it has only just left.
    late = np.concatenate([np.ones(len(trips)), np.where(trips.ends[back] <= trips.starts[back], 2, 0)])
    order = np.lexsort((late, moment, segment))
    segment, running = segment[order], np.cumsum(change[order])
    first = np.flatnonzero(np.append(True, segment[1:] != segment[:-1]))
    before = np.append(0, running)[first]
    largest = np.maximum.reduceat(running, first) - before
    deficits = np.zeros(len(trips.dates) * stations, dtype=np.int64)
    deficits[segment[first]] = np.maximum(largest, 0)
    return deficits.reshape(-1, stations)


RULES: dict[str, Callable[[Trips], FloatArray]] = {"shares": start_shares, "deficit": mean_deficits}


def shared_out(weights: FloatArray, agents: int, least: IntArray | None, most: IntArray | None) -> IntArray:
    """Share agents out by the weights (A,), no station below ``least`` or above ``most``, (A,) or None, in agents."""
    plan = np.zeros(len(weights), dtype=np.int64) if least is None else least.copy()
    room = np.full(len(weights), agents) if most is None else most
    if room.sum() < agents:
        raise InvalidInputError(f"{agents:,} bikes do not fit into {int(room.sum()):,} docks")
    while (missing := agents - int(plan.sum())) > 0:
        free = room - plan
        wanted = np.where(free > 0, weights, 0.0)
        if not wanted.any():
            wanted = free.astype(np.float64)
        plan += np.minimum(quota(wanted / wanted.sum(), missing), free)
    return plan
