"""What a reviewer with fresh eyes broke, once: each stays mended."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import mfbo
from mfbo.errors import InvalidInputError
from mfbo.problems import FeedbackKind, Observer, custom_problem, demand_problem, swarm


def mfbo_command(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "mfbo", *arguments], capture_output=True, text=True, timeout=120, check=False, **options
    )


def test_an_action_that_was_always_empty_can_still_be_chosen():
    study = mfbo.create_study(mfbo.Population(["a", "b", "c"]), seed=0)
    study.add([1.0, 0.0, 0.0], agents=[("a", 1.0)])
    study.add([0.9, 0.1, 0.0], agents=[("b", 3.0)])
    plan = study.ask()
    assert plan.distribution[0, 1] > 0.2
    assert np.isfinite(plan.distribution).all()


@pytest.mark.parametrize(
    ("actions", "names", "features"),
    [
        ([[0.0, 1.0], [2.0, 3.0]], ("0", "1"), [[0, 1], [2, 3]]),
        ([("A", 1.0, 2.0), ("B", 3.0, 4.0)], ("A", "B"), [[1, 2], [3, 4]]),
    ],
)
def test_rows_of_features_are_features(actions, names, features):
    population = mfbo.Population(actions)
    assert population.actions == names
    np.testing.assert_array_equal(population.features, features)


@pytest.mark.parametrize(
    "actions",
    [
        {"a", "b"},
        np.array([["A", 1.0], ["B", 2.0]], dtype=object),
        np.array([1 + 2j, 3]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        ["a", [1.0, 2.0]],
        [("A", 1.0), ("A", 2.0)],
    ],
    ids=["set", "object table", "complex", "dates", "mixed", "twice"],
)
def test_actions_without_a_clear_meaning_are_refused(actions):
    with pytest.raises(InvalidInputError):
        mfbo.Population(actions)


def test_all_rounds_failing_loses_no_study():
    with pytest.raises(mfbo.MfboError) as caught:
        mfbo.maximize(lambda plan: 1 / 0, mfbo.Population(["a", "b"]), rounds=2, on_error="continue")
    assert [each.state for each in caught.value.study.rounds] == ["failed", "failed"]


@pytest.mark.parametrize("strategy", [object(), dict, type("Half", (), {"propose": None})()])
def test_half_a_strategy_is_refused_at_creation(strategy):
    with pytest.raises(InvalidInputError, match="strategy"):
        mfbo.create_study(mfbo.Population(["a", "b"]), strategy)


def test_a_labelled_table_of_cells_is_refused_rather_than_read_by_position():
    study = mfbo.create_study(mfbo.Population(["a", "b"]), "random")
    with pytest.raises(InvalidInputError, match="needs a column 'action'"):
        study.tell(study.ask(), cells=pd.DataFrame({"b": [1.0], "a": [2.0]}))


def test_agents_may_come_as_an_array_of_positions():
    study = mfbo.create_study(mfbo.Population(["a", "b"]), "random")
    done = study.tell(study.ask(), agents=np.array([[0, 1, 2.5]]))
    assert done.feedback.agents == ((0, 1, 2.5),)


def test_many_agents_are_drawn_at_once_and_never_more_than_there_are():
    problem = swarm(30, 20_000)
    plan = mfbo.create_study(problem.population, "random").ask()
    seen = Observer(problem, FeedbackKind.parse("agents:20000"))(plan).agents
    counts = np.bincount([action for _, action, _ in seen], minlength=30)
    np.testing.assert_array_equal(counts, plan.allocation[0])


@pytest.mark.parametrize(
    "make",
    [
        lambda: demand_problem(["a", "b"], ["x", "y"]),
        lambda: demand_problem(["a", "b"], [1, 2], [["p", "q"], ["r", "s"]]),
        lambda: custom_problem("mine", mfbo.Population(["a", "b"]), 3),
        lambda: mfbo.create_study(mfbo.Population(["a", "b"]), noise=1e300),
        lambda: FeedbackKind.parse("agents:99999999999999999999"),
    ],
)
def test_bad_values_are_refused_by_our_own_error(make):
    with pytest.raises(InvalidInputError):
        make()


def test_numbers_too_large_for_json_are_refused():
    done = mfbo_command("bounds", "--b", "1e308", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "choose smaller" in done.stderr


def test_a_terminal_without_greek_letters_gets_its_table():
    done = mfbo_command("bounds", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert "MF-GP-UCB" in done.stdout


def test_a_folder_that_cannot_be_made_is_said_before_the_work(tmp_path):
    (tmp_path / "file").write_text("")
    done = mfbo_command("demo", "--rounds", "100000", "--out", str(tmp_path / "file" / "pictures"))
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1


def test_only_payoffs_advise_to_fail_the_round():
    assert "told as failed" not in mfbo_command("run", "swarm", "--noise", "nan").stderr
    study = mfbo.create_study(mfbo.Population(["a", "b"]), "random")
    with pytest.raises(InvalidInputError, match="is told as failed, with the reason"):
        study.tell(study.ask(), float("nan"))


def test_raw_trips_are_counted_on_the_grid_that_was_asked_for(tmp_path):
    rows = ["tpep_pickup_datetime,pickup_longitude,pickup_latitude"]
    rows += [f"2016-01-05 16:00:00,{-74.01 + 0.0005 * i},{40.71 + 0.0007 * i}" for i in range(100)]
    trips = tmp_path / "trips.csv"
    trips.write_text("\n".join(rows) + "\n")
    coarse, fine = (len(mfbo.make_problem(name, trips).population.actions) for name in ("nyc-12x20", "nyc-20x36"))
    assert coarse < fine


def test_json_of_a_run_has_no_room_for_infinity():
    record = json.loads(mfbo_command("run", "swarm", "--rounds", "2", "--strategy", "random", "--json").stdout)
    assert record["rounds"] == 2
