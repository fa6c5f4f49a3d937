"""The kernels of the published competitors: their series, their distances, and every derivative of them."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import comb, eval_gegenbauer

from mfbo.models import GaussianProcess, Rows
from mfbo.models.fitting import MarginalLikelihood
from mfbo.models.gaussian_process import Fit
from mfbo.models.spherical import LEVELS, SMOOTHNESS, Sphere, SphericalMatern, coefficients, spherical_norm
from mfbo.models.transport import Cumulative, lines_of
from mfbo.population import Population
from mfbo.strategies.on_simplex.geometric_gp import GPFisherRao, GPWasserstein

CLOSE = {"rtol": 1e-5, "atol": 1e-6}
PLACES = np.array([[0.3, 1.0], [-1.0, 0.2], [2.0, 0.0], [0.9, -0.7], [0.1, 0.4]])
TWO = {"name": ["x", "y"], "weight": [0.3, 0.7]}
POPULATIONS = {
    "a line": Population(PLACES[:, :1]),
    "a plane": Population(PLACES, TWO),
    "names": Population(list("abcde"), TWO),
}
STRATEGIES = {"fisher-rao": GPFisherRao(), "wasserstein": GPWasserstein()}


@pytest.fixture(params=[(name, place) for name in STRATEGIES for place in POPULATIONS], ids="-".join)
def setting(request):
    """Return a competitor's kernel, its population, and joint shares of six plans (6, C, A)."""
    name, place = request.param
    population = POPULATIONS[place]
    rng = np.random.default_rng(4)
    plans = 0.9 * rng.dirichlet(np.ones(5), size=(6, len(population.weights))) + 0.02
    return STRATEGIES[name].kernel_for(population, "any"), population, population.weights[:, None] * plans


def by_hand(dimension, length, x):
    """Return κ by SciPy's Gegenbauer polynomials and numbers of harmonics from binomial coefficients."""
    n = np.arange(1, LEVELS + 1)
    harmonics = comb(n + dimension, n) - comb(n + dimension - 2, n - 2)
    a = harmonics * (2 * SMOOTHNESS / length**2 + n * (n + dimension - 1)) ** (-SMOOTHNESS - dimension / 2)
    index = (dimension - 1) / 2
    levels = [np.cos(k * np.arccos(x)) if index == 0 else eval_gegenbauer(k, index, x) for k in n]
    at_one = [1.0 if index == 0 else eval_gegenbauer(k, index, 1.0) for k in n]
    return np.tensordot(a / a.sum() / at_one, levels, axes=1)


@pytest.mark.parametrize("dimension", [1, 2, 5, 29])
@pytest.mark.parametrize("length", [0.15, 0.6])
def test_the_series_is_that_of_gegenbauer_polynomials(dimension, length):
    x = np.array([0.0, 0.3, 0.9, 1.0])
    found = SphericalMatern.of_length(dimension, length).value(2.0 - 2.0 * x)
    np.testing.assert_allclose(found, by_hand(dimension, length, x), rtol=1e-9, atol=1e-12)
    assert coefficients(dimension, length).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("dimension", [1, 2, 29])
