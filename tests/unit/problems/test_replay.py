"""The replay against a plain simulation of every day."""

import heapq

import numpy as np
import pytest

from mfbo.errors import InvalidInputError, UnknownNameError
from mfbo.problems import DayObserver, replay_problem
from mfbo.problems.tables import Trips
from mfbo.records import Plan

FIRST = 737_730  # some day


def made_trips(seed: int = 0, count: int = 400, stations: int = 6, days: int = 3) -> Trips:
    rng = np.random.default_rng(seed)
    starts = rng.integers(0, 86_400, count).astype(float)
    lengths = rng.choice([0.0, 60.0, 600.0, 7200.0, np.nan], size=count, p=[0.05, 0.3, 0.5, 0.1, 0.05])
    rush = rng.random(count) < 0.5
    starts[rush] = 28_800 + 60 * rng.integers(0, 20, rush.sum())  # many at the same moment
    return Trips(
        tuple(f"s{k}" for k in range(stations)),
        rng.normal(size=(stations, 2)) * 0.01 + [-74.0, 40.7],
        FIRST + rng.integers(0, days, count),
        starts,
        rng.integers(0, stations, count),
        starts + lengths,
        rng.integers(-1, stations, count),
    )


class PlainDay:
    """One day of one fleet, simulated as one would tell it: a clock, a heap of riders under way, bikes in docks."""

    def __init__(self, trips, bikes, docks, when_full):
        self.trips, self.docks, self.when_full = trips, docks, when_full
        self.here, self.heap, self.clock = list(bikes), [], 0.0
        self.started, self.refused = [0] * len(bikes), [0] * len(bikes)
        self.empty, self.overflow = [0.0] * len(bikes), 0

    def pass_time(self, until):
        for station, count in enumerate(self.here):
            self.empty[station] += (until - self.clock) * (count == 0)
        self.clock = until

    def land(self):
        moment, _, _, station = heapq.heappop(self.heap)
        self.pass_time(moment)
        if self.docks is not None and self.here[station] >= self.docks[station]:
            self.overflow += 1
            free = [other for other, count in enumerate(self.here) if count < self.docks[other]]
            if self.when_full == "refuse" or not free:
                return
            places = self.trips.coordinates
            away = (places - places[station]) * [np.cos(np.radians(places[:, 1].mean())), 1.0]
            station = min(free, key=lambda other: (np.hypot(*away[other]), other))
        self.here[station] += 1

    def start(self, trip):
        start, end, to = self.trips.starts[trip], self.trips.ends[trip], int(self.trips.destinations[trip])
        while self.heap and self.heap[0][:2] <= (start, 0):  # who comes back at this moment, unless he only just left
            self.land()
        self.pass_time(start)
        origin = self.trips.origins[trip]
        if not self.here[origin]:
            self.refused[origin] += 1
            return
        self.here[origin] -= 1
        self.started[origin] += 1
        if end < 86_400 and to >= 0:
            heapq.heappush(self.heap, (max(end, start), int(end <= start), trip, to))


def simulated(trips: Trips, bikes, docks=None, when_full="divert"):
    """Return {day: (trips, rides, overflow, started, refused, empty seconds, bikes left)}."""
    results = {}
    for day in sorted(set(trips.days.tolist())):
        plain = PlainDay(trips, bikes, docks, when_full)
        for trip in np.flatnonzero(trips.days == day):
            plain.start(trip)
        while plain.heap:
            plain.land()
        plain.pass_time(86_400)
        rides = sum(plain.started)
        count, seen = rides + sum(plain.refused), (plain.started, plain.refused, plain.empty)
        results[day] = (count, rides, plain.overflow, *seen, plain.here)
    return results


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("docks", [None, (3, 4, 3, 5, 3, 4)], ids=["no docks", "docks"])
@pytest.mark.parametrize("when_full", ["divert", "refuse"])
def test_the_replay_equals_a_plain_simulation(seed, docks, when_full):
    trips = made_trips(seed)
    bikes = np.random.default_rng(seed + 50).integers(0, 4, 6)
    problem = replay_problem(trips, int(bikes.sum()) or 1, docks, when_full=when_full)
    report = problem.payoff.report(bikes)
    expected = simulated(trips, bikes.tolist(), docks, when_full)
    assert report.days.tolist() == list(expected)
    for position, (count, rides, overflow, started, refused, empty, evening) in enumerate(expected.values()):
        assert (report.trips[position], report.rides[position], report.overflow[position]) == (count, rides, overflow)
        assert report.started[position].tolist() == started
        assert report.refused[position].tolist() == refused
        assert report.evening[position].tolist() == evening
        np.testing.assert_allclose(report.empty_minutes[position], np.array(empty) / 60, atol=1e-9)
    assert 0 < report.rides.sum() < report.trips.sum()
    assert (report.overflow.sum() > 0) == (docks is not None)


def test_the_payoff_is_the_mean_share_served():
    trips = made_trips()
    problem = replay_problem(trips, 12)
    counts = np.array([[2, 2, 2, 2, 2, 2]])
    expected = simulated(trips, counts[0].tolist())
    value = problem.value(Plan(0, counts / 12, counts))
    assert value == pytest.approx(np.mean([rides / count for count, rides, *_ in expected.values()]))


