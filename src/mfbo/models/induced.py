"""The sparse process of a kernel with situations: all rows speak through a few hundred inducing ones, eq. (39).

A finite basis would need a copy of itself for every kind of day. Here the rows of the process are inducing rows, so its
posteriors are those of the exact one, general or structured, in any situation. What the inducing rows leave open of a
round is its own, independent of other rounds. If all rows are inducing rows, this is the exact process. Hyperparameters
are fitted on the inducing rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.interfaces import Posterior
from mfbo.models.additive import AdditivePosterior
from mfbo.models.cholesky import GrowingCholesky, factorized, lower_inverse
from mfbo.models.fitting import Design, MarginalLikelihood, covariance_of_later, fitted
from mfbo.models.gaussian_process import Fit, joined_parts
from mfbo.models.kernel import Kernel, Part, Source, Values
from mfbo.models.posterior import Conditioned, TermPosterior
from mfbo.models.rows import Rows, joined_rows, spread_and_newest, system_rows
from mfbo.models.situation_kernel import NO_ROUND, Likeness, SituationModel, SituationScale
from mfbo.models.sparse import SMALLEST_NOISE, CompactRows
from mfbo.models.unit import in_unit, standardization

INDUCING, FEWEST_ROUNDS = 350, 35  # rows at a fit, and the rounds that they are taken from at least
MOST_INDUCING = 500  # rows of later rounds become inducing rows as long as there are no more
SUMMED_AT_ONCE = 128  # rows
JITTER = 1e-9  # on the covariance of inducing rows
ROUNDING = 1e-12  # of a matrix between 0 and I


@dataclass(frozen=True, eq=False)
class _Induced:
    """A fit, m inducing rows, and what all rows say of them.

    columns, situations, parts: of the inducing rows. cholesky: L Lᵀ = K_uu (m, m). moment, by_value: ΣVᵀΛ⁻¹V (m, m) and
    ΣVᵀΛ⁻¹y (m,) over all rounds, V = K_fu L⁻ᵀ, Λ what the inducing rows leave open of a round, and its noise.
    """

    fit: Fit
    values: Values
    noise: float
    scale: SituationScale
    columns: dict[Source, FloatArray]
    situations: FloatArray
    parts: tuple[Part, ...]
    cholesky: GrowingCholesky
    moment: FloatArray
    by_value: FloatArray

    @cached_property
    def left(self) -> FloatArray:
        """The variance that is left of the whitened inducing values, (I + ΣVᵀΛ⁻¹V)⁻¹."""
        root = lower_inverse(factorized(np.eye(len(self.moment)) + self.moment))
        return np.asarray(root.T @ root)

    @cached_property
    def alpha(self) -> FloatArray:
        """What the covariances with the inducing rows are multiplied by for the mean, (m,)."""
        return np.asarray(self.cholesky.inverse.T @ (self.left @ self.by_value))

    @cached_property
    def inverse(self) -> FloatArray:
        """A with AᵀA = L⁻ᵀ (I − left) L⁻¹: the variance that is explained of what has covariances k is |A k|²."""
        explained = np.eye(len(self.left)) * (1.0 + ROUNDING) - self.left
        return np.asarray(factorized(explained).T @ self.cholesky.inverse)


class InducedProcess:
    """Stands for ``GaussianProcess`` beyond the row budget if rounds differ: same calls, bounded cost.

    Like there, the state is a function of the sequence of calls alone.
    """

    def __init__(self, kernel: Kernel, noise: float | None = None) -> None:
        """Start without rows; ``noise`` is the known standard deviation of one payoff, or None to fit it."""
        if kernel.situation is None:
            raise AssertionError("without situations SparseProcess takes over")  # the strategy chooses
        self.kernel = kernel
        self.noise = noise
        self._model: SituationModel = kernel.situation
        self._rounds: list[CompactRows] = []
        self._state: _Induced | None = None

    @property
    def fit(self) -> Fit | None:
        """The fit in place."""
        return None if self._state is None else self._state.fit

    def append(self, rows: Rows) -> None:
        """Add the rows of one round; with a fit in place what they say is added to it."""
        self._rounds.append(CompactRows.of(rows))
        if self._state is not None:
            self._state = self._later(self._state, rows)

    def refit(
        self,
        start: FloatArray | None,
        iterations: int,
        memory: float | None = None,
        further: tuple[str, ...] = (),
        warped: FloatArray | None = None,
    ) -> Fit:
        """Standardize all payoffs anew and fit the hyperparameters on the inducing rows.

        memory, further, warped: of no account: situations tell how payoffs change with time, and noisy ones ask for no
        terms and are not warped.
        """
        values = np.concatenate([compact.values for compact in self._rounds])
        shift, scale = standardization(values, robust=self.kernel.robust, level=self.kernel.level)
        noise = replace(self.kernel.noise, lower=float(np.log(SMALLEST_NOISE)))
        design = Design(replace(self.kernel, noise=noise))
        design.append(self._inducing())
        known = None if self.noise is None else (self.noise / scale) ** 2
        objective = MarginalLikelihood(design, in_unit(design.values, shift, scale), known)
        theta = fitted(objective, self.kernel.start if start is None else start, iterations)
        return self.adopt(Fit(theta, shift, scale))

    def adopt(self, fit: Fit) -> Fit:
        """Take these hyperparameters as they are, choose inducing rows anew and sum up all rounds."""
        values = self.kernel.values(fit.theta)
        noise = values.noise if self.noise is None else (self.noise / fit.scale) ** 2
        rows = self._inducing()
        situations = _situations_of(rows)
        columns = {source: source.of_rows(rows.omega, rows.shares) for source in Design(self.kernel).sources}
        parts: tuple[Part, ...] = ()
        for summand in self.kernel.summands:
            parts += (summand.conditioned(values, columns),)
        scale, count = self._model.scale(situations), len(rows)
        covariance = covariance_of_later(self.kernel, values, columns, situations, scale, 0)
        covariance.flat[:: count + 1] += JITTER
        cholesky = GrowingCholesky.of(covariance)
        moment, by_value = np.zeros((count, count)), np.zeros(count)
        noise = max(noise, SMALLEST_NOISE)
        state = _Induced(fit, values, noise, scale, columns, situations, parts, cholesky, moment, by_value)
        for some, owners in self._blocks():
            cross, corner = self._covariances(state, some)
            state = _summed(state, some, cross @ cholesky.inverse.T, np.where(owners[:, None] == owners, corner, 0.0))
        self._state = state
        return fit

    def forget_fit(self) -> None:
        """Keep the rows alone, so that rows appended before the next fit are not summed up."""
        self._state = None

    @property
    def noise_variance(self) -> float:
        """Variance of the noise on one standardized payoff, fitted or known, but at least ``SMALLEST_NOISE``."""
        return self._induced.noise

    def posterior(
        self,
        pending: FloatArray | None = None,
        *,
        situation: FloatArray | None = None,
        pending_situations: FloatArray | None = None,
    ) -> Posterior:
        """Return the posterior in standardized payoffs; all as in ``GaussianProcess.posterior``."""
        state = self._induced
        alpha = state.alpha
        if pending is not None and len(pending):
            if pending_situations is None:
                unknown = [self._model.unknown(NO_ROUND - 1.0 - place) for place in range(len(pending))]
                pending_situations = np.stack(unknown)
            rows = replace(system_rows(pending, np.zeros(len(pending))), situations=pending_situations)
            state = self._later(state, rows)
            alpha = np.concatenate([alpha, np.zeros(len(state.moment) - len(alpha))])
        here = self._model.unknown() if situation is None else situation
        data = Conditioned(state.parts, alpha, state.inverse, self.kernel.weights, all_rows=False)
        level = float(self._likeness(state, here, here).level)
        data = data.in_situation(self._likeness(state, here, state.situations), level)
        return AdditivePosterior.of(data) if self.kernel.additive else TermPosterior(data)

    def situation_scale(self) -> SituationScale:
        """Return what was usual for situations in the rows that the fit stands on."""
        return self._induced.scale

    @property
    def _induced(self) -> _Induced:
        if self._state is None:
            raise AssertionError("refit or adopt comes before the posterior")  # strategies fit before they ask
        return self._state

    def _likeness(self, state: _Induced, here: FloatArray, others: FloatArray) -> Likeness:
        if state.values.situation is None:
            raise AssertionError("this kernel knows no situations")  # it would not be here
        return self._model.pairs(here, others, state.scale).at(state.values.situation)

    def _inducing(self) -> Rows:
        """Return at most ``INDUCING`` rows: half from the newest rounds, half from rounds spread over those before."""
        counts = [len(compact.values) for compact in self._rounds]
        kept = max(FEWEST_ROUNDS, INDUCING * len(counts) // sum(counts))
        rows = joined_rows([self._rounds[place].expanded() for place in spread_and_newest(len(counts), kept)])
        if len(rows) <= INDUCING:
            return rows
        return rows.chosen(np.sort(np.random.default_rng(len(rows)).choice(len(rows), INDUCING, replace=False)))

    def _blocks(self) -> Iterator[tuple[Rows, IntArray]]:
        """Yield the rows of some rounds at a time, and of which round each is."""
        waiting: list[Rows] = []
        for place, compact in enumerate(self._rounds):
            waiting.append(compact.expanded())
            if sum(map(len, waiting)) >= SUMMED_AT_ONCE or place == len(self._rounds) - 1:
                yield joined_rows(waiting), np.repeat(np.arange(len(waiting)), list(map(len, waiting)))
                waiting = []

    def _covariances(self, state: _Induced, rows: Rows) -> tuple[FloatArray, FloatArray]:
        """Return the covariances of b rows with the inducing ones (b, m), and among themselves (b, b)."""
        start = len(state.situations)
        found = covariance_of_later(
            self.kernel,
            state.values,
            _below(state.columns, rows),
            np.concatenate([state.situations, _situations_of(rows)]),
            state.scale,
            start,
        )
        return found[:, :start], found[:, start:]

    def _later(self, state: _Induced, rows: Rows) -> _Induced:
        """Add what the rows of one round say; they become inducing rows themselves while there is room."""
        cross, corner = self._covariances(state, rows)
        old, new = len(state.situations), len(rows)
        if old + new > MOST_INDUCING:
            return _summed(state, rows, cross @ state.cholesky.inverse.T, corner)
        columns = _below(state.columns, rows)
        later = [part.on({source: column[old:] for source, column in columns.items()}) for part in state.parts]
        moment = np.zeros((old + new, old + new))
        moment[:old, :old] = state.moment
        grown = replace(
            state,
            columns=columns,
            situations=np.concatenate([state.situations, _situations_of(rows)]),
            parts=joined_parts(state.parts, later),
            cholesky=state.cholesky.extended(cross, corner + JITTER * np.eye(new)),
            moment=moment,
            by_value=np.concatenate([state.by_value, np.zeros(new)]),
        )
        return _summed(grown, rows, grown.cholesky.factor[old:], corner)


def _summed(state: _Induced, rows: Rows, projected: FloatArray, corner: FloatArray) -> _Induced:
    """Add b rows to the sums. projected: V (b, m). corner: their covariances (b, b), 0 between rounds."""
    left_open = np.where(corner != 0.0, corner - projected @ projected.T, 0.0)
    np.fill_diagonal(left_open, np.maximum(np.diag(left_open), 0.0) + state.noise * rows.noise_scale)
    whitening = lower_inverse(factorized(left_open))
    scaled = whitening @ projected
    targets = whitening @ in_unit(rows.values, state.fit.shift, state.fit.scale)
    return replace(state, moment=state.moment + scaled.T @ scaled, by_value=state.by_value + targets @ scaled)


def _below(columns: dict[Source, FloatArray], rows: Rows) -> dict[Source, FloatArray]:
    return {
        source: np.concatenate([column, source.of_rows(rows.omega, rows.shares)]) for source, column in columns.items()
    }


def _situations_of(rows: Rows) -> FloatArray:
    if rows.situations is None:
        raise AssertionError("rows lack their situations")  # the strategy encodes them with the rows
    return rows.situations
