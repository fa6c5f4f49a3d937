"""The posterior of f and g for any sum of terms, with closed-form pullbacks, eqs. (7) and (8)."""

from dataclasses import dataclass, replace

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import CellMoments, PopulationMoments, Posterior
from mfbo.models.kernel import Part
from mfbo.models.situation_kernel import Likeness

VARIANCE_FLOOR = 1e-14


@dataclass(frozen=True, eq=False)
class Conditioned:
    """All that a posterior needs: the parts of the kernel on n rows, K⁻¹ y, L⁻¹, p.

    alpha: (n,); inverse: L⁻¹ (n, n); weights: p (C,). level: in a kernel with situations, what is believed of that of
    the candidates; then column i of ``alpha`` and ``inverse`` is multiplied by how alike row i is to it. all_rows:
    whether these are all rows that were told; if not, ``inverse`` stands for them and is not L⁻¹.
    """

    parts: tuple[Part, ...]
    alpha: FloatArray
    inverse: FloatArray
    weights: FloatArray
    level: "SituationLevel | None" = None
    all_rows: bool = True

    @property
    def count(self) -> int:
        """Number of rows, n."""
        return len(self.alpha)

    def in_situation(self, likeness: Likeness, level_variance: float) -> "Conditioned":
        """Return the same for candidates in one situation; likeness: of the rows to it, (n,).

        level_variance: of the level, before any row is known; averaged over what is unknown of the situation, since
        plans are judged on all such days and not on one of them.
        """
        covariance = likeness.level
        level = SituationLevel(
            self.inverse @ covariance, float(covariance @ self.alpha), level_variance, self.alpha, self.inverse
        )
        factor = likeness.factor
        return replace(self, alpha=factor * self.alpha, inverse=self.inverse * factor[None, :], level=level)


@dataclass(frozen=True, eq=False)
class SituationLevel:
    """The level of the situation in which candidates are judged: ℓ, its covariances with the rows.

    whitened: L⁻¹ ℓ (n,). mean: ⟨ℓ, K⁻¹ y⟩. prior: its prior variance. row_alpha, row_inverse: K⁻¹ y and L⁻¹ of the rows
    as they are, each in its own situation.
    """

    whitened: FloatArray
    mean: float
    prior: float
    row_alpha: FloatArray
    row_inverse: FloatArray


