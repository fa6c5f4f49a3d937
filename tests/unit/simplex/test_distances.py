"""Distances between distributions: pinned numbers, SciPy, and the ends of their ranges."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.spatial.distance import jensenshannon

from mfbo.simplex import hellinger, jensen_shannon, total_variation

DISTANCES = [total_variation, hellinger, jensen_shannon]
FARTHEST = {total_variation: 1.0, hellinger: 1.0, jensen_shannon: np.log(2)}


@pytest.fixture
def pair() -> tuple[np.ndarray, np.ndarray]:
    p, q = np.random.default_rng(5).dirichlet(np.full(6, 0.7), size=(2, 3))
    return p, q


def test_jensen_shannon_of_uniform_and_ramp_is_the_pinned_number():
    found = jensen_shannon(np.full(4, 0.25), np.array([0.4, 0.3, 0.2, 0.1]))
    assert float(found) == pytest.approx(0.027865613457, abs=1e-12)


def test_jensen_shannon_with_an_empty_action_is_the_pinned_number():
    found = jensen_shannon(np.array([0.5, 0.5]), np.array([1.0, 0.0]))
    assert float(found) == pytest.approx(0.21576155433883565, rel=1e-14)


def test_jensen_shannon_is_the_square_of_scipys_distance(pair):
    p, q = pair
    np.testing.assert_allclose(jensen_shannon(p, q), jensenshannon(p, q, axis=1) ** 2, rtol=1e-10)


def test_jensen_shannon_gradient_is_half_the_log_of_p_over_the_middle(pair):
    p, q = pair[0][0], pair[1][0]
    numeric = approx_fprime(p, lambda each: float(jensen_shannon(each, q)), 1e-8)
    np.testing.assert_allclose(numeric, 0.5 * np.log(2 * p / (p + q)), atol=1e-6)


def test_hellinger_equals_the_bhattacharyya_form(pair):
    p, q = pair
    np.testing.assert_allclose(hellinger(p, q), np.sqrt(1 - np.sqrt(p * q).sum(axis=1)), rtol=1e-10)


def test_total_variation_is_the_largest_difference_over_events(pair):
    p, q = pair[0][0], pair[1][0]
    events = ((np.arange(64)[:, None] >> np.arange(6)) & 1).astype(float)
    assert float(total_variation(p, q)) == pytest.approx(np.abs(events @ (p - q)).max(), rel=1e-12)


@pytest.mark.parametrize("distance", DISTANCES)
def test_distance_of_a_distribution_to_itself_is_zero(distance, pair):
    np.testing.assert_allclose(distance(pair[0], pair[0]), 0.0, atol=1e-15)


@pytest.mark.parametrize("distance", DISTANCES)
def test_disjoint_distributions_are_as_far_apart_as_possible(distance):
    found = distance(np.array([0.3, 0.7, 0, 0]), np.array([0, 0, 0.9, 0.1]))
    assert float(found) == pytest.approx(FARTHEST[distance], rel=1e-14)


@pytest.mark.parametrize("distance", DISTANCES)
def test_distance_is_symmetric(distance, pair):
    np.testing.assert_allclose(distance(*pair), distance(*pair[::-1]), rtol=1e-12)


@pytest.mark.parametrize("distance", DISTANCES)
def test_distance_treats_a_matrix_row_by_row(distance, pair):
    p, q = pair
    assert distance(p, q).shape == (3,)
    assert float(distance(p, q)[2]) == float(distance(p[2], q[2]))


def test_jensen_shannon_of_the_greedy_seven_agents_is_the_pinned_number():
    found = jensen_shannon(np.array([3, 2, 1, 1]) / 7, np.array([0.4, 0.3, 0.2, 0.1]))
    assert float(found) == pytest.approx(0.004626264788863, abs=1e-14)
