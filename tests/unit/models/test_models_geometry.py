"""The kernels of the published competitors: their series and their distances. Derivatives: test_kernel_contract.py."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import comb, eval_gegenbauer

from mfbo.models.spherical import LEVELS, SMOOTHNESS, Sphere, SphericalMatern, coefficients, spherical_norm
from mfbo.models.transport import Cumulative, lines_of
from mfbo.population import Population

PLACES = np.array([[0.3, 1.0], [-1.0, 0.2], [2.0, 0.0], [0.9, -0.7], [0.1, 0.4]])
TWO = {"name": ["x", "y"], "weight": [0.3, 0.7]}
POPULATIONS = {
    "a line": Population(PLACES[:, :1]),
    "a plane": Population(PLACES, TWO),
}


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
