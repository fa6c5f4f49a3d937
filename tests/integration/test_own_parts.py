"""Strategies and problems of a user's own: by import path and by entry points, in runs, suites and studies."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mfbo
from mfbo.errors import InvalidInputError, UnknownNameError

MODULE = """
from dataclasses import dataclass, replace
from mfbo.problems import swarm
from mfbo.strategies import RandomSearch


@dataclass(frozen=True)
class Mine(RandomSearch):
    draws: int = 1
    name: str = "mine"


def small():
    return replace(swarm(), summary="a swarm of our own")


def broken(population=None):
    return 7


def kernel(population):
    from mfbo.models import default_kernel

    return replace(default_kernel(population), name="mine")


NUMBER = 7
"""


@pytest.fixture
def package(tmp_path):
    """A folder with an installed package that registers a strategy and a problem."""
    folder = tmp_path / "installed"
    info = folder / "fleetlab-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "fleetlab.py").write_text(MODULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fleetlab\nVersion: 1.0\n")
    entries = "[mfbo.strategies]\nlab-random = fleetlab:Mine\ndefault = fleetlab:Mine\n"
    (info / "entry_points.txt").write_text(f"{entries}\n[mfbo.problems]\nlab-swarm = fleetlab:small\n")
    return folder


def mfbo_command(package: Path, *words: object) -> subprocess.CompletedProcess[str]:
    paths = [str(package), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    command = [sys.executable, "-m", "mfbo", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=package.parent, check=False)


def test_registered_parts_are_listed_with_their_package(package):
    listed = {row["name"]: row for row in json.loads(mfbo_command(package, "strategies", "--json").stdout)}
    assert listed["lab-random"]["library"] == "fleetlab"
    assert listed["default"]["library"] == "mfbo"  # mfbo's own names stay its own
    assert "lab-swarm" in mfbo_command(package, "problems", "--json").stdout


@pytest.mark.parametrize(
    ("problem", "strategy"), [("lab-swarm", "fleetlab:Mine(draws=2)"), ("fleetlab:small", "lab-random")]
)
def test_a_run_takes_parts_of_ones_own(package, problem, strategy):
    done = mfbo_command(package, "run", problem, "--strategy", strategy, "--rounds", 3, "--json")
    result = json.loads(done.stdout)
    assert (result["problem"], result["strategy"]) == (problem, strategy)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        ("fleetlab:Nothing", "cannot be imported"),
        ("nowhere.at.all:Mine", "PYTHONPATH"),
        ("fleetlab:NUMBER", "is not a class or a function"),
        ("fleetlab:broken", "it lacks name, propose"),
        ("fleetlab:", "cannot be imported"),
        ("lab-randon", "did you mean 'lab-random'"),
        ("fleetlab:Mine(draws=x)", "draws of fleetlab:Mine must be a whole number"),
    ],
)
def test_a_part_that_cannot_be_had_is_said_in_one_line(package, strategy, said):
    done = mfbo_command(package, "run", "swarm", "--strategy", strategy, "--rounds", 2)
    assert done.returncode == 2
    assert said in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr


def test_a_problem_that_makes_something_else_is_refused(package):
    done = mfbo_command(package, "run", "fleetlab:broken", "--rounds", 2)
    assert "must make an mfbo.Problem, not 7" in done.stderr.replace("\n", " ")


@pytest.mark.slow
def test_a_stored_study_does_not_say_what_is_imported(package, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(package))
    storage = f"sqlite:///{tmp_path}/own.db"
    population = mfbo.Population(["a", "b"], size=10)
    mfbo.create_study(population, "fleetlab:Mine", storage=storage, name="own").ask()
    with pytest.raises(InvalidInputError, match="say strategy='fleetlab:Mine'"):
        mfbo.load_study("own", storage)
    assert len(mfbo.load_study("own", storage, strategy="fleetlab:Mine").rounds) == 1
    (tmp_path / "stations.csv").write_text("name\na\nb\n")
    created = ("study", "create", "x", "--actions", tmp_path / "stations.csv", "--agents", 9, "--storage", storage)
    refused = mfbo_command(package, *created, "--strategy", "fleetlab:Mine")
    assert refused.returncode == 2
    assert "entry point" in refused.stderr
    assert mfbo_command(package, *created, "--strategy", "lab-random").returncode == 0
    assert mfbo_command(package, "study", "ask", "x", "--storage", storage).returncode == 0


@pytest.mark.parametrize("strategy", ["mf-gp-ucb(kernel=fleetlab:kernel,steps=5)", "default(kernel=fleetlab:kernel)"])
def test_a_kernel_is_taken_by_import_path(package, monkeypatch, strategy):
    monkeypatch.syspath_prepend(str(package))
    population = mfbo.Population(["a", "b", "c"], size=10)
    study = mfbo.create_study(population, strategy, storage="memory", name="own")
    for _ in range(5):
        plan = study.ask()
        study.tell(plan, float(plan.realized[0, 0]))
    assert study.strategy.belief(study.history, "exact").process.kernel.name == "mine"
    with pytest.raises(InvalidInputError, match="to import it, say strategy="):
        mfbo.load_study("own", study.storage)


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        ("fleetlab:broken", "must make an mfbo.models.Kernel of a population, not 7"),
        ("fleetlab:none", "kernel 'fleetlab:none' cannot be imported"),
        ("ours", "must be 'paper' or 'joint' or an import path"),
    ],
)
def test_a_kernel_that_cannot_be_had_is_said(package, monkeypatch, kernel, said):
    monkeypatch.syspath_prepend(str(package))
    with pytest.raises(mfbo.MfboError, match=said):
        mfbo.maximize(lambda plan: 0.0, mfbo.Population(["a", "b"]), rounds=2, strategy=f"mf-gp-ucb(kernel={kernel})")


def test_a_name_that_is_not_text_is_refused():
    with pytest.raises(UnknownNameError, match="unknown problem"):
        mfbo.make_problem(["swarm"])  # type: ignore[arg-type]


SUITE = """
[[runs]]
problems = ["lab-swarm"]
strategies = ["lab-random", "fleetlab:Mine(draws=2)"]
seeds = 2
rounds = 3
"""


@pytest.mark.slow
@pytest.mark.parametrize("where", [("--jobs", 2), ("--jobs", 2, "--dask", "local")])
def test_a_suite_plays_parts_of_another_package(package, where):
    (package.parent / "mine.toml").write_text(SUITE)
    done = mfbo_command(package, "benchmark", "--suite", "mine.toml", *where, "--json")
    assert (json.loads(done.stdout)["played"], json.loads(done.stdout)["failed"]) == (4, [])
    assert mfbo_command(package, "report", "mfbo-benchmark-mine").returncode == 0
