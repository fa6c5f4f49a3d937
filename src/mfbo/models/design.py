"""What a growing set of rows looks like to a kernel: features, embeddings, and packed Gram matrices.

Gram matrices are symmetric, so only the lower triangle is kept, row after row in one long vector ("packed"):
appending a row appends to the vector, and a fit touches half the memory.
"""

from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.models.couplings import coupled_features
from mfbo.models.features import Feature
from mfbo.models.kernel import Kernel, Term
from mfbo.models.radials import Embedding, block_distances
from mfbo.models.rows import Rows


class GrowingArray:
    """An array that grows along its first axis at amortized cost; views given out stay valid."""

    def __init__(self) -> None:
        """Start empty; the first block fixes the other axes."""
        self._buffer: FloatArray | None = None
        self._length = 0

    def extend(self, block: FloatArray) -> None:
        """Append a block (m, …)."""
        needed = self._length + len(block)
        if self._buffer is None or needed > len(self._buffer):
            grown = np.empty((max(needed, 2 * self._length), *block.shape[1:]))
            if self._buffer is not None:
                grown[: self._length] = self._buffer[: self._length]
            self._buffer = grown
        self._buffer[self._length : needed] = block
        self._length = needed

    def __len__(self) -> int:
        """Return the length of the first axis."""
        return self._length

    @property
    def view(self) -> FloatArray:
        """What is there so far."""
        if self._buffer is None:
            raise AssertionError("nothing was appended yet")  # callers append before they read
        return self._buffer[: self._length]


def packed_size(rows: int) -> int:
    """Return how many entries the lower triangle of a (rows, rows) matrix has."""
    return rows * (rows + 1) // 2


def packed_positions(rows: int, start: int = 0) -> IntArray:
    """Return the flat positions in a C-ordered (rows, rows) matrix of the packed entries from row ``start`` on."""
    row, column = np.tril_indices(rows)
    return np.asarray(row * rows + column)[packed_size(start) :]


class Design:
    """The rows of one study as one kernel sees them; grows round by round, always in the same blocks."""

    def __init__(self, kernel: Kernel) -> None:
        """Start without rows."""
        self.kernel = kernel
        self.count = 0
        self._features: dict[int, GrowingArray] = {}
        self._embeddings: dict[int, GrowingArray] = {}
        self._static = GrowingArray()
        self._distances: dict[int, GrowingArray] = {}
        self._values = GrowingArray()
        self._noise_scale = GrowingArray()
        self._moving = [index for index, term in enumerate(kernel.terms) if not term.fixed]

    @property
    def values(self) -> FloatArray:
        """Told payoffs y (n,), not standardized."""
        return self._values.view

    @property
    def noise_scale(self) -> FloatArray:
        """Noise variance of each row as a multiple of that of one payoff, (n,)."""
        return self._noise_scale.view

    def features(self, feature: Feature) -> FloatArray:
        """Return Φ (n, R, K) of one feature."""
        return self._features[id(feature)].view

    def embeddings(self, embedding: Embedding) -> FloatArray:
        """Return Z (n, B, D) of one embedding."""
        return self._embeddings[id(embedding)].view

    def append(self, rows: Rows) -> None:
        """Add a block of rows (those of one round)."""
        start = self.count
        self._values.extend(rows.values)
        self._noise_scale.extend(rows.noise_scale)
        for term in self.kernel.terms:
            self._append_columns(term, rows, start)
        self.count = start + len(rows)
        for term in self.kernel.terms:
            self._append_distances(term, start)
        blocks = [self._static_block(term, start) for term in self.kernel.terms]
        self._static.extend(np.stack([self._packed(block, start) for block in blocks], axis=1))

    def _append_columns(self, term: Term, rows: Rows, start: int) -> None:
        if term.feature is not None:
            store = self._features.setdefault(id(term.feature), GrowingArray())
            if len(store) == start:  # terms may share a feature
                store.extend(term.feature.of_rows(rows.omega, rows.shares))
        if term.radial is not None:
            store = self._embeddings.setdefault(id(term.radial.embedding), GrowingArray())
            if len(store) == start:
                store.extend(term.radial.embedding.of(rows.shares))

    def _append_distances(self, term: Term, start: int) -> None:
        if term.radial is None:
            return
        store = self._distances.setdefault(id(term.radial.embedding), GrowingArray())
        if len(store) == packed_size(start):
            z = self.embeddings(term.radial.embedding)
            per_block = [self._packed(block, start) for block in block_distances(z[start:], z)]
            store.extend(np.stack(per_block, axis=1))

    def _packed(self, block: FloatArray, start: int) -> FloatArray:
        """Pack rows start … count − 1, given as (m, count)."""
        return np.concatenate([row[: start + i + 1] for i, row in enumerate(block)])

    def _static_block(self, term: Term, start: int) -> FloatArray:
        """Return scale · ⟨φ, S φ′⟩ of the new rows with all, (m, count); 1 without a feature or while S is learned."""
        if term.feature is None or term.learned is not None:
            return np.ones((self.count - start, self.count))
        phi = self.features(term.feature)
        coupled = coupled_features(phi[start:], term.actions, term.contexts).reshape(self.count - start, -1)
        return np.asarray(term.scale * (coupled @ phi.reshape(self.count, -1).T))

    def unit_grams(
        self, theta: FloatArray, start: int = 0, reuse: FloatArray | None = None
    ) -> tuple[FloatArray, dict[int, FloatArray]]:
        """Return the Gram matrices of all terms without their weights, and their derivatives in log length.

        Packed from row ``start`` on: (N, J), and by term index (N,). ``reuse`` is an earlier answer for the same
        rows, of which only the terms with a length are computed anew.
        """
        first = packed_size(start)
        grams = self._static.view[first:].copy() if reuse is None else reuse
        slopes = {}
        for index in self._moving:
            grams[:, index], slopes[index] = self._moving_gram(index, theta, start)
        return grams, slopes

    def _moving_gram(self, index: int, theta: FloatArray, start: int) -> tuple[FloatArray, FloatArray]:
        """Return one term's packed unit Gram matrix and its derivative in log length, product rule included."""
        term = self.kernel.terms[index]
        length = self.kernel.length_value(index, theta)
        static, static_slope = self._static_part(index, term, length, start)
        if term.radial is None:
            return static, static_slope
        squared = self._distances[id(term.radial.embedding)].view[packed_size(start) :]
        q = squared / (term.radial.norm * length * length)
        value = term.radial.profile.value(q)
        slope = -2.0 * (q * term.radial.profile.slope(q, value)).sum(axis=1)
        kappa = value.sum(axis=1)
        return static * kappa, static_slope * kappa + static * slope

    def _static_part(self, index: int, term: Term, length: float, start: int) -> tuple[Any, Any]:
        if term.feature is None:
            return 1.0, 0.0
        if term.learned is None:
            return self._static.view[packed_size(start) :, index], 0.0
        phi = self.features(term.feature)
        value, slope = term.learned.gram(phi[start:], phi, length)
        return self._packed(term.scale * value, start), self._packed(term.scale * slope, start)
