"""Our strategies inside Optuna: its own sampler tests, the same plans as a study of ours; our problems there."""

import numpy as np
import optuna
import pytest
from optuna.testing.pytest_samplers import BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase

import mfbo
from mfbo.bridges.optuna import BenchmarkProblem, MeanFieldSampler, distribution_space, share_names
from mfbo.errors import InvalidInputError

pytestmark = pytest.mark.filterwarnings("ignore")
POPULATION = mfbo.Population(["a", "b", "c"], size=30)


@pytest.fixture(autouse=True)
def _quiet():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    yield
    optuna.logging.set_verbosity(before)


class TestOptunasOwn(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return lambda: MeanFieldSampler(POPULATION, seed=0)


def rides(distribution):
    return -float(((distribution - np.array([[0.2, 0.5, 0.3]])) ** 2).sum())


def plans_of(study, population=POPULATION):
    return [[trial.params[name] for name in share_names(population)] for trial in study.trials]


def own_plans(rounds, seed=0):
    study = mfbo.create_study(POPULATION, seed=seed)
    plans = []
    for _ in range(rounds):
        plan = study.ask()
        plans.append(plan.realized.ravel().tolist())
        study.tell(plan, rides(plan.realized))
    return plans


def test_the_plans_are_those_of_a_study_of_ours():
    study = optuna.create_study(direction="maximize", sampler=MeanFieldSampler(POPULATION, seed=3))
    study.optimize(lambda trial: rides(distribution_space(trial, POPULATION)), n_trials=8)
    assert plans_of(study) == own_plans(8, seed=3)


def test_a_new_sampler_goes_on_where_the_first_one_was(tmp_path):
    storage = f"sqlite:///{tmp_path}/optuna.db"
    for rounds in (3, 5):
        study = optuna.create_study(
            storage=storage, study_name="bikes", direction="minimize", load_if_exists=True,
            sampler=MeanFieldSampler(POPULATION, seed=0),
        )  # fmt: skip
        study.optimize(lambda trial: -rides(distribution_space(trial, POPULATION)), n_trials=rounds)
    assert plans_of(study) == own_plans(8)


def test_given_and_failed_trials_are_taken_as_such():
    sampler = MeanFieldSampler(POPULATION, seed=0)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.enqueue_trial(dict(zip(share_names(POPULATION), [0.1, 0.1, 0.2], strict=True)))

    def objective(trial):
        distribution = distribution_space(trial, POPULATION)
        if trial.number == 1:
            raise ValueError("rain")
        return rides(distribution) + trial.suggest_float("other", 0, 1)

    study.optimize(objective, n_trials=5, catch=ValueError)
    followed = sampler._followed.study
    assert [done.state for done in followed.rounds][:2] == ["done", "failed"]
    np.testing.assert_allclose(followed.rounds[0].played, [[0.25, 0.25, 0.5]])
    assert "other" in study.trials[-1].params


def test_our_problems_are_benchmark_problems():
    problem = BenchmarkProblem(mfbo.make_problem("swarm"))
    study = optuna.create_study(directions=problem.directions, sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(problem, n_trials=3)
    assert study.best_value < problem.problem.known_optimum.value
    optimum = problem.problem.known_optimum
    params = dict(zip(problem.search_space, optimum.distribution.ravel().tolist(), strict=True))
    assert problem.evaluate(params) == pytest.approx(optimum.value, rel=1e-6)
    with pytest.raises(InvalidInputError, match="rounds of 'city-days' differ"):
        BenchmarkProblem(mfbo.make_problem("city-days"))


def test_nyc_plans_are_those_of_the_default_strategy():
    problem = mfbo.make_problem("nyc-12x20")
    ours = mfbo.create_study(problem.population, seed=1)
    study = optuna.create_study(direction="maximize", sampler=MeanFieldSampler(problem.population, seed=1))
    study.optimize(lambda trial: problem.mean_field_value(distribution_space(trial, problem.population)), n_trials=8)
    for trial in study.trials:
        plan = ours.ask()
        assert [trial.params[name] for name in share_names(problem.population)] == plan.realized.ravel().tolist()
        ours.tell(plan, problem.mean_field_value(plan.realized))
