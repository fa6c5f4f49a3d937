"""Beyond a number of rounds the model keeps the best and the newest; after a restart it is the same to the bit."""

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round
from mfbo.strategies import Default, replay_plan
from mfbo.strategies.replay_plan import RefitSchedule, best_and_newest


@pytest.fixture(autouse=True)
def few_rounds_are_many(monkeypatch):
    monkeypatch.setattr(replay_plan, "SUBSET", 12)
    monkeypatch.setattr(replay_plan, "ROUND_BUDGET", 12)


POPULATION = Population(np.linspace(0, 1, 4))


def payoff(distribution: np.ndarray) -> float:
    return float(-((distribution - 0.25 - 0.1 * np.arange(4)) ** 2).sum())


def played(strategy: Default, rounds: int, restart: int | None = None) -> History:
    """Ask and tell; with ``restart`` a new strategy takes over every so many rounds."""
    history = History(POPULATION)
    for number in range(rounds):
        if restart is not None and number % restart == 0:
            strategy = Default()
        proposal = strategy.propose(history, np.random.default_rng(number))
        plan = Plan(number, proposal.distribution)
        done = Round(plan, proposal.notes).done(Feedback(payoff(plan.distribution)), plan.distribution, number)
        history = History(POPULATION, (*history.rounds, done))
    return history


def test_the_newest_half_and_the_best_of_the_others_are_kept_in_their_order():
    rounds = tuple(
        Round(Plan(i, np.full((1, 4), 0.25))).done(Feedback(float((7 * i) % 20)), np.full((1, 4), 0.25), i)
        for i in range(20)
    )
    kept = [each.number for each in best_and_newest(rounds)]
    assert kept[6:] == [14, 15, 16, 17, 18, 19]
    best = sorted(range(14), key=lambda i: -((7 * i) % 20))[:6]
    assert kept[:6] == sorted(best)


def test_the_model_is_bounded():
    history = played(Default(), 30)
    process = Default().belief(history).process
    assert 12 <= process.design.count <= 12 + RefitSchedule().later


@pytest.mark.parametrize("restart", [1, 3, 7])
def test_a_restart_changes_no_bit(restart):
    unbroken, broken = played(Default(), 30), played(Default(), 30, restart)
    for one, other in zip(unbroken.rounds, broken.rounds, strict=True):
        np.testing.assert_array_equal(one.plan.distribution, other.plan.distribution, err_msg=f"round {one.number}")


def test_at_the_switch_the_posterior_hardly_changes_where_it_matters(monkeypatch):
    monkeypatch.setattr(replay_plan, "ROUND_BUDGET", 40)
    monkeypatch.setattr(replay_plan, "SUBSET", 24)
    history = played(Default(), 41)
    best = max(history.told, key=lambda each: each.payoff).realized
    here = 0.9 * best + 0.1 * np.random.default_rng(0).dirichlet(np.ones(4), size=(20, 1))
    subset = Default().posterior(history)
    monkeypatch.setattr(replay_plan, "ROUND_BUDGET", 100)
    everything = Default().posterior(history)
    spread = np.ptp([each.payoff for each in history.told])
    gap = np.abs(subset.population_means(here) - everything.population_means(here)).max()
    assert gap < 0.02 * spread


def test_refits_become_rarer():
    schedule = RefitSchedule()
    assert schedule.due(105, 100)
    assert not schedule.due(1009, 1000)
    assert schedule.due(1020, 1000)
