"""A day's rides at the stations of a study."""

import pytest

from mfbo.errors import InvalidInputError
from mfbo.problems.day_rides import day_rides
from mfbo.problems.tables import Trips

TRIPS = Trips(
    ("a", "b", "c"), None, [5, 5, 5, 6], [10.0, 20.0, 30.0, 10.0], [0, 0, 2, 1], [15.0, 25.0, 35.0, 20.0], [1, -1, 0, 0]
)


def test_rides_are_counted_by_name_in_the_order_of_the_study():
    rides = day_rides(TRIPS, ["b", "a", "d"], day=5)
    assert rides.started.tolist() == [0, 2, 0]
    assert rides.arrived.tolist() == [1, 1, 0]
    assert rides.elsewhere == 1
    assert rides.payoff() == 2.0


def test_several_days_need_one_to_be_said():
    with pytest.raises(InvalidInputError, match=r"of 2 days.*say which day"):
        day_rides(TRIPS, ["a"])
    assert day_rides(TRIPS.on([6]), ["b"]).payoff() == 1.0


def test_other_stations_are_refused():
    with pytest.raises(InvalidInputError, match="names must be the same"):
        day_rides(TRIPS, ["x"], day=5)
