"""Properties of the maps onto the simplex and of the distances on it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mfbo.simplex import hellinger, jensen_shannon, projected, softmax, squares, total_variation

VECTORS = st.integers(1, 15).flatmap(lambda count: arrays(np.float64, (count,), elements=st.floats(-100, 100)))
DISTANCES = [total_variation, hellinger, jensen_shannon]


@st.composite
def triples(draw: st.DrawFn) -> np.ndarray:
    """Three distributions over the same actions, (3, A), from one-hot to flat."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.dirichlet(np.full(draw(st.integers(2, 10)), draw(st.sampled_from([0.02, 0.5, 20.0]))), size=3)


@given(VECTORS)
def test_projection_is_a_distribution(values):
    found = projected(values)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1.0, abs=1e-12)


@given(VECTORS)
def test_projection_is_the_nearest_point_of_the_simplex(values):
    """The nearest point p of a convex set is the one with ⟨v − p, q − p⟩ ≤ 0 for every vertex q."""
    found = projected(values)
    inner = (values - found) - (values - found) @ found
    assert inner.max() <= 1e-9


@given(VECTORS)
def test_projecting_twice_changes_nothing(values):
    once = projected(values)
    np.testing.assert_allclose(projected(once), once, atol=1e-14)


@given(VECTORS, st.floats(-1e3, 1e3))
def test_projection_ignores_a_common_shift(values, shift):
    np.testing.assert_allclose(projected(values + shift), projected(values), atol=1e-9)


@given(VECTORS)
def test_softmax_keeps_the_order_of_the_logits(logits):
    shares = softmax(logits)
    assert (np.diff(shares[np.argsort(logits)]) >= -1e-15).all()


@given(VECTORS)
def test_softmax_undoes_the_logarithm(logits):
    shares = softmax(logits / 10)
    np.testing.assert_allclose(softmax(np.log(shares)), shares, rtol=1e-9)


@given(VECTORS.filter(lambda values: np.abs(values).max() > 1e-100))
def test_squares_is_a_distribution(roots):
    shares = squares(roots)
    assert (shares >= 0).all()
    assert shares.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("distance", DISTANCES)
@given(triples())
def test_distance_lies_in_its_range(distance, drawn):
    found = float(distance(drawn[0], drawn[1]))
    assert -1e-15 <= found <= (np.log(2) if distance is jensen_shannon else 1.0) + 1e-12


@pytest.mark.parametrize(
    "distance", [total_variation, hellinger, lambda p, q: np.sqrt(np.maximum(jensen_shannon(p, q), 0))]
)
@given(triples())
def test_distance_obeys_the_triangle_inequality(distance, drawn):
    p, q, r = drawn
    assert distance(p, r) <= distance(p, q) + distance(q, r) + 1e-7


@given(triples())
def test_hellinger_and_total_variation_bound_each_other(drawn):
    p, q, _ = drawn
    tv, h = float(total_variation(p, q)), float(hellinger(p, q))
    assert h * h - 1e-12 <= tv <= np.sqrt(2) * h + 1e-12
