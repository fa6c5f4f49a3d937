"""What a growing set of rows looks like to a kernel, and the fit of hyperparameters to it.

Gram matrices are symmetric, so only the lower triangle is kept, row after row in one long vector ("packed"):
appending a row appends to the vector, and a fit touches half the memory. The fit maximizes marginal likelihood plus
log-normal priors, by L-BFGS with closed-form gradients, eq. (19).

Payoffs that drift: the kernel times exp(−(t − t′)² / 2 ℓ²), t the number of the round, eq. (35). Rounds far apart tell
less of each other, and a slow change goes on as it went: a long ℓ is nearly a slope in time. What is believed is about
the next round, so each row's covariance with a plan shrinks by the same factor for all plans, and a posterior needs no
more than K⁻¹ y and L⁻¹ with their rows' factors on them. Without drift nothing is computed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from mfbo.arrays import FloatArray, IntArray
from mfbo.models.kernel import Further, Kernel, Source, Term, Values
from mfbo.models.rows import Rows
from mfbo.models.situation_kernel import Likeness, SituationPairs, SituationScale

JITTER = 1e-10  # on standardized payoffs; keeps noise-free data factorizable
FAILED = 1e25
DRIFT_LENGTHS = (30.0, 100.0, 300.0, 1000.0, 3000.0)  # of drift, in rounds, that are compared
DRIFT_QUIETER = (
    3.0  # by which the logarithm of the noise variance is lowered to see it: without drift, noise explains it
)
DRIFT_EVIDENCE = 5.0  # nats by which drift must explain the payoffs better than none


def correlation(numbers: FloatArray, others: FloatArray | float, length: float) -> FloatArray:
    """Return how much rounds with these numbers tell of each other; arrays that broadcast."""
    return np.asarray(np.exp(-0.5 * ((numbers - others) / length) ** 2))


class GrowingArray:
    """An array that grows along its first axis at amortized cost; views given out stay valid."""

    def __init__(self) -> None:
        """Start empty; the first block fixes the other axes."""
        self._buffer = np.empty(0)
        self.view = self._buffer

    def extend(self, block: FloatArray) -> None:
        """Append a block (m, …)."""
        length, needed = len(self.view), len(self.view) + len(block)
        if needed > len(self._buffer):
            grown = np.empty((max(needed, 2 * length), *block.shape[1:]))
            if length:
                grown[:length] = self.view
            self._buffer = grown
        self._buffer[length:needed] = block
        self.view = self._buffer[:needed]


def packed_positions(rows: int, start: int = 0) -> IntArray:
    """Return the flat positions in a C-ordered (rows, rows) matrix of the packed entries from row ``start`` on."""
    row, column = np.tril_indices(rows)
    return np.asarray(row * rows + column)[start * (start + 1) // 2 :]


class Design:
    """The rows of one study as one kernel sees them; grows round by round, always in the same blocks.

    values: told payoffs y (n,), not standardized. noise_scale: noise variance of each row as a multiple of that of one
    payoff, (n,). situations: (n, V + 1), empty if the kernel knows none. numbers: of the rounds (n,), 0 where time is
    of no account. columns: what the features and embeddings make of the rows, Φ (n, R, K) and Z (n, B, D).
    """

    def __init__(self, kernel: Kernel) -> None:
        """Start without rows."""
        self.kernel = kernel
        self.count = 0
        self._columns = {source: GrowingArray() for term in kernel.terms for source in term.sources}  # some are shared
        self.columns: dict[Source, FloatArray] = {}
        self._unread: list[Rows] | None = []  # by the further terms, whose rows are read once they are asked for
        self._grams = GrowingArray()
        self._pairs = {place: GrowingArray() for place in kernel.moving}
        self._further = {term.name: _FurtherPairs() for term in _terms(kernel.further)}
        self._values, self._noise_scale, self._situations = GrowingArray(), GrowingArray(), GrowingArray()
        self.values = self._values.view
        self.noise_scale = self._noise_scale.view
        self.situations = self._situations.view
        self._numbers = GrowingArray()
        self.numbers = self._numbers.view

    @property
    def sources(self) -> tuple[Source, ...]:
        """What the terms read of rows."""
        return tuple(self._columns)

    def append(self, rows: Rows) -> None:
        """Add a block of rows (those of one round)."""
        start, new = self.count, len(rows.values)
        self.count = start + new
        self._values.extend(rows.values)
        self._noise_scale.extend(rows.noise_scale)
        self.values, self.noise_scale = self._values.view, self._noise_scale.view
        if self.kernel.situation is not None:
            if rows.situations is None:
                raise AssertionError("rows lack their situations")  # the strategy encodes them with the rows
            self._situations.extend(rows.situations)
            self.situations = self._situations.view
        self._numbers.extend(np.zeros(new) if rows.numbers is None else rows.numbers)
        self.numbers = self._numbers.view
        for source, column in self._columns.items():
            column.extend(source.of_rows(rows.omega, rows.shares))
            self.columns[source] = column.view
        if self._unread is not None and self.kernel.further:
            self._unread.append(rows)
        lower = np.flatnonzero(np.tri(new, self.count, start))
        grams = np.ones((len(lower), len(self.kernel.terms)))
        for place, term in enumerate(self.kernel.terms):
            pairs = term.pairs(self.columns, start, self.count)
            packed = pairs.reshape(len(pairs), -1)[:, lower].T
            if place in self._pairs:
                self._pairs[place].extend(packed)
            else:
                grams[:, place] = packed[:, 0]
        self._grams.extend(grams)

    def read_further(self) -> None:
        """Read the rows for the further terms too, from now on."""
        if self._unread is None:
            return
        blocks, self._unread = self._unread, None
        for source in (source for term in _terms(self.kernel.further) for source in term.sources):
            if source not in self._columns:
                self._columns[source] = GrowingArray()
                for rows in blocks:
                    self._columns[source].extend(source.of_rows(rows.omega, rows.shares))
                self.columns[source] = self._columns[source].view

    def unit_grams(
        self, lengths: FloatArray, start: int = 0, reuse: FloatArray | None = None, kernel: Kernel | None = None
    ) -> tuple[FloatArray, list[FloatArray]]:
        """Return the Gram matrices of all terms without their weights, and their derivatives in log length.

        Packed from row ``start`` on: (N, J), and for each term with a length (N,). ``reuse`` is an earlier answer for
        the same rows, of which only the terms with a length are computed anew. ``kernel``: the design's unless given,
        or the one with some of its further terms.
        """
        kernel = self.kernel if kernel is None else kernel
        first, own = start * (start + 1) // 2, len(self.kernel.terms)
        grams = self._grams.view[first:].copy() if reuse is None else reuse
        if reuse is None and len(kernel.terms) > own:
            more = [self._further[term.name].known(self, term)[first:, :1] for term in kernel.terms[own:]]
            grams = np.concatenate([grams, *more], axis=1)
        slopes = []
        for place in kernel.moving:
            term, length = kernel.terms[place], float(lengths[place])
            pairs = self._pairs[place].view if place < own else self._further[term.name].known(self, term)
            grams[:, place], slope = term.gram(pairs[first:], self.columns, length, start)
            slopes.append(slope)
        return grams, slopes

    def gram(
        self, values: Values, start: int = 0, scale: SituationScale | None = None, kernel: Kernel | None = None
    ) -> FloatArray:
        """Return K without noise, (n, n): its lower triangle from row ``start`` on, zeros elsewhere.

        scale: what is usual for situations, if the kernel knows any. kernel: as in ``unit_grams``.
        """
        gram = np.zeros((self.count, self.count))
        packed = self.unit_grams(values.lengths, start, kernel=kernel)[0] @ values.weights
        if scale is not None and values.situation is not None:
            packed = self.situation_pairs(scale, start).at(values.situation).covariance(packed)
        gram.ravel()[packed_positions(self.count, start)] = packed
        return gram

    def situation_scale(self) -> SituationScale | None:
        """Return what is usual for the situations of all rows; None if the kernel knows none."""
        model = self.kernel.situation
        return None if model is None else model.scale(self.situations)

    def situation_pairs(self, scale: SituationScale, start: int = 0) -> SituationPairs:
        """Return the situations of all pairs of rows from row ``start`` on, packed."""
        model = self.kernel.situation
        if model is None:
            raise AssertionError("this kernel knows no situations")  # it has no scale of them either
        row, column = np.divmod(packed_positions(self.count, start), self.count)
        return model.pairs(self.situations[row], self.situations[column], scale)


def _terms(groups: Sequence[Further]) -> list[Term]:
    return [term for group in groups for term in group.terms]


class _FurtherPairs:
    """What no hyperparameter changes of one further term, packed (N, P): computed as far as it is asked for."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._rows, self._packed = 0, GrowingArray()

    def known(self, design: Design, term: Term) -> FloatArray:
        """Return it for all rows of the design."""
        if self._rows < design.count:
            design.read_further()
        for row in range(self._rows, design.count):  # one by one: sums are the same bits however many are asked for
            columns = {source: design.columns[source][: row + 1] for source in term.sources}
            pairs = term.pairs(columns, row, row + 1)
            self._packed.extend(pairs.reshape(len(pairs), -1).T)
        self._rows = design.count
        return self._packed.view


