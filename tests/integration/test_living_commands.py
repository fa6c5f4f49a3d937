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


def test_a_payoff_is_typed_with_a_point_or_a_comma_and_never_means_two_things(run):
    run("ask", "bikes")
    assert "may mean thousands or a decimal comma" in run("tell", "bikes", "--plan", 0, "--payoff", "1,250", code=2)
    for odd in ("abc", "nan", "inf", "1_000", ""):
        assert "Invalid value for '--payoff'" in run("tell", "bikes", "--plan", 0, "--payoff", odd, code=2)
    run("tell", "bikes", "--plan", 0, "--payoff", "812,5")
    assert load_study("bikes", ADDRESS).rounds[0].as_told == 812.5
    run("amend", "bikes", "--plan", 0, "--payoff", "-7,25")
    assert load_study("bikes", ADDRESS).rounds[0].as_told == -7.25


def test_an_open_plan_is_abandoned_and_nothing_else(run):
    run("ask", "bikes")
    assert "plan 0 of study 'bikes' is abandoned" in run("abandon", "bikes", "--plan", 0)
    assert "already abandoned" in run("abandon", "bikes", "--plan", 0, code=2)
    assert "was never asked; the study has 1 plan" in run("abandon", "bikes", "--plan", 7, code=2)
    assert json.loads(run("ask", "bikes", "--json"))["plan"] == 1


def test_a_station_that_is_closed_twice_is_closed_once(run):
    assert "28 agents at 2 stations" in run("edit", "bikes", "--close", "Harbor", "--close", "Harbor", "--size", 28)
    assert "at 2 stations" in run("edit", "bikes", "--close", "Harbor")
    assert load_study("bikes", ADDRESS).population.closed == ("Harbor",)
    assert "2 stations" in run("show", "bikes")


def test_changes_are_said_in_words(run):
    run("edit", "bikes", "--close", "Harbor", "--rename", "Main St=Main", "--size", 31, "--move-budget", 1)
    run("edit", "bikes", "--reopen", "Harbor", "--capacity", "Harbor=none", "--minimum", "Harbor=2")
    log = run("log", "bikes")
    said = "31 agents, 'Harbor' closed, 'Main St' is called 'Main', at most 1 agent may move in a round"
    assert said in log
    assert "'Harbor' opens, 'Harbor' holds any number, 'Harbor' needs at least 2" in log
    assert not set("{[") & set(log)
    assert said in run("show", "bikes")
    for size in range(32, 37):
        run("edit", "bikes", "--size", size)
    assert "2 earlier changes: mfbo study log bikes lists all" in run("show", "bikes")


def test_more_agents_seen_than_placed_are_asked_about(run, tmp_path):
    run("ask", "bikes")
    (tmp_path / "cells.csv").write_text("station,payoff,agents\nMain St,1,10\nHarbor,2,500\nOld Town,3,10\n")
    words = run("tell", "bikes", "--plan", 0, "--cells", "cells.csv", code=2)
    assert "station 'Harbor': 500 agents were seen, and 10 were placed" in words
    assert "--placed" in words
    assert load_study("bikes", ADDRESS).rounds[0].state == "open"
    run("tell", "bikes", "--plan", 0, "--cells", "cells.csv", "--yes")
    assert load_study("bikes", ADDRESS).rounds[0].state == "done"


def test_a_longitude_that_is_not_on_the_map_is_refused(run, tmp_path):
    (tmp_path / "far.csv").write_text("name,longitude,latitude\nA,500,1\nB,2,91\n")
    words = run("create", "far", "--actions", "far.csv", "--agents", 3, code=2)
    assert "line 2, column 'longitude': 500 is not between -180 and 180 degrees" in words
    assert "line 3, column 'latitude': 91 is not between -90 and 90 degrees" in words
    (tmp_path / "near.csv").write_text("name,lon,lat\nA,5,1\nB,2,9\n")
    run("create", "near", "--actions", "near.csv", "--agents", 3)
    (tmp_path / "new.csv").write_text("name,longitude,latitude\nC,-181,1\n")
    assert "-181 is not between" in run("edit", "near", "--open", "new.csv", code=2)