@dataclass(frozen=True, eq=False)
class TermPosterior:
    """Posterior under a conditioned kernel; payoffs standardized as at the fit."""

    data: Conditioned

    def population(self, distribution: FloatArray) -> PopulationMoments:
        """Return mean and variance of g(ξ); one evaluation costs O(n² + n A C), whatever the number of cells."""
        data = self.data
        shares = data.weights[:, None] * distribution
        candidates = []
        cross = np.zeros(len(data.alpha))
        prior = 0.0
        for part in data.parts:
            candidates.append(part.at(shares))
            cross += candidates[-1].cross
            prior += candidates[-1].prior
        whitened = data.inverse @ cross
        mean = float(cross @ data.alpha)
        if data.level is not None:
            whitened, mean, prior = whitened + data.level.whitened, mean + data.level.mean, prior + data.level.prior
        variance = max(prior - float(whitened @ whitened), VARIANCE_FLOOR)

        def pullback(d_mean: float, d_variance: float) -> FloatArray:
            if variance <= VARIANCE_FLOOR:
                d_variance = 0.0
            d_cross = d_mean * data.alpha - (2.0 * d_variance) * (data.inverse.T @ whitened)
            d_shares = np.zeros_like(shares)
            for candidate in candidates:
                d_shares += candidate.pullback(d_cross, d_variance)
            return data.weights[:, None] * d_shares

        return PopulationMoments(mean, variance, pullback)

    def cells(self, distribution: FloatArray) -> CellMoments:
        """Return mean and variance of f in every cell, (C, A); costs O(A C n²)."""
        data = self.data
        shape = distribution.shape
        shares = data.weights[:, None] * distribution
        candidates = [part.cells_at(shares) for part in data.parts]
        cross = np.zeros((data.count, *shape))
        prior = np.zeros(shape)
        for candidate in candidates:
            cross += candidate.cross
            prior += candidate.prior
        flat = cross.reshape(data.count, -1)
        whitened = data.inverse @ flat
        mean = (data.alpha @ flat).reshape(shape)
        if data.level is not None:
            whitened, prior = whitened + data.level.whitened[:, None], prior + data.level.prior
            mean = mean + data.level.mean
        variance = np.maximum(prior - (whitened * whitened).sum(axis=0).reshape(shape), VARIANCE_FLOOR)

        def pullback(d_mean: FloatArray, d_variance: FloatArray) -> FloatArray:
            d_variance = np.where(variance > VARIANCE_FLOOR, d_variance, 0.0)
            d_whitened = whitened * (-2.0 * d_variance.ravel())
            d_cross = (data.alpha[:, None] * d_mean.ravel() + data.inverse.T @ d_whitened).reshape(cross.shape)
            d_shares = np.zeros(shape)
            for candidate in candidates:
                d_shares += candidate.pullback(d_cross, d_variance)
            return data.weights[:, None] * d_shares

        return CellMoments(mean, variance, pullback)

    def leave_one_out(self) -> tuple[FloatArray, FloatArray] | None:
        """Return for each row what it says minus what the other rows would expect of it, and that variance, (n,).

        None if these are not all rows.
        """
        if not self.data.all_rows:
            return None
        alpha, inverse = self.data.alpha, self.data.inverse
        if self.data.level is not None:
            alpha, inverse = self.data.level.row_alpha, self.data.level.row_inverse
        precision = np.asarray((inverse**2).sum(axis=0))  # the diagonal of K⁻¹
        return alpha / precision, 1.0 / precision

    def population_means(self, distributions: FloatArray) -> FloatArray:
        """Return the mean of g at m distributions at once: (m, C, A) → (m,)."""
        data = self.data
        shares = data.weights[:, None] * distributions
        cross = np.zeros((len(distributions), len(data.alpha)))
        for part in data.parts:
            cross += part.cross_many(shares)
        means = np.asarray(cross @ data.alpha)
        return means if data.level is None else means + data.level.mean

    def changes(self, start: FloatArray, distributions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of g(ξ′) − g(ξ), (m,) each, eq. (33); costs O(m n²)."""
        data = self.data
        shares = data.weights[:, None] * distributions
        here = (data.weights[:, None] * start)[None]
        cross = np.zeros((len(distributions), len(data.alpha)))
        prior = np.zeros(len(distributions))
        for part in data.parts:
            cross += part.cross_many(shares) - part.cross_many(here)
            prior += part.prior_of_changes(here, shares)
        whitened = cross @ data.inverse.T
        return np.asarray(cross @ data.alpha), np.maximum(prior - (whitened * whitened).sum(axis=1), 0.0)


@dataclass(frozen=True, eq=False)
class RescaledPosterior:
    """A posterior in the payoff's own units."""

    standardized: Posterior
    shift: float
    scale: float

    def population(self, distribution: FloatArray) -> PopulationMoments:
        """Return mean and variance of g(ξ)."""
        inner = self.standardized.population(distribution)
        return PopulationMoments(
            self.shift + self.scale * inner.mean,
            self.scale**2 * inner.variance,
            lambda d_mean, d_variance: inner.pullback(self.scale * d_mean, self.scale**2 * d_variance),
        )

    def cells(self, distribution: FloatArray) -> CellMoments:
        """Return mean and variance of f in every cell, (C, A)."""
        inner = self.standardized.cells(distribution)
        return CellMoments(
            self.shift + self.scale * inner.mean,
            self.scale**2 * inner.variance,
            lambda d_mean, d_variance: inner.pullback(self.scale * d_mean, self.scale**2 * d_variance),
        )

    def leave_one_out(self) -> tuple[FloatArray, FloatArray] | None:
        """Return errors and variances of predicting each row from the others, (n,); None if the model is sparse."""
        found = getattr(self.standardized, "leave_one_out", lambda: None)()
        if found is None:
            return None
        errors, variances = found
        return self.scale * errors, self.scale**2 * variances

    def population_means(self, distributions: FloatArray) -> FloatArray:
        """Return the mean of g at m distributions, (m,)."""
        return self.shift + self.scale * self.standardized.population_means(distributions)

    def changes(self, start: FloatArray, distributions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of g(ξ′) − g(ξ), (m,) each."""
        mean, variance = self.standardized.changes(start, distributions)
        return self.scale * mean, self.scale**2 * variance