def covariance_of_later(
    kernel: Kernel,
    values: Values,
    columns: dict[Source, FloatArray],
    situations: FloatArray,
    scale: SituationScale,
    start: int,
) -> FloatArray:
    """Return K without noise between rows from ``start`` on and all n rows, (n − start, n), without a design.

    columns, situations: of all rows; the kernel knows situations.
    """
    if kernel.situation is None or values.situation is None:
        raise AssertionError("this kernel knows no situations")  # a design serves those without
    count = len(situations)
    lower = np.tri(count - start, count, start, dtype=bool)
    plan = np.zeros(int(lower.sum()))
    for place, term in enumerate(kernel.terms):
        pairs = np.moveaxis(term.pairs(columns, start, count), 0, -1)[lower]
        plan += values.weights[place] * term.gram(pairs, columns, float(values.lengths[place]), start)[0]
    row, column = np.nonzero(lower)
    likeness = kernel.situation.pairs(situations[row + start], situations[column], scale).at(values.situation)
    found = np.zeros(lower.shape)
    found[lower] = likeness.covariance(plan)
    corner = found[:, start:]
    found[:, start:] = corner + np.tril(corner, -1).T
    return found


class MarginalLikelihood:
    """Negative log posterior of θ for one design and its standardized payoffs y (n,).

    ``noise``: known noise variance in standardized units, or None to fit it. ``memory``: the length of drift, in
    rounds, or None without. ``kernel``: that of the design unless given, or one with its further terms.
    """

    def __init__(
        self,
        design: Design,
        targets: FloatArray,
        noise: float | None,
        memory: float | None = None,
        kernel: Kernel | None = None,
    ) -> None:
        """Prepare what does not change from one θ to the next."""
        self.design = design
        self.kernel = design.kernel if kernel is None else kernel
        self._targets = targets
        self._noise = noise
        self._row, self._column = np.tril_indices(design.count)
        self._flat = self._row * design.count + self._column
        self._doubled = np.full(len(self._flat), 2.0)
        self._doubled[np.cumsum(np.arange(1, design.count + 1)) - 1] = 1.0
        self._grams: FloatArray | None = None
        scale = design.situation_scale()
        self._pairs = None if scale is None else design.situation_pairs(scale)
        self._shared = self._correlation(memory)

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient in θ; a θ whose covariance cannot be factorized is merely very bad."""
        at = self._undrifted(theta)
        found = self._factored(theta, at, self._shared)
        if found is None:
            return FAILED, np.zeros_like(theta)
        kernel, weights, slopes = self.kernel, at.values.weights, at.slopes
        inverse, _ = scipy.linalg.lapack.dpotri(found.upper, lower=0, overwrite_c=1)
        alpha = found.alpha
        pull = (inverse.T.ravel()[self._flat] - alpha[self._row] * alpha[self._column]) * self._doubled
        if self._shared is not None:
            pull *= self._shared
        gradient = np.zeros_like(theta)
        if found.likeness is not None:
            gradient[len(weights) + len(slopes) : -1] = 0.5 * found.likeness.gradient(pull, found.plan)
            pull = pull * found.likeness.factor  # what the terms of K_plan see
        gradient[: len(weights)] = 0.5 * weights * (pull @ self._grams)
        for position, (place, slope) in enumerate(zip(kernel.moving, slopes, strict=True), start=len(weights)):
            gradient[position] = 0.5 * weights[place] * float(pull @ slope)
        if self._noise is None:
            diagonal = np.diag(inverse) - alpha * alpha
            gradient[-1] = 0.5 * at.values.noise * float(diagonal @ self.design.noise_scale)
        from_prior = (theta - kernel.start) / kernel.prior_sds
        return found.value, gradient + from_prior / kernel.prior_sds

    def by_memory(self, theta: FloatArray, memories: Sequence[float | None]) -> dict[float | None, float]:
        """Return the value alone for several lengths of drift: the Gram matrices are the same for all of them."""
        at = self._undrifted(theta)
        found = {memory: self._factored(theta, at, self._correlation(memory)) for memory in memories}
        return {memory: FAILED if factored is None else factored.value for memory, factored in found.items()}

    def _correlation(self, memory: float | None) -> FloatArray | None:
        """Return how much the rounds of each pair tell of each other, packed; None without drift."""
        numbers = self.design.numbers
        return None if memory is None else correlation(numbers[self._row], numbers[self._column], memory)

    def _undrifted(self, theta: FloatArray) -> "_Undrifted":
        """Return what the covariance at θ is made of."""
        values = self.kernel.values(theta)
        self._grams, slopes = self.design.unit_grams(values.lengths, reuse=self._grams, kernel=self.kernel)
        return _Undrifted(values, slopes, self._grams @ values.weights)

    def _factored(self, theta: FloatArray, at: "_Undrifted", shared: FloatArray | None) -> "_Factored | None":
        """Factorize the covariance at θ, drift included; None if that cannot be done."""
        kernel, count, values = self.kernel, self.design.count, at.values
        noise = values.noise if self._noise is None else self._noise
        plan = at.plan if shared is None else at.plan * shared
        likeness = None if self._pairs is None or values.situation is None else self._pairs.at(values.situation)
        covariance = np.zeros((count, count))
        covariance.ravel()[self._flat] = plan if likeness is None else likeness.covariance(plan)
        covariance.flat[:: count + 1] += noise * self.design.noise_scale + JITTER
        lapack = scipy.linalg.lapack
        upper, status = lapack.dpotrf(covariance.T, lower=0, clean=0, overwrite_a=1)
        if status != 0 or not np.isfinite(np.diag(upper)).all():
            return None
        alpha, _ = lapack.dpotrs(upper, self._targets, lower=0)
        value = 0.5 * float(self._targets @ alpha) + float(np.log(np.diag(upper)).sum())
        from_prior = (theta - kernel.start) / kernel.prior_sds
        return _Factored(plan, likeness, upper, alpha, value + 0.5 * float(from_prior @ from_prior))


@dataclass(frozen=True, eq=False)
class _Undrifted:
    """The numbers that θ stands for, the derivatives of the Gram matrices in log length, and K_plan, packed."""

    values: Values
    slopes: list[FloatArray]
    plan: FloatArray


@dataclass(frozen=True, eq=False)
class _Factored:
    """The covariance at one θ: K_plan, packed, with drift, the factor U (n, n), K⁻¹ y (n,), and the value."""

    plan: FloatArray
    likeness: Likeness | None
    upper: FloatArray
    alpha: FloatArray
    value: float


def fitted(objective: MarginalLikelihood, start: FloatArray, iterations: int) -> FloatArray:
    """Return θ after at most ``iterations`` L-BFGS steps from ``start``."""
    bounds = objective.kernel.bounds
    result = scipy.optimize.minimize(
        objective,
        np.clip(start, bounds[:, 0], bounds[:, 1]),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": iterations},
    )
    return np.asarray(result.x)
