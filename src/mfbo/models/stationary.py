"""Stationary terms κ(d(ξ, ξ′) / ℓ): embeddings of a distribution, profiles of their distance, and the term, eq. (5).

To add an embedding or a profile: a class below, and its name in ``EMBEDDINGS`` or ``PROFILES``.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.models.cholesky import factorized, lower_inverse
from mfbo.models.couplings import Coupling, factor_of
from mfbo.models.hyperparameters import Hyperparameter
from mfbo.models.kernel import At, BlockAt, Columns, Role, Source, Summand, Values

LARGEST_INDUCED = 64  # inducing distributions of a term
JITTER = 1e-9
_ROOT5 = float(np.sqrt(5.0))


class Embedding(ABC):
    """A map w ↦ z (B, D) whose Euclidean distance compares distributions; κ sums over the B blocks."""

    blocks = 1

    @classmethod
    @abstractmethod
    def made_for(cls, weights: FloatArray, actions: int, coupling: Coupling) -> "Embedding":
        """Return the embedding for context weights p (C,), A actions, and a coupling S over them."""

    @abstractmethod
    def of(self, shares: FloatArray) -> FloatArray:
        """Return z: w (…, C, A) → (…, B, D)."""

    @abstractmethod
    def pullback(self, shares: FloatArray, d_z: FloatArray) -> FloatArray:
        """Chain d/dz (B, D) back to d/dw (C, A)."""

    def of_rows(self, omega: FloatArray, shares: FloatArray) -> FloatArray:
        """Return z of n rows, (n, B, D), whatever their ω."""
        return self.of(shares)


@dataclass(frozen=True, eq=False)
class Joint(Embedding):
    """All of ξ in one block."""

    weights: FloatArray

    @classmethod
    def made_for(cls, weights: FloatArray, actions: int, coupling: Coupling) -> Embedding:
        """Keep p."""
        return cls(weights)

    def of(self, shares: FloatArray) -> FloatArray:
        """Return ξ."""
        return (shares / self.weights[:, None]).reshape(*shares.shape[:-2], self.blocks, -1)

    def pullback(self, shares: FloatArray, d_z: FloatArray) -> FloatArray:
        """Chain through ξ = w / p."""
        return np.asarray(d_z.reshape(shares.shape) / self.weights[:, None])


@dataclass(frozen=True, eq=False)
class ByContext(Joint):
    """z_c = ξ_c, a block per context: the paper's."""

    @property
    def blocks(self) -> int:  # type: ignore[override]
        """Number of contexts."""
        return len(self.weights)


@dataclass(frozen=True, eq=False)
class Hellinger(Embedding):
    """√(w + offset)."""

    offset: float

    @classmethod
    def made_for(cls, weights: FloatArray, actions: int, coupling: Coupling) -> Embedding:
        """Keep the slope finite at a share of 0."""
        return cls(1e-3 / actions / len(weights))

    def of(self, shares: FloatArray) -> FloatArray:
        """Return the root."""
        return np.sqrt(shares + self.offset).reshape(*shares.shape[:-2], 1, -1)

    def pullback(self, shares: FloatArray, d_z: FloatArray) -> FloatArray:
        """Chain through the root."""
        return np.asarray(0.5 * d_z.reshape(shares.shape) / np.sqrt(shares + self.offset))


@dataclass(frozen=True, eq=False)
class Mean(Embedding):
    """w R, the kernel mean embedding with R Rᵀ = S; R (A, r) is I when the factor is None."""

    factor: FloatArray | None

    @classmethod
    def made_for(cls, weights: FloatArray, actions: int, coupling: Coupling) -> Embedding:
        """Factorize S."""
        return cls(factor_of(coupling, actions))

    def of(self, shares: FloatArray) -> FloatArray:
        """Return w R."""
        embedded = shares if self.factor is None else shares @ self.factor
        return embedded.reshape(*shares.shape[:-2], 1, -1)

    def pullback(self, shares: FloatArray, d_z: FloatArray) -> FloatArray:
        """Chain through R."""
        unfolded = d_z.reshape(shares.shape[0], -1)
        return unfolded if self.factor is None else np.asarray(unfolded @ self.factor.T)