def test_measures_differ_as_they_say():
    trips, docks, counts = made_trips(), (3, 4, 3, 5, 3, 4), np.array([[2, 2, 2, 2, 2, 2]])
    days = simulated(trips, counts[0].tolist(), docks).values()
    plan = Plan(0, counts / 12, counts)
    rides = replay_problem(trips, 12, docks, "rides").value(plan)
    assert rides == pytest.approx(np.mean([day[1] for day in days]))
    net = replay_problem(trips, 12, docks, "served-overflow").value(plan)
    assert net == pytest.approx(np.mean([(day[1] - day[2]) / day[0] for day in days]))


def test_enough_bikes_serve_every_trip():
    trips = made_trips()
    assert replay_problem(trips, 6 * 400).value(Plan(0, np.full((1, 6), 1 / 6), np.full((1, 6), 400))) == 1.0


def test_days_are_shown_one_a_round_in_turn_and_average_to_the_payoff():
    problem = replay_problem(made_trips(), 12)
    counts = np.array([[4, 0, 2, 2, 2, 2]])
    observer = DayObserver(problem)
    plans = [Plan(number, counts / 12, counts) for number in range(4)]
    seen = [observer(plan).payoff for plan in plans]
    assert [observer.day(number) for number in range(4)] == [FIRST, FIRST + 1, FIRST + 2, FIRST]
    assert seen[3] == seen[0] != seen[1]
    assert np.mean(seen[:3]) == pytest.approx(problem.value(plans[0]))
    report = observer.report(plans[1])
    np.testing.assert_array_equal(report.started[0], problem.payoff.report(counts[0]).started[1])


def test_drawn_days_depend_on_seed_and_number_alone():
    problem = replay_problem(made_trips(), 12)
    days = [DayObserver(problem, "drawn", 3).day(number) for number in range(40)]
    assert days == [DayObserver(problem, "drawn", 3).day(number) for number in range(40)]
    assert set(days) == {FIRST, FIRST + 1, FIRST + 2}


def test_shares_without_a_size_stand_for_the_whole_bikes():
    problem = replay_problem(made_trips(), 12)
    distribution = np.array([[0.3, 0.3, 0.1, 0.1, 0.1, 0.1]])
    counts = np.array([[4, 4, 1, 1, 1, 1]])  # 3.6, 3.6, 1.2 …: the largest remainders
    assert problem.mean_field_value(distribution) == problem.value(Plan(0, distribution, counts))


def test_the_gradient_is_what_one_more_bike_brings():
    problem = replay_problem(made_trips(), 12)
    counts = np.array([2, 2, 2, 2, 2, 2])
    gradient = problem.payoff.gradient(counts[None, :] / 12)
    more = counts + np.eye(6, dtype=int)[4]
    gain = problem.payoff.daily(more).mean() - problem.payoff.daily(counts).mean()
    assert gradient[0, 4] == pytest.approx(12 * gain)


def test_trips_choose_days_and_stations():
    trips = made_trips()
    weekday = trips.dates[0]
    assert set(trips.on([weekday]).days.tolist()) == {weekday}
    some = trips.at(["s4", "s1"])
    assert some.stations == ("s4", "s1")
    assert len(some) == np.isin(trips.origins, [4, 1]).sum()
    np.testing.assert_array_equal(some.coordinates, trips.coordinates[[4, 1]])
    assert (some.destinations == -1).sum() == (
        ~np.isin(trips.destinations, [4, 1]) & np.isin(trips.origins, [4, 1])
    ).sum()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"docks": 2.5}, "whole number"),
        ({"docks": [1, 2]}, "6 numbers"),
        ({"docks": {"s0": 3}}, "'s1'"),
        ({"measure": "served", "agents": 0}, "agents"),
    ],
)
def test_bad_settings_are_refused(change, message):
    settings = {"agents": 5} | change
    with pytest.raises(InvalidInputError, match=message):
        replay_problem(made_trips(), **settings)


def test_an_unknown_measure_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean 'served'"):
        replay_problem(made_trips(), 5, measure="servd")


def test_stations_without_coordinates_cannot_divert():
    trips = made_trips()
    blind = Trips(trips.stations, None, trips.days, trips.starts, trips.origins, trips.ends, trips.destinations)
    with pytest.raises(InvalidInputError, match="refuse"):
        replay_problem(blind, 5, docks=3)
    assert replay_problem(blind, 5, docks=3, when_full="refuse").places is None
    assert replay_problem(blind, 5).value(Plan(0, np.eye(6)[:1], np.array([[5, 0, 0, 0, 0, 0]]))) > 0


@pytest.mark.parametrize(
    ("column", "value"), [("starts", 90_000), ("origins", -1), ("origins", 6), ("destinations", 0.5), ("days", np.nan)]
)
def test_trips_with_impossible_numbers_are_refused(column, value):
    trips = made_trips()
    columns = {
        name: getattr(trips, name).astype(float) for name in ("days", "starts", "origins", "ends", "destinations")
    }
    columns[column][3] = value
    with pytest.raises(InvalidInputError, match=f"{column}: entry 3"):
        Trips(trips.stations, None, **columns)
