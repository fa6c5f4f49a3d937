"""A Cholesky factor that grows by rows, with its inverse, and the bounded jitter that keeps it alive, eq. (20)."""

import logging
from dataclasses import dataclass

import numpy as np
import scipy

from mfbo.arrays import FloatArray
from mfbo.errors import NumericalError

_log = logging.getLogger(__package__)
JITTERS = (0.0, 1e-10, 1e-8, 1e-6, 1e-4)


def factorized(matrix: FloatArray, scale: float | None = None) -> FloatArray:
    """Return the lower Cholesky factor of a symmetric matrix given by its lower triangle, C-ordered.

    If the matrix is not positive definite, a multiple of ``scale`` (its mean diagonal by default) is added: 1e-10 at
    first, 1e-4 at most.
    """
    mean = float(np.mean(np.diag(matrix))) if scale is None else scale
    for jitter in JITTERS:
        trial = matrix.copy()
        trial.flat[:: len(matrix) + 1] += jitter * mean
        upper, status = scipy.linalg.lapack.dpotrf(trial.T, lower=0, clean=1, overwrite_a=1)
        if status == 0 and np.isfinite(np.diag(upper)).all():
            if jitter:
                _log.info("added jitter %.0e to a covariance matrix of %d rows", jitter, len(matrix))
            return np.asarray(upper.T)
    raise NumericalError(
        f"the covariance of {len(matrix)} rows is not positive definite even with jitter {JITTERS[-1]:.0e}; "
        "are the told payoffs of wildly different scales?"
    )


def lower_inverse(factor: FloatArray) -> FloatArray:
    """Return L⁻¹ of a lower factor, C-ordered."""
    inverse, status = scipy.linalg.lapack.dtrtri(factor.T, lower=0)
    if status != 0:
        raise NumericalError(f"the Cholesky factor of {len(factor)} rows is singular")
    return np.asarray(inverse.T)


@dataclass(frozen=True, eq=False)
class GrowingCholesky:
    """L and L⁻¹ (n, n) of a covariance matrix to which rows are appended; L⁻¹ costs O(n²) per row, like L."""

    factor: FloatArray
    inverse: FloatArray

    @staticmethod
    def of(matrix: FloatArray) -> "GrowingCholesky":
        """Factorize the lower triangle of ``matrix`` (n, n)."""
        factor = factorized(matrix)
        return GrowingCholesky(factor, lower_inverse(factor))

    def extended(self, cross: FloatArray, corner: FloatArray) -> "GrowingCholesky":
        """Return the factor with m more rows: cross (m, n) covariances with the old rows, corner (m, m)."""
        old, new = len(self.factor), len(corner)
        below = cross @ self.inverse.T  # l = L⁻¹ k, one row per new row
        tail = factorized(_floored(corner - below @ below.T, corner), scale=float(np.mean(np.diag(corner))))
        tail_inverse = lower_inverse(tail)
        factor = np.zeros((old + new, old + new))
        factor[:old, :old] = self.factor
        factor[old:, :old] = below
        factor[old:, old:] = tail
        inverse = np.zeros_like(factor)
        inverse[:old, :old] = self.inverse
        inverse[old:, :old] = -tail_inverse @ (below @ self.inverse)
        inverse[old:, old:] = tail_inverse
        return GrowingCholesky(factor, inverse)

    def solve(self, values: FloatArray) -> FloatArray:
        """Return K⁻¹ v for v (n,)."""
        return np.asarray(self.inverse.T @ (self.inverse @ values))


def _floored(schur: FloatArray, corner: FloatArray) -> FloatArray:
    """Keep the conditional variances above 1e-12 of the prior ones: a repeated noise-free row adds nothing."""
    floored = schur.copy()
    diagonal = np.arange(len(schur))
    floored[diagonal, diagonal] = np.maximum(schur[diagonal, diagonal], 1e-12 * corner[diagonal, diagonal])
    return floored
