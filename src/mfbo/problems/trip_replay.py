"""Recorded trips replayed on a placement: who would have found a bike. Payoff: the share of trips served per day.

Every recorded day begins at midnight with the bikes as planned. Events follow in time order: a trip is served if a bike
stands at its station when it starts; that bike arrives where and when the trip ended. What ends after midnight, or at
no station of the table, is gone for the rest of the day. Recorded trips are those that found a bike in their time:
demand that was turned away then is not in the files, so what is served here is served of the recorded demand only.

The loop over events is plain Python on lists: 4 ms for a month of 21,000 trips, where solving all stations at once as
reflected walks in NumPy takes 10 ms (15 sweeps until the arrivals agree; benchmarks/replay_speed.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from mfbo.arrays import BoolArray, FloatArray, IntArray
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.problems.problem import Optimum, Problem
from mfbo.problems.tables.days import iso
from mfbo.problems.tables.moments import DAY_SECONDS
from mfbo.problems.tables.trip_table import ELSEWHERE, Trips
from mfbo.records import Feedback, Plan
from mfbo.seeding import derived_generator
from mfbo.simplex import quota
from mfbo.validation import known_name, said, whole_number

Measure = Literal["served", "served-overflow", "rides"]
MEASURES = ("served", "served-overflow", "rides")
WhenFull = Literal["divert", "refuse"]

_ARRIVAL, _START, _AT_ONCE = 0, 1, 2  # at one moment: bikes come back, then riders start, then rides of no length end


@dataclass(frozen=True, eq=False)
class Replay:
    """What a placement would have brought on each of D recorded days at each of A stations.

    days: ordinals (D,). trips, rides: all trips of the day, those served (D,). overflow: arrivals at a full station
    (D,). started, refused: rides that began there, trips that found no bike (D, A). empty_minutes: how long no bike
    stood there (D, A). evening: bikes that stand there at midnight (D, A); the others are under way or elsewhere.
    """

    days: IntArray
    trips: IntArray
    rides: IntArray
    overflow: IntArray
    started: IntArray
    refused: IntArray
    empty_minutes: FloatArray
    evening: IntArray

    def values(self, measure: Measure) -> FloatArray:
        """Return the payoff of each day, (D,)."""
        return _values(self.trips, self.rides, self.overflow, measure)


@dataclass(frozen=True, eq=False)
class ReplayPayoff:
    """g = mean over the days of what a placement brings; everybody's payoff is that of the system.

    trips: the record. agents: bikes, where nothing else is said. docks: (A,) or None for no limit. when_full: a bike
    that finds no dock goes to the nearest free one, or is out of use until the next morning.
    """

    trips: Trips
    agents: int
    docks: IntArray | None = None
    measure: Measure = "served"
    when_full: WhenFull = "divert"

    def cells(self, shares: FloatArray, size: int | None = None) -> FloatArray:
        """Return f in every cell."""
        return np.full(shares.shape, self.population(shares, size))

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g of whole bikes, also where no size is said: a replay has no mean-field limit."""
        return float(self.daily(self.bikes(shares, size)).mean())

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return what one more bike at each station would bring, times the bikes: the nearest thing to ∂g/∂w."""
        bikes = self.bikes(shares)
        here = float(self.daily(bikes).mean())
        more = [float(self.daily(bikes + one).mean()) - here for one in np.eye(len(bikes), dtype=np.int64)]
        return np.broadcast_to(self.agents * np.array(more), shares.shape)

    def bikes(self, shares: FloatArray, size: int | None = None) -> IntArray:
        """Return the whole bikes at every station (A,) that joint shares (C, A) stand for."""
        return quota(shares.sum(axis=0), self.agents if size is None else size)

    def daily(self, bikes: IntArray) -> FloatArray:
        """Return the payoff of every recorded day (D,) for bikes (A,)."""
        served, landings = self._run(bikes)
        return _values(*self._sums(served, landings), self.measure)

    def report(self, bikes: IntArray) -> Replay:
        """Return what the bikes (A,) would have brought, by day and station."""
        served, landings = self._run(bikes)
        trips, index, shape = self.trips, self._day_index, (len(self.trips.dates), len(self.trips.stations))
        cells = index * shape[1] + trips.origins
        size, landed = shape[0] * shape[1], landings != ELSEWHERE
        started, refused = (np.bincount(cells[chosen], minlength=size) for chosen in (served, ~served))
        back = np.bincount(index[landed] * shape[1] + landings[landed], minlength=size)
        return Replay(
            np.array(trips.dates),
            *self._sums(served, landings),
            started.reshape(shape),
            refused.reshape(shape),
            self._empty_minutes(bikes, served, landings),
            bikes + (back - started).reshape(shape),
        )

    @cached_property
    def _day_index(self) -> IntArray:
        return np.asarray(np.unique(self.trips.days, return_inverse=True)[1])

    @cached_property
    def _trips_per_day(self) -> IntArray:
        return np.bincount(self._day_index)

    @cached_property
    def _returns(self) -> BoolArray:
        """Which trips bring their bike back to a station on the same day, (n,)."""
        trips = self.trips
        return np.asarray((trips.ends < DAY_SECONDS) & (trips.destinations != ELSEWHERE))  # NaN is not below

    @cached_property
    def _events(self) -> list[list[tuple[int, int, bool]]]:
        """For each day its events in order: (station, trip, whether it starts)."""
        trips, back = self.trips, np.flatnonzero(self._returns)
        at_once = trips.ends[back] <= trips.starts[back]
        every = np.arange(len(trips))
        moment = np.concatenate([trips.starts, np.maximum(trips.ends[back], trips.starts[back])])
        kind = np.concatenate([np.full(len(trips), _START), np.where(at_once, _AT_ONCE, _ARRIVAL)])
        day = np.concatenate([self._day_index, self._day_index[back]])
        trip = np.concatenate([every, back])
        station = np.concatenate([trips.origins, trips.destinations[back]])
        order = np.lexsort((trip, kind, moment, day))
        listed = list(zip(station[order].tolist(), trip[order].tolist(), (kind[order] == _START).tolist(), strict=True))
        bounds = np.searchsorted(day[order], np.arange(len(trips.dates) + 1)).tolist()
        return [listed[begin:end] for begin, end in pairwise(bounds)]

    @cached_property
    def _nearest(self) -> list[list[int]]:
        """For each station the others, the nearest first; none if full stations refuse."""
        places = self.trips.coordinates
        if self.when_full == "refuse" or places is None:
            return [[] for _ in self.trips.stations]
        stretch = np.array([np.cos(np.radians(places[:, 1].mean())), 1.0])
        distances = np.linalg.norm((places[:, None] - places) * stretch, axis=2)
        return [order[order != row].tolist() for row, order in enumerate(np.argsort(distances, axis=1, kind="stable"))]

    def _run(self, bikes: IntArray) -> tuple[BoolArray, IntArray]:
        """Return which trips are served and at which station their bikes land (−1: none), (n,) each."""
        served = [False] * len(self.trips)
        morning = [int(count) for count in bikes]
        docks = None if self.docks is None else self.docks.tolist()
        moved: dict[int, int] = {}
        for events in self._events:
            if docks is None:
                _play(events, morning.copy(), served)
            else:
                _play_docked(events, morning.copy(), served, docks, self._nearest, moved)
        flags = np.array(served, dtype=bool)
        landings = np.where(flags & self._returns, self.trips.destinations, ELSEWHERE)
        landings[list(moved)] = list(moved.values())
        return flags, landings

    def _sums(self, served: BoolArray, landings: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return (trips, rides, overflow) of every day."""
        count = len(self._trips_per_day)
        overflow = served & self._returns & (landings != self.trips.destinations)
        rides, full = (np.bincount(self._day_index[chosen], minlength=count) for chosen in (served, overflow))
        return self._trips_per_day, rides, full

    def _empty_minutes(self, bikes: IntArray, served: BoolArray, landings: IntArray) -> FloatArray:
        """Return how long each station has no bike, (D, A), from the bikes' comings and goings."""
        trips, (days, stations) = self.trips, (len(self.trips.dates), len(self.trips.stations))
        every = np.arange(days * stations)
        left, landed = np.flatnonzero(served), np.flatnonzero(landings != ELSEWHERE)
        segment = np.concatenate(
            [
                every,  # midnight
                self._day_index[left] * stations + trips.origins[left],
                self._day_index[landed] * stations + landings[landed],
            ]
        )
        moment = np.concatenate(
            [np.zeros(len(every)), trips.starts[left], np.maximum(trips.ends[landed], trips.starts[landed])]
        )
        change = np.concatenate([bikes[every % stations], np.full(len(left), -1), np.ones(len(landed), dtype=np.int64)])
        order = np.lexsort((moment, segment))  # within one moment any order will do: it lasts no time
        segment, moment, running = segment[order], moment[order], np.cumsum(change[order])
        last = np.append(segment[1:] != segment[:-1], True)
        level = running - np.concatenate([[0], running[last][:-1]])[segment]
        until = np.where(last, DAY_SECONDS, np.append(moment[1:], 0.0))
        empty = np.where(level == 0, until - moment, 0.0)
        return np.bincount(segment, weights=empty).reshape(days, stations) / 60


