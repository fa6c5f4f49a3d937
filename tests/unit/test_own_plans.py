"""A plan of the user's own, the best plan within the budget, and the outlook on rounds to come."""

import numpy as np
import pytest

from mfbo import Population, Proposal, create_study
from mfbo.errors import InvalidInputError, RoundStateError
from mfbo.strategies.default.guard import SAME_AGENTS
from mfbo.study.guard_words import guard_word

PEOPLE = Population(list("abcd"), size=20, move_budget=3, placed=[[5, 5, 5, 5]])
VALUE = np.array([4.0, 3.0, 2.0, 1.0])


def paid(plan):
    return float(np.sqrt(plan.allocation[0]) @ VALUE)


def played(rounds=4, seed=0):
    study = create_study(PEOPLE, aim="earn", seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        plan = study.ask()
        study.tell(plan, paid(plan) * (1.0 + 0.02 * rng.standard_normal()))
    return study


def test_an_attached_plan_is_played_and_told_like_any_other():
    study = create_study(PEOPLE)
    plan = study.attach([[7, 5, 5, 3]])
    assert plan.number == 0
    assert plan.allocation.tolist() == [[7, 5, 5, 3]]
    study.tell(plan, 1.0)
    assert study.best.number == 0
    assert study.placed.tolist() == [[7, 5, 5, 3]]


def test_an_attached_plan_keeps_the_move_budget():
    study = create_study(PEOPLE)
    with pytest.raises(InvalidInputError, match="moves 10 agents; 3 may be moved"):
        study.attach([[15, 5, 0, 0]])


def test_the_best_plan_is_approached_within_the_budget():
    study = create_study(PEOPLE)
    with pytest.raises(RoundStateError):
        study.ask_best()
    study.add([[0.5, 0.3, 0.1, 0.1]], 100.0)
    study.add([[0.25, 0.25, 0.25, 0.25]], 1.0)
    assert study.rounds_to(study.recommend()) == 2  # six agents, three a round
    plan = study.ask_best()
    assert np.maximum(plan.allocation - 5, 0).sum() == 3
    assert plan.allocation[0, 0] > 5


@pytest.mark.parametrize("feedback", ["payoff", "cells"])
def test_an_outlook_says_what_rounds_to_come_are_expected_to_bring(feedback):
    study = played()
    seen = []
    outlook = study.outlook(3, feedback=feedback, simulations=2, progress=seen.append)
    assert seen == [1, 2]
    assert outlook.gains.shape == (2, 3)
    assert np.isfinite(outlook.gains).all()
    low, high = outlook.between()
    assert (low <= high).all()
    assert outlook.status_quo == pytest.approx(np.sqrt(5) * 10, rel=0.1)
    again = study.outlook(3, feedback=feedback, simulations=2)
    np.testing.assert_array_equal(outlook.gains, again.gains)
    assert len(study.rounds) == 4  # nothing was played


def test_a_strategy_without_a_model_has_no_outlook():
    study = create_study(Population(list("abc")), "random")
    study.tell(study.ask(), 1.0)
    with pytest.raises(InvalidInputError, match="no model"):
        study.outlook()


def test_the_word_of_the_guard_is_that_of_the_plan_it_stands_beside():
    """It said "a part of the way" of plans in which nobody moved, and of plans of one's own."""

    class Shortened:
        name = "shortened"

        def propose(self, history, rng):
            return Proposal(np.array([[0.5, 0.5]]), {"guard": ("shortened",), "fit": (1.0,)})

        def recommend(self, history):
            return np.array([[0.5, 0.5]])

        posterior = recommend

    study = create_study(Population(["a", "b"], size=4), Shortened())
    first, same = study.ask(), study.ask()
    own = study.attach([4, 0])
    assert [guard_word(study, plan.number) for plan in (first, same, own)] == ["shortened", SAME_AGENTS, ""]
    assert study.rounds[own.number].notes == {"fit": (1.0,)}  # what the strategy goes on from stays
