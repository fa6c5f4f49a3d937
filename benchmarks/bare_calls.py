"""How fast it could be: the BLAS and LAPACK calls of a run of MF-GP-UCB alone, same shapes and number, nothing else.

Counted are the calls that the algorithm cannot do without (one context, additive kernel); exponentials, sums and all
other element-wise work are left out, so the figure is a lower limit that no implementation on these libraries reaches.
"""

import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np
from scipy.linalg import blas, lapack

from mfbo.acquisition import MeanFieldUCB
from mfbo.models.fitting import MarginalLikelihood

REPEATS = 40  # the mean of these stands for the calls of a run, whose number is larger
STRIDE = 5  # shapes are timed at every fifth n and used for its neighbors


class CallCounter:
    """While active, counts evaluations of the acquisition and of the marginal likelihood by number of rows."""

    def __init__(self) -> None:
        """Start at zero."""
        self.acquisitions: Counter[int] = Counter()
        self.likelihoods: Counter[int] = Counter()
        self.actions = 0

    def __enter__(self) -> "CallCounter":
        """Wrap the two objectives."""
        self._acquisition, self._likelihood = MeanFieldUCB.__call__, MarginalLikelihood.__call__
        MeanFieldUCB.__call__ = self._counting_acquisition(self._acquisition)  # type: ignore[method-assign]
        MarginalLikelihood.__call__ = self._counting_likelihood(self._likelihood)  # type: ignore[method-assign]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Unwrap them."""
        MeanFieldUCB.__call__ = self._acquisition  # type: ignore[method-assign]
        MarginalLikelihood.__call__ = self._likelihood  # type: ignore[method-assign]

    def _counting_acquisition(self, inner: Callable[..., Any]) -> Any:
        def counted(acquisition: Any, distribution: Any) -> Any:
            self.acquisitions[acquisition.posterior.data.count] += 1
            self.actions = distribution.shape[1]
            return inner(acquisition, distribution)

        return counted

    def _counting_likelihood(self, inner: Callable[..., Any]) -> Any:
        def counted(objective: Any, theta: Any) -> Any:
            self.likelihoods[objective._design.count] += 1
            return inner(objective, theta)

        return counted

    def replayed_seconds(self, fewest_rows: int = 0) -> float:
        """Return the time of the bare calls of all rounds with at least ``fewest_rows`` rows."""
        climbing = _summed(self.acquisitions, lambda rows: acquisition_seconds(rows, self.actions), fewest_rows)
        fitting = _summed(self.likelihoods, likelihood_seconds, fewest_rows)
        once = Counter(dict.fromkeys(self.acquisitions, 1))
        conditioning = _summed(once, lambda rows: conditioning_seconds(rows, self.actions), fewest_rows)
        return climbing + fitting + conditioning


def acquisition_seconds(rows: int, actions: int) -> float:
    """Return the time of one value and gradient: four products with (n, A) matrices, two with (n, n)."""
    rng = np.random.default_rng(0)
    wide, other = rng.normal(size=(rows, actions)), rng.normal(size=(actions, rows))
    square = rng.normal(size=(rows, rows))
    share, row = rng.normal(size=actions), rng.normal(size=rows)

    def calls() -> None:
        wide @ share  # distances
        square @ row  # L⁻¹ κ
        other @ row  # V' u
        share @ other  # V ω
        row @ square  # L⁻ᵀ
        row @ wide  # back to the distribution

    return _timed(calls)


def likelihood_seconds(rows: int) -> float:
    """Return the time of one marginal likelihood and gradient: Cholesky, solve, inverse, sums over two terms."""
    rng = np.random.default_rng(0)
    half = rng.normal(size=(rows, rows))
    matrix = np.asfortranarray(half @ half.T + rows * np.eye(rows))
    target = rng.normal(size=rows)
    grams, weights = rng.normal(size=(rows * (rows + 1) // 2, 2)), np.ones(2)

    def calls() -> None:
        packed = grams @ weights
        upper, _ = lapack.dpotrf(matrix, lower=0)
        lapack.dpotrs(upper, target)
        lapack.dpotri(upper, lower=0)
        packed @ grams

    return _timed(calls)


def conditioning_seconds(rows: int, actions: int) -> float:
    """Return the time of what is done once per round: L⁻¹ times the covariances with all actions."""
    rng = np.random.default_rng(0)
    square = np.asfortranarray(np.tril(rng.normal(size=(rows, rows))))
    wide = np.asfortranarray(rng.normal(size=(rows, actions)))
    return _timed(lambda: blas.dtrmm(1.0, square, wide, lower=1))


def _timed(calls: Callable[[], Any]) -> float:
    calls()
    started = time.process_time()
    for _ in range(REPEATS):
        calls()
    return (time.process_time() - started) / REPEATS


def _summed(counts: Counter[int], seconds: Callable[[int], float], fewest_rows: int) -> float:
    measured: dict[int, float] = {}
    total = 0.0
    for rows, count in counts.items():
        if rows < fewest_rows:
            continue
        near = max(STRIDE * round(rows / STRIDE), 1)
        if near not in measured:
            measured[near] = seconds(near)
        total += count * measured[near]
    return total
