"""`mfbo study …` as an operator meets it: files in and out, one store, one line for each fault."""

import csv
import gc
import json
import os
import sqlite3
import subprocess
import sys

import pytest

from mfbo import create_study, load_study
from mfbo.cli import main

STATIONS = "name;lat;lon;docks\nMain St;37,51;-122,25;20\nHarbor;37,755;-122,5;20\nOld Town;37,8;-122,41;10\n"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command in a folder of its own; return exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stations.csv").write_text(STATIONS)

    def command(*arguments):
        with pytest.raises(SystemExit) as end:
            main(["study", *map(str, arguments)])
        said = capsys.readouterr()
        return end.value.code, said.out, said.err

    return command


@pytest.fixture
def created(run):
    assert run("create", "saturdays", "--actions", "stations.csv", "--agents", 30)[0] == 0
    return run


def told(run, rounds):
    for number in range(rounds):
        assert run("ask", "saturdays")[0] == 0
        assert run("tell", "saturdays", "--plan", number, "--payoff", (number * 7 % 5) / 3)[0] == 0


def plan_rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_a_week_from_creation_to_pictures(created, tmp_path):
    run = created
    told(run, 3)
    code, out, err = run("ask", "saturdays", "--out", "plan.csv")
    assert (code, err) == (0, "")
    assert "plan 3" in out
    rows = plan_rows("plan.csv")
    assert list(rows[0]) == ["station", "context", "agents", "change"]
    assert sum(int(row["agents"]) for row in rows) == 30
    assert sum(int(row["change"]) for row in rows) == 0
    (tmp_path / "day.csv").write_text(
        "station,payoff,agents\n" + "\n".join(f"{r['station']},{0.1},{r['agents']}" for r in rows if int(r["agents"]))
    )
    assert run("tell", "saturdays", "--plan", 3, "--cells", "day.csv")[0] == 0
    plan = json.loads(run("ask", "saturdays", "--json")[1])
    assert plan["plan"] == 4
    (tmp_path / "placed.csv").write_text("station,agents\nMain St,10\nHarbor,10\nOld Town,10\n")
    (tmp_path / "trips.csv").write_text("station,payoff\nHarbor,0.5\nHarbor,0.7\nMain St,0\n")
    code, out, _ = run("tell", "saturdays", "--plan", 4, "--agents-file", "trips.csv", "--placed", "placed.csv")
    assert code == 0
    change = json.loads(run("ask", "saturdays", "--json")[1])["rows"]
    assert [row["agents"] - row["change"] for row in change] == [10, 10, 10]
    shown = json.loads(run("show", "saturdays", "--json")[1])
    assert shown["told"] == 5
    assert shown["open"] == [5]
    assert [each["name"] for each in shown["health"]] == ["model error", "drift", "repeats", "tight limits"]
    assert shown["try"]
    assert sum(row["agents"] for row in shown["recommended"]) == 30
    code, out, _ = run("show", "saturdays")
    assert code == 0
    for words in ("highest expected payoff: plan", "recommended", "health", "what to try", "payoff per agent moved"):
        assert words in out
    pictures = json.loads(run("plot", "saturdays", "--json")[1])["pictures"]
    assert len(pictures) == 4
    assert all(os.path.getsize(picture) > 1000 for picture in pictures)
    assert run("doctor")[0] == 0


def test_asking_twice_gives_the_same_plan_and_another_worker_another(created):
    first = json.loads(created("ask", "saturdays", "--json")[1])
    assert json.loads(created("ask", "saturdays", "--json")[1]) == first
    assert json.loads(created("ask", "saturdays", "--worker", "truck-7", "--json")[1])["plan"] == 1


def test_the_first_plan_is_compared_with_where_the_agents_are(run, tmp_path):
    (tmp_path / "placed.csv").write_text("station,agents\nMain St,30\nHarbor,0\nOld Town,0\n")
    run("create", "s", "--actions", "stations.csv", "--agents", 30, "--placed", "placed.csv", "--aim", "find")
    assert [row["change"] for row in json.loads(run("ask", "s", "--json")[1])["rows"]] == [-20, 10, 10]


