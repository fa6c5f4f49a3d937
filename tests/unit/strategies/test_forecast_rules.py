"""The rules as strategies: they follow their plan, keep limits, resume, and need trips to be made of."""

import numpy as np
import pytest

from mfbo import Population, create_study, load_study
from mfbo.catalogue import STRATEGIES, follows_a_rule, make_problem
from mfbo.errors import InvalidInputError
from mfbo.experiments import RunSettings, run
from mfbo.problems import forecast_plan

RULES = [name for name, entry in STRATEGIES.items() if entry.searches == "nothing"]


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_follows_the_plan_it_was_given_and_resumes(rule, tmp_path):
    storage = f"sqlite:///{tmp_path}/s.db"
    study = create_study(Population(["a", "b", "c"], size=9), rule, start=[[6, 3, 0]], storage=storage, name="s")
    for payoff in (1.0, 5.0):
        plan = study.ask()
        assert plan.allocation.tolist() == [[6, 3, 0]]
        study.tell(plan, payoff)
    again = load_study("s", storage)
    assert again.strategy.name == rule
    assert again.ask().allocation.tolist() == [[6, 3, 0]]
    assert again.recommend().allocation.tolist() == [[6, 3, 0]]


def test_a_rule_keeps_docks_and_the_move_budget():
    population = Population(["a", "b", "c"], size=9, capacity=5, move_budget=2)
    study = create_study(population, "deficit", start=[[9, 0, 0]], placed=[[3, 3, 3]])
    first = study.ask()
    assert first.allocation.tolist()[0][0] == 5
    assert np.abs(first.allocation - [[3, 3, 3]]).sum() == 4


def test_without_a_plan_a_rule_says_where_one_comes_from():
    with pytest.raises(InvalidInputError, match="give it with --start-from"):
        create_study(Population(["a", "b"], size=9), "deficit").ask()


def test_a_rule_is_a_baseline_of_problems_with_trips_and_of_no_others():
    assert RULES == ["deficit", "shares"]
    assert all(map(follows_a_rule, RULES))
    assert not follows_a_rule("default")
    problem = make_problem("jersey-city")
    result = run(RunSettings("jersey-city", "deficit", rounds=2), problem)
    bikes = forecast_plan(problem.payoff.trips, 100, "deficit")
    assert result.best_value == problem.payoff.population(bikes[None] / 100)
    with pytest.raises(InvalidInputError, match="'swarm' has none"):
        run(RunSettings("swarm", "shares", rounds=2))
