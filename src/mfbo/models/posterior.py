"""The posterior of f and g for any sum of terms, with closed-form pullbacks, eqs. (7) and (8)."""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import CellMoments, PopulationMoments
from mfbo.models.conditioning import Conditioned, Group, StaticGroup, StaticPart

VARIANCE_FLOOR = 1e-14


@dataclass(frozen=True, eq=False)
class TermPosterior:
    """Posterior under a conditioned kernel; payoffs standardized as at the fit."""

    data: Conditioned

    def population(self, distribution: FloatArray) -> PopulationMoments:
        """Return mean and variance of g(ξ); one evaluation costs O(n² + n A C), whatever the number of cells."""
        data = self.data
        shares = data.weights[:, None] * distribution
        parts = [_PopulationPart(group, shares) for group in data.groups]
        cross = np.full(data.count, data.constant)
        prior = data.constant
        for part in parts:
            cross += part.cross
            prior += part.prior
        whitened = data.inverse @ cross
        mean = float(cross @ data.alpha)
        variance = max(prior - float(whitened @ whitened), VARIANCE_FLOOR)

        def pullback(d_mean: float, d_variance: float) -> FloatArray:
            if variance <= VARIANCE_FLOOR:
                d_variance = 0.0
            d_cross = d_mean * data.alpha - (2.0 * d_variance) * (data.inverse.T @ whitened)
            d_shares = np.zeros_like(shares)
            for part in parts:
                d_shares += part.pullback(d_cross, d_variance)
            return data.weights[:, None] * d_shares

        return PopulationMoments(mean, variance, pullback)

    def cells(self, distribution: FloatArray) -> CellMoments:
        """Return mean and variance of f in every cell, (C, A); costs O(A C n²)."""
        data = self.data
        shape = distribution.shape
        shares = data.weights[:, None] * distribution
        parts = [_CellPart(group, shares) for group in data.groups]
        cross = np.full((data.count, *shape), data.constant)
        prior = np.full(shape, data.constant)
        for part in parts:
            cross += part.cross
            prior += part.prior
        flat = cross.reshape(data.count, -1)
        whitened = data.inverse @ flat
        mean = (data.alpha @ flat).reshape(shape)
        variance = np.maximum(prior - (whitened * whitened).sum(axis=0).reshape(shape), VARIANCE_FLOOR)

        def pullback(d_mean: FloatArray, d_variance: FloatArray) -> FloatArray:
            d_variance = np.where(variance > VARIANCE_FLOOR, d_variance, 0.0)
            d_whitened = whitened * (-2.0 * d_variance.ravel())
            d_cross = (data.alpha[:, None] * d_mean.ravel() + data.inverse.T @ d_whitened).reshape(cross.shape)
            d_shares = np.zeros(shape)
            for part in parts:
                d_shares += part.pullback(d_cross, d_variance)
            return data.weights[:, None] * d_shares

        return CellMoments(mean, variance, pullback)

    def leave_one_out(self) -> tuple[FloatArray, FloatArray]:
        """Return for each row what it says minus what the other rows would expect of it, and that variance, (n,)."""
        precision = np.asarray((self.data.inverse**2).sum(axis=0))  # the diagonal of K⁻¹
        return self.data.alpha / precision, 1.0 / precision

    def population_means(self, distributions: FloatArray) -> FloatArray:
        """Return the mean of g at m distributions at once: (m, C, A) → (m,)."""
        data = self.data
        shares = data.weights[:, None] * distributions
        cross = np.full((len(distributions), data.count), data.constant)
        for group in data.groups:
            cross += group.cross_many(shares)
        return np.asarray(cross @ data.alpha)

    def changes(self, start: FloatArray, distributions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of g(ξ′) − g(ξ), (m,) each, eq. (33); costs O(m n²)."""
        data = self.data
        shares = data.weights[:, None] * distributions
        here = (data.weights[:, None] * start)[None]
        cross = np.zeros((len(distributions), data.count))
        prior = np.zeros(len(distributions))
        for group in data.groups:
            cross += group.cross_many(shares) - group.cross_many(here)
            prior += group.prior_of_changes(here, shares)
        whitened = cross @ data.inverse.T
        return np.asarray(cross @ data.alpha), np.maximum(prior - (whitened * whitened).sum(axis=1), 0.0)


class _PopulationPart:
    """One group's covariance of g(ξ) with the rows (n,), its prior variance, and their pullback to w."""

    def __init__(self, group: Group, shares: FloatArray) -> None:
        self._shares = shares
        self._static = group if isinstance(group, StaticGroup) else group.static
        self._radial = None if isinstance(group, StaticGroup) else group.at(shares)
        self.prior = 1.0 if self._radial is None else self._radial.at_zero
        self._static_cross: FloatArray | float = 1.0
        if self._static is not None:
            phi = self._static.features_at(shares)
            self._coupled = self._static.apply(phi)
            self._static_cross = self._static.coupled @ phi
            self.prior *= float(self._coupled @ phi)
        self.cross = self._static_cross if self._radial is None else self._static_cross * self._radial.kappa

    def pullback(self, d_cross: FloatArray, d_prior: float) -> FloatArray:
        total = np.zeros(self._shares.shape)
        if self._radial is not None:
            total += self._radial.pullback(d_cross * self._static_cross)
        if self._static is not None:
            if self._radial is not None:
                d_cross, d_prior = d_cross * self._radial.kappa, d_prior * self._radial.at_zero
            d_phi = d_cross @ self._static.coupled + (2.0 * d_prior) * self._coupled
            for part in self._static.parts:
                total += part.feature.pullback(self._shares, d_phi[part.columns].reshape(part.shape))
        return total


class _CellPart:
    """One group's covariance of every cell's f with the rows (n, C, A), its prior (C, A), and their pullback to w."""

    def __init__(self, group: Group, shares: FloatArray) -> None:
        self._shares = shares
        self._radial = None if isinstance(group, StaticGroup) else group.at(shares)
        static = group if isinstance(group, StaticGroup) else group.static
        self._channels = [] if static is None else [_CellChannel(static, part, shares) for part in static.parts]
        self._kappa = np.ones((1, 1, 1)) if self._radial is None else self._radial.kappa[:, None, None]
        self._at_zero = 1.0 if self._radial is None else self._radial.at_zero
        self._static_cross = (
            sum((each.cross for each in self._channels), np.zeros(())) if self._channels else np.ones(1)
        )
        static_prior = sum((each.prior for each in self._channels), np.zeros(())) if self._channels else np.ones(1)
        self.cross = self._static_cross * self._kappa
        self.prior = static_prior * self._at_zero

    def pullback(self, d_cross: FloatArray, d_prior: FloatArray) -> FloatArray:
        total = np.zeros(self._shares.shape)
        if self._radial is not None:
            total += self._radial.pullback((d_cross * self._static_cross).sum(axis=(1, 2)))
        d_static, d_static_prior = d_cross * self._kappa, d_prior * self._at_zero
        for each in self._channels:
            total += each.pullback(d_static, d_static_prior)
        return total


class _CellChannel:
    """One static part in every cell: a one-hot row has φ = ψ at its place, minus the center."""

    def __init__(self, group: StaticGroup, part: StaticPart, shares: FloatArray) -> None:
        self._part = part
        self._shares = shares
        self._rows = group.of_rows(part)
        self._factors = part.feature.factors(shares)
        self._diagonal = part.diagonal
        self._coupled_center = part.apply(part.center).reshape(part.shape)
        center_cross = group.coupled[:, part.columns] @ part.center
        center_norm = float(part.center @ self._coupled_center.ravel())
        self.cross = self._factors * self._rows - center_cross[:, None, None]
        self.prior = self._factors**2 * self._diagonal - 2.0 * self._factors * self._coupled_center + center_norm

    def pullback(self, d_cross: FloatArray, d_prior: FloatArray) -> FloatArray:
        through_rows = (d_cross * self._rows).sum(axis=0)
        through_prior = 2.0 * d_prior * (self._factors * self._diagonal - self._coupled_center)
        return self._part.feature.factors_pullback(self._shares, through_rows + through_prior)
