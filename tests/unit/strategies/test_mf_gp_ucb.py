"""The paper's strategy: its first plan, its kernels, its multiplier, and that it learns."""

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round
from mfbo.acquisition import Theorem
from mfbo.catalogue import make_strategy
from mfbo.problems import swarm
from mfbo.simplex import softmax
from mfbo.strategies import MeanFieldGPUCB
from mfbo.study import create_study


@pytest.fixture
def population() -> Population:
    return Population(np.linspace(0, 1, 5), {"x": 0.5, "y": 0.5}, context_features=[-1, 1])


def told(population: Population, count: int) -> History:
    rng = np.random.default_rng(1)
    rounds = []
    for number in range(count):
        distribution = rng.dirichlet(np.ones(5), size=2)
        payoff = Feedback(float(distribution[0, 1] - distribution[1, 3]))
        rounds.append(Round(Plan(number, distribution)).done(payoff, distribution, told=number))
    return History(population, tuple(rounds))


def test_shares_of_the_first_plan_differ_by_a_factor_e_at_most(population):
    first = MeanFieldGPUCB().propose(History(population), np.random.default_rng(0)).distribution
    assert (first.max(axis=1) / first.min(axis=1) <= np.e).all()
    assert (first.max(axis=1) > first.min(axis=1)).all()


@pytest.mark.parametrize("kernel", ["paper", "joint"])
def test_both_kernels_of_the_paper_propose(population, kernel):
    found = MeanFieldGPUCB(kernel=kernel).propose(told(population, 5), np.random.default_rng(0)).distribution
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)


def test_the_two_kernels_propose_differently(population):
    paper, joint = (
        MeanFieldGPUCB(kernel=kernel).propose(told(population, 5), np.random.default_rng(0))
        for kernel in ("paper", "joint")
    )
    assert np.abs(paper.distribution - joint.distribution).max() > 1e-3


def test_more_optimism_proposes_differently(population):
    shy, bold = (
        MeanFieldGPUCB(multiplier=m).propose(told(population, 5), np.random.default_rng(0)) for m in (0.1, 5.0)
    )
    assert np.abs(shy.distribution - bold.distribution).max() > 1e-3


def test_the_theorem_sets_the_multiplier_of_the_next_round(population):
    history = told(population, 5)
    by_theorem = MeanFieldGPUCB(multiplier="theorem").propose(history, np.random.default_rng(0))
    by_number = MeanFieldGPUCB(multiplier=Theorem(5, 2).multiplier(6)).propose(history, np.random.default_rng(0))
    np.testing.assert_array_equal(by_theorem.distribution, by_number.distribution)


@pytest.mark.parametrize(
    ("start", "at"),
    [
        ("uniform", lambda last: np.full((2, 5), 0.2)),
        ("last", lambda last: last),
        ("mixed", lambda last: 0.9 * last + 0.02),
        ("normal", lambda last: softmax(np.random.default_rng(0).standard_normal((2, 5)))),
    ],
)
def test_without_steps_the_start_is_proposed(population, start, at):
    history = told(population, 4)
    found = MeanFieldGPUCB(start=start, steps=0).propose(history, np.random.default_rng(0)).distribution
    np.testing.assert_allclose(found, at(history.rounds[-1].plan.distribution), rtol=1e-9)


def test_the_logits_travel_no_further_than_all_steps_together(population):
    found = MeanFieldGPUCB(steps=50, rate=0.02).propose(told(population, 6), np.random.default_rng(0)).distribution
    assert (found.max(axis=1) / found.min(axis=1) < np.exp(2 * 50 * 0.02 * 1.2)).all()
    assert (found.max(axis=1) / found.min(axis=1) > 1.5).all()


def test_every_choice_is_a_setting_in_the_name():
    made = make_strategy("mf-gp-ucb(start=mixed, steps=200, rate=0.02, rows=agent)")
    assert (made.start, made.steps, made.rate, made.rows) == ("mixed", 200, 0.02, "agent")
    assert made.name == "mf-gp-ucb(rate=0.02,rows=agent,start=mixed,steps=200)"


def test_agents_payoffs_lead_it_to_the_swarm():
    problem = swarm(12, None)
    study = create_study(problem.population, "mf-gp-ucb")
    for _ in range(15):
        plan = study.ask()
        study.tell(plan, cells=problem.payoff.cells(plan.distribution))
    assert problem.value(study.recommend()) > 10
