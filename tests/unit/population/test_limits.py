"""Limits as users give them: forms, refusals with reasons, records, and the region they make."""

import numpy as np
import pytest

from mfbo import Feedback, InvalidInputError, MfboError, Population, create_study
from mfbo.population import Limits

ACTIONS = ["Main St", "Park", "Pier"]


def population(**options) -> Population:
    return Population(ACTIONS, size=10, **options)


def test_capacity_comes_as_a_list_a_mapping_or_one_number():
    for given in ([4, 5, 6], np.array([4.0, 5.0, 6.0]), {"Main St": 4, "Park": 5, "Pier": 6}):
        np.testing.assert_array_equal(population(capacity=given).limits.most, [4, 5, 6])
    np.testing.assert_array_equal(population(capacity=4).limits.most, [4, 4, 4])
    np.testing.assert_array_equal(population(capacity={"Park": 5}).limits.most, [10, 5, 10])
    np.testing.assert_array_equal(population(capacity=[4, float("nan"), 6]).limits.most, [4, 10, 6])


def test_forbidden_comes_as_pairs_actions_or_an_array():
    two = ["day", "night"]
    by_pair = Population(ACTIONS, two, size=10, forbidden=[("day", "Park")])
    by_array = Population(ACTIONS, two, size=10, forbidden=np.array([[False, True, False], [False] * 3]))
    np.testing.assert_array_equal(by_pair.limits.upper, by_array.limits.upper)
    closed = Population(ACTIONS, two, size=10, forbidden=["Pier"])
    np.testing.assert_array_equal(closed.limits.upper[:, 2], [0, 0])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"capacity": [3, 3, 3]}, "adds up to 9, which is less than 10 agents"),
        ({"minimum": [5, 5, 5]}, "adds up to 15 agents, and there are 10"),
        ({"minimum": [4, 0, 0], "capacity": [3, 9, 9]}, "'Main St' needs at least 4 agents but holds at most 3"),
        ({"forbidden": ACTIONS}, "context 'all' has 10 agents"),
        ({"fixed": {"Park": 11}}, "fixed cells take 11"),
        ({"fixed": {"Park": 2}, "forbidden": ["Park"]}, "forbidden and fixed at 2"),
        ({"capacity": [5, 5]}, "one number per action, 3, not 2"),
        ({"capacity": {"Prak": 5}}, "Prak"),
        ({"capacity": [5, -1, 9]}, "capacity of 'Park'"),
        ({"capacity": [5, 2.5, 9]}, "capacity of 'Park' must be a whole number"),
        ({"move_budget": -1}, "move_budget"),
        ({"placed": [5, 5, 5]}, "placed must have"),
        ({"placed": [10, 0, 0], "capacity": [4, 4, 4], "move_budget": 3}, "at least 6 agents must move"),
        ({"forbidden": "Park"}, "must be a list"),
        ({"fixed": [3]}, "must map"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(options, reason):
    with pytest.raises(MfboError, match=reason):
        population(**options)


def test_limits_that_contradict_each_other_only_together_are_refused():
    with pytest.raises(InvalidInputError, match="contradict"):
        Population(["a", "b", "c"], ["x", "y"], size=4, capacity=[1, 1, 2], forbidden=["c"])


def test_the_mean_field_limit_has_no_whole_agents_to_limit():
    with pytest.raises(InvalidInputError, match="give the population a size"):
        Population(ACTIONS, capacity=[1, 1, 1])


def test_records_give_the_same_limits_back():
    limits = population(
        capacity=[4, 5, 6], minimum=[1, 0, 0], fixed={"Park": 2}, move_budget=3, placed=[4, 2, 4]
    ).limits
    again = Limits.from_record(limits.to_record())
    assert again.to_record() == limits.to_record()
    assert again.move_budget == 3


def test_random_draws_keep_no_limits():
    with pytest.raises(InvalidInputError, match="random draws"):
        create_study(population(capacity=5), allocation="sampled")


def test_single_agent_strategies_know_no_limits():
    with pytest.raises(InvalidInputError, match="knows no limits"):
        create_study(population(capacity=5), "annealing").ask()


@pytest.mark.parametrize("strategy", ["default", "random", "mf-gp-ucb"])
def test_plans_keep_the_budget_from_where_agents_really_were(strategy):
    study = create_study(population(capacity=6, move_budget=2, placed=[6, 4, 0]), strategy, seed=3)
    now = np.array([[6, 4, 0]])
    for number in range(8):
        plan = study.ask()
        assert np.maximum(plan.allocation - now, 0).sum() <= 2
        now = np.array([[2, 2, 6]]) if number == 4 else plan.allocation
        study.tell(plan, float(number % 3), distribution=now / 10)


def test_a_placement_that_broke_a_limit_may_move_as_many_as_mend_it():
    study = create_study(population(capacity=6, move_budget=1), seed=0)
    plan = study.ask()
    study.tell(plan, Feedback(1.0), distribution=np.array([[1.0, 0.0, 0.0]]))
    assert study.ask().allocation[0, 0] == 6
