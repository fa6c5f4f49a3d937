"""Stationary parts κ(d(ξ, ξ′)): embeddings of a distribution, and the profile of the distance, eq. (5)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mfbo.arrays import FloatArray

EmbeddingKind = Literal["rows", "joint", "hellinger", "mean"]
ProfileKind = Literal["rbf", "matern52"]
_ROOT5 = float(np.sqrt(5.0))


@dataclass(frozen=True, eq=False)
class Embedding:
    """A map w ↦ z (B, D) whose Euclidean distance compares distributions; κ sums over the B blocks.

    rows: z_c = ξ_c, a block per context (the paper's) · joint: all of ξ in one block ·
    hellinger: √(w + offset) · mean: w R, the kernel mean embedding with R Rᵀ = S (R = I when factor is None).
    """

    kind: EmbeddingKind
    weights: FloatArray
    offset: float = 0.0
    factor: FloatArray | None = None

    @property
    def blocks(self) -> int:
        """Return B."""
        return len(self.weights) if self.kind == "rows" else 1

    def of(self, shares: FloatArray) -> FloatArray:
        """Return z: w (…, C, A) → (…, B, D)."""
        match self.kind:
            case "rows":
                return np.asarray(shares / self.weights[:, None])
            case "joint":
                return _flat(shares / self.weights[:, None])
            case "hellinger":
                return _flat(np.sqrt(shares + self.offset))
            case "mean":
                return _flat(shares if self.factor is None else shares @ self.factor)

    def pullback(self, shares: FloatArray, d_z: FloatArray) -> FloatArray:
        """Chain d/dz (B, D) back to d/dw (C, A)."""
        unfolded = d_z.reshape(len(self.weights), -1)
        match self.kind:
            case "rows" | "joint":
                return np.asarray(unfolded / self.weights[:, None])
            case "hellinger":
                return np.asarray(0.5 * unfolded / np.sqrt(shares + self.offset))
            case "mean":
                return unfolded if self.factor is None else np.asarray(unfolded @ self.factor.T)


@dataclass(frozen=True)
class Profile:
    """κ as a function of q = d² / (norm · length²)."""

    kind: ProfileKind

    def value(self, q: FloatArray) -> FloatArray:
        """Return κ(q), 1 at q = 0."""
        if self.kind == "rbf":
            return np.asarray(np.exp(-0.5 * q))
        r = _ROOT5 * np.sqrt(q)
        return np.asarray((1.0 + r + r * r / 3.0) * np.exp(-r))

    def fall(self, q: FloatArray) -> FloatArray:
        """Return 1 − κ(q), exact for small q too."""
        if self.kind == "rbf":
            return np.asarray(-np.expm1(-0.5 * q))
        r = _ROOT5 * np.sqrt(q)
        return np.asarray(-np.expm1(-r) - (r + r * r / 3.0) * np.exp(-r))

    def slope(self, q: FloatArray, value: FloatArray) -> FloatArray:
        """Return dκ/dq, given κ(q)."""
        if self.kind == "rbf":
            return -0.5 * value
        r = _ROOT5 * np.sqrt(q)
        return np.asarray((-5.0 / 6.0) * (1.0 + r) * np.exp(-r))


@dataclass(frozen=True, eq=False)
class Radial:
    """A stationary part: an embedding, a profile, and the squared distance that counts as one."""

    embedding: Embedding
    profile: Profile
    norm: float = 1.0

    def fall(self, start: FloatArray, shares: FloatArray, unit: float) -> FloatArray:
        """Return κ(0) − κ(d(ξ, ξ′)), exact for small steps too: w (1, C, A), w (m, C, A) → (m,).

        unit: the squared distance at which q = 1.
        """
        step = self.embedding.of(shares) - self.embedding.of(start)
        return np.asarray(self.profile.fall((step * step).sum(axis=-1) / unit).sum(axis=-1))


def block_distances(z: FloatArray, others: FloatArray) -> FloatArray:
    """Return squared distances per block: z (m, B, D), others (n, B, D) → (B, m, n)."""
    left, right = np.moveaxis(z, 1, 0), np.moveaxis(others, 1, 0)
    norms = (left * left).sum(-1)[:, :, None] + (right * right).sum(-1)[:, None, :]
    return np.asarray(np.maximum(norms - 2.0 * left @ np.swapaxes(right, 1, 2), 0.0))


def _flat(values: FloatArray) -> FloatArray:
    return values.reshape(*values.shape[:-2], 1, -1)
