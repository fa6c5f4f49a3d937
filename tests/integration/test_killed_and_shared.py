"""Studies survive kill -9 at any moment, and many processes at once."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def script(name, *arguments, timeout=1500):
    done = subprocess.run(
        [sys.executable, HERE / name, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize(
    ("kills", "seed"), [(15, 1), pytest.param(200, 2, marks=pytest.mark.slow)], ids=["15 kills", "200 kills"]
)
def test_a_killed_study_loses_no_acknowledged_tell_and_equals_an_unbroken_one(tmp_path, kills, seed):
    result, errors = script("killed_study.py", tmp_path, kills, seed)
    assert "child:" not in errors
    assert result["ended by themselves"] == 0
    assert result["acknowledged"] > kills / 5  # the kills left it time to do something
    assert (result["lost"], result["different"], result["doubled"], result["doctor"]) == ([], [], 0, [])


def check_shared(address, processes, rounds, strategy):
    result, errors = script("shared_study.py", address, processes, rounds, strategy)
    whole = processes * rounds
    assert "locked" not in errors
    assert result["codes"] == [0] * processes, errors
    assert result["numbers"] == result["told"] == list(range(whole))
    assert sorted(result["workers"].values(), reverse=True)[:processes] == [rounds] * processes
    assert result["events"] == 2 * whole
    assert result["wrong"] == 0
    assert result["doctor"] == []


@pytest.mark.parametrize(
    ("processes", "rounds", "strategy"),
    [(3, 4, "default"), pytest.param(20, 15, "random", marks=pytest.mark.slow)],  # who thinks less writes more at once
    ids=["3 x 4", "20 x 15"],
)
def test_processes_share_a_study_in_an_sqlite_file(tmp_path, processes, rounds, strategy):
    check_shared(f"sqlite:///{tmp_path / 'studies.db'}", processes, rounds, strategy)


@pytest.mark.parametrize(
    ("processes", "rounds", "strategy"),
    [(3, 4, "default"), pytest.param(8, 25, "random", marks=pytest.mark.slow)],
    ids=["3 x 4", "8 x 25"],
)
def test_processes_share_a_study_on_a_postgresql_server(postgres_database, processes, rounds, strategy):
    check_shared(postgres_database(), processes, rounds, strategy)


@pytest.mark.slow
def test_a_server_that_is_killed_loses_and_doubles_nothing(killable_server, tmp_path):
    """Eight processes; kill -9 of the server five times, at random moments."""
    arguments = [sys.executable, HERE / "killed_server_study.py", f"{killable_server.address}/postgres", "8", "12"]
    running = subprocess.Popen([*arguments, tmp_path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stderr.readline() == "started\n"
    moments = random.Random(4)
    kills = 0
    while kills < 5 and running.poll() is None:
        time.sleep(moments.uniform(0.5, 1.5))
        killable_server.kill()
        kills += 1
        while killable_server.start().returncode:  # its orphans still hold the shared memory
            time.sleep(0.2)
    (tmp_path / "enough").touch()
    out, errors = running.communicate(timeout=300)
    assert running.returncode == 0, errors
    result = json.loads(out)
    assert kills == 5
    assert (result["lost"], result["false"], result["doubled"], result["doctor"]) == ([], [], 0, [])
    assert result["codes"] == [0] * 8
    assert result["told"] == result["acknowledged"] >= 96
    assert len(result["errors"]) > 5  # the kills were felt
    assert not [each for each in result["errors"] if "not known" in each]


def test_processes_may_make_the_file_at_once(tmp_path):
    """All open a file that does not exist yet: one makes the tables, nobody fails."""
    code = "import sys; from mfbo.storage import open_storage; open_storage(sys.argv[1]).create(sys.argv[2], '{}')"
    address = f"sqlite:///{tmp_path / 'new.db'}"
    running = [
        subprocess.Popen([sys.executable, "-c", code, address, f"study {n}"], stderr=subprocess.PIPE) for n in range(4)
    ]
    for each in running:
        _, errors = each.communicate(timeout=120)
        assert each.returncode == 0, errors.decode()


def check_living(address, processes, phases):
    """All processes, and one that loads the log, believe the same to the bit after every phase."""
    result, errors = script("shared_living_study.py", address, processes, phases)
    assert min(result["acknowledged"]) > 0, result["beliefs"]
    assert "Traceback" not in errors
    assert [len(beliefs) for beliefs in result["beliefs"]] == [1] * phases
    assert result["beliefs"][-1] == [result["loaded"]]
    kinds = result["kinds"]
    given_up = kinds.get("abandoned", 0) + kinds.get("leased", 0)
    assert result["events"] - given_up - kinds.get("abandoned", 0) == sum(result["acknowledged"])
    assert kinds["told"] == 2 * processes * phases == kinds["asked"] - kinds.get("abandoned", 0)
    assert kinds["withdrawn"] == kinds["reinstated"]
    assert result["doctor"] == []


@pytest.mark.slow
def test_eight_processes_live_in_one_sqlite_file(tmp_path):
    check_living(f"sqlite:///{tmp_path / 'studies.db'}", 8, 3)


@pytest.mark.slow
def test_eight_processes_live_on_a_postgresql_server(postgres_database):
    check_living(postgres_database(), 8, 3)
