"""`mfbo study` of a fleet that lives: a day's closure, stations that open, corrections, the log, copies."""

import csv
import json

import pytest

from mfbo import load_study
from mfbo.cli import main

STATIONS = "name,x,y,docks\nMain St,0,0,20\nHarbor,0.4,0.1,20\nOld Town,1,1,20\n"
ADDRESS = "sqlite:///mfbo.db"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stations.csv").write_text(STATIONS)

    def command(*arguments, code=0):
        with pytest.raises(SystemExit) as end:
            main(["study", *map(str, arguments)])
        said = capsys.readouterr()
        assert end.value.code == code, said.err
        return said.out if code == 0 else said.err

    options = ("--agents", 30, "--capacity", "docks", "--payoff-is", "total")
    command("create", "bikes", "--actions", "stations.csv", *options)
    return command


def told(run, payoffs):
    for payoff in payoffs:
        plan = json.loads(run("ask", "bikes", "--json"))["plan"]
        run("tell", "bikes", "--plan", plan, "--payoff", payoff)


def test_a_day_with_fewer_bikes_and_a_closed_station(run):
    told(run, [812, 790, 831])
    out = run("ask", "bikes", "--size", 28, "--closed", "Harbor", "--capacity", "Main St=12", "--out", "plan.csv")
    assert "today: 28 agents, 'Harbor' closed, 'Main St' holds 12" in out
    with open("plan.csv", newline="") as file:
        agents = {row["station"]: int(row["agents"]) for row in csv.DictReader(file)}
    assert sum(agents.values()) == 28
    assert agents["Harbor"] == 0
    assert agents["Main St"] <= 12
    assert "is less than 30" in run("ask", "bikes", "--closed", "Harbor", "--closed", "Main St", code=2)
    assert "NAME=VALUE" in run("ask", "bikes", "--capacity", "Main St", code=2)
    run("tell", "bikes", "--plan", 3, "--payoff", 700)
    assert load_study("bikes", ADDRESS).rounds[3].payoff == 700 / 28
    assert "28 agents" in run("show", "bikes")


def test_stations_open_close_and_are_renamed(run, tmp_path):
    told(run, [812, 790])
    (tmp_path / "new.csv").write_text("name,x,y\nPark,0.5,0.2\n")
    edit = ("--open", "new.csv", "--close", "Old Town", "--rename", "Harbor=Port", "--capacity", "Park=9")
    out = run("edit", "bikes", *edit, "--by", "ann", "--reason", "spring")
    assert "30 agents at 3 stations" in out
    run("ask", "bikes", "--out", "plan.csv")
    with open("plan.csv", newline="") as file:
        rows = {row["station"]: row for row in csv.DictReader(file)}
    assert set(rows) == {"Main St", "Port", "Old Town", "Park"}  # the closed one is emptied first
    assert int(rows["Old Town"]["agents"]) == 0 > int(rows["Old Town"]["change"])
    assert int(rows["Park"]["agents"]) <= 9
    run("tell", "bikes", "--plan", 2, "--payoff", 820)
    run("ask", "bikes", "--out", "plan.csv")
    with open("plan.csv", newline="") as file:
        assert "Old Town" not in {row["station"] for row in csv.DictReader(file)}
    shown = run("show", "bikes")
    assert "3 stations" in shown
    assert "changed before plan 2" in shown
    assert "spring" in shown
    (tmp_path / "placed.csv").write_text("station,agents\nMain St,10\nPort,11\nPark,9\n")
    run("tell", "bikes", "--plan", 3, "--payoff", 820, "--placed", "placed.csv")
    assert run("edit", "bikes", "--reopen", "Old Town", "--size", 40, "--move-budget", "none", "--quiet") == ""
    assert "must be NAME=VALUE" in run("edit", "bikes", "--rename", "Port", code=2)
    assert "nothing changes" in run("edit", "bikes", code=2)
    run("plot", "bikes", "--out", "pictures")


def test_corrections_and_the_log(run):
    told(run, [812, 790, 831, 805, 822])
    plan = json.loads(run("ask", "bikes", "--json"))["plan"]
    err = run("tell", "bikes", "--plan", plan, "--payoff", 8120, code=2)
    assert "8120 is far outside what was told so far (790 to 831); if it is right, --yes" in err
    run("tell", "bikes", "--plan", plan, "--payoff", 8120, "--yes")
    assert "amended by ann: a zero" in run(
        "amend", "bikes", "--plan", plan, "--payoff", 812, "--by", "ann", "--reason", "a zero"
    )
    assert "withdrawn" in run("withdraw", "bikes", "--plan", 1, "--by", "bob")
    assert "withdrawn by bob" in run("show", "bikes")
    assert "done" in run("reinstate", "bikes", "--plan", 1)
    log = json.loads(run("log", "bikes", "--json"))
    assert [entry["kind"] for entry in log][-4:] == ["told", "amended", "withdrawn", "reinstated"]
    assert [entry["said"].get("total") for entry in log][-4:-2] == [8120.0, 812.0]
    assert "total 8120" in run("log", "bikes", "--entries", 4)
    assert "only a withdrawn plan" in run("reinstate", "bikes", "--plan", 1, code=2)


def test_a_study_moves(run):
    told(run, [812, 790])
    run("edit", "bikes", "--close", "Harbor", "--size", 29)
    run("export", "bikes", "--out", "bikes.mfbo")
    run("import", "again", "bikes.mfbo", "--storage", "sqlite:///other.db")
    run("copy", "bikes", "twin")
    rows = [
        json.loads(run("ask", name, "--json", "--storage", storage))["rows"]
        for name, storage in (("bikes", ADDRESS), ("again", "sqlite:///other.db"), ("twin", ADDRESS))
    ]
    assert rows[0] == rows[1] == rows[2]
    assert "0 rounds" in run("copy", "bikes", "before", "--until", "2001-01-01")
    assert "must be a date" in run("copy", "bikes", "never", "--until", "yesterday", code=2)
    assert "already exists" in run("import", "again", "bikes.mfbo", "--storage", "sqlite:///other.db", code=2)
