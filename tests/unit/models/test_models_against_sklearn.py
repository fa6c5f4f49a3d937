"""The posterior under the paper's kernel against scikit-learn's exact Gaussian process, for rows of single cells.

scikit-learn sees each row as one vector: features of the action, features of the context, and all of ξ. A kernel on
some columns only is its anisotropic kernel with infinite lengths on the others.
"""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from mfbo.models import paper_kernel
from mfbo.models.fitting import MarginalLikelihood

TOLERANCE = {"rtol": 1e-8, "atol": 1e-8}
JITTER = 1e-10  # the process adds it to every row's noise


def scaled(features):
    """Scale each column to [0, 1] and divide by √d, so that squared distances are means over the columns."""
    low, high = features.min(axis=0), features.max(axis=0)
    return (features - low) / (high - low) / np.sqrt(features.shape[1])


def table(population, distribution, cells):
    """Return scikit-learn's inputs for some cells at one distribution: (m, 2 + 1 + C A)."""
    actions = scaled(population.features)
    contexts = np.zeros((1, 1)) if population.context_features is None else scaled(population.context_features)
    return np.stack([np.concatenate([actions[a], contexts[c], distribution.ravel()]) for c, a in cells])


def on_columns(kind, columns, length, width):
    lengths = np.full(width, np.inf)
    lengths[columns] = length
    return kind(lengths)


def paper_kernel_of_sklearn(case, kind):
    contexts, actions = case.population.shape
    width = 3 + contexts * actions
    names = [term.name for term in case.kernel.terms]
    weight = dict(zip(names, np.exp(case.theta[: len(names)]), strict=True))
    length = dict(zip(names, np.exp(case.theta[len(names) : -1]), strict=True))
    total = ConstantKernel(weight["action"]) * on_columns(RBF, slice(0, 2), length["action"], width)
    if contexts > 1:
        total += ConstantKernel(weight["context"]) * on_columns(RBF, slice(2, 3), length["context"], width)
    unit = length["distribution"] * np.sqrt(case.kernel.terms[-1].radial.norm)
    for c in range(contexts):
        columns = slice(3 + c * actions, 3 + (c + 1) * actions)
        total += ConstantKernel(weight["distribution"]) * on_columns(kind, columns, unit, width)
    return total


def matern52(lengths):
    return Matern(lengths, nu=2.5)


def sklearn_process(case, blocks, kernel):
    """Return scikit-learn's process on the same rows, with the noise of each row."""
    inputs = []
    for rows in blocks:
        cells = [np.unravel_index(omega.argmax(), omega.shape) for omega in rows.omega]
        inputs.append(table(case.population, rows.shares[0] / case.population.weights[:, None], cells))
    noise = np.exp(case.theta[-1]) * np.concatenate([rows.noise_scale for rows in blocks]) + JITTER
    regressor = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None)
    return regressor.fit(np.concatenate(inputs), np.concatenate([rows.values for rows in blocks]))


def assert_equal_to_sklearn(case, blocks, kernel):
    candidate = case.distribution()
    every_cell = table(case.population, candidate, np.ndindex(case.population.shape))
    mean, covariance = sklearn_process(case, blocks, kernel).predict(every_cell, return_cov=True)
    posterior = case.process(blocks).posterior()
    cells = posterior.cells(candidate)
    np.testing.assert_allclose(cells.mean.ravel(), mean, **TOLERANCE)
    np.testing.assert_allclose(cells.variance.ravel(), np.diag(covariance), **TOLERANCE)
    weights = case.population.joint_shares(candidate).ravel()
    whole = posterior.population(candidate)
    assert whole.mean == pytest.approx(weights @ mean, rel=1e-8, abs=1e-8)
    assert whole.variance == pytest.approx(weights @ covariance @ weights, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("contexts", [1, 3])
@pytest.mark.parametrize("kind", ["agents", "cells"])
def test_paper_posterior_equals_sklearn(make_case, kind, contexts):
    case = make_case("paper", contexts)
    assert_equal_to_sklearn(case, case.rounds(kind), paper_kernel_of_sklearn(case, RBF))


@pytest.mark.parametrize("contexts", [1, 3])
def test_matern_posterior_equals_sklearn(make_case, contexts):
    plain = make_case("paper", contexts)
    case = replace(plain, kernel=paper_kernel(plain.population, profile="matern52"))
    assert_equal_to_sklearn(case, case.rounds("agents"), paper_kernel_of_sklearn(case, matern52))


@pytest.mark.parametrize("contexts", [1, 3])
def test_marginal_likelihood_equals_sklearn(make_case, contexts):
    case = make_case("paper", contexts)
    blocks = case.rounds("cells")
    design = case.process(blocks).design
    value, _ = MarginalLikelihood(design, design.values, None)(case.theta)
    medians, sds = np.array([(each.median, each.sd) for each in case.kernel.hyperparameters]).T
    negative_log_prior = 0.5 * np.sum(((case.theta - np.log(medians)) / sds) ** 2)
    theirs = sklearn_process(case, blocks, paper_kernel_of_sklearn(case, RBF)).log_marginal_likelihood_value_
    constant = 0.5 * design.count * np.log(2 * np.pi)
    assert value - negative_log_prior == pytest.approx(-theirs - constant, rel=1e-9)
