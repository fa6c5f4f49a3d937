"""Studies fed by systems: created and asked with a GBFS feed, told a day's trips; and what does not fit."""

import json

import numpy as np
import pytest

from mfbo.cli.study_ask import ask
from mfbo.cli.study_commands import Ask, Create, Tell
from mfbo.cli.study_create import create
from mfbo.cli.study_feeds import forecast
from mfbo.cli.study_tell import tell
from mfbo.errors import InvalidInputError, MfboError, UnknownNameError
from mfbo.population import Population
from mfbo.storage import open_storage
from mfbo.study import load_study

NAMES = ("Dock", "Park", "Hall")


@pytest.fixture
def feed(tmp_path):
    def write(bikes=(4, 2, 1), renting=(True, True, False), names=NAMES):
        stations = [
            {"station_id": str(k), "name": name, "lat": 40 + k / 100, "lon": -74, "capacity": 6}
            for k, name in enumerate(names)
        ]
        states = [
            {"station_id": str(k), "num_bikes_available": count, "is_renting": rents, "is_installed": True}
            for k, (count, rents) in enumerate(zip(bikes, renting, strict=True))
        ]
        for name, rows in (("station_information", stations), ("station_status", states)):
            (tmp_path / f"{name}.json").write_text(json.dumps({"version": "2.3", "data": {"stations": rows}}))
        return str(tmp_path)

    return write


@pytest.fixture
def storage(tmp_path):
    return f"sqlite:///{tmp_path}/s.db"


def created(feed, storage, agents=None, actions=None):
    create(Create("s", actions, agents, feed, move_budget=2, strategy="random", storage=storage, quiet=True))
    return load_study("s", storage)


def asked(storage, **options):
    ask(Ask("s", storage=storage, quiet=True, **options))


def told(storage, **options):
    tell(Tell("s", 0, storage=storage, quiet=True, **options))


def trips(tmp_path, days=("2020-11-03",)):
    rows = [f"{day} 10:0{k},{name}" for day in days for k, name in enumerate(("Dock", "Dock", "Park", "Harbor"))]
    path = tmp_path / "day.csv"
    path.write_text("\n".join(["started_at,start_station_name", *rows]))
    return path


def test_a_study_of_a_feed_has_its_stations_docks_bikes_and_closed_ones(feed, storage):
    population = created(feed(), storage).population
    assert population.actions == NAMES
    assert population.size == 7
    assert population.limits.most.tolist() == [6, 6, 1]
    assert population.limits.least.tolist() == [0, 0, 1]


def test_asking_with_todays_feed_moves_from_where_the_bikes_are(feed, storage):
    created(feed(), storage)
    asked(storage, gbfs=feed((1, 5, 1)))
    study = load_study("s", storage)
    allocation = study.rounds[0].plan.allocation[0]
    assert abs(allocation - [1, 5, 1]).sum() <= 4  # two bikes moved at most, from today's placement
    assert allocation[2] == 1


def test_what_a_feed_says_is_closed_stays_as_it_is_that_day_and_opens_again(feed, storage, capsys):
    created(feed(), storage)
    asked(storage, gbfs=feed((3, 3, 1), renting=(True, False, False)))
    asked(storage, gbfs=feed((2, 1, 4), renting=(False, True, True)))
    study = load_study("s", storage)
    first, second = (one.plan.allocation[0].tolist() for one in study.rounds)
    assert first == [3, 3, 1]  # only the dock and nobody else may take or give
    assert study.rounds[0].state == "abandoned"
    assert second[0] == 2
    assert dict(study.rounds[1].today) == {"capacity": {"Dock": 2, "Hall": 6}, "minimum": {"Dock": 2, "Hall": 0}}
    assert "today: 'Dock' holds 2, 'Hall' holds 6, 'Dock' needs at least 2" in capsys.readouterr().err
    asked(storage, gbfs=feed((2, 1, 4), renting=(False, True, True)), capacity=["Dock=2", "Hall=5"])
    assert load_study("s", storage).rounds[1].state == "open"  # said today, it is the same plan


