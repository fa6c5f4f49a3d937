"""Random search, the paper's control."""

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round
from mfbo.simplex import uniform
from mfbo.strategies import RandomSearch

NAN = float("nan")


@pytest.fixture
def population() -> Population:
    return Population([f"place {i}" for i in range(30)], ["x", "y"])


def told(population: Population, *feedback: Feedback) -> History:
    rng = np.random.default_rng(0)
    rounds = []
    for number, each in enumerate(feedback):
        distribution = rng.dirichlet(np.ones(30), size=2)
        rounds.append(Round(Plan(number, distribution)).done(each, distribution, told=number))
    return History(population, tuple(rounds))


def test_shares_differ_by_a_factor_e_at_most(population):
    rng = np.random.default_rng(0)
    for _ in range(50):
        found = RandomSearch().propose(History(population), rng).distribution
        assert (found.max(axis=1) / found.min(axis=1) <= np.e).all()


def test_it_explores_a_small_ball_round_the_uniform_plan(population):
    """A · E‖ξ − 1/A‖² = 0.0794 for thirty actions (E18)."""
    rng = np.random.default_rng(0)
    draws = np.concatenate([RandomSearch().propose(History(population), rng).distribution for _ in range(2000)])
    assert 30 * ((draws - uniform(1, 30)) ** 2).sum(axis=1).mean() == pytest.approx(0.0794, abs=0.002)


def test_it_does_not_look_at_the_history(population):
    history = told(population, Feedback(1.0), Feedback(5.0))
    blind = RandomSearch().propose(History(population), np.random.default_rng(3)).distribution
    np.testing.assert_array_equal(RandomSearch().propose(history, np.random.default_rng(3)).distribution, blind)


def test_it_recommends_the_round_told_highest(population):
    history = told(population, Feedback(1.0), Feedback(5.0), Feedback(2.0))
    np.testing.assert_array_equal(RandomSearch().recommend(history), history.rounds[1].plan.distribution)


def test_it_recommends_by_the_mean_of_what_agents_got(population):
    low, high = Feedback(agents=((0, 0, 9.0), (0, 1, -9.0))), Feedback(agents=((1, 2, 1.0),))
    history = told(population, low, high)
    np.testing.assert_array_equal(RandomSearch().recommend(history), history.rounds[1].plan.distribution)


def test_it_has_no_model(population):
    assert RandomSearch().posterior(told(population, Feedback(1.0))) is None
