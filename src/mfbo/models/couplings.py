"""Couplings: symmetric matrices S ≥ 0 over actions or contexts that say which of them behave alike.

Matrices of coordinates are dense up to ``DENSE_LIMIT`` actions and low-rank factors beyond, so that ten thousand
actions never cost an (A, A) array.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from mfbo.arrays import FloatArray

DENSE_LIMIT = 1500
FACTOR_RANK = 256
FACTOR_TOLERANCE = 1e-6


class Coupling(Protocol):
    """A matrix S over k things, known by what it does."""

    def apply(self, values: FloatArray) -> FloatArray:
        """Return values · S along the last axis, (…, k) → (…, k)."""
        ...

    def diagonal(self, count: int) -> FloatArray:
        """Return the k = ``count`` diagonal entries."""
        ...


@dataclass(frozen=True)
class Identity:
    """S = I: every thing for itself."""

    def apply(self, values: FloatArray) -> FloatArray:
        """Return the values themselves."""
        return values

    def diagonal(self, count: int) -> FloatArray:
        """Return ones."""
        return np.ones(count)


@dataclass(frozen=True)
class Ones:
    """S = 11ᵀ / k: only the sum counts."""

    def apply(self, values: FloatArray) -> FloatArray:
        """Return the mean, repeated."""
        return np.broadcast_to(values.mean(axis=-1, keepdims=True), values.shape)

    def diagonal(self, count: int) -> FloatArray:
        """Return 1 / k."""
        return np.full(count, 1.0 / count)


@dataclass(frozen=True, eq=False)
class Dense:
    """S given as a (k, k) matrix."""

    matrix: FloatArray

    def apply(self, values: FloatArray) -> FloatArray:
        """Multiply by the matrix; one row alone as a vector, which is the innermost loop of every ask."""
        if values.ndim == 2 and len(values) == 1:
            return np.asarray(np.dot(values[0], self.matrix))[None]
        return np.asarray(values @ self.matrix)

    def diagonal(self, count: int) -> FloatArray:
        """Return the matrix's diagonal."""
        return np.asarray(np.diag(self.matrix))


