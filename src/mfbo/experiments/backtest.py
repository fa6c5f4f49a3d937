"""Recorded days replayed in order under several ways of placing: what each would have served.

Every day begins with the bikes as planned (``problems.trip_replay``). Rules are made of the trips of the days to learn
from, so that on those days they know what is to come; on the held-out days nobody does. mfbo is told one number a day,
the share of the day's trips that were served, and what each station saw beside it; it knows the weekday and the date.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np

from mfbo.arrays import IntArray
from mfbo.errors import InvalidInputError
from mfbo.experiments.statistics import Interval, interval
from mfbo.population import Population
from mfbo.problems.day_rides import station_hints
from mfbo.problems.forecasts import RULES, evenly, forecast_plan
from mfbo.problems.tables.days import WEEKDAYS
from mfbo.problems.tables.trip_table import Trips
from mfbo.problems.trip_replay import Replay, ReplayPayoff, replay_problem, station_columns
from mfbo.simplex import quota
from mfbo.study import Study, create_study
from mfbo.validation import known_name

STATUS_QUO = "status quo"
SITUATIONS: dict[str, Any] = {"weekday": list(WEEKDAYS), "date": "time"}
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class PlayedDays:
    """What one way of placing would have brought on D days.

    bikes: as placed in the morning (D, A). trips, rides: recorded and served (D,). brought: bikes that had to be
    brought to their station in the night before (D − 1,), for bikes do not stay where they were placed.
    """

    dates: tuple[int, ...]
    bikes: IntArray
    trips: IntArray
    rides: IntArray
    brought: IntArray

    @property
    def served(self) -> float:
        """The share of all trips that were served."""
        return float(self.rides.sum() / self.trips.sum())


@dataclass(frozen=True, eq=False)
class Way:
    """A way of placing: on the days to learn from, and with its final plan (or plans, by weekday) on held-out ones."""

    name: str
    learned: PlayedDays
    held_out: PlayedDays | None


@dataclass(frozen=True, eq=False)
class Backtest:
    """What a backtest found. trips: all that were replayed. ways: the status quo first. rule: that mfbo started from.

    docks: (A,) or None where nobody said. move_budget: between the plans of two days, or None. known_placement: whether
    somebody said what the status quo is.
    """

    trips: Trips
    population: Population
    ways: tuple[Way, ...]
    rule: str
    docks: IntArray | None
    move_budget: int | None
    known_placement: bool

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts that there are, as attributes of a way."""
        return ("learned",) if self.ways[0].held_out is None else ("learned", "held_out")

    def gained(self, way: Way, part: str, against: Way) -> Interval:
        """Return rides a day more than another way's, mean and 95 % interval over the days of a part."""
        ours, theirs = getattr(way, part), getattr(against, part)
        return interval((ours.rides - theirs.rides).astype(np.float64))

    @property
    def final(self) -> IntArray:
        """The last plan of the last way, mfbo from the rule, (A,)."""
        last = self.ways[-1]
        return np.asarray((last.learned if last.held_out is None else last.held_out).bikes[-1])


def backtest(
    learned: Trips,
    held_out: Trips | None,
    agents: int,
    *,
    docks: Any = None,
    placed: Any = None,
    rule: str = "deficit",
    move_budget: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Backtest:
    """Replay trips under the status quo, the rules of ``forecast_plan``, and mfbo from either.

    learned, held_out: trips between the same stations. placed: the status quo, bikes at each station (A,); without it
    the fleet is spread evenly. rule: the one that mfbo starts from. progress: called with days played and days in all.
    """
    known_name(rule, "rule", list(RULES))
    if held_out is not None and held_out.stations != learned.stations:
        raise InvalidInputError("the held-out trips must have the same stations: cut both from one reading")
    payoff = replay_problem(learned, agents, docks).payoff
    assert isinstance(payoff, ReplayPayoff)
    population = Population(station_columns(learned), size=agents, capacity=payoff.docks, move_budget=move_budget)
    street = _Street(payoff, held_out, population, seed)
    standing = evenly(agents, street.docks, len(learned.stations)) if placed is None else np.asarray(placed)
    plans = {STATUS_QUO: standing} | {name: forecast_plan(learned, agents, name, street.docks) for name in RULES}
    count = _Count((len(plans) + 2) * len(learned.dates), progress)
    ways = [street.followed(name, standing, plan, count) for name, plan in plans.items()]
    ways.append(street.learned(f"mfbo, from the {STATUS_QUO}", standing, None, count))
    ways.append(street.learned(f"mfbo, from {rule}", standing, plans[rule], count))
    every = learned if held_out is None else _joined(learned, held_out)
    return Backtest(every, population, tuple(ways), rule, street.docks, move_budget, placed is not None)


@dataclass
class _Count:
    """Days played so far, for a bar."""

    total: int
    progress: Progress | None
    done: int = 0

    def day(self) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.total)


