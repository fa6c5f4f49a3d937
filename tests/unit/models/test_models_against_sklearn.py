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
from mfbo.models.additive import AdditivePosterior
from mfbo.models.fitting import MarginalLikelihood
from mfbo.models.posterior import TermPosterior
from mfbo.models.situation_kernel import SituationModel, encoded_situation
from mfbo.situations import Situations

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


SITUATIONS = Situations.read(
    {"day": ["weekday", "weekend"], "rain": "number", "requests": {"kind": "number", "known": "after"}}
)


def situated_columns(situation):
    """Return the columns that scikit-learn sees of a situation: indicators of the day, rain, requests."""
    day = [float(situation["day"] == name) for name in ("weekday", "weekend")]
    return np.array([*day, situation["rain"], situation["requests"]])


def situated_kernel(case, plan, width, scale):
    """Return (1 + ρ k_b) / (1 + ρ) · K_plan + a k_all; situations stand in the last four columns."""
    difference, level, *lengths = np.exp(case.theta[-6:-1])
    day, rain, requests = lengths[0], lengths[1] * scale.unit[1], lengths[2] * scale.unit[2]
    before, every = np.full(width, np.inf), np.full(width, np.inf)
    before[-4:-1] = day, day, rain
    every[-4:] = day, day, rain, requests
    factor = ConstantKernel(1 / (1 + difference)) + ConstantKernel(difference / (1 + difference)) * RBF(before)
    return factor * plan(width) + ConstantKernel(level) * RBF(every)


@pytest.mark.parametrize("contexts", [1, 3])
def test_posterior_in_a_situation_equals_sklearn_with_the_product_kernel(make_case, contexts):
    plain = make_case("paper", contexts)
    model = SituationModel.of(SITUATIONS)
    kernel = replace(plain.kernel, situation=model)
    situated = np.log([1.7, 0.6, 0.8, 1.3, 0.9])
    case = replace(plain, kernel=kernel, theta=np.concatenate([plain.theta[:-1], situated, plain.theta[-1:]]))
    rng = np.random.default_rng(5)
    days = [
        {"day": ("weekday", "weekend")[place % 2], "rain": float(rng.random()), "requests": 800.0 + 90 * rng.normal()}
        for place in range(5)
    ]
    encoded = [encoded_situation(SITUATIONS, day, float(place)) for place, day in enumerate(days)]
    blocks = [
        replace(rows, situations=np.tile(here, (len(rows), 1)))
        for rows, here in zip(plain.rounds("cells"), encoded, strict=True)
    ]
    process = case.process(blocks)
    columns = np.concatenate(
        [np.tile(situated_columns(day), (len(rows), 1)) for day, rows in zip(days, blocks, strict=True)]
    )
    inputs = []
    for rows in blocks:
        cells = [np.unravel_index(omega.argmax(), omega.shape) for omega in rows.omega]
        inputs.append(table(case.population, rows.shares[0] / case.population.weights[:, None], cells))
    inputs = np.hstack([np.concatenate(inputs), columns])
    theirs = situated_kernel(
        case,
        lambda width: _wider(paper_kernel_of_sklearn(plain, RBF), width),
        inputs.shape[1],
        model.scale(process.design.situations),
    )
    noise = np.exp(case.theta[-1]) * np.concatenate([rows.noise_scale for rows in blocks]) + JITTER
    regressor = GaussianProcessRegressor(theirs, alpha=noise, optimizer=None)
    regressor.fit(inputs, np.concatenate([rows.values for rows in blocks]))
    candidate, today = case.distribution(), {"day": "weekend", "rain": 0.3, "requests": 905.0}
    every_cell = table(case.population, candidate, np.ndindex(case.population.shape))
    every_cell = np.hstack([every_cell, np.tile(situated_columns(today), (len(every_cell), 1))])
    mean, covariance = regressor.predict(every_cell, return_cov=True)
    posterior = process.posterior(situation=encoded_situation(SITUATIONS, today))
    assert isinstance(posterior, AdditivePosterior)
    weights = case.population.joint_shares(candidate).ravel()
    for found in (posterior, TermPosterior(posterior.data)):  # structured and general
        cells = found.cells(candidate)
        np.testing.assert_allclose(cells.mean.ravel(), mean, **TOLERANCE)
        np.testing.assert_allclose(cells.variance.ravel(), np.diag(covariance), **TOLERANCE)
    whole = posterior.population(candidate)
    assert whole.mean == pytest.approx(weights @ mean, rel=1e-8, abs=1e-8)
    assert whole.variance == pytest.approx(weights @ covariance @ weights, rel=1e-8, abs=1e-8)


def _wider(kernel, width):
    """Return a sum of products of constants and RBFs that ignores all further columns."""
    if hasattr(kernel, "k1"):
        return type(kernel)(_wider(kernel.k1, width), _wider(kernel.k2, width))
    if isinstance(kernel, RBF):
        lengths = np.full(width, np.inf)
        lengths[: len(kernel.length_scale)] = kernel.length_scale
        return RBF(lengths)
    return kernel
