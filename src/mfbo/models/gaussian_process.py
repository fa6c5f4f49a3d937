"""The Gaussian process over rows: grows round by round, refits on demand, and gives the posterior."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import Posterior
from mfbo.models.additive import AdditivePosterior
from mfbo.models.cholesky import GrowingCholesky
from mfbo.models.fitting import (
    DRIFT_EVIDENCE,
    DRIFT_LENGTHS,
    DRIFT_QUIETER,
    JITTER,
    Design,
    MarginalLikelihood,
    correlation,
    fitted,
)
from mfbo.models.kernel import Columns, Kernel, Part, Values
from mfbo.models.posterior import Conditioned, TermPosterior
from mfbo.models.rows import Rows
from mfbo.models.situation_kernel import NO_ROUND, Likeness, SituationScale
from mfbo.models.unit import Unit, Warp

FEWEST = 20  # rows from which evidence for further terms, or for warped payoffs, is looked for …
EVIDENCE = 5.0  # … and nats by which they must explain the payoffs better than the kernel does without them


@dataclass(frozen=True, eq=False)
class Fit:
    """Hyperparameters with the unit they belong to: y ↦ (y − shift) / scale, of warped payoffs if there is a warp.

    memory: the length of drift, in rounds; None if payoffs do not change with time. further: names of the kernel's
    further terms that the payoffs asked for. warped: a second fit, to warped payoffs, if they asked for it.
    """

    theta: FloatArray
    shift: float
    scale: float
    memory: float | None = None
    further: tuple[str, ...] = ()
    warp: Warp | None = None
    warped: "Fit | None" = None

    @property
    def unit(self) -> Unit:
        """The unit of the targets."""
        return Unit(self.shift, self.scale, self.warp)


@dataclass(frozen=True, eq=False)
class _Factorized:
    """A fit on the rows told so far: its kernel and numbers, the noise variance, the parts and the Cholesky factor.

    scale: what was usual for situations in the rows that the fit stands on; None in a kernel without them.
    """

    fit: Fit
    kernel: Kernel
    values: Values
    noise: float
    parts: tuple[Part, ...]
    cholesky: GrowingCholesky
    scale: SituationScale | None = None


class GaussianProcess:
    """Exact GP on linear functionals of f.

    The state is a function of the sequence of ``append`` and ``refit``/``adopt`` calls alone, so that a study resumed
    from its records computes the same bits as an unbroken one. warped: the same of warped payoffs, if a fit asked for
    it; it shares the rows.
    """

    def __init__(self, kernel: Kernel, noise: float | None = None, design: Design | None = None) -> None:
        """Start without rows; ``noise`` is the known standard deviation of one payoff, or None to fit it.

        design: the rows, where another process keeps them.
        """
        self.kernel = kernel
        self.noise = noise
        self.design = Design(kernel) if design is None else design
        self.warped: GaussianProcess | None = None
        self._state: _Factorized | None = None

    @property
    def fit(self) -> Fit | None:
        """The fit in place."""
        return None if self._state is None else self._state.fit

    def append(self, rows: Rows) -> None:
        """Add the rows of one round; with a fit in place the Cholesky factor grows along."""
        start = self.design.count
        self.design.append(rows)
        for process in (self, self.warped):
            if process is not None:
                process._grow(start)

    def _grow(self, start: int) -> None:
        """Let the Cholesky factor grow by the rows from ``start`` on, if there is one."""
        if self._state is None:
            return
        old, design = self._state, self.design
        columns = {source: column[start:] for source, column in design.columns.items()}
        later = [part.on(columns) for part in old.parts]
        tail = self._covariance(old.kernel, old.values, old.noise, old.fit.memory, start, old.scale)[start:]
        cholesky = old.cholesky.extended(tail[:, :start], tail[:, start:])
        self._state = replace(old, parts=joined_parts(old.parts, later), cholesky=cholesky)

    def refit(
        self,
        start: FloatArray | None,
        iterations: int,
        memory: float | None = None,
        further: tuple[str, ...] = (),
        warped: FloatArray | None = None,
    ) -> Fit:
        """Standardize all payoffs anew and fit the hyperparameters from ``start`` (prior medians when None).

        memory, further, warped: the length of drift, the further terms, and θ for warped payoffs in the fit before.
        Drift begins when it explains the payoffs better by far, and so do the kernel's further terms, and a warp, which
        payoffs that drift do not have: their best is no top. A kernel that is fitted afresh begins at the prior medians
        as well, and keeps what explains the payoffs better.
        """
        unit = Unit.of(self.design.values, robust=self.kernel.robust, level=self.kernel.level)
        objective = self._likelihoods(unit)
        kernel = self.kernel.with_further(further)
        lasting = objective(memory, kernel)
        theta = fitted(lasting, kernel.start if start is None else start, iterations)
        if self.kernel.afresh and start is not None:
            plain = objective(memory, self.kernel)
            fresh = fitted(plain, self.kernel.start, iterations)
            if plain(fresh)[0] < lasting(theta)[0]:
                theta, kernel, lasting, further = fresh, self.kernel, plain, ()
        if self.kernel.drifts:
            best = _length_of_drift(lasting, theta, memory)
            if best != memory:
                memory, lasting = best, objective(best, kernel)
                theta = fitted(lasting, theta, iterations)
        if self.kernel.further and self.design.count >= FEWEST:
            theta, further = self._as_rich_as_needed(theta, further, lasting, partial(objective, memory), iterations)
        fit = Fit(theta, unit.shift, unit.scale, memory, further)
        if self.kernel.warps and memory is None and self.design.count >= FEWEST:
            fit = replace(fit, warped=self._warped(fit, warped, iterations))
        return self.adopt(fit)

    def _likelihoods(self, unit: Unit) -> Callable[[float | None, Kernel], MarginalLikelihood]:
        """Return how a length of drift and a kernel explain the payoffs in a unit."""
        noise = None if self.noise is None else (self.noise / unit.scale) ** 2
        return partial(MarginalLikelihood, self.design, unit.standardized(self.design.values), noise)

    def _warped(self, fit: Fit, before: FloatArray | None, iterations: int) -> Fit | None:
        """Return the fit of the same kernel to warped payoffs, or None if that does not explain them better by far.

        before: θ of the one before, which stays as long as it explains them no worse; None if there was none.
        """
        values, kernel = self.design.values, self.kernel.with_further(fit.further)
        warp = Warp.of(values)
        if warp is None:
            return None
        unit = Unit.of(values, warp=warp)
        here, there = (self._likelihoods(one)(None, kernel) for one in (fit.unit, unit))
        theta = fitted(there, fit.theta if before is None or len(before) != len(fit.theta) else before, iterations)
        gain = here(fit.theta)[0] - there(theta)[0] + unit.log_slopes(values) - fit.unit.log_slopes(values)
        if gain < (EVIDENCE if before is None else 0.0):
            return None
        return Fit(theta, unit.shift, unit.scale, None, fit.further, unit.warp)

    def _as_rich_as_needed(
        self,
        theta: FloatArray,
        further: tuple[str, ...],
        objective: MarginalLikelihood,
        with_kernel: Callable[[Kernel], MarginalLikelihood],
        iterations: int,
    ) -> tuple[FloatArray, tuple[str, ...]]:
        """Return θ and its further terms, or those of the fit with one group more or less that gains most.

        Terms are let in if that explains the payoffs better by far, and let go if it is no worse. objective: what θ
        was fitted to; with_kernel: the same for another kernel.
        """
        best, most = (theta, further), 0.0
        cost = objective(theta)[0]
        for group in self.kernel.further:
            lacks = group.name not in further
            names = tuple(one.name for one in self.kernel.further if (one.name in further) != (one is group))
            other = with_kernel(self.kernel.with_further(names))
            found = fitted(other, objective.kernel.carried_to(other.kernel, theta), iterations)
            gain = cost - other(found)[0] - (EVIDENCE if lacks else 0.0)
            if gain >= most:
                best, most = (found, names), gain
        return best

    def adopt(self, fit: Fit) -> Fit:
        """Take these hyperparameters as they are and factorize from scratch."""
        kernel = self.kernel.with_further(fit.further)
        values = kernel.values(fit.theta)
        noise = values.noise if self.noise is None else (self.noise / fit.scale) ** 2
        if kernel is not self.kernel:
            self.design.read_further()
        parts: tuple[Part, ...] = ()
        for summand in kernel.summands:
            parts += (summand.conditioned(values, self.design.columns),)
        usual = self.design.situation_scale()
        cholesky = GrowingCholesky.of(self._covariance(kernel, values, noise, fit.memory, 0, usual))
        self._state = _Factorized(fit, kernel, values, noise, parts, cholesky, usual)
        self.warped = None
        if fit.warped is not None:
            self.warped = GaussianProcess(self.kernel, self.noise, self.design)
            self.warped.adopt(fit.warped)
        return fit

    def forget_fit(self) -> None:
        """Keep the rows alone, so that rows appended before the next fit grow no factor."""
        self._state = self.warped = None

    def posterior(
        self,
        pending: FloatArray | None = None,
        *,
        situation: FloatArray | None = None,
        pending_situations: FloatArray | None = None,
    ) -> Posterior:
        """Return the posterior in standardized payoffs.

        pending: shares w (m, C, A) of open plans; each enters as a row whose payoff is the posterior mean, which
        leaves all means as they are and takes the uncertainty away where a result is already on its way.
        situation: in which candidates are judged, (V + 1,), and pending_situations: those of the open plans,
        (m, V + 1), both as ``encoded_situation`` returns them; nothing is known of them by default.
        """
        state = self._factorized
        alpha = state.cholesky.solve(state.fit.unit.standardized(self.design.values))
        memory = state.fit.memory
        numbers = self.design.numbers
        lasting = None if memory is None else correlation(numbers, numbers.max() + 1.0, memory)  # with the next round
        if pending is not None and len(pending):
            columns = {source: source.of_rows(pending, pending) for source in self.design.columns}
            rows, situated = self.design.situations, self._situated(pending_situations, len(pending))
            to_rows, among = self._likeness(situated, rows), self._likeness(situated, situated)
            state = _with_pending(state, pending, columns, to_rows, among, lasting)
            alpha = np.concatenate([alpha, np.zeros(len(pending))])
        inverse = state.cholesky.inverse
        if lasting is not None:
            lasting = np.concatenate([lasting, np.ones(len(alpha) - len(lasting))])
            alpha, inverse = alpha * lasting, inverse * lasting
        data = Conditioned(state.parts, alpha, inverse, self.kernel.weights)
        if self.kernel.situation is not None:
            here = self.kernel.situation.unknown() if situation is None else situation
            to_rows = self._candidates_likeness(here, pending_situations, len(alpha))
            among = self._likeness(here[None], here[None])
            data = data.in_situation(to_rows, 0.0 if among is None else float(among.level[0, 0]))
        return AdditivePosterior.of(data) if self.kernel.additive else TermPosterior(data)

    @property
    def noise_variance(self) -> float:
        """Variance of the noise on one standardized payoff, fitted or known."""
        return self._factorized.noise

    def situation_scale(self) -> SituationScale | None:
        """Return what is usual for the situations of all rows; None if the kernel knows none."""
        return self.design.situation_scale()

    @property
    def _factorized(self) -> _Factorized:
        if self._state is None:
            raise AssertionError("refit or adopt comes before the posterior")  # strategies fit before they ask
        return self._state

    def _situated(self, situations: FloatArray | None, count: int) -> FloatArray:
        """Return the situations of open plans, nothing known by default, (m, V + 1); empty in a kernel without them."""
        model = self.kernel.situation
        if situations is not None or model is None:
            return np.empty((count, 0)) if situations is None else situations
        return np.stack([model.unknown(NO_ROUND - 1.0 - place) for place in range(count)])

    def _likeness(self, first: FloatArray, second: FloatArray) -> Likeness | None:
        """Compare situations (m, V + 1) and (n, V + 1): (m, n); None in a kernel without them."""
        state, model = self._factorized, self.kernel.situation
        if model is None or state.scale is None or state.values.situation is None:
            return None
        return model.pairs(first[:, None], second[None], state.scale).at(state.values.situation)

    def _candidates_likeness(self, here: FloatArray, pending: FloatArray | None, count: int) -> Likeness:
        """Compare candidates in one situation with all rows and then with the open plans, ``count`` in all: (n,)."""
        rows = self.design.situations
        rows = np.concatenate([rows, self._situated(pending, count - len(rows))]) if count > len(rows) else rows
        state, model = self._factorized, self.kernel.situation
        if model is None or state.scale is None or state.values.situation is None:
            raise AssertionError("this kernel knows no situations")  # posterior asks only if it does
        return model.pairs(here, rows, state.scale).at(state.values.situation)

    def _covariance(
        self,
        kernel: Kernel,
        values: Values,
        noise: float,
        memory: float | None,
        start: int,
        usual: SituationScale | None,
    ) -> FloatArray:
        """Return K + noise with the rows from ``start`` on filled in (lower triangle; the new corner in full)."""
        covariance = self.design.gram(values, start, usual, kernel)
        if memory is not None:
            numbers = self.design.numbers
            covariance *= correlation(numbers[:, None], numbers, memory)
        covariance.flat[:: len(covariance) + 1] += noise * self.design.noise_scale + JITTER
        corner = covariance[start:, start:]
        covariance[start:, start:] = np.tril(corner) + np.tril(corner, -1).T
        return covariance


def _length_of_drift(objective: MarginalLikelihood, theta: FloatArray, memory: float | None) -> float | None:
    """Return the length that explains the payoffs best at a fitted θ, None without drift; memory: that of the θ.

    A fit without drift takes for noise what changes, so each length is tried with less noise too.
    """
    costs = objective.by_memory(theta, (None, *DRIFT_LENGTHS))
    if memory is None:
        costs[None] -= DRIFT_EVIDENCE
        noise = max(theta[-1] - DRIFT_QUIETER, objective.kernel.bounds[-1, 0])
        quieter = objective.by_memory(np.append(theta[:-1], noise), DRIFT_LENGTHS)
        costs |= {length: min(costs[length], cost) for length, cost in quieter.items()}
    return min(costs, key=costs.__getitem__)


def _with_pending(
    state: _Factorized,
    shares: FloatArray,
    columns: Columns,
    to_rows: Likeness | None,
    among: Likeness | None,
    lasting: FloatArray | None,
) -> _Factorized:
    """Append open plans as rows, shares w (m, C, A).

    to_rows, among: how alike their situations are, (m, n), (m, m). lasting: how much the old rows tell of now, (n,).
    """
    later = [part.on(columns) for part in state.parts]
    cross, corner = _summed_cross(state.parts, shares), _summed_cross(later, shares)
    if to_rows is not None and among is not None:
        cross, corner = to_rows.covariance(cross), among.covariance(corner)
    if lasting is not None:
        cross = cross * lasting
    noise = (state.noise + JITTER) * np.eye(len(shares))
    return replace(
        state, parts=joined_parts(state.parts, later), cholesky=state.cholesky.extended(cross, corner + noise)
    )


def _summed_cross(parts: Sequence[Part], shares: FloatArray) -> FloatArray:
    """Return the covariances of g at m distributions with the parts' rows, (m, n); the constant is added last."""
    ordered = sorted(parts, key=lambda part: part.role == "constant")
    return np.asarray(sum(part.cross_many(shares) for part in ordered))


def joined_parts(parts: Sequence[Part], later: Sequence[Part]) -> tuple[Part, ...]:
    """Return the parts on their rows and on later ones."""
    return tuple(part.joined(more) for part, more in zip(parts, later, strict=True))
