"""Channels: terms scale · ⟨φ, S φ′⟩ of a feature φ and a coupling S over its actions and contexts, eq. (5).

Terms that share a feature are summed, S = Σ v_j S_j, and all features of a kernel stand side by side, so that the
channels together cost one product with one matrix.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError
from mfbo.models.cholesky import factorized
from mfbo.models.couplings import (
    Coupling,
    FixedCoupling,
    Identity,
    LearnedCoupling,
    coupled_features,
    matrix_of,
    weighted_sum,
)
from mfbo.models.features import Feature
from mfbo.models.hyperparameters import Hyperparameter
from mfbo.models.kernel import At, BlockAt, Columns, Role, Source, Summand, Values


@dataclass(frozen=True, eq=False)
class Channel:
    """One term; with a learned coupling it has a length, otherwise none."""

    name: str
    weight: Hyperparameter
    feature: Feature
    coupling: FixedCoupling | LearnedCoupling = field(default_factory=FixedCoupling)
    scale: float = 1.0
    length: Hyperparameter | None = None

    @property
    def role(self) -> Role:
        """A plain feature of actions or of contexts says something of them alone."""
        axis = self.feature.axis
        return axis if axis != "cells" and self.feature.is_plain else "mixed"

    @property
    def sources(self) -> tuple[Source, ...]:
        """The feature."""
        return (self.feature,)

    def pairs(self, columns: Columns, start: int, count: int) -> FloatArray:
        """Return scale · ⟨φ, S φ′⟩, (1, m, n); ones as long as S is to be learned."""
        if self.length is not None:
            return np.ones((1, count - start, count))
        phi = columns[self.feature]
        actions, contexts = self.coupling.at(1.0)
        coupled = coupled_features(phi[start:], actions, contexts).reshape(count - start, -1)
        return np.asarray(self.scale * (coupled @ phi.reshape(count, -1).T))[None]

    def gram(self, pairs: FloatArray, columns: Columns, length: float, start: int) -> tuple[FloatArray, Any]:
        """Return the pairs themselves, or what a learned coupling makes of the features at this length."""
        if not isinstance(self.coupling, LearnedCoupling):
            return pairs[:, 0], 0.0
        phi = columns[self.feature]
        value, slope = self.coupling.gram(phi[start:], phi, length)
        lower = np.tri(len(value), len(phi), start, dtype=bool)
        return self.scale * value[lower], self.scale * slope[lower]

    @classmethod
    def summands(cls, members: Sequence[tuple[int, "Channel"]]) -> Sequence[Summand]:
        """Return all channels as one."""
        shared: dict[int, list[tuple[int, Channel]]] = {}
        for place, channel in members:
            shared.setdefault(id(channel.feature), []).append((place, channel))
        return [Channels(tuple(shared.values()))]


@dataclass(frozen=True, eq=False)
class Channels:
    """The channels of a kernel, those with a common feature together, each with its place among the terms."""

    by_feature: tuple[Sequence[tuple[int, Channel]], ...]

    def conditioned(self, values: Values, columns: Columns) -> "ChannelsPart":
        """Return the part of an exact posterior."""
        features: list[CoupledFeature] = []
        for members in self.by_feature:
            feature = members[0][1].feature
            rows, count = columns[feature].shape[1:]
            actions, contexts = _summed(members, values, count)
            start = features[-1].columns.stop if features else 0
            features.append(
                CoupledFeature(feature, actions, contexts, (rows, count), slice(start, start + rows * count))
            )
        return ChannelsPart(tuple(features), np.empty(0)).on(columns)

    def block(self, values: Values, inducing: FloatArray) -> "ChannelsBlock":
        """Return the features themselves: they are finite."""
        shapes = tuple(members[0][1].feature.at(inducing[0])[0].shape for members in self.by_feature)
        return ChannelsBlock(self.by_feature, shapes)


def _summed(members: Sequence[tuple[int, Channel]], values: Values, count: int) -> tuple[Coupling, Coupling]:
    """Return Σ v_j S_j as couplings over ``count`` actions and over contexts.

    The sum of several products S_c ⊗ S_a is one product only if one side is the same for all; every kernel here sums
    over one side alone.
    """
    weighted: list[tuple[float, Coupling]] = []
    for place, channel in members:
        actions, contexts = channel.coupling.at(float(values.lengths[place]))
        if len(members) > 1 and not isinstance(contexts, Identity):
            raise InvalidInputError(
                f"channel {channel.name!r} couples contexts and shares its feature with another channel;"
                " give each of them a Feature of its own"
            )
        weighted.append((channel.scale * float(values.weights[place]), actions))
    return weighted_sum(weighted, count), contexts


@dataclass(frozen=True, eq=False)
class CoupledFeature:
    """A feature with S as couplings. shape: (R, K) of the feature. columns: where it stands among all features."""

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

    def cells_at(self, shares: FloatArray, coupled: FloatArray) -> At:
        """Return the covariances of f in every cell: a one-hot row has φ = ψ at its place, minus the center.

        coupled: S φ of every row, (n, R·K).
        """
        rows = coupled.reshape(-1, *self.shape)
        factors, diagonal = self.feature.factors(shares), self.diagonal
        center = np.broadcast_to(self.feature.center, self.shape).ravel()
        coupled_center = self.apply(center).reshape(self.shape)
        cross = factors * rows - (coupled @ center)[:, None, None]
        prior = factors**2 * diagonal - 2.0 * factors * coupled_center + float(center @ coupled_center.ravel())

        def pullback(d_cross: FloatArray, d_prior: FloatArray) -> FloatArray:
            through_rows = (d_cross * rows).sum(axis=0)
            through_prior = 2.0 * d_prior * (factors * diagonal - coupled_center)
            return self.feature.factors_pullback(shares, through_rows + through_prior)

        return At(cross, prior, pullback)


@dataclass(frozen=True, eq=False)
class ChannelsPart:
    """All channels on rows. coupled: S φ of every row, all features in a row, (n, Σ R·K)."""

    features: tuple[CoupledFeature, ...]
    coupled: FloatArray
    role: Role = "mixed"

    def on(self, columns: Columns) -> "ChannelsPart":
        """Couple the features of other rows."""
        pieces: list[FloatArray] = []
        for coupled in self.features:
            phi = columns[coupled.feature]
            pieces.append(coupled.apply(phi.reshape(len(phi), -1)))
        return replace(self, coupled=np.concatenate(pieces, axis=-1))

    def joined(self, later: "ChannelsPart") -> "ChannelsPart":
        """Put later rows below."""
        return replace(self, coupled=np.concatenate([self.coupled, later.coupled]))

    def at(self, shares: FloatArray) -> At:
        """Return the covariances of g at one candidate: one product for all features."""
        slopes = []
        phi = np.empty(self.features[-1].columns.stop)
        here = np.empty_like(phi)
        for coupled in self.features:
            values, slope = coupled.feature.at(shares)
            slopes.append(slope)
            phi[coupled.columns] = values.ravel()
            here[coupled.columns] = coupled_features(values, coupled.actions, coupled.contexts).ravel()

        def pullback(d_cross: FloatArray, d_prior: float) -> FloatArray:
            d_phi = d_cross @ self.coupled + (2.0 * d_prior) * here
            total = np.zeros(shares.shape)
            for coupled, slope in zip(self.features, slopes, strict=True):
                total += d_phi[coupled.columns].reshape(coupled.shape) * slope
            return total

        return At(self.coupled @ phi, float(here @ phi), pullback)

    def cells_at(self, shares: FloatArray) -> At:
        """Return the covariances of f in every cell, summed over the features."""
        found = [feature.cells_at(shares, self.coupled[:, feature.columns]) for feature in self.features]
        cross, prior = found[0].cross, found[0].prior
        for at in found[1:]:
            cross, prior = cross + at.cross, prior + at.prior

        def pullback(d_cross: FloatArray, d_prior: FloatArray) -> FloatArray:
            total = np.zeros(shares.shape)
            for at in found:
                total += at.pullback(d_cross, d_prior)
            return total

        return At(cross, prior, pullback)

    def own(self) -> Sequence[tuple[FloatArray, FloatArray]]:
        """Return S φ of the rows and the diagonal of S, feature by feature: plain features do not move with ξ."""
        return [
            (self.coupled[:, feature.columns].reshape(-1, *feature.shape), feature.diagonal)
            for feature in self.features
        ]

    def cross_many(self, shares: FloatArray) -> FloatArray:
        """Return the covariances of g at m distributions with the rows: w (m, C, A) → (m, n)."""
        return np.asarray(self.features_of(shares) @ self.coupled.T)

    def prior_of_changes(self, start: FloatArray, shares: FloatArray) -> FloatArray:
        """Return ⟨Δφ, S Δφ⟩: w (1, C, A) of ξ, w (m, C, A) of ξ′ → (m,)."""
        step = self.features_of(shares) - self.features_of(start)
        return np.asarray((step * self.apply(step)).sum(axis=1))

    def features_of(self, shares: FloatArray) -> FloatArray:
        """Return φ of g at m distributions, all features in a row: w (m, C, A) → (m, Σ R·K)."""
        phi = np.empty((len(shares), self.features[-1].columns.stop))
        for coupled in self.features:
            phi[:, coupled.columns] = coupled.feature.of_rows(shares, shares).reshape(len(shares), -1)
        return phi

    def apply(self, phi: FloatArray) -> FloatArray:
        """Return S φ for all features: (m, Σ R·K) → (m, Σ R·K)."""
        return np.concatenate([coupled.apply(phi[:, coupled.columns]) for coupled in self.features], axis=1)


@dataclass(frozen=True, eq=False)
class ChannelsBlock:
    """The features of all channels as a basis, exact; shapes: (R, K) of each."""

    by_feature: tuple[Sequence[tuple[int, Channel]], ...]
    shapes: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """Number of features, Σ R·K."""
        return sum(rows * count for rows, count in self.shapes)

    def prior_factors(self, values: Values) -> Sequence[tuple[int, FloatArray | float]]:
        """Return a factor of S = Σ v_j S_j for every feature: one per context, or one for all if they are coupled."""
        factors: list[tuple[int, FloatArray | float]] = []
        for members, (rows, count) in zip(self.by_feature, self.shapes, strict=True):
            actions, contexts = _summed(members, values, count)
            factor = factorized(matrix_of(actions, count))
            if isinstance(contexts, Identity):
                factors += [(count, factor)] * rows
            else:
                of_contexts = factorized(matrix_of(contexts, rows))
                factors.append((rows * count, np.kron(of_contexts, factor).astype(float)))
        return factors

    def of_rows(self, omega: FloatArray, shares: FloatArray) -> FloatArray:
        """Return the features of rows: ω, w (n, C, A) → (n, D)."""
        found = [members[0][1].feature.of_rows(omega, shares) for members in self.by_feature]
        return np.concatenate([phi.reshape(len(omega), -1) for phi in found], axis=1)

    def at(self, shares: FloatArray, values: Values) -> BlockAt:
        """Return the features of g at one candidate."""
        found = [members[0][1].feature.at(shares) for members in self.by_feature]

        def pull(total: FloatArray, d_phi: FloatArray, d_lacking: float) -> None:
            start = 0
            for phi, slope in found:
                total += d_phi[start : start + phi.size].reshape(phi.shape) * slope
                start += phi.size

        return BlockAt(np.concatenate([phi.ravel() for phi, _ in found]), 0.0, pull)

    def lacking(self, omega: FloatArray, shares: FloatArray, values: Values) -> float:
        """Return 0: the features are exact."""
        return 0.0

    def lacking_of_changes(self, start: FloatArray, shares: FloatArray, values: Values) -> float:
        """Return 0: the features are exact."""
        return 0.0
