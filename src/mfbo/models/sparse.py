"""The process for many rows: Bayesian linear regression in a finite basis, at a cost per round free of the rounds.

Channels are finite-dimensional, so for them this is the exact posterior at any number of rows; stationary terms are
approximated by Nyström features (``stationary.Nystrom``), eq. (31). All data enter through sums over rows,
Σφφᵀ÷s, Σφy÷s, Σφ÷s. Hyperparameters are fitted exactly on a few hundred rows, half of them the newest.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.errors import NumericalError
from mfbo.interfaces import CellMoments, PopulationMoments, Posterior
from mfbo.models.basis import Basis, PriorFactor
from mfbo.models.cholesky import factorized, lower_inverse
from mfbo.models.fitting import Design, MarginalLikelihood, fitted
from mfbo.models.gaussian_process import Fit
from mfbo.models.kernel import Kernel, Values
from mfbo.models.posterior import VARIANCE_FLOOR
from mfbo.models.rows import Rows, joined_rows
from mfbo.models.unit import in_unit, standardization

FITTED_ROWS = 250
SMALLEST_NOISE = 1e-6  # in standardized payoffs; a smaller one would make the regression ill-conditioned
MOST_INDUCING = 64


@dataclass(frozen=True, eq=False)
class CompactRows:
    """The rows of one round without their ω: the cell of a one-hot row, −1 for a system row, all at one w (C, A).

    situation: of the round, (V + 1,), if rows have any.
    """

    cells: IntArray
    shares: FloatArray
    values: FloatArray
    noise_scale: FloatArray
    situation: FloatArray | None = None

    @staticmethod
    def of(rows: Rows) -> "CompactRows":
        """Compress the rows of one round."""
        flat = rows.omega.reshape(len(rows), -1)
        one_hot = (flat == 1.0).any(axis=1)
        cells = np.where(one_hot, flat.argmax(axis=1), -1).astype(np.int64)
        situation = None if rows.situations is None else rows.situations[0]
        return CompactRows(cells, np.array(rows.shares[0]), rows.values, rows.noise_scale, situation)

    def expanded(self, chosen: IntArray | None = None) -> Rows:
        """Return all rows, or the chosen ones, with their ω."""
        cells = self.cells if chosen is None else self.cells[chosen]
        values = self.values if chosen is None else self.values[chosen]
        scale = self.noise_scale if chosen is None else self.noise_scale[chosen]
        shares = np.broadcast_to(self.shares, (len(cells), *self.shares.shape))
        omega = np.zeros((len(cells), self.shares.size))
        one_hot = cells >= 0
        omega[np.flatnonzero(one_hot), cells[one_hot]] = 1.0
        omega[~one_hot] = self.shares.ravel()
        situations = None if self.situation is None else np.tile(self.situation, (len(cells), 1))
        return Rows(omega.reshape(shares.shape), shares, values, scale, situations)


class SparseProcess:
    """Stands for ``GaussianProcess`` beyond the row budget: same calls, bounded cost, equal history → equal bits."""

    def __init__(self, kernel: Kernel, noise: float | None = None) -> None:
        """Start without rows; ``noise`` is the known standard deviation of one payoff, or None to fit it."""
        self.kernel = kernel
        self.noise = noise
        self.fit: Fit | None = None
        self._rounds: list[CompactRows] = []
        self._basis: Basis | None = None
        self._inducing = 0
        self._included = 0
        self._moment = np.zeros((0, 0))
        self._by_value = np.zeros(0)
        self._by_one = np.zeros(0)

    def append(self, rows: Rows) -> None:
        """Add the rows of one round."""
        self._rounds.append(CompactRows.of(rows))

    def refit(
        self,
        start: FloatArray | None,
        iterations: int,
        memory: float | None = None,
        further: tuple[str, ...] = (),
        warped: FloatArray | None = None,
    ) -> Fit:
        """Standardize all payoffs anew and fit the hyperparameters on some rows; lengths stay as in ``start``.

        memory, further, warped: of the fit before, which end here: a basis knows no time, and has no further terms.
        """
        values = np.concatenate([compact.values for compact in self._rounds])
        shift, scale = standardization(values, robust=self.kernel.robust, level=self.kernel.level)
        theta = self.kernel.start if start is None else start
        design = Design(_with_fixed_lengths(self.kernel, theta))
        design.append(joined_rows(self._chosen_rows()))
        noise = None if self.noise is None else (self.noise / scale) ** 2
        objective = MarginalLikelihood(design, in_unit(design.values, shift, scale), noise)
        theta = fitted(objective, theta, iterations)
        return self.adopt(Fit(theta, shift, scale))

    def adopt(self, fit: Fit) -> Fit:
        """Take these hyperparameters as they are."""
        if self.fit is not None and not np.array_equal(_lengths(self.kernel, self.fit), _lengths(self.kernel, fit)):
            self._basis = None
        self.fit = fit
        return fit

    @property
    def noise_variance(self) -> float:
        """Variance of the noise on one standardized payoff, fitted or known, but at least ``SMALLEST_NOISE``."""
        fit = self._fit()
        noise = self.kernel.values(fit.theta).noise if self.noise is None else (self.noise / fit.scale) ** 2
        return max(noise, SMALLEST_NOISE)

    def posterior(self, pending: FloatArray | None = None) -> Posterior:
        """Return the posterior in standardized payoffs; ``pending`` as in ``GaussianProcess.posterior``."""
        fit = self._fit()
        values = self.kernel.values(fit.theta)
        basis = self._summed_up(values)
        noise = self.noise_variance
        prior = PriorFactor(basis, values)
        inner = prior.both_sides(self._moment) / noise
        inner.flat[:: len(inner) + 1] += 1.0
        root = prior.left(lower_inverse(factorized(inner)).T)  # F A^-½
        covariance = root @ root.T
        by_target = (self._by_value - fit.shift * self._by_one) / fit.scale
        coefficients = covariance @ by_target / noise
        for shares in np.empty((0, 0)) if pending is None else pending:
            phi = basis.at(shares, values).phi
            along = covariance @ phi
            covariance = covariance - np.outer(along, along) / (noise + float(phi @ along))
        return BasisPosterior(basis, coefficients, covariance, values, self.kernel.weights)

    def _fit(self) -> Fit:
        if self.fit is None:
            raise AssertionError("refit or adopt comes before the posterior")  # strategies fit before they ask
        return self.fit

    def _summed_up(self, values: Values) -> Basis:
        """Bring the sums up to date; the basis is renewed at 1, 2, 4 … 64 rounds and then stays."""
        wanted = min(1 << (len(self._rounds).bit_length() - 1), MOST_INDUCING)
        if self._basis is None or self._inducing != wanted:
            inducing = np.stack([compact.shares for compact in self._rounds[:wanted]])
            self._basis = Basis(self.kernel, values, inducing)
            self._inducing, self._included = wanted, 0
            self._moment = np.zeros((self._basis.size, self._basis.size))
            self._by_value = np.zeros(self._basis.size)
            self._by_one = np.zeros(self._basis.size)
        for compact in self._rounds[self._included :]:
            rows = compact.expanded()
            phi = self._basis.of_rows(rows.omega, rows.shares)
            scaled = phi / rows.noise_scale[:, None]
            self._moment += scaled.T @ phi
            self._by_value += rows.values @ scaled
            self._by_one += scaled.sum(axis=0)
        self._included = len(self._rounds)
        return self._basis

    def _chosen_rows(self) -> list[Rows]:
        """Return at most ``FITTED_ROWS`` rows: half from the newest rounds, half from all before."""
        counts = np.array([len(compact.values) for compact in self._rounds])
        ends = np.cumsum(counts)
        total = int(ends[-1])
        rng = np.random.default_rng(total)
        newest = np.arange(max(total - 2 * FITTED_ROWS, 0), total)
        recent = rng.choice(newest, min(FITTED_ROWS // 2, len(newest)), replace=False)
        rest = np.setdiff1d(np.arange(total), recent)
        older = rng.choice(rest, min(FITTED_ROWS - len(recent), len(rest)), replace=False)
        chosen = np.sort(np.concatenate([recent, older]))
        owner = np.searchsorted(ends, chosen, side="right")
        return [
            self._rounds[index].expanded(chosen[owner == index] - (ends[index] - counts[index]))
            for index in np.unique(owner)
        ]


@dataclass(frozen=True, eq=False)
class BasisPosterior:
    """Gaussian weights on a finite basis: g = ⟨φ(ξ), θ⟩, θ ~ N(coefficients, covariance).

    coefficients: (D,); covariance: (D, D); values: the hyperparameters; weights: p (C,).
    """

    basis: Basis
    coefficients: FloatArray
    covariance: FloatArray
    values: Values
    weights: FloatArray

    def population(self, distribution: FloatArray) -> PopulationMoments:
        """Return mean and variance of g(ξ)."""
        here = self.basis.at(self.weights[:, None] * distribution, self.values)
        along = self.covariance @ here.phi
        variance = max(float(here.phi @ along) + here.lacking, VARIANCE_FLOOR)

        def pullback(d_mean: float, d_variance: float) -> FloatArray:
            d_phi = d_mean * self.coefficients + (2.0 * d_variance) * along
            return self.weights[:, None] * here.pullback(d_phi, d_variance)

        return PopulationMoments(float(here.phi @ self.coefficients), variance, pullback)

    def cells(self, distribution: FloatArray) -> CellMoments:
        """Return mean and variance of f in every cell, (C, A); without a gradient."""
        shares = self.weights[:, None] * distribution
        every = np.eye(shares.size).reshape(-1, *shares.shape)
        phi = self.basis.of_rows(every, np.broadcast_to(shares, every.shape))
        variance = ((phi @ self.covariance) * phi).sum(axis=1) + self.basis.lacking(every, shares, self.values)
        mean = (phi @ self.coefficients).reshape(shares.shape)
        return CellMoments(mean, np.maximum(variance, VARIANCE_FLOOR).reshape(shares.shape), _no_gradient)

    def population_means(self, distributions: FloatArray) -> FloatArray:
        """Return the mean of g at m distributions at once: (m, C, A) → (m,)."""
        shares = self.weights[:, None] * distributions
        return np.asarray(self.basis.of_rows(shares, shares) @ self.coefficients)

    def changes(self, start: FloatArray, distributions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of g(ξ′) − g(ξ), (m,) each, eq. (33); what the basis lacks is added."""
        here = (self.weights[:, None] * start)[None]
        shares = self.weights[:, None] * distributions
        step = self.basis.of_rows(shares, shares) - self.basis.of_rows(here, here)
        variance = ((step @ self.covariance) * step).sum(axis=1)
        for block in self.basis.blocks:
            variance += block.lacking_of_changes(here, shares, self.values)
        return np.asarray(step @ self.coefficients), np.maximum(variance, 0.0)


def _lengths(kernel: Kernel, fit: Fit) -> FloatArray:
    return fit.theta[len(kernel.terms) : len(kernel.terms) + len(kernel.moving)]


def _with_fixed_lengths(kernel: Kernel, theta: FloatArray) -> Kernel:
    """Return the kernel with every length as in θ and the noise bounded from below."""
    terms: list[Any] = list(kernel.terms)
    for place in kernel.moving:
        at = float(np.log(kernel.values(theta).lengths[place]))
        terms[place] = replace(terms[place], length=replace(terms[place].length, lower=at, upper=at))
    noise = replace(kernel.noise, lower=float(np.log(SMALLEST_NOISE)))
    return replace(kernel, terms=tuple(terms), noise=noise)


def _no_gradient(d_mean: FloatArray, d_variance: FloatArray) -> FloatArray:
    raise NumericalError("beyond the row budget there is no gradient per cell; climb the population payoff instead")
