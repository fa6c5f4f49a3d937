"""A finite basis for a kernel: the blocks of its summands side by side, with the prior of their Gaussian weights.

Channels and the constant are finite-dimensional already, stationary factors get Nyström features of inducing
distributions (``stationary.Nystrom``). What these lack of the prior variance is added to the predicted one. Lengths are
given. docs/theory.md, section 12.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.models.kernel import Block, Kernel, Level, Values


class FeaturesAt(NamedTuple):
    """φ(ξ) of the population payoff (D,), the prior variance that the basis lacks, and their pullback to w.

    pullback: (d_phi (D,), d_lacking) → (C, A).
    """

    phi: FloatArray
    lacking: float
    pullback: Callable[[FloatArray, float], FloatArray]


class Basis:
    """Features of any row under one kernel, (n, D), for given lengths and inducing distributions w (m, C, A)."""

    def __init__(self, kernel: Kernel, values: Values, inducing: FloatArray) -> None:
        """Lay out the columns, the constant last."""
        self.blocks: list[Block] = []
        self.columns: list[slice] = []
        self.size = 0
        for summand in sorted(kernel.summands, key=lambda summand: isinstance(summand, Level)):
            block = summand.block(values, inducing)
            self.blocks.append(block)
            self.columns.append(slice(self.size, self.size + block.size))
            self.size += block.size

    def of_rows(self, omega: FloatArray, shares: FloatArray) -> FloatArray:
        """Return Φ (n, D) of rows: ω, w (n, C, A)."""
        phi = np.empty((len(omega), self.size))
        for block, columns in zip(self.blocks, self.columns, strict=True):
            phi[:, columns] = block.of_rows(omega, shares)
        return phi

    def at(self, shares: FloatArray, values: Values) -> FeaturesAt:
        """Evaluate the features of g at one distribution, w (C, A)."""
        found = [block.at(shares, values) for block in self.blocks]

        def pullback(d_phi: FloatArray, d_lacking: float) -> FloatArray:
            total = np.zeros(shares.shape)
            for at, columns in zip(found, self.columns, strict=True):
                at.pull(total, d_phi[columns], d_lacking)
            return total

        return FeaturesAt(np.concatenate([at.phi for at in found]), sum(at.lacking for at in found), pullback)

    def lacking(self, omega: FloatArray, shares: FloatArray, values: Values) -> FloatArray:
        """Return the prior variance that the basis lacks of rows ω (n, C, A), all at one w (C, A): (n,)."""
        total = np.zeros(len(omega))
        for block in self.blocks:
            total += block.lacking(omega, shares, values)
        return total


class PriorFactor:
    """F with F Fᵀ the prior covariance of the basis weights: block-diagonal, so products stay cheap."""

    def __init__(self, basis: Basis, values: Values) -> None:
        """Collect the blocks' factors."""
        self._parts: list[tuple[slice, FloatArray | float]] = []
        start = 0
        for block in basis.blocks:
            for size, factor in block.prior_factors(values):
                self._parts.append((slice(start, start + size), factor))
                start += size

    def left(self, matrix: FloatArray) -> FloatArray:
        """Return F · matrix."""
        product = np.empty_like(matrix)
        for columns, factor in self._parts:
            product[columns] = factor * matrix[columns] if isinstance(factor, float) else factor @ matrix[columns]
        return product

    def both_sides(self, matrix: FloatArray) -> FloatArray:
        """Return Fᵀ · matrix · F for a symmetric matrix."""
        return self._left_transposed(self._left_transposed(matrix).T)

    def _left_transposed(self, matrix: FloatArray) -> FloatArray:
        product = np.empty_like(matrix)
        for columns, factor in self._parts:
            product[columns] = factor * matrix[columns] if isinstance(factor, float) else factor.T @ matrix[columns]
        return product
