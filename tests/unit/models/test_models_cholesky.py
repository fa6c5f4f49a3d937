"""The growing factor: equal to one made from scratch, saved by bounded jitter, and honest when nothing helps."""

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfbo.errors import NumericalError
from mfbo.models.cholesky import JITTERS, GrowingCholesky, factorized, lower_inverse

LOGGER = "mfbo.models"


def covariance(count, seed=0):
    points = np.random.default_rng(seed).normal(size=(count, 3))
    distances = ((points[:, None] - points[None, :]) ** 2).sum(-1)
    return np.exp(-0.5 * distances) + 1e-2 * np.eye(count)


def test_factor_equals_numpy():
    matrix = covariance(12)
    np.testing.assert_allclose(factorized(matrix), np.linalg.cholesky(matrix), atol=1e-12)


def test_only_the_lower_triangle_is_read():
    matrix = covariance(6)
    np.testing.assert_array_equal(factorized(np.tril(matrix) + np.triu(np.full((6, 6), 9.0), 1)), factorized(matrix))


def test_the_given_matrix_is_left_alone():
    matrix = covariance(6)
    before = matrix.copy()
    factorized(matrix)
    np.testing.assert_array_equal(matrix, before)


def test_inverse_of_the_factor():
    factor = factorized(covariance(9))
    np.testing.assert_allclose(lower_inverse(factor) @ factor, np.eye(9), atol=1e-12)


@given(blocks=st.lists(st.integers(1, 5), min_size=2, max_size=5), seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_extended_by_any_blocks_equals_from_scratch(blocks, seed):
    matrix = covariance(sum(blocks), seed)
    at = blocks[0]
    grown = GrowingCholesky.of(matrix[:at, :at])
    for size in blocks[1:]:
        end = at + size
        grown = grown.extended(matrix[at:end, :at], matrix[at:end, at:end])
        at = end
    scratch = GrowingCholesky.of(matrix)
    np.testing.assert_allclose(grown.factor, scratch.factor, atol=1e-10)
    np.testing.assert_allclose(grown.inverse, scratch.inverse, atol=1e-10)


def test_extending_leaves_the_old_factor_alone():
    matrix = covariance(6)
    old = GrowingCholesky.of(matrix[:4, :4])
    factor, inverse = old.factor.copy(), old.inverse.copy()
    old.extended(matrix[4:, :4], matrix[4:, 4:])
    np.testing.assert_array_equal(old.factor, factor)
    np.testing.assert_array_equal(old.inverse, inverse)


def test_solve():
    matrix = covariance(8)
    values = np.arange(8.0)
    np.testing.assert_allclose(GrowingCholesky.of(matrix).solve(values), np.linalg.solve(matrix, values), atol=1e-10)


def test_a_good_matrix_gets_no_jitter(caplog):
    with caplog.at_level(logging.INFO, LOGGER):
        factorized(covariance(5))
    assert not caplog.records


def test_jitter_is_logged(caplog):
    with caplog.at_level(logging.INFO, LOGGER):
        factorized(np.ones((5, 5)))
    assert [record.getMessage() for record in caplog.records] == ["added jitter 1e-10 to a covariance matrix of 5 rows"]


@pytest.mark.parametrize(("deficit", "jitter"), [(1e-9, 1e-8), (1e-7, 1e-6), (1e-5, 1e-4)])
def test_the_smallest_jitter_that_helps_is_added(deficit, jitter):
    """Eigenvalues 2 and −deficit, mean diagonal 1 − deficit / 2."""
    matrix = np.array([[1.0, 1.0], [1.0, 1.0]]) - 0.5 * deficit * np.array([[1.0, -1.0], [-1.0, 1.0]])
    factor = factorized(matrix)
    added = np.diag(factor @ factor.T - matrix)
    np.testing.assert_allclose(added, jitter * np.diag(matrix).mean(), rtol=1e-4)


def test_jitter_is_relative_to_the_diagonal():
    small, large = factorized(np.full((3, 3), 2.0**-30)), factorized(np.full((3, 3), 2.0**30))
    np.testing.assert_allclose(small * 2.0**30, large, rtol=1e-12)


def test_jitter_is_bounded():
    assert max(JITTERS) == 1e-4
    indefinite = np.array([[1.0, 1.1], [1.1, 1.0]])
    with pytest.raises(NumericalError, match="2 rows is not positive definite even with jitter 1e-04"):
        factorized(indefinite)


def test_a_matrix_with_nan_is_refused():
    with pytest.raises(NumericalError):
        factorized(np.full((2, 2), np.nan))


def test_a_singular_factor_has_no_inverse():
    with pytest.raises(NumericalError, match="singular"):
        lower_inverse(np.diag([1.0, 0.0]))


def test_a_repeated_row_without_noise_extends_the_factor():
    matrix = covariance(4)
    grown = GrowingCholesky.of(matrix).extended(matrix[:1], matrix[:1, :1])
    assert np.isfinite(grown.inverse).all()
    np.testing.assert_allclose((grown.factor @ grown.factor.T)[4, 4], matrix[0, 0], rtol=1e-9)


def test_repeated_rows_with_rounding_errors_extend_as_from_scratch():
    matrix = np.ones((3, 3))
    matrix[2, 1] = matrix[1, 2] = 1 + 3e-12
    assert np.isfinite(GrowingCholesky.of(matrix).inverse).all()
    assert np.isfinite(GrowingCholesky.of(matrix[:1, :1]).extended(matrix[1:, :1], matrix[1:, 1:]).inverse).all()