@dataclass(frozen=True, eq=False)
class LowRank:
    """S = F Fᵀ with a thin factor F (k, r)."""

    factor: FloatArray

    def apply(self, values: FloatArray) -> FloatArray:
        """Multiply by the two thin factors."""
        return np.asarray((values @ self.factor) @ self.factor.T)

    def diagonal(self, count: int) -> FloatArray:
        """Return the row norms of the factor."""
        return np.asarray((self.factor * self.factor).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Weighted:
    """S = Σ v_j S_j, kept apart because summing would make it dense."""

    parts: tuple[tuple[float, Coupling], ...]

    def apply(self, values: FloatArray) -> FloatArray:
        """Sum what the parts do."""
        return np.asarray(sum(weight * part.apply(values) for weight, part in self.parts))

    def diagonal(self, count: int) -> FloatArray:
        """Sum the parts' diagonals."""
        return np.asarray(sum(weight * part.diagonal(count) for weight, part in self.parts))


def weighted_sum(parts: Sequence[tuple[float, Coupling]], count: int) -> Coupling:
    """Return Σ v_j S_j over ``count`` things, as one dense matrix if any part is dense."""
    if not any(isinstance(part, Dense) for _, part in parts):
        return Weighted(tuple(parts))
    total, weighted = np.zeros((count, count)), np.empty((count, count))
    rest = []
    for weight, part in parts:
        if isinstance(part, Dense):
            total += np.multiply(weight, part.matrix, out=weighted)
        elif isinstance(part, Identity):
            total.flat[:: count + 1] += weight
        elif isinstance(part, Ones):
            total += weight / count
        else:
            rest.append((weight, part))
    return Weighted((*rest, (1.0, Dense(total)))) if rest else Dense(total)


def coupled_features(phi: FloatArray, actions: Coupling, contexts: Coupling) -> FloatArray:
    """Return S_contexts φ S_actions: (n, R, K) → (n, R, K)."""
    along_actions = actions.apply(phi)
    if isinstance(contexts, Identity):
        return along_actions
    return np.swapaxes(contexts.apply(np.swapaxes(along_actions, -1, -2)), -1, -2)


@dataclass(frozen=True, eq=False)
class FixedCoupling:
    """S = S_contexts ⊗ S_actions as given."""

    actions: Coupling = field(default_factory=Identity)
    contexts: Coupling = field(default_factory=Identity)

    def at(self, length: float) -> tuple[Coupling, Coupling]:
        """Return S over actions and S over contexts, whatever the length."""
        return self.actions, self.contexts


@dataclass(frozen=True, eq=False)
class LearnedCoupling:
    """S(ℓ) = exp(−D_c / 2ℓ²) ⊗ exp(−D_a / 2ℓ²) with a length ℓ to fit; None stands for the identity.

    actions: (A, A) squared distances or None; contexts: (C, C) squared distances or None.
    """

    actions: FloatArray | None
    contexts: FloatArray | None

    def at(self, length: float) -> tuple[Coupling, Coupling]:
        """Return S over actions and S over contexts at this length."""
        return _squared_exponential(self.actions, length), _squared_exponential(self.contexts, length)

    def gram(self, first: FloatArray, second: FloatArray, length: float) -> tuple[FloatArray, FloatArray]:
        """Return φ S φ′ and its derivative in log ℓ: (m, R, K), (n, R, K) → (m, n) each.

        Actions that no row touches are left out, so rows of single agents cost (rows)² and not A².
        """
        used = np.flatnonzero(np.any(second != 0, axis=(0, 1)))
        left, right = first[:, :, used], second[:, :, used]
        along_actions = _with_slope(None if self.actions is None else self.actions[np.ix_(used, used)], length)
        along_contexts = _with_slope(self.contexts, length)
        value = _pair(left, right, along_actions[0], along_contexts[0])
        slope = np.zeros_like(value)
        if along_actions[1] is not None:
            slope += _pair(left, right, along_actions[1], along_contexts[0])
        if along_contexts[1] is not None:
            slope += _pair(left, right, along_actions[0], along_contexts[1])
        return value, slope


def _squared_exponential(distances: FloatArray | None, length: float) -> Coupling:
    return Identity() if distances is None else Dense(np.exp(distances / (-2.0 * length * length)))


def _with_slope(distances: FloatArray | None, length: float) -> tuple[FloatArray | None, FloatArray | None]:
    if distances is None:
        return None, None
    value = np.exp(distances / (-2.0 * length * length))
    return value, value * (distances / (length * length))


def _pair(left: FloatArray, right: FloatArray, actions: FloatArray | None, contexts: FloatArray | None) -> FloatArray:
    coupled = left if actions is None else left @ actions
    if contexts is not None:
        coupled = contexts @ coupled
    return np.asarray(coupled.reshape(len(left), -1) @ right.reshape(len(right), -1).T)


def matrix_of(coupling: Coupling, count: int) -> FloatArray:
    """Return S as a (k, k) matrix."""
    return coupling.matrix if isinstance(coupling, Dense) else coupling.apply(np.eye(count))


def unit_scaled(features: FloatArray) -> FloatArray:
    """Scale every column to [0, 1] (a constant column becomes 0); (k, d) → (k, d)."""
    low = features.min(axis=0)
    span = features.max(axis=0) - low
    return np.asarray((features - low) / np.where(span > 0, span, 1.0))


def squared_distances(scaled: FloatArray, others: FloatArray | None = None) -> FloatArray:
    """Return |U_a − U_b|² / d for scaled features: (k, d), (m, d) → (k, m)."""
    second = scaled if others is None else others
    norms = (scaled * scaled).sum(axis=1)[:, None] + (second * second).sum(axis=1)[None, :]
    return np.asarray(np.maximum(norms - 2.0 * scaled @ second.T, 0.0) / scaled.shape[1])


def by_features(features: FloatArray | None, length: float) -> Coupling:
    """Return exp(−|U_a − U_b|² / (2 d length²)) of the scaled features; without features, the identity."""
    if features is None:
        return Identity()
    scaled = unit_scaled(features)
    if len(scaled) <= DENSE_LIMIT:
        return Dense(np.exp(squared_distances(scaled) / (-2.0 * length * length)))
    return LowRank(_pivoted_factor(scaled, length))


def factor_of(coupling: Coupling, count: int, tolerance: float = 1e-5) -> FloatArray | None:
    """Return R (k, r) with R Rᵀ ≈ S, dropping eigenvalues below ``tolerance`` of the largest; None for I."""
    if isinstance(coupling, Identity):
        return None
    if isinstance(coupling, LowRank):
        return coupling.factor
    if not isinstance(coupling, Dense):
        raise TypeError(f"no factor is needed of a {type(coupling).__name__} over {count}")
    values, vectors = np.linalg.eigh(coupling.matrix)
    large = values > tolerance * values[-1]
    return np.asarray(vectors[:, large] * np.sqrt(values[large]))


def _pivoted_factor(scaled: FloatArray, length: float) -> FloatArray:
    """Return a pivoted Cholesky factor (k, r) of the squared-exponential matrix, r ≤ FACTOR_RANK."""
    rank = min(FACTOR_RANK, len(scaled))
    factor = np.zeros((len(scaled), rank))
    left = np.ones(len(scaled))
    for column in range(rank):
        pivot = int(np.argmax(left))
        if left[pivot] < FACTOR_TOLERANCE:
            return factor[:, :column]
        row = np.exp(squared_distances(scaled, scaled[pivot : pivot + 1])[:, 0] / (-2.0 * length * length))
        factor[:, column] = (row - factor[:, :column] @ factor[pivot, :column]) / np.sqrt(left[pivot])
        left = np.maximum(left - factor[:, column] ** 2, 0.0)
        left[pivot] = 0.0
    return factor