def test_no_python_in_what_the_command_line_says(run, tmp_path):
    run("ask", "bikes")
    run("tell", "bikes", "--plan", 0, "--payoff", 1)
    for arguments in (("amend", "bikes", "--plan", 0), ("edit", "bikes"), ("ask", "bikes", "--size", 0)):
        words = run(*arguments, code=2)
        assert not any(odd in words for odd in ("=,", "None", "study.", "_", "True")), words
    run("create", "new", "--actions", "stations.csv", "--agents", 3)
    assert "the best plan needs at least one told round" in run("ask", "new", "--best", code=2)


def test_a_copy_needs_a_name_and_a_day_that_there_is(run):
    assert "needs a name" in run("copy", "bikes", " ", code=2)
    for odd in ("9999-12-31", "yesterday", "99999-01-01", ""):
        assert "--until must be a date" in run("copy", "bikes", "other", "--until", odd, code=2)


def test_an_open_plan_says_that_the_contexts_weigh_otherwise(run, tmp_path):
    (tmp_path / "contexts.csv").write_text("name,weight\n1,0.5\n2,0.5\n")
    run("create", "two", "--actions", "stations.csv", "--agents", 30, "--contexts", "contexts.csv")
    run("ask", "two")
    run("edit", "two", "--weights", "1=0,7", "--weights", "2=0.3")
    assert "plan 0 is abandoned: the contexts have other weights now" in run("ask", "two")


def test_an_edit_says_each_thing_once_and_reads_the_docks_of_what_opens(run, tmp_path):
    (tmp_path / "new.csv").write_text("name;x;y;docks\nPark;0,5;0,2;9\nPier;0,6;0,2;\n")
    assert "says 'Harbor' twice" in run("edit", "bikes", "--capacity", "Harbor=1", "--capacity", "Harbor=9", code=2)
    assert "two actions would be called 'Harbor'" in run("edit", "bikes", "--rename", "Main St=Harbor ", code=2)
    assert "NAME=VALUE" in run("edit", "bikes", "--capacity", "docks", code=2)
    out = run("edit", "bikes", "--open", "new.csv", "--capacity", "docks", "--capacity", "Harbor=11")
    assert load_study("bikes", ADDRESS).population.limits.most.tolist() == [20, 11, 20, 9, 30]
    assert "'Pier' holds any number of agents: --capacity Pier=NUMBER" in out
    assert "Park" not in out.splitlines()[-1]


def test_what_is_shown_of_totals_is_of_all_agents(run, tmp_path):
    (tmp_path / "day.csv").write_text("station,payoff,agents\nMain St,2,10\nHarbor,1,10\nOld Town,3,8\n")
    told(run, [840, 780])
    run("ask", "bikes", "--size", 28)
    run("tell", "bikes", "--plan", 2, "--payoff", 800)
    run("ask", "bikes", "--size", 28)
    out = run("tell", "bikes", "--plan", 3, "--cells", "day.csv", "--yes")
    assert f"highest told payoff per agent so far: plan 2, {800 / 28:.6g} (800 in all; luck included" in out
    shown = json.loads(run("show", "bikes", "--json"))
    assert [row["payoff"] for row in shown["rounds"]] == [840, 780, 800, pytest.approx(54)]
    study = load_study("bikes", ADDRESS)
    gains = {row["action"]: row["gain"] for row in study.explain().rows()}
    assert shown["unit"] == "payoff per agent moved, of all agents together"
    assert all(row["gain"] == pytest.approx(30 * gains[row["station"]], rel=1e-6) for row in shown["try"])


def test_a_second_open_plan_and_a_count_are_said(run, tmp_path):
    told(run, [812])
    run("ask", "bikes")
    assert "plan 1 is open too: tell it, or mfbo study abandon bikes --plan 1" in run("ask", "bikes", "--best")
    (tmp_path / "now.csv").write_text("station,agents\nMain St,11\nHarbor,9\nOld Town,10\n")
    run("ask", "bikes", "--placed", "now.csv")
    run("withdraw", "bikes", "--plan", 0)
    assert json.loads(run("log", "bikes", "--json"))[-2]["said"]["placed"]
    assert run("reinstate", "bikes", "--plan", 0).endswith("is done: reinstated\n")
    assert run("withdraw", "bikes", "--plan", 0).endswith("is withdrawn\n")


def test_a_change_is_not_counted_among_the_rounds_that_are_deleted(run):
    told(run, [812])
    run("edit", "bikes", "--size", 29)
    assert json.loads(run("delete", "bikes", "--yes", "--json"))["rounds"] == 1
