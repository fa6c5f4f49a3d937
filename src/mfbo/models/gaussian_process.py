"""The Gaussian process over rows: grows round by round, refits on demand, and gives the posterior."""

import logging
from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import CellMoments, PopulationMoments, Posterior
from mfbo.models.additive import AdditivePosterior
from mfbo.models.cholesky import GrowingCholesky
from mfbo.models.conditioning import Conditioned, Conditioner, Group, joined
from mfbo.models.design import Design, packed_positions
from mfbo.models.fitting import JITTER, fitted
from mfbo.models.kernel import Kernel
from mfbo.models.posterior import TermPosterior
from mfbo.models.rows import Rows, system_rows

logger = logging.getLogger(__name__)

GRID_DIGITS = 10  # of standardized payoffs, which the jitter leaves uncertain by 1e-5
FEWEST_ROBUST = 4  # payoffs from which quartiles mean something
NORMAL_QUARTILES = 1.349  # distance of the quartiles of a normal distribution, in standard deviations


@dataclass(frozen=True, eq=False)
class Fit:
    """Hyperparameters with the standardization they belong to: y ↦ (y − shift) / scale."""

    theta: FloatArray
    shift: float
    scale: float

    def standardized(self, values: FloatArray) -> FloatArray:
        """Return the payoffs in the fit's unit."""
        return in_unit(values, self.shift, self.scale)


