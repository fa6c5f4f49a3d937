"""How `default` begins: the replicate that shows noise, the random rounds, and days brought along."""

import numpy as np
import pytest

import mfbo
from mfbo.problems import FeedbackKind, Observer, swarm
from mfbo.strategies.default.seen import replicates_disagree


def played(rounds, noise=0.0, known=False, **options):
    problem = swarm(10, None)
    look = Observer(problem, FeedbackKind.parse("system"), noise, seed=1)
    study = mfbo.create_study(problem.population, seed=0, noise=noise if known else None, **options)
    for _ in range(rounds):
        plan = study.ask()
        study.tell(plan, look(plan))
    return study


@pytest.mark.parametrize("options", [{}, {"noise": 0.5}, {"noise": 0.5, "known": True}])
def test_the_first_plan_is_played_twice(options):
    study = played(3, **options)
    np.testing.assert_array_equal(study.rounds[0].plan.distribution, study.rounds[1].plan.distribution)
    assert not np.array_equal(study.rounds[1].plan.distribution, study.rounds[2].plan.distribution)


@pytest.mark.parametrize(("noise", "noisy"), [(0.0, False), (1e-6, True), (0.5, True)])
def test_replicates_tell_noise_from_none(noise, noisy):
    assert replicates_disagree(played(2, noise).history.told) is noisy


def test_noise_makes_the_strategy_more_optimistic():
    calm, noisy = played(8), played(8, noise=0.5)
    assert calm.rounds[-1].notes["multiplier"][0] < 1.0
    assert noisy.rounds[-1].notes["multiplier"][0] >= 1.5


def test_every_fifth_round_under_noise_plays_the_best_mean():
    study = played(31, noise=0.5)
    posterior = study.strategy.posterior(study.history)
    greedy, optimistic = study.rounds[30].plan.distribution, study.rounds[29].plan.distribution
    assert posterior.population(greedy).variance < posterior.population(optimistic).variance


def test_days_brought_along_replace_the_random_rounds():
    problem = swarm(10, None)
    rng = np.random.default_rng(0)
    study = mfbo.create_study(problem.population, seed=0)
    for _ in range(6):
        past = rng.dirichlet(np.ones(10))[None]
        study.add(past, problem.mean_field_value(past))
    study.ask()
    assert "theta" in study.rounds[-1].notes
    assert all(each.added for each in study.rounds[:6])


def test_a_bad_day_is_refused_and_nothing_is_added():
    study = mfbo.create_study(mfbo.Population(["a", "b"]))
    with pytest.raises(mfbo.InvalidInputError, match="nan"):
        study.add([0.5, 0.5], float("nan"))
    with pytest.raises(mfbo.InvalidInputError, match="sums to"):
        study.add([0.5, 0.4], 1.0)
    assert study.rounds == ()
