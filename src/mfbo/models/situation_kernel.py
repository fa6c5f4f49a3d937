"""How alike two situations are: a product over variables, with unknown values averaged over what they might be.

Numbers and times are compared by an RBF with a length of their own, categories by equality, softened by a length. An
unknown value stands for all values at once: its covariance with another is the mean over what is usual, so the kernel
stays positive semidefinite, and what the mean leaves out is variance that this row alone has.
"""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class SituationScale:
    """What is usual for each variable, (V,) each: its center, the unit in which its length is learned, its spread."""

    center: FloatArray
    unit: FloatArray
    spread: FloatArray

    @staticmethod
    def of(encoded: FloatArray, units: FloatArray) -> "SituationScale":
        """Look at situations (n, V), NaN where unknown; units: 0 where a variable's own spread is its unit."""
        count = encoded.shape[1]
        center, spread = np.zeros(count), np.ones(count)
        for variable in range(count):
            values = encoded[~np.isnan(encoded[:, variable]), variable]
            if len(values):
                center[variable] = values.mean()
                spread[variable] = values.std() or 1.0
        unit = np.where(units > 0, units, spread)
        return SituationScale(center, unit, spread / unit)

    def scaled(self, encoded: FloatArray) -> FloatArray:
        """Return situations (n, V) in units around the center; unknown stays NaN."""
        return np.asarray((encoded - self.center) / self.unit)


@dataclass(frozen=True, eq=False)
class SituationKernel:
    """k_s(s, s′) = Π_v k_v(s_v, s′_v) over some of the variables.

    categories: (V,) how many categories each variable has, 0 for numbers and times. chosen: positions of the variables
    that count.
    """

    categories: tuple[int, ...]
    chosen: tuple[int, ...]

    def gram(
        self, first: FloatArray, second: FloatArray, lengths: FloatArray, spread: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return k_s (m, n) and its derivatives in log ℓ (V, m, n); first (m, V), second (n, V), scaled."""
        value = np.ones((len(first), len(second)))
        relative = np.zeros((len(self.categories), *value.shape))  # of the logarithm
        for position in self.chosen:
            left, right = first[:, position, None], second[None, :, position]
            part, slope = self._part(position, left, right, float(lengths[position]), float(spread[position]))
            relative[position] = slope / np.maximum(part, 1e-300)
            value = value * part
        return value, relative * value

    def own(self, situations: FloatArray, lengths: FloatArray, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return k_s(s, s) (n,) and its derivatives (V, n): 1 and 0 where everything is known."""
        value = np.ones(len(situations))
        relative = np.zeros((len(self.categories), len(situations)))
        for position in self.chosen:
            column = situations[:, position]
            part, slope = self._part(position, column, column, float(lengths[position]), float(spread[position]))
            relative[position] = slope / np.maximum(part, 1e-300)
            value = value * part
        return value, relative * value

    def _part(
        self, position: int, left: FloatArray, right: FloatArray, length: float, spread: float
    ) -> tuple[FloatArray, FloatArray]:
        count = self.categories[position]
        if count:
            return _of_categories(left, right, length, count)
        return _of_numbers(left, right, length, spread)


def _of_categories(left: FloatArray, right: FloatArray, length: float, count: int) -> tuple[FloatArray, FloatArray]:
    """Return 1 for equal categories, e = exp(−1/ℓ²) for others, the mean of both if one is unknown; and d/d log ℓ."""
    other = np.exp(-1.0 / (length * length))
    d_other = other * 2.0 / (length * length)
    mean = (1.0 + (count - 1) * other) / count
    d_mean = (count - 1) * d_other / count
    unknown = np.isnan(left) | np.isnan(right)
    same = left == right
    return (
        np.asarray(np.where(unknown, mean, np.where(same, 1.0, other))),
        np.asarray(np.where(unknown, d_mean, np.where(same, 0.0, d_other))),
    )


def _of_numbers(left: FloatArray, right: FloatArray, length: float, spread: float) -> tuple[FloatArray, FloatArray]:
    """Return exp(−(s − s′)²/2ℓ²), averaged over N(0, spread²) where a value is unknown; and d/d log ℓ."""
    left_unknown, right_unknown = np.isnan(left), np.isnan(right)
    averaged = left_unknown.astype(np.float64) + right_unknown
    difference = np.where(left_unknown, 0.0, left) - np.where(right_unknown, 0.0, right)
    squared_length = length * length
    width = squared_length + averaged * spread * spread
    value = np.sqrt(squared_length / width) * np.exp(difference**2 / (-2.0 * width))
    slope = 1.0 - squared_length / width + squared_length * difference**2 / (width * width)
    return np.asarray(value), np.asarray(value * slope)
