"""An operator's earning study on the command line: begin where the fleet is, act on it, look ahead."""

import csv
import json

import pytest


@pytest.fixture
def run(mfbo_command, tmp_path):
    """Run a command that must succeed; return what it prints."""
    (tmp_path / "stations.csv").write_text("name,x,y\na,0,0\nb,1,0\nc,0,1\nd,1,1\n")
    (tmp_path / "now.csv").write_text("station,agents\na,5\nb,5\nc,5\nd,5\n")

    def command(*arguments):
        code, out, err = mfbo_command(*arguments)
        assert code == 0, err
        return out

    return command


def created(run, *options):
    return run("study", "create", "s", "--actions", "stations.csv", "--agents", 20, *options)


def told(run, payoffs, *said):
    for number, payoff in enumerate(payoffs):
        run("study", "ask", "s")
        run("study", "tell", "s", "--plan", number, "--payoff", payoff, *said)


def test_a_study_that_knows_where_the_fleet_is_earns_and_says_so(run):
    out = created(run, "--placed", "now.csv", "--risk", "10%", "--move-budget", 3)
    assert "aim: earn, from where the agents are on; a round risks at most 10 %" in out
    first = json.loads(run("study", "ask", "s", "--json"))
    assert [row["agents"] for row in first["rows"]] == [5, 5, 5, 5]
    assert first["moved"] == 0


def test_a_study_that_knows_nothing_is_there_to_find(run):
    assert "aim" not in created(run)


def test_the_best_plan_a_plan_of_ones_own_and_the_recommended_one(run, tmp_path):
    created(run, "--placed", "now.csv", "--move-budget", 3)
    (tmp_path / "mine.csv").write_text("station,agents\na,8\nb,5\nc,5\nd,2\n")
    mine = json.loads(run("study", "ask", "s", "--plan", "mine.csv", "--json"))
    assert [row["agents"] for row in mine["rows"]] == [8, 5, 5, 2]
    run("study", "tell", "s", "--plan", 0, "--payoff", 30)
    assert json.loads(run("study", "ask", "s", "--best", "--json"))["moved"] <= 3
    run("study", "tell", "s", "--plan", 1, "--payoff", 31)
    assert "recommended" in run("study", "recommend", "s", "--out", "plan.csv")
    with open("plan.csv") as file:
        assert sum(int(row["agents"]) for row in csv.DictReader(file)) == 20
    record = json.loads(run("study", "recommend", "s", "--json"))
    assert record["rounds"] in (0, 1, 2)


def test_the_outlook_tells_what_rounds_are_expected_to_bring(run):
    created(run, "--placed", "now.csv")
    told(run, [30.0, 31.0, 29.5])
    record = json.loads(run("study", "outlook", "s", "--rounds", 2, "--simulations", 2, "--json"))
    assert len(record["gain"]) == 2
    assert "expected gain" in run("study", "outlook", "s", "--rounds", 2, "--simulations", 1, "--quiet")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("create", "t", "--actions", "stations.csv", "--agents", 4, "--risk", "much"), "risk must be a share"),
        (("create", "t", "--actions", "stations.csv", "--agents", 4, "--aim", "win"), "win"),
        (("ask", "s", "--best", "--plan", "now.csv"), "exclude one another"),
        (("outlook", "s", "--feedback", "trips"), "trips"),
    ],
)
def test_what_cannot_be_meant_is_one_line(run, mfbo_command, options, message):
    created(run)
    code, _, err = mfbo_command("study", *options)
    assert code != 0
    assert message in err


def test_show_asks_about_a_day_that_was_probably_told_wrongly(run):
    created(run, "--placed", "now.csv")
    told(run, [30.0, 31.0, 29.5, 30.5, 300.0, 30.0], "--yes")
    assert json.loads(run("study", "show", "s", "--json"))["left_out"] == [4]
    assert "plan 4: the payoff is far from those around it" in run("study", "show", "s")
