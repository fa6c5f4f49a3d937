"""The joint posterior: against the posterior of single distributions and of changes, and by finite differences."""

import numpy as np
import pytest

from mfbo.bridges.fitted_process import fitted_process
from mfbo.models import agents_kernel, default_kernel, joint_kernel, paper_kernel
from mfbo.models.joint import joint_moments
from mfbo.population import Population
from mfbo.simplex import dirichlet

KERNELS = [default_kernel, agents_kernel, paper_kernel, joint_kernel]


def fitted(make_kernel, rng):
    population = Population(rng.uniform(size=(4, 2)), contexts=["day", "night"], size=None)
    distributions = np.stack([dirichlet(1.0, 2, 4, rng) for _ in range(8)])
    payoffs = np.sin(distributions[:, 0, 0] * 3) + distributions[:, 1, 2] ** 2
    return fitted_process(population, distributions, payoffs, kernel=make_kernel(population), noise=0.1)[0]


@pytest.mark.parametrize("make_kernel", KERNELS)
def test_means_and_covariances_are_those_of_single_distributions_and_changes(make_kernel):
    rng = np.random.default_rng(3)
    process = fitted(make_kernel, rng)
    candidates = np.stack([dirichlet(1.0, 2, 4, rng) for _ in range(3)])
    joint, posterior = joint_moments(process, candidates), process.posterior()
    singles = [posterior.population(candidate) for candidate in candidates]
    np.testing.assert_allclose(joint.mean, [single.mean for single in singles], atol=1e-10)
    np.testing.assert_allclose(np.diag(joint.covariance), [single.variance for single in singles], atol=1e-10)
    means, variances = posterior.changes(candidates[0], candidates[1:])
    np.testing.assert_allclose(joint.mean[1:] - joint.mean[0], means, atol=1e-10)
    differences = np.diag(joint.covariance)[1:] + joint.covariance[0, 0] - 2 * joint.covariance[0, 1:]
    np.testing.assert_allclose(differences, variances, atol=1e-9)


@pytest.mark.parametrize("make_kernel", KERNELS)
def test_the_pullback_is_the_derivative(make_kernel):
    rng = np.random.default_rng(4)
    process = fitted(make_kernel, rng)
    candidates = np.stack([dirichlet(2.0, 2, 4, rng) for _ in range(3)])
    d_mean, d_covariance = rng.normal(size=3), rng.normal(size=(3, 3))

    def scalar(at):
        moments = joint_moments(process, at)
        return float(d_mean @ moments.mean + (d_covariance * moments.covariance).sum())

    pulled = joint_moments(process, candidates).pullback(d_mean, d_covariance)
    for _ in range(5):
        direction, step = rng.normal(size=candidates.shape), 1e-6
        slope = (scalar(candidates + step * direction) - scalar(candidates - step * direction)) / (2 * step)
        np.testing.assert_allclose((pulled * direction).sum(), slope, rtol=2e-5, atol=1e-6)
