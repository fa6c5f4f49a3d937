"""L-BFGS over the simplex: known maximizers inside, on faces and at vertices, from any start."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfbo.maximizers import Lbfgs, climbing
from mfbo.simplex import uniform

INTERIOR = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
# Projections by hand: clip what falls below 0 and share the excess of the rest equally.
OUTSIDE = np.array([[0.9, 0.5, -1.0], [2.0, 0.5, 0.5]])
ON_FACES = np.array([[0.7, 0.3, 0.0], [1.0, 0.0, 0.0]])


def test_a_maximizer_inside_is_found(bowl):
    found, value = Lbfgs()(bowl(INTERIOR), [uniform(2, 3)])
    np.testing.assert_allclose(found, INTERIOR, atol=1e-4)
    assert value == pytest.approx(0.0, abs=1e-8)


def test_a_maximizer_on_a_face_is_found(bowl):
    found, value = Lbfgs()(bowl(OUTSIDE), [uniform(2, 3)])
    np.testing.assert_allclose(found, ON_FACES, atol=1e-4)
    assert value == pytest.approx(-((ON_FACES - OUTSIDE) ** 2).sum(), abs=1e-6)


def test_a_linear_function_is_maximized_at_a_vertex():
    slope = np.array([[1.0, 3.0, 2.0]])
    found, value = Lbfgs()(lambda xi: (float((slope * xi).sum()), slope), [uniform(1, 3)])
    np.testing.assert_allclose(found, [[0.0, 1.0, 0.0]], atol=1e-4)
    assert value == pytest.approx(3.0, abs=1e-4)


def test_every_place_is_evaluated_once(bowl):
    places = []

    def counted(distribution):
        places.append(distribution.tobytes())
        return bowl(INTERIOR)(distribution)

    Lbfgs()(counted, [uniform(2, 3)])
    assert len(places) == len(set(places)) > 3


def test_a_slope_is_that_of_the_place_asked_for(bowl):
    first, second = np.sqrt(uniform(2, 3)).ravel(), np.sqrt(INTERIOR + 0.1).ravel()
    negated, other = (climbing._Negated(bowl(OUTSIDE), (2, 3)) for _ in range(2))
    negated.value(first)
    other.value(second)
    np.testing.assert_array_equal(negated.slope(second), other.slope(second))


def test_a_start_on_the_wrong_face_is_left(bowl):
    found, _ = Lbfgs()(bowl(INTERIOR), [np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])])
    np.testing.assert_allclose(found, INTERIOR, atol=1e-3)


@given(
    target=st.lists(st.floats(0.02, 1.0), min_size=2, max_size=8),
    start=st.integers(0, 1000),
)
@settings(max_examples=40, deadline=None)
def test_weighted_logarithms_are_maximized_by_their_weights(target, start):
    """Σ q log ξ is largest at ξ = q."""
    weights = np.array([target]) / np.sum(target)
    first = np.random.default_rng(start).dirichlet(np.full(len(target), 2.0), size=1)
    found, _ = Lbfgs()(lambda xi: (float((weights * np.log(xi)).sum()), weights / xi), [first])
    np.testing.assert_allclose(found, weights, atol=1e-3)


def test_the_best_of_several_starts_is_kept(two_peaks):
    near_the_low_peak, near_the_high_peak = np.array([[0.95, 0.05]]), np.array([[0.3, 0.7]])
    assert Lbfgs()(two_peaks, [near_the_low_peak])[1] == pytest.approx(1.0, abs=1e-3)
    for starts in ([near_the_low_peak, near_the_high_peak], [near_the_high_peak, near_the_low_peak]):
        found, value = Lbfgs()(two_peaks, starts)
        np.testing.assert_allclose(found, [[0.0, 1.0]], atol=1e-3)
        assert value == pytest.approx(2.0, abs=1e-3)


def test_the_value_is_that_of_the_point_returned(bowl):
    objective = bowl(OUTSIDE)
    found, value = Lbfgs(iterations=3)(objective, [uniform(2, 3)])
    assert value == pytest.approx(objective(found)[0], abs=1e-12)


def test_the_point_is_a_distribution(bowl):
    found, _ = Lbfgs()(bowl(OUTSIDE), [uniform(2, 3)])
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)


def test_it_never_ends_below_its_start(bowl):
    objective = bowl(INTERIOR)
    assert Lbfgs(iterations=1)(objective, [uniform(2, 3)])[1] >= objective(uniform(2, 3))[0]


def test_more_iterations_come_closer(bowl):
    target = np.random.default_rng(0).dirichlet(np.full(30, 0.3), size=2)
    few, many = (Lbfgs(iterations)(bowl(target), [uniform(2, 30)])[1] for iterations in (2, 60))
    assert many > few


def test_the_starts_are_left_alone(bowl):
    start = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    before = start.copy()
    Lbfgs()(bowl(INTERIOR), [start])
    np.testing.assert_array_equal(start, before)
