"""One kernel, or one term of it, on one population: what the contract on kernels compares, in messages that name it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import block_diag

from mfbo.arrays import FloatArray
from mfbo.models import GaussianProcess, Kernel, Rows, joined_rows
from mfbo.models.fitting import JITTER, Design
from mfbo.models.gaussian_process import Fit
from mfbo.models.kernel import At, Block, Part, Values
from mfbo.population import Population
from mfbo.testing.agreement import assert_agree, slope_along

NOISE = 1e-2  # variance, in standardized payoffs
DIRECTIONS = 3  # random ones along which a derivative is compared


@dataclass(frozen=True, eq=False)
class KernelCase:
    """A kernel at hyperparameters θ that are not its medians, on told rows. where: what messages call it."""

    where: str
    kernel: Kernel
    population: Population
    theta: FloatArray
    rows: Rows

    @staticmethod
    def of(where: str, kernel: Kernel, population: Population) -> "KernelCase":
        """Draw θ and rows, the same for the same kernel."""
        rng = np.random.default_rng(3)
        theta = np.clip(kernel.start + 0.4 * rng.normal(size=len(kernel.start)), *kernel.bounds.T)
        theta[-1] = np.log(NOISE)
        return KernelCase(where, kernel, population, theta, told_rows(population, np.random.default_rng(4)))

    @cached_property
    def values(self) -> Values:
        """The numbers that θ stands for."""
        return self.kernel.values(self.theta)

    @cached_property
    def gram(self) -> FloatArray:
        """K of the told rows, (n, n)."""
        return self.covariance(self.rows)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The kernel's parts on the told rows."""
        columns = self._design(self.rows).columns
        return tuple(summand.conditioned(self.values, columns) for summand in self.kernel.summands)

    @cached_property
    def candidates(self) -> FloatArray:
        """Joint shares of four distributions that no row has, (4, C, A)."""
        return _drawn_shares(self.population, np.random.default_rng(11), 4)

    def covariance(self, rows: Rows, theta: FloatArray | None = None) -> FloatArray:
        """Return K of any rows, by the Gram matrices that a fit sees."""
        values = self.values if theta is None else self.kernel.values(theta)
        lower = self._design(rows).gram(values)
        return np.asarray(lower + np.tril(lower, -1).T)

    def assert_agree(self, found: object, expected: object, what: str, tolerance: float = 1e-7) -> None:
        """Compare two arrays; ``what``: the thing that was computed."""
        assert_agree(found, expected, f"{self.where}: {what}", tolerance)

    def assert_symmetric(self) -> None:
        """K of two rows is the same in either order."""
        backwards = self.covariance(_chosen(self.rows, slice(None, None, -1)))[::-1, ::-1]
        self.assert_agree(backwards, self.gram, "the Gram matrix is not symmetric")

    def assert_positive(self) -> None:
        """No combination of rows has a negative variance."""
        least, largest = np.linalg.eigvalsh(self.gram)[[0, -1]]
        assert least >= -1e-9 * max(largest, 1.0), (
            f"{self.where}: the Gram matrix is not positive semi-definite, its eigenvalues go from {least:.3g} to "
            f"{largest:.3g}"
        )

    def assert_growing(self) -> None:
        """Rows told round by round make the same Gram matrix and the same parts."""
        design = Design(self.kernel)
        for start in range(0, len(self.rows), 3):
            design.append(_chosen(self.rows, slice(start, start + 3)))
        self.assert_agree(design.gram(self.values), np.tril(self.gram), "the Gram matrix of rows told one by one")
        halves = [self._design(_chosen(self.rows, half)).columns for half in (slice(0, 5), slice(5, None))]
        for part in self.parts:
            first, later = (part.on(columns) for columns in halves)
            joined = first.joined(later).cross_many(self.candidates)
            self.assert_agree(joined, part.cross_many(self.candidates), "a part whose rows were joined")

    def assert_length_slopes(self) -> None:
        """The derivatives of the Gram matrix in the logarithm of every length."""
        pull = np.tril(np.random.default_rng(12).normal(size=self.gram.shape))
        slopes = self._design(self.rows).unit_grams(self.values.lengths)[1]
        for order, place in enumerate(self.kernel.moving):
            found = float(self.values.weights[place] * (pull[np.tril_indices(len(pull))] @ slopes[order]))
            direction = np.eye(len(self.theta))[len(self.kernel.terms) + order]
            expected = slope_along(
                lambda theta: float((pull * self.covariance(self.rows, theta)).sum()), self.theta, direction, 1e-3
            )
            self.assert_agree(found, expected, "the Gram matrix's derivative in the logarithm of a length", 1e-6)

    def assert_cross_covariances(self) -> None:
        """Of the population payoff with the rows, at many candidates and at one; and its variance."""
        told, w = len(self.rows), self.candidates
        whole = self.covariance(joined_rows([self.rows, rows_of(w, w)]))
        many = sum((part.cross_many(w) for part in self.parts), np.zeros((len(w), told)))
        self.assert_agree(many, whole[told:, :told], "cross_many differs from the Gram matrix")
        found = [part.at(w[0]) for part in self.parts]
        cross = sum((at.cross for at in found), np.zeros(told))
        self.assert_agree(cross, whole[told, :told], "the cross-covariances of at differ from the Gram matrix")
        self.assert_agree(sum(at.prior for at in found), whole[told, told], "the variance of at differs")

    def assert_cells(self) -> None:
        """Of single agents' payoffs with the rows, in every cell; and their variances."""
        told, w = len(self.rows), self.candidates[0]
        whole = self.covariance(joined_rows([self.rows, _every_cell(w)]))
        found = [part.cells_at(w) for part in self.parts]
        cross = sum((at.cross for at in found), np.zeros((told, *w.shape))).reshape(told, -1)
        self.assert_agree(cross, whole[:told, told:], "the cross-covariances of cells_at differ from the Gram matrix")
        prior = sum((at.prior for at in found), np.zeros(w.shape)).ravel()
        self.assert_agree(prior, np.diag(whole)[told:], "the variances of cells_at differ from the Gram matrix")

    def assert_changes(self) -> None:
        """The variance of g(ξ′) − g(ξ)."""
        w = self.candidates
        found = np.zeros(len(w))
        for part in self.parts:
            found += part.prior_of_changes(w[:1], w)
        self.assert_agree(found, _changes(self.covariance(rows_of(w, w))), "prior_of_changes differs")
        assert abs(found[0]) <= 1e-14, f"{self.where}: a change by nothing has the variance {found[0]:.3g}, not 0"

    def assert_pullbacks(self) -> None:
        """Of at and cells_at, against finite differences."""
        rng, w, told = np.random.default_rng(13), self.candidates[0], len(self.rows)
        d_cross, d_prior = rng.normal(size=told), float(rng.normal())
        d_cells, d_priors = rng.normal(size=(told, *w.shape)), rng.normal(size=w.shape)

        def of_population(w: FloatArray) -> float:
            return sum(float((d_cross * at.cross).sum() + d_prior * at.prior) for at in self._at(w))

        def of_cells(w: FloatArray) -> float:
            found = [part.cells_at(w) for part in self.parts]
            return sum(float((d_cells * at.cross).sum() + (d_priors * at.prior).sum()) for at in found)

        pulled = sum((at.pullback(d_cross, d_prior) for at in self._at(w)), np.zeros(w.shape))
        self._assert_slopes(of_population, pulled, w, "the pullback of at")
        pulled = sum((part.cells_at(w).pullback(d_cells, d_priors) for part in self.parts), np.zeros(w.shape))
        self._assert_slopes(of_cells, pulled, w, "the pullback of cells_at")

    def assert_predictions(self) -> None:
        """What a process believes, by a dense solution of the normal equations."""
        process = GaussianProcess(self.kernel)
        process.append(self.rows)
        process.adopt(Fit(self.theta, 0.0, 1.0))
        posterior, told, w = process.posterior(), len(self.rows), self.candidates[0]
        whole = self.covariance(joined_rows([self.rows, rows_of(w[None], w[None]), _every_cell(w)]))
        noise = np.diag(NOISE * self.rows.noise_scale + JITTER)
        gain = np.linalg.solve(whole[:told, :told] + noise, whole[:told, told:])
        variance = np.diag(whole)[told:] - (whole[told:, :told] * gain.T).sum(axis=1)
        xi = w / self.population.weights[:, None]
        system, cells = posterior.population(xi), posterior.cells(xi)
        means = [system.mean, *cells.mean.ravel()]
        self.assert_agree(means, gain.T @ self.rows.values, "the posterior mean", 1e-6)
        self.assert_agree([system.variance, *cells.variance.ravel()], variance, "the posterior variance", 1e-6)

    def assert_finite_features(self) -> None:
        """They have no more variance than the kernel, and lack what they say."""
        for features in self._finite():
            phi = features.of_rows(self.rows)
            left = self.gram - phi @ phi.T
            least = float(np.linalg.eigvalsh(left)[0])
            assert least >= -1e-6, (
                f"{self.where}: the finite features have more variance than the kernel, by {-least:.3g}"
            )
            lacking = [features.lacking(*pair) for pair in zip(self.rows.omega, self.rows.shares, strict=True)]
            self.assert_agree(lacking, np.diag(left), "what the finite features lack", 1e-6)
            system = rows_of(self.candidates, self.candidates)
            phi = features.of_rows(system)
            expected = _changes(self.covariance(system)) - ((phi - phi[0]) ** 2).sum(axis=1)
            found = features.lacking_of_changes(self.candidates)
            self.assert_agree(found, expected, "what the finite features lack of changes", 1e-6)

    def assert_finite_pullbacks(self) -> None:
        """The features of the population payoff, and what they lack, against finite differences."""
        rng, w = np.random.default_rng(14), self.candidates[-1]
        for block in (block for features in self._finite() for block in features.blocks):
            at, rows = block.at(w, self.values), block.of_rows(w[None], w[None])[0]
            self.assert_agree(at.phi, rows, "the finite features of a candidate differ from those of a row")
            pulled, d_phi, d_lacking = np.zeros(w.shape), rng.normal(size=at.phi.shape), float(rng.normal())
            at.pull(pulled, d_phi, d_lacking)
            summed = _summed(block, self.values, d_phi, d_lacking)
            self._assert_slopes(summed, pulled, w, "the pullback of the finite features")

    def _at(self, w: FloatArray) -> list[At]:
        return [part.at(w) for part in self.parts]

    def _design(self, rows: Rows) -> Design:
        design = Design(self.kernel)
        design.append(rows)
        return design

    def _finite(self) -> Iterator["FiniteFeatures"]:
        """Yield the kernel's finite features, unless it has none."""
        inducing = _drawn_shares(self.population, np.random.default_rng(15), 3)
        try:
            blocks = [summand.block(self.values, inducing) for summand in self.kernel.summands]
        except NotImplementedError:
            return
        yield FiniteFeatures(blocks, self.values)

    def _assert_slopes(
        self, function: Callable[[FloatArray], float], gradient: FloatArray, at: FloatArray, what: str
    ) -> None:
        for direction in np.random.default_rng(16).normal(size=(DIRECTIONS, *at.shape)):
            expected = slope_along(function, at, direction)
            self.assert_agree((gradient * direction).sum(), expected, f"{what} is not the derivative", 1e-5)


