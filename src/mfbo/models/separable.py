"""Separable terms Σ κ((√w − √w′) / ℓ) over the cells: a function of its own for every cell, of any shape, eq. (40).

Channels know roots, lines and squares of a share; a place that is held beyond a threshold is none of these. The lengths
are fixed, so that the Gram matrices are the same in every fit; the weights of two of them say how sharp the functions
are. A model that may bend everywhere learns less from its first rounds, so a fit lets these terms in by evidence:
``GaussianProcess.refit``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.models.couplings import Coupling
from mfbo.models.kernel import At, Columns, Summand
from mfbo.models.stationary import Embedding, Stationary, StationaryPart, StationarySummand


@dataclass(frozen=True, eq=False)
class CellRoots(Embedding):
    """√(w + offset), a block for every cell. cells: C · A."""

    offset: float
    cells: int

    @classmethod
    def made_for(cls, weights: FloatArray, actions: int, coupling: Coupling) -> Embedding:
        """Keep the slope finite at a share of 0."""
        cells = actions * len(weights)
        return cls(1e-3 / cells, cells)

    @property
    def blocks(self) -> int:  # type: ignore[override]
        """Number of cells."""
        return self.cells

    def of(self, shares: FloatArray) -> FloatArray:
        """Return the roots."""
        return np.sqrt(shares + self.offset).reshape(*shares.shape[:-2], self.cells, 1)

    def pullback(self, shares: FloatArray, d_z: FloatArray) -> FloatArray:
        """Chain through the root."""
        return np.asarray(0.5 * d_z.reshape(shares.shape) / np.sqrt(shares + self.offset))


@dataclass(frozen=True, eq=False)
class Separable(Stationary):
    """A stationary term of fixed length over blocks of one coordinate; the radial's norm is its squared length."""

    length: None = None  # type: ignore[assignment]

    def pairs(self, columns: Columns, start: int, count: int) -> FloatArray:
        """Return the unit Gram matrix, (1, m, n), row by row: all at once would take C · A times the memory."""
        roots = columns[self.radial.embedding][:, :, 0]
        gram = np.empty((1, count - start, count))
        for place, row in enumerate(roots[start:count]):
            gram[0, place] = self.radial.profile.value((roots[:count] - row) ** 2 / self.radial.norm).sum(axis=1)
        return gram

    def gram(self, pairs: FloatArray, columns: Columns, length: float, start: int) -> tuple[FloatArray, FloatArray]:
        """Return what the pairs are already."""
        return pairs[:, 0], np.zeros(1)

    @classmethod
    def summands(cls, members: Sequence[tuple[int, "Stationary"]]) -> Sequence[Summand]:
        """Return each term by itself."""
        return [StationarySummand(place, term) for place, term in members]

    def part(self, weight: float, length: float, columns: Columns) -> "SeparablePart":
        """Return the term on rows, at a weight."""
        empty = SeparablePart(self.radial, weight, self.radial.norm, np.empty(0), np.empty(0))
        return empty.on(columns)


@dataclass(frozen=True, eq=False)
class SeparablePart(StationaryPart):
    """A separable term on rows: what a stationary one does block by block, done for all cells at once."""

    def on(self, columns: Columns) -> "SeparablePart":
        """Embed other rows."""
        part = super().on(columns)
        return SeparablePart(part.radial, part.weight, part.unit, part.rows, part.norms)

    def at(self, shares: FloatArray) -> At:
        """Return κ between one candidate and the rows."""
        apart = self.radial.embedding.of(shares) - self.rows[:, :, 0]  # (C · A, n)
        q = apart * apart
        q /= self.unit
        values = self.radial.profile.value(q)

        def pullback(d_kappa: FloatArray, d_prior: float) -> FloatArray:
            per_row = self.radial.profile.slope(q, values)
            per_row *= apart
            d_z = per_row @ ((2.0 * self.weight / self.unit) * d_kappa)
            return self.radial.embedding.pullback(shares, d_z)

        return At(self.weight * np.add.reduce(values, axis=0), self.weight * len(q), pullback)
