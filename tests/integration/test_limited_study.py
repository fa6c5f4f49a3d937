"""A stored study with limits: they survive the store, and the command line passes them on."""

import csv
import subprocess
import sys

import numpy as np
import pytest

from mfbo import InvalidInputError, Population, create_study
from mfbo.study import load_study

STATIONS = [("Main St", 6), ("Park", 9), ("Pier", 4), ("Old Town", 8)]


def mfbo(folder, *arguments):
    command = [sys.executable, "-m", "mfbo", "study", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def written(path, header, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def test_limits_survive_the_store(tmp_path):
    url = f"sqlite:///{tmp_path / 'study.db'}"
    population = Population([name for name, _ in STATIONS], size=20, capacity=[6, 9, 4, 8], move_budget=3)
    study = create_study(population, storage=url, name="bikes", placed=[5, 5, 4, 6])
    now = np.array([[5, 5, 4, 6]])
    for number in range(4):
        study = load_study("bikes", url)
        assert study.population.limits.move_budget == 3
        np.testing.assert_array_equal(study.placed, now)
        plan = study.ask()
        assert np.maximum(plan.allocation - now, 0).sum() <= 3
        assert (plan.allocation[0] <= [6, 9, 4, 8]).all()
        study.tell(plan, float(number))
        now = plan.allocation


def test_a_start_from_which_the_budget_reaches_nothing_is_refused(tmp_path):
    population = Population(["a", "b"], size=10, capacity=[5, 10], move_budget=2)
    with pytest.raises(InvalidInputError, match="at least 5 agents must move"):
        create_study(population, storage=f"sqlite:///{tmp_path / 's.db'}", name="x", placed=[10, 0])


def test_the_command_line_keeps_docks_and_budget(tmp_path):
    written(tmp_path / "stations.csv", ["station", "docks"], STATIONS)
    written(tmp_path / "now.csv", ["station", "agents"], [("Main St", 6), ("Park", 6), ("Pier", 2), ("Old Town", 6)])
    made = mfbo(
        tmp_path, "create", "bikes", "--actions", "stations.csv", "--agents", "20", "--capacity", "docks",
        "--move-budget", "4", "--placed", "now.csv",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    asked = mfbo(tmp_path, "ask", "bikes", "--out", "plan.csv")
    assert asked.returncode == 0, asked.stderr
    with (tmp_path / "plan.csv").open(newline="") as file:
        plan = {row["station"]: row for row in csv.DictReader(file)}
    assert sum(int(row["agents"]) for row in plan.values()) == 20
    assert all(int(plan[name]["agents"]) <= docks for name, docks in STATIONS)
    assert sum(max(int(row["change"]), 0) for row in plan.values()) <= 4


def test_docks_that_are_too_few_are_refused_by_the_command_line(tmp_path):
    written(tmp_path / "stations.csv", ["station", "docks"], STATIONS)
    made = mfbo(tmp_path, "create", "bikes", "--actions", "stations.csv", "--agents", "30", "--capacity", "docks")
    assert made.returncode == 2
    assert "adds up to 27, which is less than 30 agents" in made.stderr
    assert not (tmp_path / "mfbo.db").exists()