@dataclass(frozen=True, eq=False)
class FiniteFeatures:
    """All blocks of a kernel, their features multiplied by the prior's factor: Φ F."""

    blocks: list[Block]
    values: Values

    @cached_property
    def factor(self) -> FloatArray:
        """F, (D, D)."""
        factors = [pair for block in self.blocks for pair in block.prior_factors(self.values)]
        return np.asarray(block_diag(*(f * np.eye(size) if isinstance(f, float) else f for size, f in factors)))

    def of_rows(self, rows: Rows) -> FloatArray:
        """Return Φ F, (n, D)."""
        phi = np.concatenate([block.of_rows(rows.omega, rows.shares) for block in self.blocks], axis=1)
        return np.asarray(phi @ self.factor)

    def lacking(self, omega: FloatArray, shares: FloatArray) -> float:
        """Return the variance that is lacking of one row, ω and w (C, A)."""
        return sum(float(np.sum(block.lacking(omega[None], shares, self.values))) for block in self.blocks)

    def lacking_of_changes(self, shares: FloatArray) -> FloatArray:
        """Return the variance that is lacking of g(ξ′) − g(ξ), ξ the first of w (m, C, A): (m,)."""
        total = np.zeros(len(shares))
        for block in self.blocks:
            total += block.lacking_of_changes(shares[:1], shares, self.values)
        return total


