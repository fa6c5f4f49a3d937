"""A kernel conditioned on rows at fixed hyperparameters: everything that does not depend on the candidate ξ."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.models.couplings import Coupling, Identity, coupled_features, weighted_sum
from mfbo.models.features import Feature
from mfbo.models.kernel import Kernel, Term
from mfbo.models.radials import Embedding, Radial, block_distances


@dataclass(frozen=True, eq=False)
class StaticPart:
    """Terms that share a feature, summed: ⟨φ, S φ′⟩ with S = Σ v_j S_j.

    actions, contexts: S as couplings. shape: (R, K) of the feature. columns: where the part stands in its group.
    """

    feature: Feature
    actions: Coupling
    contexts: Coupling
    shape: tuple[int, int]
    columns: slice

    def apply(self, phi: FloatArray) -> FloatArray:
        """Return S φ: (…, R·K) → (…, R·K)."""
        unfolded = phi.reshape(*phi.shape[:-1], *self.shape)
        return coupled_features(unfolded, self.actions, self.contexts).reshape(phi.shape)

    @property
    def diagonal(self) -> FloatArray:
        """The diagonal of S as (R, K)."""
        return np.outer(self.contexts.diagonal(self.shape[0]), self.actions.diagonal(self.shape[1]))

    @property
    def center(self) -> FloatArray:
        """What the feature subtracts, (R·K,)."""
        return np.zeros(self.shape).ravel() if self.feature.center is None else self.feature.center.ravel()


@dataclass(frozen=True, eq=False)
class StaticGroup:
    """Static parts side by side, so that all channels together cost one product with one matrix.

    coupled: S φ of every row, all parts in a row, (n, Σ R·K).
    """

    parts: tuple[StaticPart, ...]
    coupled: FloatArray

    def features_at(self, shares: FloatArray) -> FloatArray:
        """Return φ of g at one distribution, all parts in a row: w (C, A) → (Σ R·K,)."""
        return _side_by_side([part.feature.at(shares).ravel() for part in self.parts])

    def apply(self, phi: FloatArray) -> FloatArray:
        """Return S φ for all parts: (…, Σ R·K) → (…, Σ R·K)."""
        return _side_by_side([part.apply(phi[..., part.columns]) for part in self.parts])

    def cross_many(self, shares: FloatArray) -> FloatArray:
        """Return the covariances of g at m distributions with the rows: w (m, C, A) → (m, n)."""
        return np.asarray(self.features_of(shares) @ self.coupled.T)

    def features_of(self, shares: FloatArray) -> FloatArray:
        """Return φ of g at m distributions, all parts in a row: w (m, C, A) → (m, Σ R·K)."""
        return _side_by_side([part.feature.of_rows(shares, shares).reshape(len(shares), -1) for part in self.parts])

    def prior_of_changes(self, start: FloatArray, shares: FloatArray) -> FloatArray:
        """Return the prior variance of g(ξ′) − g(ξ): w (1, C, A) of ξ, w (m, C, A) of ξ′ → (m,)."""
        step = self.features_of(shares) - self.features_of(start)
        return np.asarray((step * self.apply(step)).sum(axis=1))

    def of_rows(self, part: StaticPart) -> FloatArray:
        """Return one part's S φ of every row as (n, R, K); broadcasts to (n, C, A)."""
        return self.coupled[:, part.columns].reshape(-1, *part.shape)


def _side_by_side(pieces: list[FloatArray]) -> FloatArray:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=-1)