class Profile(ABC):
    """κ as a function of q = d² / (norm · length²)."""

    @abstractmethod
    def value(self, q: FloatArray) -> FloatArray:
        """Return κ(q), 1 at q = 0."""

    @abstractmethod
    def fall(self, q: FloatArray) -> FloatArray:
        """Return 1 − κ(q), exact for small q too."""

    @abstractmethod
    def slope(self, q: FloatArray, value: FloatArray) -> FloatArray:
        """Return dκ/dq, given κ(q)."""


class Rbf(Profile):
    """exp(−q / 2)."""

    def value(self, q: FloatArray) -> FloatArray:
        """Return κ(q)."""
        return np.asarray(np.exp(-0.5 * q))

    def fall(self, q: FloatArray) -> FloatArray:
        """Return 1 − κ(q)."""
        return np.asarray(-np.expm1(-0.5 * q))

    def slope(self, q: FloatArray, value: FloatArray) -> FloatArray:
        """Return dκ/dq."""
        return -0.5 * value


class Matern52(Profile):
    """(1 + r + r²/3) exp(−r) with r = √(5 q)."""

    def value(self, q: FloatArray) -> FloatArray:
        """Return κ(q)."""
        r = _ROOT5 * np.sqrt(q)
        return np.asarray((1.0 + r + r * r / 3.0) * np.exp(-r))

    def fall(self, q: FloatArray) -> FloatArray:
        """Return 1 − κ(q)."""
        r = _ROOT5 * np.sqrt(q)
        return np.asarray(-np.expm1(-r) - (r + r * r / 3.0) * np.exp(-r))

    def slope(self, q: FloatArray, value: FloatArray) -> FloatArray:
        """Return dκ/dq."""
        r = _ROOT5 * np.sqrt(q)
        return np.asarray((-5.0 / 6.0) * (1.0 + r) * np.exp(-r))


EMBEDDINGS: dict[str, type[Embedding]] = {"rows": ByContext, "joint": Joint, "hellinger": Hellinger, "mean": Mean}
PROFILES: dict[str, type[Profile]] = {"rbf": Rbf, "matern52": Matern52}


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


@dataclass(frozen=True, eq=False)
class Stationary:
    """One term, κ summed over the blocks of its embedding."""

    name: str
    weight: Hyperparameter
    radial: Radial
    length: Hyperparameter

    @property
    def role(self) -> Role:
        """It says something of the distribution alone."""
        return "distribution"

    @property
    def sources(self) -> tuple[Source, ...]:
        """The embedding."""
        return (self.radial.embedding,)

    def pairs(self, columns: Columns, start: int, count: int) -> FloatArray:
        """Return squared distances per block, (B, m, n)."""
        blocks = np.moveaxis(columns[self.radial.embedding], 1, 0)
        return block_distances(blocks[:, start:], blocks)

    def gram(self, pairs: FloatArray, columns: Columns, length: float, start: int) -> tuple[FloatArray, FloatArray]:
        """Return κ and its derivative in log length from squared distances (N, B)."""
        q = pairs / (self.radial.norm * length * length)
        value = self.radial.profile.value(q)
        slope = -2.0 * (q * self.radial.profile.slope(q, value)).sum(axis=1)
        return value.sum(axis=1), slope

    @classmethod
    def summands(cls, members: Sequence[tuple[int, "Stationary"]]) -> Sequence[Summand]:
        """Return each term by itself."""
        return [StationarySummand(place, term) for place, term in members]

    def part(self, weight: float, length: float, columns: Columns) -> "StationaryPart":
        """Return the term on rows, at a weight and a length."""
        unit = self.radial.norm * length * length
        return StationaryPart(self.radial, weight, unit, np.empty(0), np.empty(0)).on(columns)

    def nystrom(self, length: float, inducing: FloatArray, largest: int = LARGEST_INDUCED) -> "Nystrom":
        """Return features from at most ``largest`` of the inducing distributions w (m, C, A)."""
        count = max(min(len(inducing), LARGEST_INDUCED, largest), 1)
        chosen = inducing[np.linspace(0, len(inducing) - 1, count).round().astype(int)]
        part = self.part(1.0, length, {self.radial.embedding: self.radial.embedding.of(chosen)})
        return Nystrom(part, lower_inverse(factorized(part.cross_many(chosen) + JITTER * np.eye(count))))