class _Street:
    """The recorded days, one at a time."""

    def __init__(self, payoff: ReplayPayoff, held_out: Trips | None, population: Population, seed: int) -> None:
        self.docks = payoff.docks
        self._population, self._seed = population, seed
        self._budget = None if population.limits is None else population.limits.move_budget
        self._days = list(_single_days(payoff))
        self._later = [] if held_out is None else list(_single_days(replace(payoff, trips=held_out)))

    def followed(self, name: str, standing: IntArray, plan: IntArray, count: _Count) -> Way:
        """Go to one plan, in as many steps as the move budget asks for, and keep it."""
        replays, mornings = [], []
        for day in self._days:
            standing = moved_towards(standing, plan, self._budget)
            mornings.append(standing)
            replays.append(day.report(standing))
            count.day()
        return Way(name, _played(mornings, replays), self._kept([plan] * len(self._later)))

    def learned(self, name: str, standing: IntArray, start: IntArray | None, count: _Count) -> Way:
        """Ask every morning, tell every evening, and keep what is recommended in the end."""
        study = create_study(
            self._population,
            seed=self._seed,
            aim="earn",
            placed=standing[None],
            start=None if start is None else start[None],
            situations=SITUATIONS,
        )
        replays, mornings = [], []
        for day in self._days:
            plan = study.ask(situation=situation_of(day.trips.dates[0]))
            assert plan.allocation is not None
            mornings.append(plan.allocation[0])
            replays.append(day.report(mornings[-1]))
            payoff, hints = float(replays[-1].values("served")[0]), station_hints(replays[-1].started[0], mornings[-1])
            study.tell(plan, payoff, cells=hints.cells, counts=hints.counts)
            count.day()
        return Way(name, _played(mornings, replays), self._kept(self._recommended(study)))

    def _recommended(self, study: Study) -> list[IntArray]:
        """Return the final plan for the weekday of each held-out day, as believed after the last day told."""
        last = self._days[-1].trips.dates[0]
        plans: dict[str, IntArray] = {}
        for day in self._later:
            weekday = situation_of(day.trips.dates[0])["weekday"]
            if weekday not in plans:
                allocation = study.recommend(situation_of(last) | {"weekday": weekday}).allocation
                assert allocation is not None
                plans[weekday] = allocation[0]
        return [plans[situation_of(day.trips.dates[0])["weekday"]] for day in self._later]

    def _kept(self, plans: Sequence[IntArray]) -> PlayedDays | None:
        if not self._later:
            return None
        return _played(plans, [day.report(plan) for day, plan in zip(self._later, plans, strict=True)])


def situation_of(day: int) -> dict[str, Any]:
    """Return what is known of a day (ordinal) beforehand."""
    return {"weekday": WEEKDAYS[(day - 1) % 7], "date": date.fromordinal(day)}  # day 1 was a Monday


def moved_towards(standing: IntArray, plan: IntArray, budget: int | None) -> IntArray:
    """Return the placement (A,) on the way from one to another, with so many bikes moved at most."""
    taken, wanted = np.maximum(standing - plan, 0), np.maximum(plan - standing, 0)
    if budget is None or taken.sum() <= budget:
        return plan
    return np.asarray(standing - quota(taken / taken.sum(), budget) + quota(wanted / wanted.sum(), budget))


def _single_days(payoff: ReplayPayoff) -> Iterator[ReplayPayoff]:
    for day in payoff.trips.dates:
        yield replace(payoff, trips=payoff.trips.on([day]))


def _played(mornings: Sequence[IntArray], replays: Sequence[Replay]) -> PlayedDays:
    bikes = np.stack(mornings)
    evenings = np.concatenate([replay.evening for replay in replays])
    return PlayedDays(
        tuple(int(replay.days[0]) for replay in replays),
        bikes,
        np.concatenate([replay.trips for replay in replays]),
        np.concatenate([replay.rides for replay in replays]),
        np.maximum(bikes[1:] - evenings[:-1], 0).sum(axis=1),
    )


def _joined(first: Trips, second: Trips) -> Trips:
    columns = ("days", "starts", "origins", "ends", "destinations")
    both: dict[str, Any] = {name: np.concatenate([getattr(first, name), getattr(second, name)]) for name in columns}
    return replace(first, **both)