@dataclass(frozen=True, eq=False)
class RadialGroup:
    """A stationary part, alone or times a static part (which then carries no weight of its own).

    z: embeddings of the rows, (n, B, D); norms: their squared norms, (n, B).
    """

    radial: Radial
    weight: float
    length: float
    z: FloatArray
    norms: FloatArray
    static: StaticGroup | None = None

    def at(self, shares: FloatArray) -> "RadialAt":
        """Evaluate at one candidate."""
        return RadialAt(self, shares)

    def cross_many(self, shares: FloatArray) -> FloatArray:
        """Return the covariances of g at m distributions with the rows: w (m, C, A) → (m, n)."""
        squared = block_distances(self.radial.embedding.of(shares), self.z)
        kappa = self.weight * self.radial.profile.value(squared / self.unit).sum(axis=0)
        return np.asarray(kappa if self.static is None else kappa * self.static.cross_many(shares))

    def prior_of_changes(self, start: FloatArray, shares: FloatArray) -> FloatArray:
        """Return the prior variance of g(ξ′) − g(ξ): w (1, C, A) of ξ, w (m, C, A) of ξ′ → (m,).

        With k = κ ⟨φ, S φ′⟩ it is κ(0) ⟨Δφ, S Δφ⟩ + 2 (κ(0) − κ) ⟨φ′, S φ⟩: no difference of two large numbers.
        """
        fall = self.weight * self.radial.fall(start, shares, self.unit)
        if self.static is None:
            return np.asarray(2.0 * fall)
        here, there = self.static.features_of(start), self.static.features_of(shares)
        at_zero = self.weight * self.radial.embedding.blocks
        return np.asarray(
            at_zero * self.static.prior_of_changes(start, shares) + 2.0 * fall * (there @ self.static.apply(here)[0])
        )

    @cached_property
    def unit(self) -> float:
        """The squared distance at which q = 1."""
        return self.radial.norm * self.length * self.length

    @cached_property
    def block_rows(self) -> list[FloatArray]:
        """The embeddings of the rows block by block, (n, D) each."""
        return [np.ascontiguousarray(self.z[:, block, :]) for block in range(self.z.shape[1])]

    @cached_property
    def block_norms(self) -> FloatArray:
        """Their squared norms, (B, n)."""
        return np.ascontiguousarray(self.norms.T)


class RadialAt:
    """κ between one candidate and the rows, and its pullback.

    kappa: (n,), the weight included; at_zero: κ of the candidate with itself.
    """

    def __init__(self, group: RadialGroup, shares: FloatArray) -> None:
        """Embed the candidate and compare it with every row: one product per block, all else for all blocks at once."""
        self._group = group
        self._shares = shares
        self._z = group.radial.embedding.of(shares)
        self._q = _scaled_distances(group, self._z)
        self._values = group.radial.profile.value(self._q)
        total = self._values[0] if len(self._values) == 1 else np.add.reduce(self._values, axis=0)
        self.kappa = group.weight * total
        self.at_zero = group.weight * len(self._z)

    def pullback(self, d_kappa: FloatArray) -> FloatArray:
        """Chain d/dκ (n,) back to d/dw (C, A)."""
        group = self._group
        per_row = group.radial.profile.slope(self._q, self._values)
        per_row *= (2.0 * group.weight / group.unit) * d_kappa
        d_z = np.add.reduce(per_row, axis=1)[:, None] * self._z
        for block, rows in enumerate(group.block_rows):
            d_z[block] -= per_row[block] @ rows
        return group.radial.embedding.pullback(self._shares, d_z)


def _scaled_distances(group: RadialGroup, z: FloatArray) -> FloatArray:
    """Return |z − row|² / unit for every block and row, (B, n); in place: this is the innermost loop of every ask."""
    squared = np.empty(group.block_norms.shape)
    for block, rows in enumerate(group.block_rows):
        np.dot(rows, z[block], out=squared[block])
    squared *= -2.0
    squared += group.block_norms
    squared += np.add.reduce(z * z, axis=1)[:, None] if len(z) > 1 else float(z[0] @ z[0])
    np.maximum(squared, 0.0, out=squared)
    squared /= group.unit
    return squared


Group = StaticGroup | RadialGroup


@dataclass(frozen=True, eq=False)
class Conditioned:
    """All that a posterior needs: groups of terms, K⁻¹ y, L⁻¹, the weight of the constant term, p.

    alpha: (n,); inverse: L⁻¹ (n, n); weights: p (C,).
    """

    groups: tuple[Group, ...]
    alpha: FloatArray
    inverse: FloatArray
    constant: float
    weights: FloatArray

    @property
    def count(self) -> int:
        """Number of rows, n."""
        return len(self.alpha)


