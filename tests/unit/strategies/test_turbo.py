"""TuRBO over agents: the order of actions, the cap on failures, and a problem that it must get better at."""

import numpy as np
import pytest

from mfbo import Population, create_study
from mfbo.errors import InvalidInputError
from mfbo.records import History
from mfbo.strategies.per_agent.turbo import Line, Turbo


def test_actions_with_one_feature_are_ordered_by_it():
    line = Line.of(Population({"far": 9.0, "near": 1.0, "middle": 4.0}, size=2))
    np.testing.assert_allclose(line.places, [5 / 6, 1 / 6, 3 / 6])
    np.testing.assert_array_equal(line.actions(np.array([0.0, 0.34, 1.0])), [1, 2, 0])


@pytest.mark.parametrize("actions", [["a", "b", "c"], {"a": [0.0, 2.0], "b": [5.0, 1.0], "c": [3.0, 0.0]}])
def test_other_actions_keep_the_order_of_the_list(actions):
    np.testing.assert_array_equal(Line.of(Population(actions, size=2)).order, [0, 1, 2])


def test_every_place_leads_back_to_its_action():
    line = Line.of(Population(np.random.default_rng(0).uniform(size=30), size=2))
    np.testing.assert_array_equal(line.actions(line.places), np.arange(30))


def test_the_failure_tolerance_is_capped_unless_the_paper_s_is_wanted():
    line = Line.of(Population(np.arange(4.0), size=300))
    assert Turbo()._search(300, line).failure_tolerance == 20
    assert Turbo()._search(7, line).failure_tolerance == 7
    assert Turbo(failure_tolerance=None)._search(300, line).failure_tolerance == 300


def test_a_region_without_another_assignment_restarts():
    assert Turbo()._search(5, Line.of(Population(np.arange(30.0), size=5))).least_length == pytest.approx(1 / 30)
    assert Turbo()._search(5, Line.of(Population(np.arange(500.0), size=5))).least_length == 2.0**-7


def test_it_comes_near_the_one_action_that_pays():
    """Thirty random assignments reach −1.0."""
    population = Population(np.arange(6.0), size=12)
    study = create_study(population, Turbo(initial_rounds=6, candidates=256), seed=0)
    for _ in range(30):
        plan = study.ask()
        study.tell(plan, float(plan.realized[0] @ -np.abs(np.arange(6.0) - 4.0)))
    first = max(each.payoff for each in study.rounds[:6])
    assert first < -1.0
    assert study.best.payoff > -0.85


def test_the_mean_field_limit_is_refused():
    with pytest.raises(InvalidInputError, match="'turbo' places agents one by one"):
        Turbo().propose(History(Population(["a", "b"])), np.random.default_rng(0))