@dataclass(frozen=True, eq=False)
class StationarySummand:
    """A stationary term and its place among the terms."""

    place: int
    term: Stationary

    def conditioned(self, values: Values, columns: Columns) -> "StationaryPart":
        """Return the part of an exact posterior."""
        return self.term.part(float(values.weights[self.place]), float(values.lengths[self.place]), columns)

    def block(self, values: Values, inducing: FloatArray) -> "StationaryBlock":
        """Return Nyström features."""
        return StationaryBlock(self.place, self.term.nystrom(float(values.lengths[self.place]), inducing))


@dataclass(frozen=True, eq=False)
class StationaryPart:
    """A stationary term on rows. unit: the squared distance at which q = 1.

    rows: embeddings of the rows, block by block, (B, n, D); norms: their squared norms, (B, n).
    """

    radial: Radial
    weight: float
    unit: float
    rows: FloatArray
    norms: FloatArray
    role: Role = "distribution"

    def on(self, columns: Columns) -> "StationaryPart":
        """Embed other rows."""
        z = columns[self.radial.embedding]
        norms = np.ascontiguousarray((z * z).sum(axis=-1).T)
        return replace(self, rows=np.ascontiguousarray(np.moveaxis(z, 1, 0)), norms=norms)

    def joined(self, later: "StationaryPart") -> "StationaryPart":
        """Put later rows behind."""
        rows, norms = [self.rows, later.rows], [self.norms, later.norms]
        return replace(self, rows=np.concatenate(rows, axis=1), norms=np.concatenate(norms, axis=1))

    def at(self, shares: FloatArray) -> At:
        """Return κ between one candidate and the rows; q in place: this is the innermost loop of every ask."""
        z = self.radial.embedding.of(shares)
        q = np.empty(self.norms.shape)  # |z − row|² / unit for every block and row, (B, n)
        for block, rows in enumerate(self.rows):
            np.dot(rows, z[block], out=q[block])
        q *= -2.0
        q += self.norms
        q += np.add.reduce(z * z, axis=1)[:, None] if len(z) > 1 else float(z[0] @ z[0])
        np.maximum(q, 0.0, out=q)
        q /= self.unit
        values = self.radial.profile.value(q)
        kappa = self.weight * (values[0] if len(values) == 1 else np.add.reduce(values, axis=0))

        def pullback(d_kappa: FloatArray, d_prior: float) -> FloatArray:
            per_row = self.radial.profile.slope(q, values)
            per_row *= (2.0 * self.weight / self.unit) * d_kappa
            d_z = np.add.reduce(per_row, axis=1)[:, None] * z
            for block, rows in enumerate(self.rows):
                d_z[block] -= per_row[block] @ rows
            return self.radial.embedding.pullback(shares, d_z)

        return At(kappa, self.weight * len(z), pullback)

    def cells_at(self, shares: FloatArray) -> At:
        """Return the same for every cell."""
        whole = self.at(shares)
        cross = whole.cross[:, None, None]
        return At(cross, whole.prior, lambda d_cross, d_prior: whole.pullback(d_cross.sum(axis=(1, 2)), 0.0))

    def own(self) -> Sequence[tuple[FloatArray, FloatArray]]:
        """Return nothing: all of it moves with ξ."""
        return ()

    def cross_many(self, shares: FloatArray) -> FloatArray:
        """Return the covariances of g at m distributions with the rows: w (m, C, A) → (m, n)."""
        squared = block_distances(np.moveaxis(self.radial.embedding.of(shares), 1, 0), self.rows)
        return np.asarray(self.weight * self.radial.profile.value(squared / self.unit).sum(axis=0))

    def fall(self, start: FloatArray, shares: FloatArray) -> FloatArray:
        """Return by how much κ falls from ξ to ξ′, the weight included: w (1, C, A), w (m, C, A) → (m,)."""
        return np.asarray(self.weight * self.radial.fall(start, shares, self.unit))

    def prior_of_changes(self, start: FloatArray, shares: FloatArray) -> FloatArray:
        """Return the prior variance of g(ξ′) − g(ξ): w (1, C, A) of ξ, w (m, C, A) of ξ′ → (m,)."""
        return 2.0 * self.fall(start, shares)