class Conditioner:
    """A kernel at fixed hyperparameters: turns blocks of rows into groups, terms with a common feature summed."""

    def __init__(self, kernel: Kernel, theta: FloatArray) -> None:
        """Sum the couplings of the terms that share a feature, once for all blocks."""
        self._kernel = kernel
        self._weights = kernel.weight_values(theta)
        self._lengths = [kernel.length_value(index, theta) for index in range(len(kernel.terms))]
        self._channels: dict[int, list[int]] = {}
        self._radials: list[int] = []
        self.constant = 0.0
        for index, term in enumerate(kernel.terms):
            if term.radial is not None:
                self._radials.append(index)
            elif term.feature is not None:
                self._channels.setdefault(id(term.feature), []).append(index)
            else:
                self.constant += float(self._weights[index])
        self._couplings: dict[tuple[int, ...], tuple[Coupling, Coupling]] = {}

    def groups(
        self, features: Callable[[Feature], FloatArray], embeddings: Callable[[Embedding], FloatArray]
    ) -> tuple[Group, ...]:
        """Return the groups of a block of rows, given its features (n, R, K) and embeddings (n, B, D)."""
        found: list[Group] = []
        if self._channels:
            found.append(self._static_group(list(self._channels.values()), features, weighted=True))
        for index in self._radials:
            term = self._kernel.terms[index]
            if term.radial is None:
                continue
            z = embeddings(term.radial.embedding)
            static = None if term.feature is None else self._static_group([[index]], features, weighted=False)
            norms = (z * z).sum(axis=-1)
            found.append(RadialGroup(term.radial, float(self._weights[index]), self._lengths[index], z, norms, static))
        return tuple(found)

    def _static_group(
        self, channels: Sequence[Sequence[int]], features: Callable[[Feature], FloatArray], *, weighted: bool
    ) -> StaticGroup:
        parts: list[StaticPart] = []
        coupled: list[FloatArray] = []
        start = 0
        for indices in channels:
            feature = self._kernel.terms[indices[0]].feature
            if feature is None:
                raise AssertionError("a channel has a feature")  # the constructor put it among the channels for it
            phi = features(feature)
            shape = (phi.shape[1], phi.shape[2])
            actions, contexts = self._summed(tuple(indices), shape, weighted=weighted)
            columns = slice(start, start + shape[0] * shape[1])
            parts.append(StaticPart(feature, actions, contexts, shape, columns))
            coupled.append(parts[-1].apply(phi.reshape(len(phi), -1)))
            start = columns.stop
        return StaticGroup(tuple(parts), np.ascontiguousarray(_side_by_side(coupled)))

    def _summed(self, indices: tuple[int, ...], shape: tuple[int, int], *, weighted: bool) -> tuple[Coupling, Coupling]:
        """Return Σ v_j S_j as couplings over actions and contexts.

        The sum of several products S_c ⊗ S_a is one product only if one side is the same for all; every kernel here
        sums over one side alone.
        """
        if indices not in self._couplings:
            terms = [self._kernel.terms[index] for index in indices]
            weights = [self._term_weight(index, weighted=weighted) for index in indices]
            pairs = [term.couplings(self._lengths[index]) for term, index in zip(terms, indices, strict=True)]
            if len(pairs) == 1 or all(isinstance(contexts, Identity) for _, contexts in pairs):
                actions = weighted_sum([(v, pair[0]) for v, pair in zip(weights, pairs, strict=True)], shape[1])
                self._couplings[indices] = actions, pairs[0][1]
            else:
                raise NotImplementedError("terms that share a feature must all leave the contexts uncoupled")
        return self._couplings[indices]

    def _term_weight(self, index: int, *, weighted: bool) -> float:
        term: Term = self._kernel.terms[index]
        return term.scale * (float(self._weights[index]) if weighted else 1.0)


def joined(first: Sequence[Group], second: Sequence[Group]) -> tuple[Group, ...]:
    """Return the groups of two blocks of rows, one after the other."""
    return tuple(_joined(a, b) for a, b in zip(first, second, strict=True))


def _joined(first: Group, second: Group) -> Group:
    if isinstance(first, StaticGroup) and isinstance(second, StaticGroup):
        return replace(first, coupled=np.concatenate([first.coupled, second.coupled]))
    if isinstance(first, RadialGroup) and isinstance(second, RadialGroup):
        static = first.static
        if static is not None and second.static is not None:
            static = replace(static, coupled=np.concatenate([static.coupled, second.static.coupled]))
        z, norms = np.concatenate([first.z, second.z]), np.concatenate([first.norms, second.norms])
        return replace(first, z=z, norms=norms, static=static)
    raise AssertionError("the groups of one kernel come in one order")
