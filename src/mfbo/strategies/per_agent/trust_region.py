"""TuRBO-1 (Eriksson et al., 2019) over the unit cube: a trust region replayed from the data, Thompson sampling in it.

Everything is a function of the points told so far and a generator: the region's length, its center and its restarts
follow from the order of the payoffs, the Gaussian process is fitted from scratch. So a search resumes from records.

    d   dimensions        points (n, d) in [0, 1]      values (n,), higher is better      λ (d,) lengths of the kernel
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import qmc

from mfbo.arrays import FloatArray, one_blas_thread
from mfbo.strategies.model_free import standardized
from mfbo.strategies.per_agent.matern import fitted_process

PERTURBED = 20  # of d dimensions on average as many are moved in a candidate (the paper's min(1, 20/d))
SOBOL_DIMENSIONS = 200  # beyond, uniform candidates: drawing Sobol points would take longer than the model
CANDIDATE_NUMBERS = 2**23  # candidates × dimensions at most: 64 MB
GAIN = 1e-3  # a success improves the best value by more than so many standard deviations


@dataclass(frozen=True)
class Region:
    """The trust region after some told points.

    length: its base side L. first: the told point with which the current search began; earlier ones are forgotten.
    initial: whether the search is still in its random first points.
    """

    length: float
    first: int
    initial: bool


@dataclass(frozen=True)
class TrustRegionSearch:
    """The settings of the search; lengths and tolerances are the paper's.

    initial_points: random points at the start and after every restart. failure_tolerance: failures in a row that
    halve the region; None is the paper's max(4, d). candidates: at most so many, a power of two; fewer in small and
    in huge dimensions. grid: maps coordinates, any shape, to the ones that can be played, e.g. by rounding.
    """

    initial_points: int = 20
    first_length: float = 0.8
    least_length: float = 2.0**-7
    greatest_length: float = 1.6
    success_tolerance: int = 3
    failure_tolerance: int | None = None
    candidates: int = 2048
    grid: Callable[[FloatArray], FloatArray] | None = None

    def suggest(self, points: FloatArray, values: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the point to try next, (d,)."""
        region = self.region(values, points.shape[1])
        if region.initial:
            return np.asarray(self._playable(rng.uniform(size=(1, points.shape[1])))[0])
        near, scores = points[region.first :], standardized(values[region.first :])
        with one_blas_thread():
            process = fitted_process(near, scores)
            lengths = np.broadcast_to(process.lengths, near.shape[1:])
            center = near[int(np.argmax(scores))]
            candidates = self._around(center, region.length, lengths, rng)
            return np.asarray(candidates[int(np.argmax(process.sample(candidates, center, rng)))])

    def region(self, values: FloatArray, dimensions: int) -> Region:
        """Replay successes and failures, values in the order of tells (n,)."""
        tolerance = max(4, dimensions) if self.failure_tolerance is None else self.failure_tolerance
        first, length, successes, failures = 0, self.first_length, 0, 0
        for told in range(len(values)):
            if told - first < self.initial_points:
                continue
            if _improves(values[first : told + 1]):
                successes, failures = successes + 1, 0
            else:
                successes, failures = 0, failures + 1
            if successes == self.success_tolerance:
                length, successes = min(2.0 * length, self.greatest_length), 0
            elif failures == tolerance:
                length, failures = 0.5 * length, 0
            if length < self.least_length:
                first, length, successes, failures = told + 1, self.first_length, 0, 0
        return Region(length, first, len(values) - first < self.initial_points)

    def _around(self, center: FloatArray, length: float, lengths: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return candidates (m, d): the center with some dimensions moved inside the region.

        The region's sides follow the kernel's lengths λ at equal volume, L λ_i / (Π λ)^(1/d).
        """
        dimensions = len(center)
        sides = length * lengths / np.exp(np.log(lengths).mean())
        lower, upper = np.clip(center - sides / 2, 0.0, 1.0), np.clip(center + sides / 2, 0.0, 1.0)
        power = int(np.log2(max(2, min(self.candidates, 100 * dimensions, CANDIDATE_NUMBERS // dimensions))))
        moved = rng.random((2**power, dimensions), dtype=np.float32) < min(1.0, PERTURBED / dimensions)
        moved[np.arange(len(moved)), rng.integers(dimensions, size=len(moved))] = True
        which, column = np.nonzero(moved)
        if dimensions <= SOBOL_DIMENSIONS:
            drawn = qmc.Sobol(dimensions, rng=rng).random_base2(power)[which, column]
        else:
            drawn = rng.uniform(size=len(which))
        candidates = np.repeat(center[None, :], len(moved), axis=0)
        candidates[which, column] = self._playable(lower[column] + (upper - lower)[column] * drawn)
        fresh = (candidates != center).any(axis=1)  # rounding may lead back to the center, which is known
        return np.asarray(candidates[fresh] if fresh.any() else candidates)

    def _playable(self, points: FloatArray) -> FloatArray:
        return points if self.grid is None else self.grid(points)


def _improves(values: FloatArray) -> bool:
    """Tell whether the last value is a new best by more than a trifle."""
    spread = standardized(values)
    return bool(spread[-1] > spread[:-1].max() + GAIN)
