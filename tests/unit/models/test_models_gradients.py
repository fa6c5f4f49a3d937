"""Every closed-form derivative of the model and of the two bounds on it, against finite differences."""

import numpy as np
import pytest

from mfbo.acquisition import MeanFieldUCB, PopulationUCB
from mfbo.models import RescaledPosterior
from mfbo.models.couplings import Dense, Identity, LearnedCoupling
from mfbo.models.features import SHAPES, Feature, One
from mfbo.models.fitting import MarginalLikelihood
from mfbo.models.stationary import EMBEDDINGS, PROFILES

CLOSE = {"rtol": 1e-5, "atol": 1e-6}
WEIGHTS = np.array([0.2, 0.3, 0.5])


def shares_of(contexts, rng):
    """Draw joint shares w (C, 4) away from the faces, and the context weights."""
    weights = WEIGHTS if contexts == 3 else np.ones(1)
    return weights[:, None] * (0.8 * rng.dirichlet(np.ones(4), size=contexts) + 0.05), weights


@pytest.fixture(params=[False, True], ids=["told", "pending"])
def posterior_of(request):
    """Return the posterior of a case, with and without open plans."""
    return lambda case: case.process(case.rounds("mixed")).posterior(case.pending() if request.param else None)


def test_mean_field_ucb(case, posterior_of, finite_differences):
    acquisition = MeanFieldUCB(posterior_of(case), case.population.weights, 1.7)
    at = case.distribution()
    numerical = finite_differences(lambda xi: acquisition(xi)[0], at)
    np.testing.assert_allclose(acquisition(at)[1], numerical, **CLOSE)


def test_population_ucb(case, posterior_of, finite_differences):
    acquisition = PopulationUCB(posterior_of(case), 1.7)
    at = case.distribution()
    numerical = finite_differences(lambda xi: acquisition(xi)[0], at)
    np.testing.assert_allclose(acquisition(at)[1], numerical, **CLOSE)


def test_rescaled_pullbacks(make_case, finite_differences):
    case = make_case("default", 3)
    posterior = RescaledPosterior(case.process(case.rounds("mixed")).posterior(), shift=4.0, scale=3.0)
    at = case.distribution()
    for acquisition in (PopulationUCB(posterior, 2.0), MeanFieldUCB(posterior, case.population.weights, 2.0)):
        numerical = finite_differences(lambda xi, bound=acquisition: bound(xi)[0], at)
        np.testing.assert_allclose(acquisition(at)[1], numerical, **CLOSE)


def assert_likelihood_slope(case, kind, noise, finite_differences):
    design = case.process(case.rounds(kind, count=3)).design
    objective = MarginalLikelihood(design, design.values, noise)
    numerical = finite_differences(lambda theta: objective(theta)[0], case.theta, step=1e-3)
    np.testing.assert_allclose(objective(case.theta)[1], numerical, **CLOSE)
    assert objective.by_memory(case.theta, [None]) == {None: objective(case.theta)[0]}


def test_marginal_likelihood(case, kind, finite_differences):
    assert_likelihood_slope(case, kind, None, finite_differences)


def test_marginal_likelihood_at_known_noise(case, finite_differences):
    assert_likelihood_slope(case, "mixed", 0.05, finite_differences)


@pytest.mark.parametrize("preset", ["paper", "joint", "default", "agents"])
def test_marginal_likelihood_of_names_only(make_case, preset, finite_differences):
    assert_likelihood_slope(make_case(preset, 3, features=False), "mixed", None, finite_differences)


