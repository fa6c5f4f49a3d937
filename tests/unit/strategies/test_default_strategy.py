"""The default strategy: its first plans, its optimism, its stall rule, and that it learns."""

import numpy as np
import pytest

import mfbo
from mfbo import Feedback, History, Plan, Population, Round, Study
from mfbo.problems import FeedbackKind, Observer, Problem, arena, swarm
from mfbo.simplex import uniform
from mfbo.strategies import Default
from mfbo.strategies.default.stall import WINDOW
from mfbo.study import run_round


@pytest.fixture
def population() -> Population:
    return Population(np.linspace(0, 1, 6))


def played(problem: Problem, rounds: int, kind: str = "system", strategy: str = "default", seed: int = 0) -> Study:
    study = mfbo.create_study(problem.population, strategy, seed=seed)
    observer = Observer(problem, FeedbackKind.parse(kind))
    for _ in range(rounds):
        run_round(study, observer)
    return study


def stalled(population: Population, rounds: int, level: float) -> History:
    """A history of one agent's payoffs that sits on one plan without gaining, whose last proposal noted this level."""
    rng = np.random.default_rng(0)
    told = []
    for number in range(rounds):
        distribution = rng.dirichlet(np.ones(6), size=1) if number < 3 else uniform(1, 6)
        payoff = float(number) if number < 3 else 5.0
        asked = Round(Plan(number, distribution), {"level": (level,)})
        told.append(asked.done(Feedback(agents=((0, 2, payoff),)), distribution, told=number))
    return History(population, tuple(told))


def propose(history: History) -> mfbo.Proposal:
    return Default().propose(history, np.random.default_rng(0))


def test_the_first_plan_is_uniform(population):
    np.testing.assert_array_equal(propose(History(population)).distribution, uniform(1, 6))


def test_the_model_is_noted_as_soon_as_it_is_used(population):
    study = mfbo.create_study(population)
    for _ in range(5):
        plan = study.ask()
        study.tell(plan, float(plan.distribution[0, 2]))
    assert "theta" in study.rounds[4].notes
    assert "theta" not in study.rounds[0].notes


def test_optimism_is_low_while_rounds_improve(population):
    draws = np.random.default_rng(0).dirichlet(np.ones(6), size=(8, 1))
    rounds = []
    for number, distribution in enumerate(sorted(draws, key=lambda each: each[0, 2])):
        payoff = Feedback(float(distribution[0, 2]))
        rounds.append(Round(Plan(number, distribution)).done(payoff, distribution, told=number))
    assert propose(History(population, tuple(rounds))).notes["multiplier"] == (Default().multiplier,)


def test_optimism_doubles_with_every_stall(population):
    rounds = WINDOW + 6
    found = [propose(stalled(population, rounds, level)).notes["multiplier"][0] for level in (0.0, 1.0, 2.0)]
    assert found[1] == pytest.approx(2 * found[0])
    assert found[2] == pytest.approx(4 * found[0])


def test_optimism_has_a_ceiling(population):
    assert propose(stalled(population, WINDOW + 6, 30.0)).notes["multiplier"] == (Default.highest_multiplier,)


def test_a_gain_ends_the_stall(population):
    history = stalled(population, WINDOW + 6, 4.0)
    better = np.array([[0.5, 0, 0.5, 0, 0, 0]])
    gain = Round(Plan(len(history.rounds), better), {"level": (4.0,)}).done(
        Feedback(agents=((0, 2, 50.0),)), better, told=len(history.rounds)
    )
    notes = propose(History(population, (*history.rounds, gain))).notes
    assert notes["level"] == (0.0,)
    assert notes["multiplier"] == (Default().multiplier,)


def test_loud_noise_raises_the_optimism(population):
    rng = np.random.default_rng(3)
    study = mfbo.create_study(population)
    for _ in range(9):
        study.tell(study.ask(), float(rng.normal()), distribution=uniform(1, 6))
    assert study.rounds[-1].notes["multiplier"][0] >= Default().noisy_multiplier


@pytest.mark.parametrize("kind", ["system", "agents:5", "cells"])
def test_fifteen_rounds_beat_fifteen_random_ones_by_far(kind):
    problem = swarm(12, None)
    found = problem.value(played(problem, 15, kind).recommend())
    control = problem.value(played(problem, 15, kind, "random").recommend())
    assert found > control + 10
    assert found > problem.optimum.value - 2.0


def test_it_separates_the_teams_of_the_arena():
    problem = arena(30, None)
    study = played(problem, 15)
    overlap = np.minimum(*study.recommend().distribution).sum()
    assert overlap < 0.3


def test_it_does_not_play_whole_agents_again_whose_noise_free_payoff_is_told():
    """Forty agents on ten seats: a plan that rounds to an allocation already told brings nothing new.

    The first plan may be played twice, to see whether payoffs are noisy; no other.
    """
    study = played(arena(10, 40), 8)
    assert len({each.plan.allocation.tobytes() for each in study.rounds[1:]}) == 7


def test_the_recommendation_is_the_visited_plan_with_the_highest_posterior_mean():
    problem = swarm(12, None)
    study = played(problem, 8)
    means = [study.predict(each.realized).mean for each in study.rounds]
    np.testing.assert_array_equal(study.recommend().distribution, study.rounds[int(np.argmax(means))].realized)


def test_a_population_of_thousands_of_actions_is_planned_for():
    population = Population([f"station {i}" for i in range(3000)], size=10**9)
    study = mfbo.create_study(population)
    for payoff in (1.0, 2.0):
        study.tell(study.ask(), payoff)
    plan = study.ask()
    assert plan.allocation.sum() == 10**9
    assert plan.distribution.shape == (1, 3000)
