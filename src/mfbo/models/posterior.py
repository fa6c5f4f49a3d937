"""The posterior of f and g for any sum of terms, with closed-form pullbacks, eqs. (7) and (8)."""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import CellMoments, PopulationMoments
from mfbo.models.conditioning import Conditioned, RadialGroup, StaticGroup

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

    def population_means(self, distributions: FloatArray) -> FloatArray:
        """Return the mean of g at m distributions at once: (m, C, A) → (m,)."""
        data = self.data
        shares = data.weights[:, None] * distributions
        cross = np.full((len(distributions), data.count), data.constant)
        for group in data.groups:
            cross += group.cross_many(shares)
        return np.asarray(cross @ data.alpha)


class _PopulationPart:
    """One group's covariance of g(ξ) with the rows (n,), its prior variance, and their pullback to w."""

    def __init__(self, group: StaticGroup | RadialGroup, shares: FloatArray) -> None:
        self.group = group
        self.shares = shares
        self.feature = None if group.static is None else group.static.feature.at(shares)
        self.static = 1.0 if group.static is None else group.static.coupled @ self._phi
        self.coupled = None if group.static is None else group.static.apply(self._phi)
        self.radial = None if isinstance(group, StaticGroup) else group.at(shares)
        kappa = 1.0 if self.radial is None else self.radial.kappa
        self.cross = self.static * kappa
        self.static_prior = 1.0 if self.coupled is None else float(self.coupled @ self._phi)
        self.prior = self.static_prior * (1.0 if self.radial is None else self.radial.at_zero)

    @property
    def _phi(self) -> FloatArray:
        if self.feature is None:
            raise AssertionError("a group without a feature has no φ")  # guarded by group.static above
        return self.feature.ravel()

    def pullback(self, d_cross: FloatArray, d_prior: float) -> FloatArray:
        total = np.zeros_like(self.shares)
        static, radial = self.group.static, self.radial
        if static is not None and self.coupled is not None and self.feature is not None:
            at_zero = 1.0 if radial is None else radial.at_zero
            d_static = d_cross if radial is None else d_cross * radial.kappa
            d_phi = d_static @ static.coupled + (2.0 * d_prior * at_zero) * self.coupled
            total += static.feature.pullback(self.shares, d_phi.reshape(self.feature.shape))
        if radial is not None:
            total += radial.pullback(d_cross * self.static)
        return total


class _CellPart:
    """One group's covariance of every cell's f with the rows (n, C, A), its prior (C, A), and their pullback to w."""

    def __init__(self, group: StaticGroup | RadialGroup, shares: FloatArray) -> None:
        self.group = group
        self.shares = shares
        self.radial = None if isinstance(group, StaticGroup) else group.at(shares)
        self.kappa = np.ones(1) if self.radial is None else self.radial.kappa
        self.at_zero = 1.0 if self.radial is None else self.radial.at_zero
        self.static = np.ones((1, 1, 1))
        self.static_prior = np.ones((1, 1))
        if group.static is not None:
            part = group.static
            self.factors = part.feature.factors(shares)
            self.static = self.factors * part.coupled_cube - part.center_cross[:, None, None]
            self.static_prior = (
                self.factors**2 * part.diagonal - 2.0 * self.factors * part.coupled_center + part.center_norm
            )
        self.cross = self.static * self.kappa[:, None, None]
        self.prior = self.static_prior * self.at_zero

    def pullback(self, d_cross: FloatArray, d_prior: FloatArray) -> FloatArray:
        total = np.zeros_like(self.shares)
        if self.group.static is not None:
            part = self.group.static
            through_rows = np.einsum(
                "nca,n,nca->ca",
                d_cross,
                np.broadcast_to(self.kappa, len(d_cross)),
                np.broadcast_to(part.coupled_cube, d_cross.shape),
            )
            through_prior = 2.0 * self.at_zero * d_prior * (self.factors * part.diagonal - part.coupled_center)
            total += part.feature.factors_pullback(self.shares, through_rows + through_prior)
        if self.radial is not None:
            d_kappa = (d_cross * self.static).reshape(len(d_cross), -1).sum(axis=1)
            total += self.radial.pullback(d_kappa)
        return total