class GaussianProcess:
    """Exact GP on linear functionals of f.

    The state is a function of the sequence of ``append`` and ``refit``/``adopt`` calls alone, so that a study resumed
    from its records computes the same bits as an unbroken one.
    """

    def __init__(self, kernel: Kernel, noise: float | None = None) -> None:
        """Start without rows; ``noise`` is the known standard deviation of one payoff, or None to fit it."""
        self.kernel = kernel
        self.noise = noise
        self.design = Design(kernel)
        self.fit: Fit | None = None
        self._conditioner: Conditioner | None = None
        self._groups: tuple[Group, ...] = ()
        self._cholesky: GrowingCholesky | None = None

    def append(self, rows: Rows) -> None:
        """Add the rows of one round; with a fit in place the Cholesky factor grows along."""
        start = self.design.count
        self.design.append(rows)
        if self._cholesky is None or self._conditioner is None or self.fit is None:
            return
        design = self.design
        fresh = self._conditioner.groups(lambda f: design.features(f)[start:], lambda e: design.embeddings(e)[start:])
        self._groups = joined(self._groups, fresh)
        tail = self._covariance(self.fit.theta, start)[start:]
        self._cholesky = self._cholesky.extended(tail[:, :start], tail[:, start:])

    def refit(self, start: FloatArray | None, iterations: int) -> Fit:
        """Standardize all payoffs anew and fit the hyperparameters from ``start`` (prior medians when None)."""
        shift, scale = standardization(self.design.values, robust=self.kernel.robust, level=self.kernel.level)
        targets = in_unit(self.design.values, shift, scale)
        theta = self.kernel.start if start is None else start
        theta = fitted(self.design, targets, self._noise_variance(scale), theta, iterations)
        return self.adopt(Fit(theta, shift, scale))

    def adopt(self, fit: Fit) -> Fit:
        """Take these hyperparameters as they are and factorize from scratch."""
        design = self.design
        self.fit = fit
        self._conditioner = Conditioner(self.kernel, fit.theta)
        self._groups = self._conditioner.groups(design.features, design.embeddings)
        self._cholesky = GrowingCholesky(self._covariance(fit.theta, 0))
        return fit

    def forget_fit(self) -> None:
        """Keep the rows alone, so that rows appended before the next fit grow no factor."""
        self.fit = self._conditioner = self._cholesky = None
        self._groups = ()

    def posterior(self, pending: FloatArray | None = None) -> Posterior:
        """Return the posterior in standardized payoffs.

        pending: shares w (m, C, A) of open plans; each enters as a row whose payoff is the posterior mean, which
        leaves all means as they are and takes the uncertainty away where a result is already on its way.
        """
        cholesky, fit, groups = self._fitted_state()
        alpha = cholesky.solve(fit.standardized(self.design.values))
        if pending is not None and len(pending):
            cholesky, groups = self._with_pending(cholesky, groups, fit, pending)
            alpha = np.concatenate([alpha, np.zeros(len(pending))])
        constant = 0.0 if self._conditioner is None else self._conditioner.constant
        data = Conditioned(groups, alpha, cholesky.inverse, constant, self.kernel.weights)
        return AdditivePosterior.of(data) if self.kernel.additive else TermPosterior(data)

    @property
    def noise_variance(self) -> float:
        """Variance of the noise on one standardized payoff, fitted or known."""
        return self._noise_of(self._fitted_state()[1])

    @property
    def log_determinant_factor(self) -> FloatArray:
        """The diagonal of L, whose logarithms give the realized information gain, (n,)."""
        return np.diag(self._fitted_state()[0].factor)

    def _fitted_state(self) -> tuple[GrowingCholesky, Fit, tuple[Group, ...]]:
        if self._cholesky is None or self.fit is None:
            raise AssertionError("refit or adopt comes before the posterior")  # strategies fit before they ask
        return self._cholesky, self.fit, self._groups

    def _with_pending(
        self, cholesky: GrowingCholesky, groups: tuple[Group, ...], fit: Fit, shares: FloatArray
    ) -> tuple[GrowingCholesky, tuple[Group, ...]]:
        if self._conditioner is None:
            raise AssertionError("a fitted process has a conditioner")
        rows = system_rows(shares, np.zeros(len(shares)))
        fresh = self._conditioner.groups(lambda f: f.of_rows(rows.omega, rows.shares), lambda e: e.of(rows.shares))
        constant = self._conditioner.constant
        cross = constant + sum((group.cross_many(shares) for group in groups), np.zeros(()))
        corner = constant + sum((group.cross_many(shares) for group in fresh), np.zeros(()))
        noise = self._noise_of(fit) + JITTER
        return cholesky.extended(cross, corner + noise * np.eye(len(shares))), joined(groups, fresh)

    def _covariance(self, theta: FloatArray, start: int) -> FloatArray:
        """Return K + noise with the rows from ``start`` on filled in (lower triangle; the new corner in full)."""
        count = self.design.count
        grams, _ = self.design.unit_grams(theta, start)
        covariance = np.zeros((count, count))
        covariance.ravel()[packed_positions(count, start)] = grams @ self.kernel.weight_values(theta)
        fit = self.fit
        noise = self.kernel.noise_value(theta) if fit is None else self._noise_of(fit)
        covariance.flat[:: count + 1] += noise * self.design.noise_scale + JITTER
        corner = covariance[start:, start:]
        covariance[start:, start:] = np.tril(corner) + np.tril(corner, -1).T
        return covariance

    def _noise_of(self, fit: Fit) -> float:
        known = self._noise_variance(fit.scale)
        return self.kernel.noise_value(fit.theta) if known is None else known

    def _noise_variance(self, scale: float) -> float | None:
        return None if self.noise is None else (self.noise / scale) ** 2


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
        if not isinstance(self.standardized, TermPosterior):
            return None
        errors, variances = self.standardized.leave_one_out()
        return self.scale * errors, self.scale**2 * variances

    def population_means(self, distributions: FloatArray) -> FloatArray:
        """Return the mean of g at m distributions, (m,)."""
        return self.shift + self.scale * self.standardized.population_means(distributions)

    def changes(self, start: FloatArray, distributions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of g(ξ′) − g(ξ), (m,) each."""
        mean, variance = self.standardized.changes(start, distributions)
        return self.scale * mean, self.scale**2 * variance


def in_unit(values: FloatArray, shift: float, scale: float) -> FloatArray:
    """Return (values − shift) / scale on a grid far below the jitter: the same in any currency, to the last bit."""
    return np.asarray(np.round((values - shift) / scale, GRID_DIGITS))


def standardization(values: FloatArray, *, robust: bool = False, level: bool = False) -> tuple[float, float]:
    """Return mean and standard deviation; equal payoffs are only shifted.

    robust: return the median, and what the standard deviation would be if all payoffs were spread like their middle
    half (at most the standard deviation, and at least a hundredth of it). level: return the median, and its size where
    that is larger.
    """
    shift = float(values.mean())
    scale = float(values.std())
    if robust and len(values) >= FEWEST_ROBUST:
        lower, median, upper = np.percentile(values, [25.0, 50.0, 75.0])
        shift = float(median)
        scale = min(scale, max(float(upper - lower) / NORMAL_QUARTILES, scale / 100.0))
    if level:
        shift = float(np.median(values))
        scale = max(scale, abs(shift))
    if scale <= 1e-13 * max(abs(shift), 1e-300):
        logger.info("all %d told payoffs are equal: they are shifted, not scaled", len(values))
        return shift, max(abs(shift), 1.0)
    return shift, scale
