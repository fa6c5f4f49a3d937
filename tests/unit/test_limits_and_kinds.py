"""What a reviewer broke: kinds of data that flip, past days and placements, recommendations under limits."""

import time

import numpy as np
import pytest

from mfbo import InvalidInputError, Population, create_study
from mfbo.strategies.default.lookers import unseen_cells
from mfbo.study import load_study


def asked_and_told(study, feedbacks):
    for feedback in feedbacks:
        plan = study.ask()
        study.tell(plan, **feedback(plan))


def equal_cells(plan):
    return {"cells": np.where(plan.allocation > 0, 0.0, np.nan)}


def unequal_cells(plan):
    return {"cells": np.where(plan.allocation > 0, np.arange(4.0)[None], np.nan)}


@pytest.mark.parametrize("before", [3, 5, 12])
@pytest.mark.parametrize("stored", [False, True])
def test_payoffs_that_stop_being_shared_do_no_harm(before, stored, tmp_path):
    options = {"storage": f"sqlite:///{tmp_path / 's.db'}", "name": "s"} if stored else {}
    study = create_study(Population(list("abcd"), size=10), seed=1, **options)
    asked_and_told(study, [equal_cells] * before + [unequal_cells] * 2)
    if stored:
        study = load_study("s", options["storage"])
    assert study.ask().allocation.sum() == 10
    played = [each.plan.allocation.tolist() for each in study.history.told]
    assert study.recommend().allocation.tolist() in played


def test_payoffs_that_turn_out_to_be_shared_do_no_harm():
    study = create_study(Population(list("abcd")), seed=1)
    asked_and_told(study, [lambda plan: {"agents": [("all", "a", 1.0)]}] * 8)
    asked_and_told(study, [lambda plan: {"agents": [("all", "a", 1.0), ("all", "b", 1.0)]}])
    plan = study.ask()
    assert "theta" in study.rounds[plan.number].notes
    assert plan.distribution.sum() == pytest.approx(1.0)


def test_past_days_do_not_move_agents():
    study = create_study(Population(list("abc"), size=10, move_budget=2, capacity=8), placed=[[4, 3, 3]])
    study.add([[0.0, 0.2, 0.8]], payoff=1.0)
    np.testing.assert_array_equal(study.placed, [[4, 3, 3]])
    assert np.maximum(study.ask().allocation - [[4, 3, 3]], 0).sum() <= 2


@pytest.mark.parametrize("strategy", ["default", "random"])
def test_a_recommendation_keeps_the_limits(strategy):
    study = create_study(Population(list("abc"), size=10, capacity=5), strategy)
    study.add([[1.0, 0.0, 0.0]], payoff=9.0)
    assert (study.recommend().allocation <= 5).all()
    plan = study.ask()
    study.tell(plan, 1.0)
    np.testing.assert_array_equal(study.recommend().allocation, plan.allocation)


def test_an_expired_plan_that_would_break_the_budget_is_not_offered_again():
    population = Population(list("abc"), size=30, move_budget=3, placed=[30, 0, 0])
    study = create_study(population, lease_seconds=1e-6)
    first = study.ask(worker="x")
    study.lease_seconds = None
    for number in range(6):
        plan = study.ask(worker=f"y{number}")
        study.tell(plan, float(plan.allocation[0, 1] + 2 * plan.allocation[0, 2]), worker=f"y{number}")
    now = study.placed
    again = study.ask(worker="z")
    assert np.maximum(again.allocation - now, 0).sum() <= 3
    assert study.rounds[first.number].state in ("done", "abandoned")


def test_closed_cells_are_not_looked_at():
    study = create_study(Population(list("abcd"), size=12, forbidden=["d"]), seed=0)
    plan = study.ask()
    study.tell(plan, cells=np.where(plan.allocation > 0, np.arange(4.0)[None], np.nan))
    assert not unseen_cells(study.history).any()


def test_a_lease_that_runs_out_during_a_payoff_does_not_stop_a_run():
    study = create_study(Population(list("abc"), size=9), "random", lease_seconds=0.2)
    study.run(lambda plan: time.sleep(0.8 if plan.number == 0 else 0.15) or float(plan.number), 6, workers=2)
    assert sum(each.state == "done" for each in study.rounds) >= 6


@pytest.mark.parametrize("capacity", [7.0, 1e300, [1e30, 5.0, float("nan")]])
def test_generous_capacities_are_fine(capacity):
    assert create_study(Population(list("abc"), size=10, capacity=capacity)).ask().allocation.sum() == 10


def test_forbidden_pairs_and_names_may_be_mixed():
    population = Population(list("abc"), ["u", "v"], size=10, forbidden=[("u", "a"), "b"])
    np.testing.assert_array_equal(population.limits.upper == 0, [[True, True, False], [False, True, False]])


@pytest.mark.parametrize("placed", [[[100, 1, 1]], [[1, 1, 1]], [[1e30, 1, 1]]])
def test_a_placement_of_another_size_is_refused(placed):
    with pytest.raises(InvalidInputError, match="placed"):
        create_study(Population(list("abc"), size=10), placed=placed)


def test_single_agent_strategies_are_refused_at_creation():
    with pytest.raises(InvalidInputError, match="knows no limits"):
        create_study(Population(["a", "b"], size=6, capacity=4), "annealing")
