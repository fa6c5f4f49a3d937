"""The posterior against a dense joint Gaussian over all cells at all distributions, written from the definitions.

f at every (distribution, cell) is one long Gaussian vector; rows and g are linear functionals of it. Only the
declarative data of the terms are read here: no feature, embedding, coupling or profile of the project computes.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import block_diag

from mfbo.models import Kernel, RescaledPosterior, Rows
from mfbo.models.channels import Channel
from mfbo.models.couplings import FixedCoupling
from mfbo.models.features import Decay, FastDecay, Linear, Log, One, Root
from mfbo.models.products import Product
from mfbo.models.stationary import ByContext, Hellinger, Joint, Matern52, Mean, Rbf, Stationary

TOLERANCE = {"rtol": 1e-8, "atol": 1e-8}
JITTER = 1e-10  # the process adds it to every row's noise

SHAPES = {
    One: lambda s, actions, offset: np.ones_like(s),
    Root: lambda s, actions, offset: (s + offset) ** -0.5,
    Linear: lambda s, actions, offset: actions * s,
    Log: lambda s, actions, offset: np.log(1 + actions * s),
    Decay: lambda s, actions, offset: 1 / (1 + actions * s),
    FastDecay: lambda s, actions, offset: 1 / (1 + 10 * actions * s),
}
PROFILES = {
    Rbf: lambda r: np.exp(-(r**2) / 2),
    Matern52: lambda r: (1 + np.sqrt(5) * r + 5 * r**2 / 3) * np.exp(-np.sqrt(5) * r),
}


def cell_features(feature, shares):
    """Return the feature of f in every cell: (C A, R K), one row per cell."""
    contexts, actions = shares.shape
    shape = feature.shape
    columns = {"cells": contexts * actions, "actions": actions, "contexts": contexts}[feature.axis]
    phi = np.zeros((contexts * actions, columns))
    for c in range(contexts):
        for a in range(actions):
            share = {"cells": shares[c, a], "actions": shares[:, a].sum(), "contexts": shares[c].sum()}[feature.axis]
            column = {"cells": c * actions + a, "actions": a, "contexts": c}[feature.axis]
            phi[c * actions + a, column] = SHAPES[type(shape)](share, shape.actions, shape.offset)
    return phi - np.ravel(feature.center)


def coupling_matrix(term, length, contexts, actions):
    """Return S as a matrix over the columns of the feature."""
    context_count = 1 if term.feature.axis == "actions" else contexts
    action_count = 1 if term.feature.axis == "contexts" else actions
    coupling = term.coupling
    if isinstance(coupling, FixedCoupling):
        sides = coupling.contexts.apply(np.eye(context_count)), coupling.actions.apply(np.eye(action_count))
    else:
        distances = (coupling.contexts, context_count), (coupling.actions, action_count)
        sides = [np.eye(k) if d is None else np.exp(-d / (2 * length**2)) for d, k in distances]
    return np.kron(*sides)


def stationary(radial, length, shares):
    """Return κ between all pairs of m distributions, (m, m)."""
    embedding = radial.embedding
    blocks = {
        ByContext: lambda: list(np.moveaxis(shares / embedding.weights[:, None], 1, 0)),
        Joint: lambda: [shares / embedding.weights[:, None]],
        Hellinger: lambda: [np.sqrt(shares + embedding.offset)],
        Mean: lambda: [shares if embedding.factor is None else shares @ embedding.factor],
    }[type(embedding)]()
    total = 0
    for z in blocks:
        flat = z.reshape(len(z), -1)
        distance = np.sqrt(((flat[:, None] - flat[None, :]) ** 2).sum(-1))
        total = total + PROFILES[type(radial.profile)](distance / (np.sqrt(radial.norm) * length))
    return total


def prior_covariance(kernel, theta, shares):
    """Return Cov of f over all (distribution, cell) pairs: shares (m, C, A) → (m C A, m C A)."""
    count, contexts, actions = shares.shape
    cells = contexts * actions
    lengths = iter(np.exp(theta[len(kernel.terms) : -1]))
    total = np.zeros((count * cells, count * cells))
    for term, log_weight in zip(kernel.terms, theta, strict=False):
        length = 1.0 if term.length is None else next(lengths)
        part = np.full_like(total, np.exp(log_weight))
        if isinstance(term, Channel | Product):
            phi = np.concatenate([cell_features(term.feature, each) for each in shares])
            part = part * term.scale * (phi @ coupling_matrix(term, length, contexts, actions) @ phi.T)
        if isinstance(term, Stationary | Product):
            part = part * np.kron(stationary(term.radial, length, shares), np.ones((cells, cells)))
        total += part
    return total


class JointGaussian:
    """The posterior of f in all cells at one candidate distribution, by conditioning the long Gaussian vector."""

    def __init__(self, case, blocks, candidate, *, silent=()):
        played = [rows.shares[0] for rows in blocks] + list(silent)  # the rows of a block share their distribution
        looks = [rows.omega for rows in blocks] + [each[None] for each in silent]
        scales = np.concatenate([rows.noise_scale for rows in blocks] + [np.ones(len(silent))])
        values = np.concatenate([rows.values for rows in blocks])
        self.weights = case.population.joint_shares(candidate).ravel()
        cells = self.weights.size
        sigma = prior_covariance(case.kernel, case.theta, np.stack([*played, case.population.joint_shares(candidate)]))
        look = block_diag(*[omega.reshape(len(omega), cells) for omega in looks], np.zeros((0, cells)))
        seen = look @ sigma @ look.T + np.diag(np.exp(case.theta[-1]) * scales + JITTER)
        cross = (sigma @ look.T)[-cells:]
        told = len(values)
        self.mean = cross[:, :told] @ np.linalg.solve(seen[:told, :told], values)
        self.covariance = sigma[-cells:, -cells:] - cross @ np.linalg.solve(seen, cross.T)


def joint_population(case, blocks, candidates):
    """Return mean (m,) and covariance (m, m) of g at m candidates, by conditioning the long Gaussian vector."""
    shares = [case.population.joint_shares(each) for each in candidates]
    cells = shares[0].size
    sigma = prior_covariance(case.kernel, case.theta, np.stack([*(rows.shares[0] for rows in blocks), *shares]))
    look = block_diag(
        *[rows.omega.reshape(len(rows), cells) for rows in blocks], *[each.reshape(1, -1) for each in shares]
    )
    joint = look @ sigma @ look.T
    told = sum(len(rows) for rows in blocks)
    noise = np.exp(case.theta[-1]) * np.concatenate([rows.noise_scale for rows in blocks]) + JITTER
    seen = joint[:told, :told] + np.diag(noise)
    gain = np.linalg.solve(seen, joint[:told, told:])
    values = np.concatenate([rows.values for rows in blocks])
    return gain.T @ values, joint[told:, told:] - joint[told:, :told] @ gain


def test_cell_moments_equal_the_joint_gaussian(case, kind):
    blocks, candidate = case.rounds(kind), case.distribution()
    expected = JointGaussian(case, blocks, candidate)
    moments = case.process(blocks).posterior().cells(candidate)
    np.testing.assert_allclose(moments.mean.ravel(), expected.mean, **TOLERANCE)
    np.testing.assert_allclose(moments.variance.ravel(), np.diag(expected.covariance), **TOLERANCE)


def test_population_moments_equal_the_joint_gaussian(case, kind):
    blocks, candidate = case.rounds(kind), case.distribution()
    expected = JointGaussian(case, blocks, candidate)
    moments = case.process(blocks).posterior().population(candidate)
    assert moments.mean == pytest.approx(expected.weights @ expected.mean, rel=1e-8, abs=1e-8)
    variance = expected.weights @ expected.covariance @ expected.weights
    assert moments.variance == pytest.approx(variance, rel=1e-8, abs=1e-8)


def test_pending_plans_act_as_system_rows_without_a_payoff(case):
    blocks, candidate, pending = case.rounds("mixed"), case.distribution(), case.pending()
    expected = JointGaussian(case, blocks, candidate, silent=pending)
    moments = case.process(blocks).posterior(pending).cells(candidate)
    np.testing.assert_allclose(moments.mean.ravel(), expected.mean, **TOLERANCE)
    np.testing.assert_allclose(moments.variance.ravel(), np.diag(expected.covariance), **TOLERANCE)


@pytest.mark.parametrize("contexts", [1, 3])
@pytest.mark.parametrize("preset", ["paper", "joint", "default", "agents"])
def test_populations_of_names_only_equal_the_joint_gaussian(make_case, preset, contexts):
    case = make_case(preset, contexts, features=False)
    blocks, candidate = case.rounds("mixed"), case.distribution()
    expected = JointGaussian(case, blocks, candidate)
    moments = case.process(blocks).posterior().cells(candidate)
    np.testing.assert_allclose(moments.mean.ravel(), expected.mean, **TOLERANCE)
    np.testing.assert_allclose(moments.variance.ravel(), np.diag(expected.covariance), **TOLERANCE)


@pytest.mark.parametrize("contexts", [1, 3])
@pytest.mark.parametrize("kept", ["action", "context", "distribution"])
def test_kernels_of_one_term_equal_the_joint_gaussian(make_case, kept, contexts):
    case = make_case("paper", contexts)
    terms = tuple(term for term in case.kernel.terms if term.name == kept) or case.kernel.terms[:1]
    kernel = Kernel("one", terms, case.kernel.noise, case.kernel.weights)
    case = replace(case, kernel=kernel, theta=np.array([0.3, -0.4, np.log(1e-2)]))
    blocks, candidate = case.rounds("mixed"), case.distribution()
    expected = JointGaussian(case, blocks, candidate)
    moments = case.process(blocks).posterior().cells(candidate)
    np.testing.assert_allclose(moments.mean.ravel(), expected.mean, **TOLERANCE)
    np.testing.assert_allclose(moments.variance.ravel(), np.diag(expected.covariance), **TOLERANCE)


def test_g_is_the_mean_of_f_over_the_cells(case):
    posterior, candidate = case.process(case.rounds("mixed")).posterior(), case.distribution()
    weighted = (case.population.joint_shares(candidate) * posterior.cells(candidate).mean).sum()
    assert posterior.population(candidate).mean == pytest.approx(weighted, rel=1e-10, abs=1e-10)


def test_many_population_means_at_once_equal_them_one_by_one(case):
    posterior = case.process(case.rounds("mixed")).posterior()
    candidates = np.stack([case.distribution() for _ in range(4)])
    one_by_one = [posterior.population(each).mean for each in candidates]
    np.testing.assert_allclose(posterior.population_means(candidates), one_by_one, rtol=1e-9, atol=1e-10)


def test_nearly_noise_free_rows_are_interpolated(case):
    blocks = case.rounds("system")
    posterior = case.process(blocks, noise=1e-4).posterior()
    for rows in blocks:
        played = rows.shares[0] / case.population.weights[:, None]
        assert posterior.population(played).mean == pytest.approx(rows.values[0], abs=1e-3)


def test_a_cell_mean_of_many_agents_counts_as_much_as_those_agents(case):
    """One cell mean of k agents (noise R²/k) and k agents with that mean carry the same information."""
    distribution = case.distribution()
    played = case.population.joint_shares(distribution)
    omega = np.zeros_like(played)
    omega[0, 1] = 1.0
    payoffs = np.array([0.3, 0.8, -0.2])
    three = Rows(np.stack([omega] * 3), np.stack([played] * 3), payoffs, np.ones(3))
    one = Rows(omega[None], played[None], payoffs.mean(keepdims=True), np.array([1 / 3]))
    agents = case.process([three]).posterior().cells(distribution)
    mean = case.process([one]).posterior().cells(distribution)
    np.testing.assert_allclose(mean.mean, agents.mean, rtol=1e-6)
    np.testing.assert_allclose(mean.variance, agents.variance, rtol=1e-6)


def test_rescaled_posterior_is_in_the_units_of_the_payoff(case):
    inner, candidate = case.process(case.rounds("mixed")).posterior(), case.distribution()
    outer = RescaledPosterior(inner, shift=5.0, scale=3.0)
    assert outer.population(candidate).mean == pytest.approx(5 + 3 * inner.population(candidate).mean)
    assert outer.population(candidate).variance == pytest.approx(9 * inner.population(candidate).variance)
    np.testing.assert_allclose(outer.cells(candidate).mean, 5 + 3 * inner.cells(candidate).mean)
    np.testing.assert_allclose(outer.cells(candidate).variance, 9 * inner.cells(candidate).variance)
    np.testing.assert_allclose(outer.population_means(candidate[None]), [outer.population(candidate).mean])
    mean, variance = outer.changes(candidate, candidate[None, :, ::-1])
    inner_mean, inner_variance = inner.changes(candidate, candidate[None, :, ::-1])
    np.testing.assert_allclose(mean, 3 * inner_mean)
    np.testing.assert_allclose(variance, 9 * inner_variance)


def test_changes_equal_the_joint_gaussian(case, kind):
    """Of g(ξ′) − g(ξ) the mean, and the variance with the covariance of both in it."""
    blocks, start = case.rounds(kind), case.distribution()
    others = np.stack([case.distribution() for _ in range(3)])
    mean, covariance = joint_population(case, blocks, [start, *others])
    found_mean, found_variance = case.process(blocks).posterior().changes(start, others)
    np.testing.assert_allclose(found_mean, mean[1:] - mean[0], **TOLERANCE)
    variance = np.diag(covariance)[1:] + covariance[0, 0] - 2 * covariance[0, 1:]
    np.testing.assert_allclose(found_variance, variance, **TOLERANCE)


def test_the_uncertainty_of_a_change_goes_to_zero_with_the_step(case):
    """Like the step: halved steps, halved standard deviations, down to a step of 1e-7."""
    posterior, start = case.process(case.rounds("mixed")).posterior(), case.distribution()
    way = case.distribution() - start
    steps = np.array([1e-3, 1e-4, 1e-5, 1e-6, 1e-7])
    mean, variance = posterior.changes(start, start + steps[:, None, None] * way)
    slopes = np.sqrt(variance) / steps
    np.testing.assert_allclose(slopes, slopes[0], rtol=0.02)
    np.testing.assert_allclose(mean / steps, mean[0] / steps[0], rtol=0.02, atol=1e-3)
    np.testing.assert_allclose(posterior.changes(start, start[None]), 0.0, atol=1e-20)