def test_plans_equal_those_of_the_library(created):
    told(created, 4)
    stored = load_study("saturdays", "sqlite:///mfbo.db")
    study = create_study(stored.population)
    for each in stored.rounds:
        assert study.ask().allocation.tolist() == each.plan.allocation.tolist()
        study.tell(each.number, each.payoff)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ask", "sundays"), "'saturdays'"),
        (("tell", "saturdays", "--plan", 0, "--payoff", "nan"), "finite"),
        (("tell", "saturdays", "--plan", 7, "--payoff", 1), "never asked"),
        (("tell", "saturdays", "--plan", 0), "nothing was told"),
        (("tell", "saturdays", "--plan", 0, "--payoff", 1, "--failed", "rain"), "--failed"),
        (("tell", "saturdays", "--plan", 7, "--cells", "stations.csv"), "never asked"),
        (("create", "saturdays", "--actions", "stations.csv", "--agents", 3), "already exists"),
        (("create", "other", "--actions", "stations.csv", "--agents", "some"), "'some'"),
        (("create", "other", "--actions", "nosuch.csv", "--agents", 3), "nosuch.csv"),
        (("create", "other", "--actions", "stations.csv", "--agents", 3, "--capacity", "dock"), "'dock'"),
        (("create", "other", "--actions", "stations.csv", "--agents", 3, "--storage", "mysql://x"), "sqlite:///"),
        (("ask", "saturdays", "--out", "nosuch/plan.csv"), "nosuch"),
        (("ask", "saturdays", "--storage", "sqlite:///other.db"), "does not exist"),
        (("export", "saturdays", "--out", "plan.xls"), ".csv, .json, .parquet or .mfbo"),
        (("plot", "saturdays"), "no told round"),
        (("delete", "saturdays"), "--yes"),
    ],
)
def test_refusals_are_one_line_with_exit_code_2_and_change_nothing(created, arguments, said):
    created("ask", "saturdays")
    before = load_study("saturdays", "sqlite:///mfbo.db").rounds
    code, out, err = created(*arguments)
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1
    assert said in err
    after = load_study("saturdays", "sqlite:///mfbo.db").rounds
    assert [each.state for each in after] == [each.state for each in before]
    assert json.loads(created("list", "--json")[1])[0]["rounds"] == 1


def test_a_file_with_five_faults_gets_a_line_for_each_and_nothing_is_written(created, tmp_path):
    created("ask", "saturdays")
    (tmp_path / "day.csv").write_text(
        "station;payoff;agents\nMain St;viel;10\nHarbour;1,5;10\nMain St;0,5;3\nOld Town;;-2\n"
    )
    code, out, err = created("tell", "saturdays", "--plan", 0, "--cells", "day.csv")
    lines = err.strip().splitlines()
    assert (code, out) == (2, "")
    assert len(lines) == 5
    for place, said in [
        ("line 2, column 'payoff'", "'viel' is not a number"),
        ("line 3, column 'station'", "did you mean 'Harbor'"),
        ("line 4", "already on line 2"),
        ("line 5, column 'agents'", "-2 is below 0"),
        ("day.csv:", "no row for station 'Harbor' where the plan has agents"),
    ]:
        assert any(place in line and said in line for line in lines), (place, err)
    assert load_study("saturdays", "sqlite:///mfbo.db").rounds[0].state == "open"


def test_a_plan_that_brought_nothing_is_told_as_failed(created):
    created("ask", "saturdays")
    assert created("tell", "saturdays", "--plan", 0, "--failed", "heavy rain")[0] == 0
    assert "heavy rain" in created("show", "saturdays")[1]


@pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
def test_rounds_are_exported(created, suffix):
    told(created, 2)
    assert created("export", "saturdays", "--out", f"all.{suffix}")[0] == 0
    if suffix == "csv":
        rows = plan_rows("all.csv")
    elif suffix == "json":
        with open("all.json") as file:
            assert [each["payoff"] for each in json.load(file)["rounds"]] == [0.0, 2 / 3]
        return
    else:
        import pyarrow.parquet as pq

        rows = pq.read_table("all.parquet").to_pylist()
    assert len(rows) == 6
    assert {float(row["payoff"]) for row in rows} == {0.0, 2 / 3}


def test_an_export_is_imported_as_past_days_of_another_study(created, run):
    told(created, 3)
    created("export", "saturdays", "--out", "all.csv")
    run("create", "sundays", "--actions", "stations.csv", "--agents", 30)
    assert json.loads(run("import", "sundays", "all.csv", "--json")[1])["days"] == 3
    again = json.loads(run("import", "sundays", "all.csv", "--json")[1])  # as after a kill: what is there stays once
    assert (again["days"], again["already_there"]) == (0, 3)
    old, new = (load_study(name, "sqlite:///mfbo.db") for name in ("saturdays", "sundays"))
    assert [each.payoff for each in new.rounds] == [each.payoff for each in old.rounds]
    assert all(each.added for each in new.rounds)
    assert "past day" in run("show", "sundays")[1]