@pytest.mark.parametrize("shape", SHAPES)
def test_shape_derivative(shape):
    psi = SHAPES[shape](actions=4, offset=1e-3)
    share = np.array([0.01, 0.1, 0.4, 0.9])
    step = 1e-6
    numerical = (psi.value(share + step) - psi.value(share - step)) / (2 * step)
    np.testing.assert_allclose(psi.derivative(share), numerical, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
def test_shape_product_and_its_slope(shape):
    psi = SHAPES[shape](actions=4, offset=1e-3)
    share = np.array([0.01, 0.1, 0.4, 0.9])
    step = 1e-6
    product, slope = psi.product(share)
    np.testing.assert_allclose(product, share * psi.value(share), rtol=1e-12)
    numerical = (psi.product(share + step)[0] - psi.product(share - step)[0]) / (2 * step)
    np.testing.assert_allclose(np.broadcast_to(slope, 4), numerical, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("contexts", [1, 3])
@pytest.mark.parametrize("axis", ["cells", "actions"])
@pytest.mark.parametrize("shape", SHAPES)
def test_feature_pullback(shape, axis, contexts, finite_differences):
    rng = np.random.default_rng(5)
    shares, _ = shares_of(contexts, rng)
    feature = Feature(axis, SHAPES[shape](4, 1e-3))
    centered = Feature(axis, feature.shape, center=rng.normal(size=feature.at(shares)[0].shape))
    d_feature = rng.normal(size=feature.at(shares)[0].shape)
    numerical = finite_differences(lambda w: float((d_feature * centered.at(w)[0]).sum()), shares)
    found = np.broadcast_to(d_feature * centered.at(shares)[1], shares.shape)
    np.testing.assert_allclose(found, numerical, **CLOSE)


@pytest.mark.parametrize("contexts", [1, 3])
@pytest.mark.parametrize("axis", ["cells", "actions"])
@pytest.mark.parametrize("shape", SHAPES)
def test_feature_factors_pullback(shape, axis, contexts, finite_differences):
    rng = np.random.default_rng(5)
    shares, _ = shares_of(contexts, rng)
    feature = Feature(axis, SHAPES[shape](4, 1e-3))
    d_factors = rng.normal(size=shares.shape)
    numerical = finite_differences(lambda w: float((d_factors * feature.factors(w)).sum()), shares)
    found = np.broadcast_to(feature.factors_pullback(shares, d_factors), shares.shape)
    np.testing.assert_allclose(found, numerical, **CLOSE)


def test_context_feature_pullback(finite_differences):
    rng = np.random.default_rng(5)
    shares, _ = shares_of(3, rng)
    feature = Feature("contexts", One(4))
    d_feature = rng.normal(size=(3, 1))
    numerical = finite_differences(lambda w: float((d_feature * feature.at(w)[0]).sum()), shares)
    found = np.broadcast_to(d_feature * feature.at(shares)[1], shares.shape)
    np.testing.assert_allclose(found, numerical, **CLOSE)


@pytest.mark.parametrize("contexts", [1, 3])
@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("name", EMBEDDINGS)
def test_embedding_pullback(name, coupled, contexts, finite_differences):
    rng = np.random.default_rng(6)
    shares, weights = shares_of(contexts, rng)
    thin = rng.normal(size=(4, 2))
    embedding = EMBEDDINGS[name].made_for(weights, 4, Dense(thin @ thin.T) if coupled else Identity())
    d_z = rng.normal(size=embedding.of(shares).shape)
    numerical = finite_differences(lambda w: float((d_z * embedding.of(w)).sum()), shares)
    np.testing.assert_allclose(embedding.pullback(shares, d_z), numerical, **CLOSE)


@pytest.mark.parametrize("name", PROFILES)
def test_profile_slope(name):
    profile = PROFILES[name]()
    q = np.array([0.01, 0.3, 1.0, 4.0])
    step = 1e-6
    numerical = (profile.value(q + step) - profile.value(q - step)) / (2 * step)
    np.testing.assert_allclose(profile.slope(q, profile.value(q)), numerical, rtol=1e-6)


@pytest.mark.parametrize("name", PROFILES)
def test_profile_slope_is_finite_where_distributions_coincide(name):
    profile = PROFILES[name]()
    at_zero = np.zeros(1)
    one_sided = (profile.value(np.array([1e-10])) - 1.0) / 1e-10
    np.testing.assert_allclose(profile.slope(at_zero, profile.value(at_zero)), one_sided, rtol=1e-4)


@pytest.mark.parametrize(("actions", "contexts"), [(True, False), (False, True), (True, True)])
def test_learned_coupling_slope_in_log_length(actions, contexts):
    rng = np.random.default_rng(8)
    apart = [(points[:, None] - points[None, :]) ** 2 for points in (rng.normal(size=4), rng.normal(size=3))]
    coupling = LearnedCoupling(apart[0] if actions else None, apart[1] if contexts else None)
    phi = rng.normal(size=(5, 3, 4))
    length, step = 0.7, 1e-6
    ahead, behind = (coupling.gram(phi, phi, length * np.exp(sign * step))[0] for sign in (1, -1))
    np.testing.assert_allclose(coupling.gram(phi, phi, length)[1], (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-7)
