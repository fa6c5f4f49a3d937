"""Recorded days replayed under several ways: sums by hand, budgets, what is known of a day, tables and notes."""

import numpy as np
import pytest

from mfbo.errors import InvalidInputError, UnknownNameError
from mfbo.experiments.backtest import STATUS_QUO, backtest, moved_towards, situation_of
from mfbo.experiments.backtest_tables import notes, tables
from mfbo.problems.tables import Trips

FIRST = 737_731  # 2020-11-02, a Monday
NAMES = ("Dock", "Park", "Hall")


def trips(days=range(FIRST, FIRST + 6), coordinates=True):
    """Every day five riders leave the dock and come back to the hall, one leaves the park."""
    rows = [(day, 3600.0 * hour, 0, 3600.0 * hour + 600, 2) for day in days for hour in range(6, 11)]
    rows += [(day, 3600.0 * 12, 1, 3600.0 * 12 + 600, 1) for day in days]
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    places = np.array([[-74.0, 40.7], [-74.1, 40.7], [-74.0, 40.8]]) if coordinates else None
    return Trips(NAMES, places, *columns)


@pytest.fixture(scope="module")
def found():
    later = range(FIRST + 6, FIRST + 9)
    every = trips([*range(FIRST, FIRST + 6), *later])
    return backtest(every.on(range(FIRST, FIRST + 6)), every.on(later), 6, seed=3)


def by_name(found):
    return {way.name: way for way in found.ways}


def test_the_sums_are_those_of_plain_counting(found):
    ways = by_name(found)
    assert ways[STATUS_QUO].learned.bikes[0].tolist() == [2, 2, 2]
    assert ways[STATUS_QUO].learned.rides.tolist() == [3] * 6  # two of five from the dock, the one from the park
    assert ways["deficit"].learned.bikes[0].tolist() == [5, 1, 0]
    assert ways["deficit"].learned.rides.tolist() == [6] * 6
    assert ways["deficit"].held_out.rides.tolist() == [6] * 3
    assert ways["shares"].learned.trips.tolist() == [6] * 6
    assert ways["deficit"].learned.served == 1.0
    # five bikes stand at the hall in the evening and must be brought back
    assert ways["deficit"].learned.brought.tolist() == [5] * 5
    assert found.gained(ways["deficit"], "learned", ways[STATUS_QUO]).mean == 3.0


def test_mfbo_begins_where_it_is_told_to_and_keeps_the_rule_where_nothing_is_better(found):
    ways = by_name(found)
    assert ways["mfbo, from the status quo"].learned.bikes[0].tolist() == [2, 2, 2]
    assert ways["mfbo, from deficit"].learned.bikes[0].tolist() == [5, 1, 0]
    assert (ways["mfbo, from deficit"].learned.bikes.sum(axis=1) == 6).all()
    assert ways["mfbo, from deficit"].held_out.rides.tolist() == [6] * 3
    assert found.final.tolist() == [5, 1, 0]


def test_equal_seeds_give_equal_days(found):
    later = range(FIRST + 6, FIRST + 9)
    every = trips([*range(FIRST, FIRST + 6), *later])
    again = backtest(every.on(range(FIRST, FIRST + 6)), every.on(later), 6, seed=3)
    for one, other in zip(found.ways, again.ways, strict=True):
        np.testing.assert_array_equal(one.learned.bikes, other.learned.bikes)
        np.testing.assert_array_equal(one.held_out.rides, other.held_out.rides)


def test_a_move_budget_is_kept_between_all_days_and_docks_hold():
    seen = []
    found = backtest(
        trips(), None, 6, docks=4, move_budget=1, placed=[2, 2, 2], progress=lambda *done: seen.append(done)
    )
    for way in found.ways:
        bikes = np.concatenate([[[2, 2, 2]], way.learned.bikes])
        assert (np.abs(np.diff(bikes, axis=0)).sum(axis=1) <= 2).all(), way.name
        assert way.learned.bikes.max() <= 4
        assert way.held_out is None
    assert by_name(found)["deficit"].learned.bikes[-1].tolist() == [4, 2, 0]
    assert seen[-1] == (30, 30)
    assert found.final.sum() == 6


def test_on_the_way_to_a_plan_as_many_move_as_may():
    start, end = np.array([10, 0, 5]), np.array([3, 9, 3])
    assert moved_towards(start, end, None).tolist() == [3, 9, 3]
    halfway = moved_towards(start, end, 4)
    assert halfway.sum() == 15
    assert np.abs(halfway - start).sum() == 8
    assert (np.abs(halfway - end) <= np.abs(start - end)).all()


def test_a_day_is_known_by_weekday_and_date():
    assert situation_of(FIRST)["weekday"] == "monday"
    assert situation_of(FIRST + 6)["weekday"] == "sunday"
    assert situation_of(FIRST)["date"].isoformat() == "2020-11-02"


def test_tables_and_notes_say_what_was_replayed_and_what_cannot_be_known(found):
    learned, held_out, days, later = tables(found)
    assert "2020-11-02 to 2020-11-07, 6 days to learn from: 36 recorded trips" in learned.title
    assert held_out.rows[2][:4] == ("deficit", 18, "100.00 %", "+3.0 (+3.0 to +3.0)")
    assert len(days.rows) == 6
    assert later.rows[0][:2] == ("2020-11-08 Sun", 6)
    text = " ".join(notes(found))
    for word in ("found a bike in their time", "spread evenly", "know what is to come", "Docks are not known", "95 %"):
        assert word in text


def test_what_does_not_fit_is_refused():
    with pytest.raises(UnknownNameError, match="rule 'guess'"):
        backtest(trips(), None, 6, rule="guess")
    with pytest.raises(InvalidInputError, match="same stations"):
        backtest(trips(), trips(range(FIRST + 9, FIRST + 10)).at(["Dock"]), 6)
    with pytest.raises(InvalidInputError, match="adds up to 12"):
        backtest(trips(), None, 60, docks=4)
