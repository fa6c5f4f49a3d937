"""Payoffs that change with time: the posterior by its definition, the gradient by differences, when drift begins."""

import numpy as np
import pytest

from mfbo import Population, create_study
from mfbo.models import Fit, GaussianProcess, default_kernel, rows_of_round
from mfbo.models.fitting import DRIFT_EVIDENCE, DRIFT_LENGTHS, JITTER, MarginalLikelihood, fitted
from mfbo.models.unit import in_unit, standardization
from mfbo.records import Feedback, Plan, Round
from mfbo.strategies import Default

MEMORY = 4.0
TOP = np.array([0.7, 0.1, 0.1, 0.1])
POPULATION = Population(["a", "b", "c", "d"])
KERNEL = default_kernel(POPULATION)
THETA = KERNEL.start + 0.3 * np.random.default_rng(1).normal(size=len(KERNEL.start))
RNG = np.random.default_rng(2)
PLANS = RNG.dirichlet(np.ones(4), size=(8, 1))


def process_of(plans: np.ndarray, payoffs: np.ndarray) -> GaussianProcess:
    process = GaussianProcess(KERNEL)
    for number, (plan, payoff) in enumerate(zip(plans, payoffs, strict=True)):
        process.append(rows_of_round(POPULATION, Round(Plan(number, plan)).done(Feedback(payoff), plan, number)))
    return process


def by_definition(payoffs: np.ndarray, plan: np.ndarray, pending: int = 0) -> tuple[float, float]:
    """Return mean and variance at the next round, from one covariance matrix of all plans in all rounds."""
    told = len(payoffs) + pending
    lower = process_of(np.concatenate([PLANS[:told], [plan]]), np.zeros(told + 1)).design.gram(KERNEL.values(THETA))
    times = np.minimum(np.arange(told + 1), len(payoffs))
    sigma = (lower + np.tril(lower, -1).T) * np.exp(-0.5 * ((times[:, None] - times) / MEMORY) ** 2)
    noisy = sigma[:-1, :-1] + (np.exp(THETA[-1]) + JITTER) * np.eye(told)
    first = slice(len(payoffs))
    mean = sigma[-1, first] @ np.linalg.solve(noisy[first, first], payoffs)
    return float(mean), float(sigma[-1, -1] - sigma[-1, :-1] @ np.linalg.solve(noisy, sigma[:-1, -1]))


@pytest.mark.parametrize("pending", [0, 2])
def test_what_is_believed_is_about_the_next_round(pending):
    payoffs = RNG.normal(size=5)
    process = process_of(PLANS[:4], payoffs[:4])
    process.adopt(Fit(THETA, 0.0, 1.0, MEMORY))
    fifth = Round(Plan(4, PLANS[4])).done(Feedback(float(payoffs[4])), PLANS[4], 4)
    process.append(rows_of_round(POPULATION, fifth))  # the factor grows
    moments = process.posterior(PLANS[5 : 5 + pending]).population(PLANS[7])
    np.testing.assert_allclose((moments.mean, moments.variance), by_definition(payoffs, PLANS[7], pending), rtol=1e-6)


def test_the_gradient_with_drift_is_that_of_differences():
    objective = MarginalLikelihood(process_of(PLANS, RNG.normal(size=8)).design, RNG.normal(size=8), None, MEMORY)
    steps = 1e-5 * np.eye(len(THETA))
    differences = [(objective(THETA + step)[0] - objective(THETA - step)[0]) / 2e-5 for step in steps]
    np.testing.assert_allclose(objective(THETA)[1], differences, rtol=1e-4, atol=1e-5)
    assert objective.by_memory(THETA, [MEMORY]) == {MEMORY: objective(THETA)[0]}


def told(number: int, plan: np.ndarray, *, drifts: bool) -> float:
    """A hill at the first action that becomes one at the last in 80 rounds, or stays; the uniform plan is the same."""
    share = number / 80 if drifts else 0.0
    first, last = (-float(((plan[0] - top) ** 2).sum()) for top in (TOP, TOP[::-1]))
    return (1 - share) * first + share * last


@pytest.mark.parametrize("drifts", [True, False])
def test_drift_begins_where_payoffs_change_and_only_there(drifts):
    plans = np.random.default_rng(5).dirichlet(np.ones(4), size=(40, 1))
    process = process_of(plans, np.array([told(n, plan, drifts=drifts) for n, plan in enumerate(plans)]))
    assert (process.refit(None, 20).memory is not None) is drifts


def test_drift_begins_although_a_fit_without_it_takes_it_for_noise():
    plans = np.random.default_rng(8).dirichlet(np.ones(4), size=(22, 1))
    process = process_of(plans, np.array([told(n, plan, drifts=True) for n, plan in enumerate(plans)]))
    payoffs = process.design.values
    still = MarginalLikelihood(process.design, in_unit(payoffs, *standardization(payoffs)), None)
    costs = still.by_memory(fitted(still, KERNEL.start, 20), (None, *DRIFT_LENGTHS))
    assert min(costs.values()) > costs[None] - 0.8 * DRIFT_EVIDENCE  # with the noise of that fit
    assert process.refit(None, 20).memory is not None


def test_a_study_follows_a_drift_and_resumes_it_to_the_bit():
    strategy = Default()
    study = create_study(POPULATION, strategy, seed=1)
    for number in range(58):
        plan = study.ask()
        study.tell(plan, told(number, plan.distribution, drifts=True))
    asked = study.ask()
    assert "memory" in study.history.rounds[-1].notes
    now = 58 / 80
    best = told(58, ((1 - now) * TOP + now * TOP[::-1])[None], drifts=True)
    assert best - told(58, asked.distribution, drifts=True) < 0.01  # the first hill is 0.38 below
    unbroken, resumed = (one.belief(study.history).posterior.population_means(PLANS) for one in (strategy, Default()))
    np.testing.assert_array_equal(unbroken, resumed)
