"""A kernel conditioned on rows at fixed hyperparameters: everything that does not depend on the candidate ξ."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.models.couplings import Coupling, Identity, coupled_features, weighted_sum
from mfbo.models.features import Feature
from mfbo.models.kernel import Kernel, Term
from mfbo.models.radials import Embedding, Radial, block_distances


@dataclass(frozen=True, eq=False)
class StaticPart:
    """Terms that share a feature, summed: weight · ⟨φ, S φ′⟩ with S = Σ v_j S_j.

    coupled: S φ of every row, (n, R·K). actions, contexts: S as couplings. shape: (R, K).
    """

    feature: Feature
    coupled: FloatArray
    actions: Coupling
    contexts: Coupling
    shape: tuple[int, int]

    def apply(self, phi: FloatArray) -> FloatArray:
        """Return S φ for φ (R·K,)."""
        return coupled_features(phi.reshape(self.shape), self.actions, self.contexts).ravel()

    @property
    def coupled_cube(self) -> FloatArray:
        """S φ of every row as (n, R, K); broadcasts to (n, C, A)."""
        return self.coupled.reshape(-1, *self.shape)

    @property
    def diagonal(self) -> FloatArray:
        """The diagonal of S as (R, K)."""
        return np.outer(self.contexts.diagonal(self.shape[0]), self.actions.diagonal(self.shape[1]))

    @property
    def coupled_center(self) -> FloatArray:
        """S times the feature's center, (R, K)."""
        if self.feature.center is None:
            return np.zeros(self.shape)
        return self.apply(self.feature.center.ravel()).reshape(self.shape)

    @property
    def center_cross(self) -> FloatArray:
        """⟨center, S φ⟩ of every row, (n,)."""
        if self.feature.center is None:
            return np.zeros(len(self.coupled))
        return np.asarray(self.coupled @ self.feature.center.ravel())

    @property
    def center_norm(self) -> float:
        """⟨center, S center⟩."""
        return 0.0 if self.feature.center is None else float((self.feature.center * self.coupled_center).sum())


@dataclass(frozen=True, eq=False)
class StaticGroup:
    """A static part alone: channels."""

    static: StaticPart

    def cross_many(self, shares: FloatArray) -> FloatArray:
        """Return the covariances of g at m distributions with the rows: w (m, C, A) → (m, n)."""
        phi = self.static.feature.of_rows(shares, shares).reshape(len(shares), -1)
        return np.asarray(phi @ self.static.coupled.T)


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
    static: StaticPart | None = None

    def at(self, shares: FloatArray) -> "RadialAt":
        """Evaluate at one candidate."""
        return RadialAt(self, shares)

    def cross_many(self, shares: FloatArray) -> FloatArray:
        """Return the covariances of g at m distributions with the rows: w (m, C, A) → (m, n)."""
        squared = block_distances(self.radial.embedding.of(shares), self.z)
        kappa = self.weight * self.radial.profile.value(squared / self.unit).sum(axis=0)
        return np.asarray(kappa if self.static is None else kappa * StaticGroup(self.static).cross_many(shares))

    @property
    def unit(self) -> float:
        """The squared distance at which q = 1."""
        return self.radial.norm * self.length * self.length


class RadialAt:
    """κ between one candidate and the rows, and its pullback.

    kappa: (n,), the weight included; at_zero: κ of the candidate with itself.
    """

    def __init__(self, group: RadialGroup, shares: FloatArray) -> None:
        """Embed the candidate and compare it with every row."""
        self._group = group
        self._shares = shares
        self._z = group.radial.embedding.of(shares)
        if len(self._z) == 1:  # one block: matrix-vector products, no temporaries of (n, D)
            rows = group.z[:, 0, :]
            squared = group.norms[:, 0] + float(self._z[0] @ self._z[0]) - 2.0 * (rows @ self._z[0])
            self._q = (np.maximum(squared, 0.0) / group.unit)[None, :]
        else:
            self._q = block_distances(self._z[None], group.z)[:, 0, :] / group.unit
        self._value = group.radial.profile.value(self._q)
        self.kappa = group.weight * self._value.sum(axis=0)
        self.at_zero = group.weight * len(self._z)

    def pullback(self, d_kappa: FloatArray) -> FloatArray:
        """Chain d/dκ (n,) back to d/dw (C, A)."""
        group = self._group
        slopes = group.radial.profile.slope(self._q, self._value)  # (B, n)
        d_squared = (group.weight / group.unit) * d_kappa * slopes
        d_z = np.stack(
            [
                2.0 * (float(per_row.sum()) * here - per_row @ group.z[:, block, :])
                for block, (per_row, here) in enumerate(zip(d_squared, self._z, strict=True))
            ]
        )
        return group.radial.embedding.pullback(self._shares, d_z)


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
        found: list[Group] = [
            StaticGroup(self._static_part(indices, features, weighted=True)) for indices in self._channels.values()
        ]
        for index in self._radials:
            term = self._kernel.terms[index]
            if term.radial is None:
                continue
            z = embeddings(term.radial.embedding)
            static = None if term.feature is None else self._static_part([index], features, weighted=False)
            norms = (z * z).sum(axis=-1)
            found.append(RadialGroup(term.radial, float(self._weights[index]), self._lengths[index], z, norms, static))
        return tuple(found)

    def _static_part(
        self, indices: Sequence[int], features: Callable[[Feature], FloatArray], *, weighted: bool
    ) -> StaticPart:
        feature = self._kernel.terms[indices[0]].feature
        if feature is None:
            raise AssertionError("a static part needs a feature")  # callers pass channel indices only
        phi = features(feature)
        shape = (phi.shape[1], phi.shape[2])
        actions, contexts = self._summed(tuple(indices), shape, weighted=weighted)
        coupled = coupled_features(phi, actions, contexts).reshape(len(phi), -1)
        return StaticPart(feature, np.ascontiguousarray(coupled), actions, contexts, shape)

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
    static = None
    if first.static is not None and second.static is not None:
        static = replace(first.static, coupled=np.concatenate([first.static.coupled, second.static.coupled]))
    if isinstance(first, RadialGroup) and isinstance(second, RadialGroup):
        z, norms = np.concatenate([first.z, second.z]), np.concatenate([first.norms, second.norms])
        return replace(first, z=z, norms=norms, static=static)
    if static is None:
        raise AssertionError("groups of one kernel come in one order")
    return StaticGroup(static)
