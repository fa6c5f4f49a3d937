"""Maps onto the simplex: values, pullbacks against finite differences, projection against a reference."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, brentq
from scipy.special import softmax as scipy_softmax

from mfbo.simplex import dirichlet, projected, softmax, softmax_pullback, squares, squares_pullback, uniform


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def assert_rows_on_simplex(distribution: np.ndarray) -> None:
    assert (distribution >= 0).all()
    np.testing.assert_allclose(distribution.sum(axis=-1), 1.0, rtol=0, atol=1e-12)


def test_uniform_gives_every_action_the_same_share():
    assert uniform(2, 4).tolist() == [[0.25] * 4] * 2


def test_softmax_equals_scipy_row_by_row(rng):
    logits = rng.normal(size=(3, 5))
    np.testing.assert_allclose(softmax(logits), scipy_softmax(logits, axis=1), rtol=1e-14)


def test_softmax_survives_logits_whose_exponential_overflows():
    np.testing.assert_allclose(softmax(np.array([[1000.0, 999.0, -1e6]])), [[1 / (1 + np.exp(-1)), 1 / (1 + np.e), 0]])


def test_softmax_is_unchanged_by_a_shift_of_a_row(rng):
    logits = rng.normal(size=(2, 6))
    np.testing.assert_allclose(softmax(logits + np.array([[3.0], [-8.0]])), softmax(logits), rtol=1e-13)


def test_squares_divides_squares_by_their_sum():
    np.testing.assert_allclose(squares(np.array([[1.0, -2.0, 2.0]])), [[1 / 9, 4 / 9, 4 / 9]], rtol=1e-15)


def test_squares_reaches_faces_of_the_simplex_exactly():
    assert squares(np.array([[0.0, 3.0, 0.0]])).tolist() == [[0.0, 1.0, 0.0]]


def test_squares_does_not_change_when_roots_change_sign_or_scale(rng):
    roots = rng.normal(size=(2, 4))
    np.testing.assert_allclose(squares(-5.0 * roots), squares(roots), rtol=1e-14)


@pytest.mark.parametrize("onto", [softmax, squares])
def test_maps_land_on_the_simplex(onto, rng):
    assert_rows_on_simplex(onto(rng.normal(size=(4, 9)) * 5))


@pytest.mark.parametrize("onto", [softmax, squares])
def test_maps_work_on_the_last_axis_of_stacks(onto, rng):
    stack = rng.normal(size=(3, 2, 5))
    np.testing.assert_array_equal(onto(stack)[1], onto(stack[1]))


def curved(distribution: np.ndarray, slopes: np.ndarray) -> float:
    """A smooth scalar of a distribution, not linear, with different weights for every cell."""
    return float((slopes * np.sin(3 * distribution)).sum() + (slopes * distribution).sum() ** 2)


def curved_gradient(distribution: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    return 3 * slopes * np.cos(3 * distribution) + 2 * (slopes * distribution).sum() * slopes


def test_softmax_pullback_equals_finite_differences(rng):
    logits, slopes = rng.normal(size=(2, 2, 5))
    pulled = softmax_pullback(softmax(logits), curved_gradient(softmax(logits), slopes))
    numeric = approx_fprime(logits.ravel(), lambda flat: curved(softmax(flat.reshape(2, 5)), slopes), 1e-7)
    np.testing.assert_allclose(pulled.ravel(), numeric, atol=2e-6)


def test_squares_pullback_equals_finite_differences(rng):
    roots, slopes = rng.normal(size=(2, 2, 5))
    pulled = squares_pullback(roots, squares(roots), curved_gradient(squares(roots), slopes))
    numeric = approx_fprime(roots.ravel(), lambda flat: curved(squares(flat.reshape(2, 5)), slopes), 1e-7)
    np.testing.assert_allclose(pulled.ravel(), numeric, atol=5e-6)


@pytest.mark.parametrize("pull", [softmax_pullback, lambda d, g: squares_pullback(np.sqrt(d), d, g)])
def test_a_gradient_that_is_equal_for_all_actions_pulls_back_to_zero(pull, rng):
    distribution = rng.dirichlet(np.ones(6), size=2)
    np.testing.assert_allclose(pull(distribution, np.full((2, 6), 4.2)), 0.0, atol=1e-13)


def projection_by_bisection(values: np.ndarray) -> np.ndarray:
    """max(v − τ, 0) with τ such that the sum is 1, found by a root finder instead of sorting."""
    level = brentq(lambda t: np.maximum(values - t, 0).sum() - 1, values.max() - 1, values.max(), xtol=1e-15)
    return np.maximum(values - level, 0)


@pytest.mark.parametrize("seed", range(5))
def test_projection_equals_the_bisection_reference(seed):
    values = np.random.default_rng(seed).normal(size=(3, 12)) * 10.0 ** (seed - 2)
    expected = np.stack([projection_by_bisection(row) for row in values])
    np.testing.assert_allclose(projected(values), expected, atol=1e-12 * max(1.0, np.abs(values).max()))


def test_no_random_distribution_is_nearer_than_the_projection(rng):
    values = rng.normal(size=(1, 4))
    nearest = np.linalg.norm(values - projected(values))
    others = rng.dirichlet(np.full(4, 0.5), size=5000)
    assert np.linalg.norm(others - values, axis=1).min() >= nearest


def test_projection_of_a_far_point_is_its_nearest_vertex():
    np.testing.assert_array_equal(projected(np.array([[0.0, 50.0, 1.0]])), [[0.0, 1.0, 0.0]])


def test_projection_is_idempotent(rng):
    once = projected(rng.normal(size=(3, 8)))
    np.testing.assert_allclose(projected(once), once, rtol=0, atol=1e-15)


def test_dirichlet_rows_lie_on_the_simplex(rng):
    assert_rows_on_simplex(dirichlet(0.3, 3, 7, rng))


def test_dirichlet_concentration_sets_the_spread(rng):
    """Var of one share is (1/A)(1 − 1/A) / (A α + 1)."""
    draws = np.stack([dirichlet(2.0, 1, 4, rng)[0] for _ in range(4000)])
    assert draws.var(axis=0) == pytest.approx(np.full(4, 0.25 * 0.75 / 9), rel=0.1)


def test_dirichlet_is_a_function_of_the_generator_state():
    first = dirichlet(1.0, 2, 5, np.random.default_rng(3))
    np.testing.assert_array_equal(first, dirichlet(1.0, 2, 5, np.random.default_rng(3)))