def _play(events: list[tuple[int, int, bool]], bikes: list[int], served: list[bool]) -> None:
    for station, trip, starts in events:
        if starts:
            if bikes[station]:
                bikes[station] -= 1
                served[trip] = True
        elif served[trip]:
            bikes[station] += 1


def _play_docked(
    events: list[tuple[int, int, bool]],
    bikes: list[int],
    served: list[bool],
    docks: list[int],
    nearest: list[list[int]],
    moved: dict[int, int],
) -> None:
    """Play one day with docks; ``moved`` gets the trips whose station was full, with where the bike went (−1: away)."""
    for station, trip, starts in events:
        if starts:
            if bikes[station]:
                bikes[station] -= 1
                served[trip] = True
        elif served[trip]:
            if bikes[station] >= docks[station]:
                free = (other for other in nearest[station] if bikes[other] < docks[other])
                moved[trip] = station = next(free, ELSEWHERE)
            if station != ELSEWHERE:
                bikes[station] += 1


def _values(trips: IntArray, rides: IntArray, overflow: IntArray, measure: Measure) -> FloatArray:
    if measure == "rides":
        return rides.astype(np.float64)
    return np.asarray((rides - overflow if measure == "served-overflow" else rides) / trips)


def replay_problem(
    trips: Trips,
    agents: int,
    docks: Any = None,
    measure: Measure = "served",
    *,
    when_full: WhenFull = "divert",
    name: str = "replay",
    optimum: Optimum | None = None,
) -> Problem:
    """Return the problem of placing ``agents`` bikes so that recorded trips are served.

    docks: how many bikes a station holds (one number, a list, or a mapping station → number); None: any number.
    measure: "served" (share of the day's trips), "served-overflow" (less the share of rides that found their station
    full) or "rides" (rides a day). when_full: "divert" to the nearest station with a free dock, or "refuse" (the bike
    is out of use for the day). The payoff is the mean over the recorded days; ``DayObserver`` shows one day a round.
    """
    whole_number(agents, "agents", 1, 10**7)
    known_name(measure, "measure", MEASURES)
    known_name(when_full, "way of a full station", ("divert", "refuse"))
    spaces = None if docks is None else read_docks(docks, trips.stations)
    if spaces is not None and when_full == "divert" and trips.coordinates is None:
        raise InvalidInputError("diverting to the nearest station needs coordinates: give them, or when_full='refuse'")
    first, last = iso(trips.dates[0]), iso(trips.dates[-1])
    return Problem(
        name=name,
        summary=f"place {agents:,} bikes so that {len(trips):,} recorded trips find one",
        population=Population(station_columns(trips), size=agents, capacity=spaces),
        payoff=ReplayPayoff(trips, agents, spaces, measure, when_full),
        optimum=optimum,
        feedback=("system",),
        source=str(trips.details.get("source", "the user's own trips")),
        license=str(trips.details.get("license", "the user's own")),
        places=trips.coordinates,
        note=f"{len(trips.dates)} days from {first} to {last}; riders who found no bike in their time are not recorded",
    )


