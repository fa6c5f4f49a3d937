"""What is said of a few seeds: means, 95 % intervals, paired tests, and when a curve gets somewhere."""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray

LEVEL = 0.95
MOST_FLIPPED = 13  # pairs with zeros among them whose 2^S signs are all tried, as newer scipy does by itself
ROUNDING = 1e-12  # of the values: smaller differences are none


@dataclass(frozen=True)
class Interval:
    """A mean with its 95 % confidence interval; without several seeds low and high are None."""

    mean: float
    low: float | None
    high: float | None

    @property
    def half(self) -> float | None:
        """Half the width of the interval."""
        return None if self.high is None else self.high - self.mean


@dataclass(frozen=True)
class Paired:
    """A comparison by seed: mean of (other − reference), and p-values of the paired t and the Wilcoxon test."""

    difference: float
    pairs: int
    t_test: float | None
    wilcoxon: float | None


def interval(values: FloatArray) -> Interval:
    """Return the mean of (S,) values and its interval by Student's t."""
    from scipy.stats import t

    mean = float(np.mean(values))
    if len(values) < 2:
        return Interval(mean, None, None)
    half = float(t.ppf(0.5 + LEVEL / 2, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))
    return Interval(mean, mean - half, mean + half)


def spread(values: FloatArray) -> float | None:
    """Return the standard deviation over seeds, None for one."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def paired(values: FloatArray, reference: FloatArray) -> Paired:
    """Compare two methods on the same seeds, (S,) each; two-sided tests, None where a test says nothing."""
    from scipy.stats import PermutationMethod, ttest_1samp, wilcoxon

    difference = np.asarray(values - reference)
    rounding = ROUNDING * float(np.abs([values, reference]).max(initial=0.0))
    difference[np.abs(difference) <= rounding] = 0.0
    mean = float(difference.mean()) if len(difference) else float("nan")
    if len(difference) < 2:
        return Paired(mean, len(difference), None, None)
    if np.ptp(difference) <= rounding:  # the same on every seed: no spread to test by
        return Paired(mean, len(difference), 1.0 if mean == 0 else None, 1.0 if mean == 0 else None)
    by_t = float(ttest_1samp(difference, 0.0).pvalue)
    few_with_zeros = len(difference) <= MOST_FLIPPED and 0.0 in difference
    method = PermutationMethod() if few_with_zeros else "auto"
    by_rank = float(wilcoxon(difference, zero_method="zsplit", method=method).pvalue)
    return Paired(mean, len(difference), by_t, by_rank)


def rounds_to(level: float, gap: FloatArray) -> list[int | None]:
    """Return for each curve (S, T) of the gap closed the first round at which it has reached ``level``, or None."""
    return [int(np.argmax(curve >= level)) + 1 if (curve >= level).any() else None for curve in gap]
