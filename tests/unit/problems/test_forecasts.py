"""Rules on past trips: against a walk through every station's day, and within docks."""

import numpy as np
import pytest

from mfbo.errors import InvalidInputError, UnknownNameError
from mfbo.problems import forecast_plan, replay_problem
from mfbo.problems.forecasts import daily_deficits
from mfbo.problems.tables import Trips


def made_trips(seed: int, count: int = 300) -> Trips:
    rng = np.random.default_rng(seed)
    starts = 60.0 * rng.integers(0, 1440, count)
    lengths = rng.choice([0.0, 300.0, 1800.0, np.nan], size=count)
    days = 737_730 + rng.integers(0, 3, count)
    return Trips(
        ("a", "b", "c", "d"),
        None,
        days,
        starts,
        rng.integers(0, 4, count),
        starts + lengths,
        rng.integers(-1, 4, count),
    )


@pytest.mark.parametrize("seed", range(5))
def test_with_the_deficits_as_bikes_nobody_is_refused_and_with_one_fewer_somebody_is(seed):
    """The largest running deficit is the fewest bikes that serve every trip of a station if all others are served."""
    trips = made_trips(seed)
    deficits = daily_deficits(trips)
    for position, day in enumerate(trips.dates):
        one_day = replay_problem(trips.on([day]), 1).payoff
        needed = deficits[position]
        assert one_day.daily(needed)[0] == 1.0
        for station in np.flatnonzero(needed):
            fewer = needed - np.eye(4, dtype=int)[station]
            assert one_day.report(fewer).refused[0, station] > 0


def test_the_deficit_plan_is_the_mean_of_the_days_in_whole_bikes():
    trips = made_trips(0)
    means = daily_deficits(trips).mean(axis=0)
    plan = forecast_plan(trips, 40, "deficit")
    assert plan.sum() == 40
    assert (np.abs(plan - 40 * means / means.sum()) < 1).all()


def test_the_shares_plan_follows_the_starts():
    trips = made_trips(1)
    plan = forecast_plan(trips, 30, "shares")
    assert (np.abs(plan - 30 * np.bincount(trips.origins) / len(trips)) < 1).all()


def test_docks_are_kept_and_every_bike_is_placed():
    trips = made_trips(2)
    free = forecast_plan(trips, 40, "deficit")
    docks = np.array([3, 100, 2, 100])
    plan = forecast_plan(trips, 40, "deficit", docks)
    assert plan.sum() == 40
    assert (plan <= docks).all()
    assert plan[[0, 2]].tolist() == np.minimum(free, docks)[[0, 2]].tolist()
    with pytest.raises(InvalidInputError, match="40 bikes do not fit into 8 docks"):
        forecast_plan(trips, 40, "deficit", 2)


def test_stations_that_always_gain_get_no_bike_and_without_any_deficit_the_starts_count():
    trips = Trips(("a", "b"), None, [5, 5, 5], [10.0, 20.0, 30.0], [0, 0, 0], [15.0, 25.0, 35.0], [1, 1, 1])
    assert forecast_plan(trips, 6, "deficit").tolist() == [6, 0]


def test_an_unknown_rule_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean 'deficit'"):
        forecast_plan(made_trips(0), 5, "deficits")
