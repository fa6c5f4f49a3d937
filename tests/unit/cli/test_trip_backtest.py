"""`mfbo backtest` from trip files to a page: periods, docks and placements of the user's own, and what is refused."""

import json

import pytest

from mfbo.cli.app import main
from mfbo.cli.trip_backtest import days_of, parted
from mfbo.errors import InvalidInputError
from mfbo.problems.tables import read_trips

HEADER = "started_at,ended_at,start_station_name,end_station_name,start_lat,start_lng,end_lat,end_lng"
PLACES = {"Dock <b>": "40.71,-74.01", "Park": "40.72,-74.02", "Hall": "40.73,-74.03"}


@pytest.fixture
def file(tmp_path):
    """Trips of ten days over the end of a month."""
    days = [f"2020-11-{day}" for day in range(25, 31)] + [f"2020-12-0{day}" for day in range(1, 5)]
    rides = [("Dock <b>", "Hall", 7), ("Dock <b>", "Hall", 8), ("Dock <b>", "Park", 9), ("Park", "Dock <b>", 12)]
    rows = [
        f"{day} {hour:02}:00,{day} {hour:02}:20,{a},{b},{PLACES[a]},{PLACES[b]}" for day in days for a, b, hour in rides
    ]
    path = tmp_path / "trips.csv"
    path.write_text("\n".join([HEADER, *rows, "broken,,Park,Park,1,2,3,4"]))
    return path


def called(*words):
    with pytest.raises(SystemExit) as ended:
        main(["backtest", *map(str, words)])
    return ended.value.code


def test_a_backtest_prints_a_table_and_writes_one_page(file, tmp_path, capsys):
    out = tmp_path / "page.html"
    assert called(file, "--agents", 3, "--train", "2020-11", "--test", "2020-12", "--out", out) == 0
    shown = capsys.readouterr()
    assert "2020-11-25 to 2020-11-30, 6 days to learn from: 24 recorded trips" in shown.out
    assert "2020-12-01 to 2020-12-04, 4 held-out days, with the final plans: 16 recorded trips" in shown.out
    assert "skipped: unreadable date: 1" in shown.err
    assert "backtest: day 30 of 30" in shown.err
    page = out.read_text()
    assert page.count("data:image/svg+xml;base64,") == 2
    assert "Who was turned away" in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert 'name="viewport"' in page
    assert "<b>" not in page  # names are shown, not obeyed


def test_docks_and_placement_are_read_and_json_is_one_object(file, tmp_path, capsys):
    docks, placed, out = tmp_path / "docks.csv", tmp_path / "placed.csv", tmp_path / "page.html"
    docks.write_text("station,docks\nDock <b>,2\nPark,2\nHall,9\nElsewhere,9\n")
    placed.write_text("station,agents\nDock <b>,1\nPark,2\n")
    assert called(file, "--agents", 3, "--docks", docks, "--placed", placed, "--json", "--out", out) == 0
    shown = capsys.readouterr()
    record = json.loads(shown.out)
    assert shown.err == ""
    assert record["stations"] == ["Dock <b>", "Park"]  # stations are those where a trip starts
    status_quo = record["ways"][0]
    assert status_quo["learned"]["last_plan"] == [1, 2]
    assert len(status_quo["learned"]["days"]) == 7
    assert len(status_quo["held_out"]["days"]) == 3
    assert all(max(way["held_out"]["last_plan"]) <= 2 for way in record["ways"])


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--agents", "0"], "agents must be between 1 and"),
        (["--agents", "9", "--docks", "2"], "adds up to 4"),
        (["--agents", "3", "--docks", "docks.csv"], "docks.csv"),
        (["--agents", "3", "--rule", "guess"], "unknown rule 'guess'"),
        (["--agents", "3", "--move-budget", "-1"], "move-budget must be between 0"),
        (["--agents", "3", "--train", "2020-10"], "no trip is on these days"),
        (["--agents", "3", "--train", "November"], "neither a month like 2020-11 nor a day"),
        (["--agents", "3", "--train", "2020-11", "--test", "2020-11-30"], "share days"),
        (["--agents", "3", "--test", "2020-11-25"], "no day before it"),
        (["--agents", "3", "--columns", "start=begin"], "begin"),
    ],
)
def test_what_cannot_be_played_is_one_line_and_nothing_is_written(file, tmp_path, capsys, words, reason):
    out = tmp_path / "page.html"
    assert called(file, *words, "--out", out, "--quiet") == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert reason in lines[0]
    assert not out.exists()


def test_days_are_parted_by_what_is_said_and_by_thirds_otherwise(file):
    trips = read_trips(file)
    learned, held_out = parted(trips, None, None)
    assert (len(learned.dates), len(held_out.dates)) == (7, 3)
    learned, held_out = parted(trips, "2020-11-25..2020-11-27", None)
    assert (len(learned.dates), len(held_out.dates)) == (3, 7)
    learned, held_out = parted(trips, None, "2020-12")
    assert (len(learned.dates), len(held_out.dates)) == (6, 4)
    assert parted(trips, "2020-11-25..2020-12", None)[1] is None
    assert parted(trips.on(trips.dates[:1]), None, None)[1] is None
    with pytest.raises(InvalidInputError, match="the end is before the beginning"):
        days_of("2020-12..2020-11", "train", trips.dates)