def told_rows(population: Population, rng: np.random.Generator) -> Rows:
    """Return rows of four rounds: the population payoff and two single agents, one of them a mean of three."""
    parts = []
    for w in _drawn_shares(population, rng, 4):
        cells = np.eye(w.size)[rng.choice(w.size, 2, replace=False)].reshape(2, *w.shape)
        omega = np.concatenate([w[None], cells])
        scales = np.array([1.0, 1.0, 1.0 / 3.0])
        parts.append(Rows(omega, np.broadcast_to(w, omega.shape), np.round(rng.normal(size=3), 3), scales))
    return joined_rows(parts)


def rows_of(omega: FloatArray, shares: FloatArray) -> Rows:
    """Return rows without payoffs: ω, w (n, C, A)."""
    return Rows(omega, shares, np.zeros(len(omega)), np.ones(len(omega)))


def _every_cell(shares: FloatArray) -> Rows:
    """Return a row for every cell at one distribution, w (C, A)."""
    omega = np.eye(shares.size).reshape(-1, *shares.shape)
    return rows_of(omega, np.broadcast_to(shares, omega.shape))


def _drawn_shares(population: Population, rng: np.random.Generator, count: int) -> FloatArray:
    """Return joint shares away from the faces, (count, C, A)."""
    contexts, actions = population.shape
    drawn = 0.9 * rng.dirichlet(np.full(actions, 3.0), size=(count, contexts)) + 0.1 / actions
    return np.asarray(population.weights[:, None] * drawn)


def _chosen(rows: Rows, chosen: slice) -> Rows:
    return Rows(rows.omega[chosen], rows.shares[chosen], rows.values[chosen], rows.noise_scale[chosen])


def _changes(covariance: FloatArray) -> FloatArray:
    """Return the variance of each minus the first, (m,)."""
    return np.asarray(np.diag(covariance) + covariance[0, 0] - 2.0 * covariance[0])


def _summed(block: Block, values: Values, d_phi: FloatArray, d_lacking: float) -> Callable[[FloatArray], float]:
    def summed(w: FloatArray) -> float:
        at = block.at(w, values)
        return float(d_phi @ at.phi) + d_lacking * at.lacking

    return summed