@dataclass(frozen=True, eq=False)
class Nystrom:
    """Features h(ξ) = L⁻¹ κ(ξ_·, ξ) of inducing distributions ξ_·, with L Lᵀ = κ(ξ_·, ξ_·). docs/theory.md, section 12.

    h(ξ)ᵀ h(ξ′) is exact between inducing distributions, and never above the kernel. part: the inducing distributions
    as rows of weight 1. whitening: L⁻¹ (m, m).
    """

    part: StationaryPart
    whitening: FloatArray

    def of(self, shares: FloatArray) -> FloatArray:
        """Return h of m′ distributions: w (m′, C, A) → (m′, m)."""
        return np.asarray(self.part.cross_many(shares) @ self.whitening.T)

    def lacking(self, h: FloatArray) -> float:
        """Return κ(0) − |h|²."""
        return max(self.part.radial.embedding.blocks - float(h @ h), 0.0)


@dataclass(frozen=True, eq=False)
class StationaryBlock:
    """A stationary term as Nyström features."""

    place: int
    nystrom: Nystrom

    @property
    def size(self) -> int:
        """Number of inducing distributions."""
        return len(self.nystrom.whitening)

    def prior_factors(self, values: Values) -> Sequence[tuple[int, FloatArray | float]]:
        """Return the root of the weight: the features are whitened."""
        return [(self.size, float(values.weights[self.place]) ** 0.5)]

    def of_rows(self, omega: FloatArray, shares: FloatArray) -> FloatArray:
        """Return h of the rows' distributions, (n, D)."""
        return self.nystrom.of(shares)

    def at(self, shares: FloatArray, values: Values) -> BlockAt:
        """Return h at one candidate, and v (κ(0) − |h|²)."""
        radial = self.nystrom.part.at(shares)
        h = self.nystrom.whitening @ radial.cross
        left = max(radial.prior - float(h @ h), 0.0)
        weight = float(values.weights[self.place])

        def pull(total: FloatArray, d_phi: FloatArray, d_lacking: float) -> None:
            d_h = d_phi - (2.0 * d_lacking * weight * (left > 0)) * h
            total += radial.pullback(self.nystrom.whitening.T @ d_h, 0.0)

        return BlockAt(h, weight * left, pull)

    def lacking(self, omega: FloatArray, shares: FloatArray, values: Values) -> float:
        """Return v (κ(0) − |h|²) at one distribution, the same for all rows."""
        return float(values.weights[self.place]) * self.nystrom.lacking(self.nystrom.of(shares[None])[0])

    def lacking_of_changes(self, start: FloatArray, shares: FloatArray, values: Values) -> FloatArray:
        """Return the prior variance of a change less that of the features; differences are taken before squares."""
        step = self.nystrom.of(shares) - self.nystrom.of(start)
        fall = 2.0 * self.nystrom.part.fall(start, shares) - (step * step).sum(axis=1)
        return np.asarray(float(values.weights[self.place]) * np.maximum(fall, 0.0))


def block_distances(blocks: FloatArray, others: FloatArray) -> FloatArray:
    """Return squared distances per block: (B, m, D), (B, n, D) → (B, m, n)."""
    norms = (blocks * blocks).sum(-1)[:, :, None] + (others * others).sum(-1)[:, None, :]
    return np.asarray(np.maximum(norms - 2.0 * blocks @ np.swapaxes(others, 1, 2), 0.0))