def test_slope_and_fall_of_the_series(dimension):
    profile = SphericalMatern.of_length(dimension, 0.3)
    q, step = np.array([0.01, 0.2, 0.7, 1.5]), 1e-6
    numerical = (profile.value(q + step) - profile.value(q - step)) / (2 * step)
    np.testing.assert_allclose(profile.slope(q, profile.value(q)), numerical, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(profile.fall(q), 1.0 - profile.value(q), rtol=1e-10)
    tiny = np.array([1e-14])
    np.testing.assert_allclose(profile.fall(tiny), -profile.slope(0 * tiny, profile.value(0 * tiny)) * tiny, rtol=1e-6)


def test_the_unit_of_length_correlates_random_plans_by_a_half():
    norm = spherical_norm(29, 0.43)
    assert SphericalMatern.of_length(29, norm**0.5).value(np.array([0.43]))[0] == pytest.approx(0.5, abs=1e-6)


def test_the_sphere_has_the_fisher_rao_distance():
    """It is 2 arccos Σ √(p q) along a geodesic; the little of the uniform distribution changes it little."""
    p, q = np.random.default_rng(1).dirichlet(np.ones(6), size=2)
    z = Sphere(6).of(np.stack([p, q])[:, None, :])[:, 0]
    np.testing.assert_allclose((z * z).sum(axis=1), 1.0, rtol=1e-12)
    assert 2 * np.arccos(z[0] @ z[1]) == pytest.approx(2 * np.arccos(np.sqrt(p * q).sum()), rel=5e-3)


def transported(places, p, q):
    """Return the least Σ mass · distance² that turns p into q, by linear programming."""
    count = len(places)
    cost = ((places[:, None] - places[None, :]) ** 2).ravel()
    sums = np.vstack([np.kron(np.eye(count), np.ones(count)), np.kron(np.ones(count), np.eye(count))])
    return linprog(cost, A_eq=sums, b_eq=np.concatenate([p, q])).fun


@pytest.mark.parametrize("place", ["a line", "a plane"])
def test_the_distance_is_what_linear_programming_finds(place):
    population = POPULATIONS[place]
    scaled = (population.features - population.features.mean(axis=0)) / population.features.std(axis=0)
    lines = lines_of(population)
    rng = np.random.default_rng(2)
    shares = population.weights[:, None] * rng.dirichlet(np.ones(5), size=(2, len(population.weights)))
    z = lines.of(shares)[:, 0]
    found = lines.distances(z[:1], z[1:], lines.doubles(z[1:], z[1:]))[0, 0]
    angles = np.pi * np.arange(len(lines.gaps)) / len(lines.gaps)
    axes = [np.ones(1)] if place == "a line" else np.stack([np.cos(angles), np.sin(angles)], axis=1)
    contexts = range(len(population.weights))
    by_line = [sum(transported(scaled @ axis, shares[0, c], shares[1, c]) for c in contexts) for axis in axes]
    assert found == pytest.approx(np.mean(by_line), rel=1e-6)


def test_without_features_the_distance_is_that_of_total_variation():
    p, q = np.random.default_rng(3).dirichlet(np.ones(5), size=2)
    lines = Cumulative.made_for(np.ones(1), 5, None)
    z = lines.of(np.stack([p, q])[:, None, :])[:, 0]
    found = lines.distances(z[:1], z[1:], lines.doubles(z[1:], z[1:]))[0, 0]
    assert found == pytest.approx(np.abs(p - q).sum() / 5, rel=1e-9)


def told(setting):
    """Return the process after five of the six plans, and what it was built from."""
    kernel, _, shares = setting
    values = np.random.default_rng(5).normal(size=5)
    rows = Rows(shares[:5], shares[:5], values, np.ones(5))
    process = GaussianProcess(kernel, None)
    process.append(rows)
    theta = kernel.start + np.array([0.3, 0.2, -0.2, np.log(1e-2) - kernel.start[-1]])
    process.adopt(Fit(theta, 0.0, 1.0))
    return process, theta, values


def test_gram_is_positive_definite_and_its_slope_that_of_finite_differences(setting):
    kernel, _, shares = setting
    term = kernel.terms[0]
    columns = {term.sources[0]: term.sources[0].of_rows(shares, shares)}
    pairs = term.pairs(columns, 0, len(shares)).reshape(1, -1).T
    step = 1e-5
    ahead, behind = (term.gram(pairs, columns, 0.8 * np.exp(sign * step), 0)[0] for sign in (1, -1))
    np.testing.assert_allclose(
        term.gram(pairs, columns, 0.8, 0)[1], (ahead - behind) / (2 * step), rtol=1e-5, atol=1e-8
    )
    whole = term.gram(pairs, columns, 0.8, 0)[0].reshape(6, 6)
    np.testing.assert_allclose(np.diag(whole), 1.0, atol=1e-9)
    assert np.linalg.eigvalsh(whole).min() > 0.0
    part = term.part(1.0, 0.8, columns)
    np.testing.assert_allclose(part.cross_many(shares), whole, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(part.at(shares[2]).cross, whole[2], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(part.fall(shares[:1], shares), 1.0 - whole[0], atol=1e-9)


def test_posterior_mean_by_solving_and_its_gradient_by_finite_differences(setting, finite_differences):
    kernel, population, shares = setting
    process, theta, values = told(setting)
    posterior = process.posterior()
    candidate = shares[5] / population.weights[:, None]
    term = kernel.terms[0]
    columns = {term.sources[0]: term.sources[0].of_rows(shares, shares)}
    weight, level, length, noise = np.exp(theta)
    whole = weight * term.part(1.0, length, columns).cross_many(shares) + level
    expected = whole[5, :5] @ np.linalg.solve(whole[:5, :5] + noise * np.eye(5), values)
    assert posterior.population_means(candidate[None])[0] == pytest.approx(expected, rel=1e-7)

    def scalar(xi):
        moments = posterior.population(xi)
        return float(moments.mean + 0.7 * moments.variance)

    found = posterior.population(candidate).pullback(1.0, 0.7)
    np.testing.assert_allclose(found, finite_differences(scalar, candidate), **CLOSE)


def test_marginal_likelihood_by_finite_differences(setting, finite_differences):
    process, theta, _ = told(setting)
    objective = MarginalLikelihood(process.design, process.design.values, None)
    numerical = finite_differences(lambda at: objective(at)[0], theta, step=1e-3)
    np.testing.assert_allclose(objective(theta)[1], numerical, **CLOSE)
