"""What `mfbo study show` and `plot` say is so: no closed station is advertised, no lucky day is progress."""

import json
import re
from pathlib import Path

import pytest


@pytest.fixture
def run(mfbo_command):
    """Run a command that must succeed; return what it prints."""

    def command(*arguments):
        code, out, err = mfbo_command("study", *arguments)
        assert code == 0, err
        return out

    return command


def told(run, payoff, rounds):
    for number in range(rounds):
        rows = json.loads(run("ask", "s", "--json"))["rows"]
        said = run(
            "tell", "s", "--yes", "--plan", number, "--payoff", payoff(number, {row["station"]: row for row in rows})
        )
    return said


def test_a_closed_station_is_never_advertised(run, tmp_path):
    (tmp_path / "stations.csv").write_text("name,x,docks\nclosed,0,0\nfull,1,6\nPark,2,30\nPier,3,30\n")
    run("create", "s", "--actions", "stations.csv", "--agents", 30, "--capacity", "docks")
    told(run, lambda number, rows: rows["full"]["agents"] - 0.1 * rows["Pier"]["agents"], 11)
    record = json.loads(run("show", "s", "--json"))
    full = [row["station"] for row in record["recommended"] if row["agents"] >= {"full": 6}.get(row["station"], 30)]
    assert not {"closed", *full} & {row["station"] for row in record["try"]}
    (tight,) = [each for each in record["health"] if each["name"] == "tight limits"]
    assert "closed" not in tight["message"]


def test_a_gain_has_a_unit_an_uncertainty_and_a_place_it_comes_from(run, tmp_path):
    (tmp_path / "stations.csv").write_text("name,x\nMain St,0\nPark,1\nPier,3\n")
    run("create", "s", "--actions", "stations.csv", "--agents", 30)
    told(run, lambda number, rows: rows["Park"]["agents"] / 30, 3)
    record = json.loads(run("show", "s", "--json"))
    assert record["unit"] == "payoff per agent moved"
    for row in record["try"]:
        assert row["gain"] > 0
        assert row["gain_sd"] > 0
        assert row["from"] in {"Main St", "Park", "Pier"} - {row["station"]}
    out = run("show", "s")
    assert "payoff per agent moved" in out
    assert "± 2 sd" in out


def test_best_says_best_of_what(run, tmp_path):
    (tmp_path / "stations.csv").write_text("name,x\nMain St,0\nPark,1\nPier,3\n")
    run("create", "s", "--actions", "stations.csv", "--agents", 30, "--noise", 1)
    said = told(run, lambda number, rows: 4.0 if number == 3 else 0.1 * (number % 3), 8)
    assert "highest told payoff so far: plan 3, 4 (luck included" in said
    record = json.loads(run("show", "s", "--json"))
    assert record["best"] == {"plan": 3, "payoff": 4.0, "per agent": 4.0, "of": "told payoff"}
    assert record["expected"]["mean"] < 3
    assert record["expected"]["sd"] > 0
    out = run("show", "s")
    assert "best told payoff: plan 3, 4 (luck included)" in out
    assert f"highest expected payoff: plan {record['expected']['plan']}," in out


def test_a_lucky_day_is_not_drawn_as_progress(run, tmp_path):
    """The thick line of the picture, the best so far, rises by far less than the luck of one day."""
    (tmp_path / "stations.csv").write_text("name,x\nMain St,0\nPark,1\nPier,3\n")
    run("create", "s", "--actions", "stations.csv", "--agents", 30, "--noise", 1)
    told(run, lambda number, rows: 4.0 if number == 5 else 0.1 * (number % 3), 9)
    pictures = json.loads(run("plot", "s", "--json"))["pictures"]
    svg = next(Path(path).read_text(encoding="utf-8") for path in pictures if path.endswith("payoff.svg"))
    thick = re.search(r'<path d="([^"]*)"[^>]*stroke-width: 1\.8', svg)[1]
    heights = [float(y) for _, y in re.findall(r"[ML] (\S+) (\S+)", thick)]
    points = [float(y) for y in re.findall(r'<use [^>]*y="([\d.]+)"[^>]*fill: #888888', svg)]
    assert len(points) >= 9
    assert max(heights) - min(heights) < 0.5 * (max(points) - min(points))


def test_a_strategy_without_a_model_shows_what_was_told_alone(run, tmp_path):
    (tmp_path / "stations.csv").write_text("name\nMain St\nPark\n")
    run("create", "s", "--actions", "stations.csv", "--agents", 30, "--strategy", "random")
    told(run, lambda number, rows: float(number), 3)
    record = json.loads(run("show", "s", "--json"))
    assert (record["expected"], record["unit"], record["try"]) == (None, None, [])
    assert len(json.loads(run("plot", "s", "--json"))["pictures"]) == 4