def test_studies_are_listed_and_deleted(created, run):
    run("create", "sundays", "--actions", "stations.csv", "--agents", "inf")
    assert [each["study"] for each in json.loads(run("list", "--json")[1])] == ["saturdays", "sundays"]
    assert "sundays" in run("list")[1]
    assert run("delete", "saturdays", "--yes")[0] == 0
    assert [each["study"] for each in json.loads(run("list", "--json")[1])] == ["sundays"]
    rows = json.loads(run("ask", "sundays", "--json")[1])["rows"]
    assert sum(row["share"] for row in rows) == pytest.approx(1)


def test_delete_asks_on_a_terminal(created, monkeypatch):
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda question: "saturdays" in question)
    assert created("delete", "saturdays")[0] == 0


def test_upgrade_has_nothing_to_do_on_a_new_store(created):
    code, out, _ = created("upgrade")
    assert code == 0
    assert "up to date" in out


def test_doctor_says_what_is_wrong_and_repairs_it_after_a_backup(created, tmp_path):
    told(created, 6)
    file = sqlite3.connect("mfbo.db")
    file.execute("UPDATE events SET body = replace(body, 'payoff', 'pay0ff') WHERE number = 4 AND kind = 'told'")
    file.execute("UPDATE events SET body = '{}' WHERE number = 2 AND kind = 'asked'")
    file.execute("UPDATE events SET body = '{}' WHERE number = 5 AND kind = 'asked'")
    file.execute("UPDATE events SET body = '{}' WHERE number = 5 AND kind = 'told'")
    file.commit()
    file.close()
    code, _, err = created("ask", "saturdays")
    assert code == 2
    assert "mfbo study doctor" in err
    code, out, _ = created("doctor")
    assert code == 1
    assert "does not match its checksum" in out
    gc.collect()  # commands before this one ran in this process: their connections move the log into the file
    damaged = (tmp_path / "mfbo.db").read_bytes()
    record = json.loads(created("doctor", "--yes", "--json")[1])
    assert record["ok"], record
    with open(record["repair"]["backup"], "rb") as backup:
        assert backup.read() == damaged
    assert any("plan 2 was lost, its result is kept" in each for each in record["repair"]["lost"])
    rounds = load_study("saturdays", "sqlite:///mfbo.db").rounds
    assert [each.state for each in rounds] == ["done", "done", "done", "done", "open"]
    assert [each.payoff for each in rounds[:4]] == [(n * 7 % 5) / 3 for n in range(4)]
    assert created("doctor")[0] == 0
    assert created("ask", "saturdays")[0] == 0


def test_doctor_rebuilds_an_index_and_saves_what_a_cut_left(created, tmp_path):
    told(created, 12)
    load_study("saturdays", "sqlite:///mfbo.db").storage.close()
    file = tmp_path / "mfbo.db"
    content = file.read_bytes()
    file.write_bytes(content[: len(content) - 3 * 4096])
    assert created("doctor")[0] == 1
    code, out, _ = created("doctor", "--yes")
    assert code == 0, out
    assert "backup:" in out
    if json.loads(created("list", "--json")[1]):
        assert created("ask", "saturdays")[0] == 0


def test_the_storage_may_come_from_the_environment(created, monkeypatch):
    monkeypatch.setenv("MFBO_STORAGE", "sqlite:///elsewhere.db")
    assert "does not exist" in created("list")[2]


def test_study_help_loads_no_numeric_module_and_no_database():
    script = """
import sys
from mfbo.cli import main
try:
    main(["study", "create", "--help"])
except SystemExit as exit:
    assert exit.code == 0
sys.exit(", ".join(name for name in ("numpy", "scipy", "sqlite3", "psycopg") if name in sys.modules) or 0)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "mfbo.db in the current" in " ".join(done.stdout.split())


def test_the_only_open_plan_needs_no_number(created):
    run = created
    code, _, err = run("tell", "saturdays", "--payoff", 1)
    assert code == 2
    assert "has no open plan" in err
    assert run("ask", "saturdays", "--worker", "first")[0] == 0
    code, out, _ = run("tell", "saturdays", "--payoff", 1)
    assert code == 0
    assert "plan 0" in out
    for worker in ("first", "second"):
        assert run("ask", "saturdays", "--worker", worker)[0] == 0
    code, _, err = run("tell", "saturdays", "--payoff", 1)
    assert code == 2
    assert "2 open plans (1, 2)" in err
