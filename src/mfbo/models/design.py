"""What a growing set of rows looks like to a kernel: features, embeddings, and packed Gram matrices.

Gram matrices are symmetric, so only the lower triangle is kept, row after row in one long vector ("packed"):
appending a row appends to the vector, and a fit touches half the memory.
"""

from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.models.kernel import Kernel, Source, Values
from mfbo.models.rows import Rows


class GrowingArray:
    """An array that grows along its first axis at amortized cost; views given out stay valid."""

    def __init__(self) -> None:
        """Start empty; the first block fixes the other axes."""
        self._buffer = np.empty(0)
        self.view = self._buffer

    def extend(self, block: FloatArray) -> None:
        """Append a block (m, …)."""
        length, needed = len(self.view), len(self.view) + len(block)
        if needed > len(self._buffer):
            grown = np.empty((max(needed, 2 * length), *block.shape[1:]))
            if length:
                grown[:length] = self.view
            self._buffer = grown
        self._buffer[length:needed] = block
        self.view = self._buffer[:needed]


def packed_positions(rows: int, start: int = 0) -> IntArray:
    """Return the flat positions in a C-ordered (rows, rows) matrix of the packed entries from row ``start`` on."""
    row, column = np.tril_indices(rows)
    return np.asarray(row * rows + column)[start * (start + 1) // 2 :]


class Design:
    """The rows of one study as one kernel sees them; grows round by round, always in the same blocks."""

    def __init__(self, kernel: Kernel) -> None:
        """Start without rows."""
        self.kernel = kernel
        self.count = 0
        self._sources: dict[int, tuple[Source, GrowingArray]] = {}
        for term in kernel.terms:
            for source in term.sources:  # terms may share a source
                self._sources.setdefault(id(source), (source, GrowingArray()))
        self._grams = GrowingArray()
        self._pairs = {place: GrowingArray() for place in kernel.moving}
        self._values = GrowingArray()
        self._noise_scale = GrowingArray()

    @property
    def values(self) -> FloatArray:
        """Told payoffs y (n,), not standardized."""
        return self._values.view

    @property
    def noise_scale(self) -> FloatArray:
        """Noise variance of each row as a multiple of that of one payoff, (n,)."""
        return self._noise_scale.view

    def columns(self, source: Any) -> FloatArray:
        """Return what a feature or an embedding makes of the rows: Φ (n, R, K) or Z (n, B, D)."""
        return self._sources[id(source)][1].view

    def append(self, rows: Rows) -> None:
        """Add a block of rows (those of one round)."""
        start, new = self.count, len(rows.values)
        self.count = start + new
        self._values.extend(rows.values)
        self._noise_scale.extend(rows.noise_scale)
        for source, column in self._sources.values():
            column.extend(source.of_rows(rows.omega, rows.shares))
        lower = np.flatnonzero(np.tri(new, self.count, start))
        grams = np.ones((len(lower), len(self.kernel.terms)))
        for place, term in enumerate(self.kernel.terms):
            pairs = term.pairs(self.columns, start, self.count)
            packed = pairs.reshape(len(pairs), -1)[:, lower].T
            if place in self._pairs:
                self._pairs[place].extend(packed)
            else:
                grams[:, place] = packed[:, 0]
        self._grams.extend(grams)

    def unit_grams(
        self, lengths: FloatArray, start: int = 0, reuse: FloatArray | None = None
    ) -> tuple[FloatArray, list[FloatArray]]:
        """Return the Gram matrices of all terms without their weights, and their derivatives in log length.

        Packed from row ``start`` on: (N, J), and for each term with a length (N,). ``reuse`` is an earlier answer for
        the same rows, of which only the terms with a length are computed anew.
        """
        first = start * (start + 1) // 2
        grams = self._grams.view[first:].copy() if reuse is None else reuse
        slopes = []
        for place, pairs in self._pairs.items():
            term, length = self.kernel.terms[place], float(lengths[place])
            grams[:, place], slope = term.gram(pairs.view[first:], self.columns, length, start)
            slopes.append(slope)
        return grams, slopes

    def gram(self, values: Values, start: int = 0) -> FloatArray:
        """Return K without noise, (n, n): its lower triangle from row ``start`` on, zeros elsewhere."""
        gram = np.zeros((self.count, self.count))
        gram.ravel()[packed_positions(self.count, start)] = self.unit_grams(values.lengths, start)[0] @ values.weights
        return gram