def test_a_days_trips_are_the_payoff(feed, storage, tmp_path, capsys):
    created(feed(), storage)
    asked(storage)
    path = trips(tmp_path, ("2020-11-03", "2020-11-04"))
    with pytest.raises(InvalidInputError, match="say which day"):
        told(storage, trips=path)
    with pytest.raises(InvalidInputError, match="leave one of them out"):
        told(storage, payoff=3.0, trips=path)
    with pytest.raises(InvalidInputError, match="give it with --trips"):
        told(storage, payoff=3.0, day="2020-11-04")
    with pytest.raises(InvalidInputError, match="is not a day"):
        told(storage, trips=path, day="4.11.")
    assert load_study("s", storage).rounds[0].state == "open"
    told(storage, trips=path, day="2020-11-04")
    done = load_study("s", storage).rounds[0]
    assert done.payoff == 3.0
    bikes = done.plan.allocation[0]
    assert done.feedback.counts[0].tolist() == bikes.tolist()
    seen = bikes > 0
    np.testing.assert_allclose(done.feedback.cells[0][seen], (np.array([2, 1, 0]) / np.maximum(bikes, 1))[seen])
    assert np.isnan(done.feedback.cells[0][~seen]).all()
    assert "1 rides started at stations that are not in the study" in capsys.readouterr().err


def test_hints_stay_away_where_they_would_be_taken_for_pieces_and_minutes_can_be_told(feed, storage, tmp_path):
    create(Create("s", None, None, feed(), strategy="random", payoff_is="total", storage=storage, quiet=True))
    asked(storage)
    path = tmp_path / "day.csv"
    path.write_text(
        "started_at,ended_at,start_station_name\n2020-11-03 10:00,2020-11-03 10:20,Dock\n2020-11-03 11:00,,Park\n"
    )
    with pytest.raises(UnknownNameError, match="measure 'money'"):
        told(storage, trips=path, measure="money")
    told(storage, trips=path, measure="minutes")
    done = load_study("s", storage).rounds[0]
    assert done.as_told == 20.0
    assert done.feedback.cells is None


def test_a_study_starts_from_what_a_rule_makes_of_past_trips(feed, storage, tmp_path, capsys):
    path = trips(tmp_path)
    create(Create("s", None, None, feed((2, 2, 1)), start_from=[path], rule="shares", storage=storage))
    shown = capsys.readouterr()
    assert "aim: earn, from the starting plan on" in shown.out
    assert "1 stations of the trips are not in the study" in shown.err
    study = load_study("s", storage)
    assert study.ask().allocation.tolist() == [[3, 1, 1]]  # two of three start at the dock; the hall is closed
    create(Create("r", None, None, feed((2, 2, 1)), start_from=[path], strategy="shares", storage=storage))
    assert load_study("r", storage).ask().allocation.tolist() == [[3, 1, 1]]


def test_feeds_with_odd_stations_name_them(feed, storage, capsys):
    create(Create("s", None, None, feed((9, 2, 1)), strategy="random", storage=storage))
    shown = capsys.readouterr().err
    assert "feed: 'Dock' has 9 bikes at 6 docks" in shown
    assert "feed: 'Hall' is closed; its bikes stay: 1" in shown


def test_what_does_not_fit_is_refused(feed, storage, tmp_path):
    with pytest.raises(InvalidInputError, match="--actions and --gbfs both"):
        created(feed(), storage, actions=tmp_path / "a.csv")
    with pytest.raises(InvalidInputError, match="--actions FILE --agents N, or --gbfs FEED"):
        created(None, storage)
    created(feed(), storage)
    with pytest.raises(InvalidInputError, match="does not know 'Hall'"):
        asked(storage, gbfs=feed(names=("Dock", "Park", "Town")))
    with pytest.raises(InvalidInputError, match="--placed and --gbfs exclude one another"):
        asked(storage, placed=tmp_path / "p.csv", gbfs=feed())
    for options, reason in (
        ({"start": tmp_path / "p.csv", "start_from": [tmp_path]}, "both say what to begin with"),
        ({"rule": "deficit"}, "give them with --start-from"),
        ({"start_from": [tmp_path], "rule": "shares", "strategy": "deficit"}, "leave out --rule shares"),
        ({"start_from": [trips(tmp_path)], "rule": "guess"}, "unknown rule 'guess'"),
    ):
        with pytest.raises(MfboError, match=reason):
            create(Create("t", None, None, feed(), storage=storage, quiet=True, **options))
    assert [found.name for found in open_storage(storage).studies()] == ["s"]


def test_a_forecast_is_a_placement_of_the_whole_fleet_within_the_docks(tmp_path):
    path = trips(tmp_path)
    plan = forecast([path], Population(NAMES, size=9), "shares", silent=True)
    assert plan == {"Dock": 6, "Park": 3, "Hall": 0}
    docked = forecast([path], Population(NAMES, size=9, capacity=5), "deficit", silent=True)
    assert docked == {"Dock": 5, "Park": 4, "Hall": 0}
    with pytest.raises(InvalidInputError, match="names must be the same"):
        forecast([path], Population(["x"], size=9), "deficit", silent=True)
    with pytest.raises(InvalidInputError, match="whole agents"):
        forecast([path], Population(NAMES), "deficit", silent=True)
