"""The soft trust region: nothing inside, a steep price outside."""

import numpy as np
import pytest

from mfbo.acquisition import TrustRegion

WEIGHTS = np.array([0.25, 0.75])
LIMITS = np.array([0.3, 0.5, 0.9])


def linear(distribution):
    slopes = np.array([[3.0, 1.0, -2.0], [5.0, 0.0, 1.0]])
    return float((slopes * distribution).sum()), slopes


def test_inside_the_limits_it_is_the_acquisition_itself():
    inside = np.array([[0.2, 0.4, 0.4], [0.1, 0.4, 0.5]])
    value, gradient = TrustRegion(linear, WEIGHTS, LIMITS)(inside)
    assert value == linear(inside)[0]
    np.testing.assert_array_equal(gradient, linear(inside)[1])


def test_outside_the_price_is_quadratic_in_the_excess():
    outside = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    value, _ = TrustRegion(linear, WEIGHTS, LIMITS)(outside)
    assert value == pytest.approx(linear(outside)[0] - 10 * (1 / 0.3 - 1) ** 2)


def test_gradient_against_finite_differences():
    trusted = TrustRegion(linear, WEIGHTS, LIMITS)
    outside = np.array([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1]])
    _, gradient = trusted(outside)
    for cell in np.ndindex(outside.shape):
        step = np.zeros_like(outside)
        step[cell] = 1e-6
        slope = (trusted(outside + step)[0] - trusted(outside - step)[0]) / 2e-6
        assert gradient[cell] == pytest.approx(slope, rel=1e-6)