def station_columns(trips: Trips) -> dict[str, Any]:
    """Return names and, where they are known, coordinates, as ``Population`` takes them."""
    columns: dict[str, Any] = {"name": trips.stations}
    if trips.coordinates is not None:
        columns |= {"longitude": trips.coordinates[:, 0], "latitude": trips.coordinates[:, 1]}
    return columns


def read_docks(docks: Any, stations: tuple[str, ...]) -> IntArray:
    """Return docks per station (A,), given as one number, a list or a mapping that names every station."""
    if isinstance(docks, Mapping):
        missing = [station for station in stations if station not in docks]
        if missing:
            raise InvalidInputError(f"docks are not said for {said(missing[0])}; name every station")
        docks = [docks[station] for station in stations]
    listed = [docks] * len(stations) if np.ndim(docks) == 0 else list(docks)
    if len(listed) != len(stations):
        raise InvalidInputError(f"docks must be {len(stations)} numbers, one for each station, not {len(listed)}")
    return np.array([whole_number(value, "docks", 0) for value in listed], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class DayObserver:
    """Answers each plan with the payoff of one recorded day: real noise, and the drift that was there.

    order: "calendar" plays the days in turn, plan 0 on the first; "drawn" a day drawn for each plan by the seed.
    """

    problem: Problem
    order: Literal["calendar", "drawn"] = "calendar"
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what has no days."""
        known_name(self.order, "order of days", ("calendar", "drawn"))
        if not isinstance(self.problem.payoff, ReplayPayoff):
            raise InvalidInputError(f"problem {self.problem.name!r} has no recorded days; make it with replay_problem")

    def day(self, number: int) -> int:
        """Return the day (ordinal) that plan ``number`` is played on."""
        return self._payoff.trips.dates[self._position(number)]

    def __call__(self, plan: Plan) -> Feedback:
        """Return the day's payoff of what the plan really puts in place."""
        return Feedback(payoff=float(self._day(plan).daily(self._bikes(plan))[0]))

    def report(self, plan: Plan) -> Replay:
        """Return what the plan brought on its day, by station: the hints an operator has."""
        return self._day(plan).report(self._bikes(plan))

    @property
    def _payoff(self) -> ReplayPayoff:
        assert isinstance(self.problem.payoff, ReplayPayoff)
        return self.problem.payoff

    def _position(self, number: int) -> int:
        count = len(self._payoff.trips.dates)
        if self.order == "calendar":
            return number % count
        return int(derived_generator(self.seed, "recorded day", number).integers(count))

    def _day(self, plan: Plan) -> ReplayPayoff:
        return replace(self._payoff, trips=self._payoff.trips.on([self.day(plan.number)]))

    def _bikes(self, plan: Plan) -> IntArray:
        size = None if plan.allocation is None else self.problem.population.size
        return self._payoff.bikes(self.problem.shares(plan), size)
