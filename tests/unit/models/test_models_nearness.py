"""Nearness to a plan: the term against its formula, its gradients, and the process for many rows."""

from dataclasses import replace

import numpy as np
import pytest

from mfbo.models import Fit, GaussianProcess, SparseProcess, with_nearness
from mfbo.models.fitting import MarginalLikelihood

VARIANCE = 3.0


@pytest.fixture(params=[1, 3])
def near(request, make_case):
    """Return a case whose kernel knows a plan, and that plan."""
    case = make_case("default", request.param)
    start = case.distribution()
    theta = np.insert(case.theta, len(case.kernel.terms) - 1, np.log(VARIANCE))
    return replace(case, kernel=with_nearness(case.kernel, case.population, start), theta=theta), start


def test_it_is_the_sum_of_roots_of_products(near):
    case, start = near
    term = case.kernel.terms[-2]
    plans = [case.distribution() for _ in range(2)]
    shares = np.stack([case.population.joint_shares(plan) for plan in plans])
    rows = term.feature.of_rows(shares, shares)
    covariance = term.pairs({term.feature: rows}, 0, 2)[0]
    occupancies, chosen = shares.sum(axis=1), case.population.joint_shares(start).sum(axis=0)
    nearness = np.sqrt(chosen * occupancies).sum(axis=1) - 1.0
    np.testing.assert_allclose(covariance, np.outer(nearness, nearness), rtol=0.02)  # up to the offset of the roots


def test_its_gradients(near, finite_differences):
    case, _ = near
    rounds = case.rounds("mixed")
    posterior = case.process(rounds).posterior()
    at = case.distribution()

    def scalar(distribution):
        moments = posterior.population(distribution)
        return 1.3 * moments.mean - 0.7 * moments.variance

    numerical = finite_differences(scalar, at)
    np.testing.assert_allclose(posterior.population(at).pullback(1.3, -0.7), numerical, rtol=1e-5, atol=1e-6)


def test_its_weight_is_learned(near, finite_differences):
    case, _ = near
    design = case.process(case.rounds("mixed", count=3)).design
    objective = MarginalLikelihood(design, design.values, None)
    numerical = finite_differences(lambda theta: objective(theta)[0], case.theta, step=1e-3)
    np.testing.assert_allclose(objective(case.theta)[1], numerical, rtol=1e-5, atol=1e-6)


def test_many_rows_are_read_alike(near):
    case, start = near
    exact_in_features = tuple(term for term in case.kernel.terms if term.role != "distribution")
    kernel = replace(case.kernel, terms=exact_in_features)
    exact, sparse = GaussianProcess(kernel), SparseProcess(kernel)
    theta = kernel.start.copy()
    theta[-1] = np.log(1e-3)
    for rows in case.rounds("system", 12):
        exact.append(rows)
        sparse.append(rows)
    for process in (exact, sparse):
        process.adopt(Fit(theta, 0.0, 1.0))
    ours, theirs = exact.posterior().population(start), sparse.posterior().population(start)
    assert theirs.mean == pytest.approx(ours.mean, rel=1e-4)
    assert theirs.variance == pytest.approx(ours.variance, rel=1e-3)
