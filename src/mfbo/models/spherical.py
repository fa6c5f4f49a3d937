"""The Matérn kernel in the information geometry of distributions: a series of spherical functions of √w.

With the Fisher–Rao metric, distributions over N cells are a part of the unit sphere S^d, d = N − 1: w ↦ √w, and the
geodesic distance of w and w′ is 2 arccos x, x = Σ √(w w′). A Matérn function of that distance is not positive definite
in general; the intrinsic kernel is (Borovitskiy et al., 2020), whose spectrum is that of Matérn processes in space:

    κ(x) = Σₙ aₙ Gₙ(x)      aₙ ∝ mₙ (2ν / λ² + n (n + d − 1))^(−ν − d/2)      Σ aₙ = 1

with Gₙ the Gegenbauer polynomial of index (d − 1) / 2 scaled to Gₙ(1) = 1, mₙ the number of harmonics of level n, and λ
the length. Level 0 is a constant and left to the kernel's constant term, so a long length leaves a linear kernel.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln, logsumexp

from mfbo.arrays import FloatArray
from mfbo.models.couplings import Coupling
from mfbo.models.kernel import Columns
from mfbo.models.stationary import Embedding, Profile, Stationary, StationaryPart

LEVELS = 30  # in many dimensions Gₙ(x) is about xⁿ: level 30 tells apart what is a third of a right angle apart
SMOOTHNESS = 2.5  # ν
NEGLIGIBLE = 1e-14
OFFSET = 1e-3  # part of a uniform distribution that is mixed in: it keeps the slope finite at a share of 0


@dataclass(frozen=True, eq=False)
class Sphere(Embedding):
    """√w on the unit sphere, w first mixed with a little of the uniform distribution over the N cells."""

    cells: int

    @classmethod
    def made_for(cls, weights: FloatArray, actions: int, coupling: Coupling) -> Embedding:
        """Count the cells."""
        return cls(len(weights) * actions)

    def of(self, shares: FloatArray) -> FloatArray:
        """Return the root."""
        return np.sqrt((shares + OFFSET / self.cells) / (1.0 + OFFSET)).reshape(*shares.shape[:-2], 1, -1)

    def pullback(self, shares: FloatArray, d_z: FloatArray) -> FloatArray:
        """Chain through the root."""
        root = np.sqrt((shares + OFFSET / self.cells) / (1.0 + OFFSET))
        return np.asarray(0.5 * d_z.reshape(shares.shape) / root / (1.0 + OFFSET))


@dataclass(frozen=True, eq=False)
class SphericalMatern(Profile):
    """κ as a function of the squared chord q = 2 − 2x between two points of S^d; ``coefficients`` are a₁ … (L,)."""

    dimension: int
    coefficients: FloatArray

    @staticmethod
    def of_length(dimension: int, length: float) -> "SphericalMatern":
        """Return the profile of a length."""
        return SphericalMatern(dimension, coefficients(dimension, length))

    def value(self, q: FloatArray) -> FloatArray:
        """Return κ(q)."""
        return series(self.coefficients, 0.5 * (self.dimension - 1), 1.0 - 0.5 * q)

    def fall(self, q: FloatArray) -> FloatArray:
        """Return 1 − κ(q) = q/2 Σ aₙ Hₙ with Hₙ = (1 − Gₙ) / (1 − x), which has a recursion of its own."""
        index, x = 0.5 * (self.dimension - 1), 1.0 - 0.5 * q
        before, now = np.zeros_like(x), np.ones_like(x)
        total = self.coefficients[0] * now
        for n, a in enumerate(self.coefficients[1:], start=1):
            before, now = now, (2.0 * (n + index) * (1.0 + x * now) - n * before) / (n + 2.0 * index)
            total = total + a * now
        return np.asarray(0.5 * q * total)

    def slope(self, q: FloatArray, value: FloatArray) -> FloatArray:
        """Return dκ/dq: the derivative of Gₙ is n (n + d − 1) / d times the Gₙ₋₁ of two dimensions more."""
        n = np.arange(1, len(self.coefficients) + 1)
        factors = self.coefficients * n * (n + self.dimension - 1.0) / self.dimension
        index = 0.5 * (self.dimension + 1)
        return np.asarray(-0.5 * (factors[0] + series(factors[1:], index, 1.0 - 0.5 * q)))


@dataclass(frozen=True, eq=False)
class Spherical(Stationary):
    """The term on S^d, d = ``dimension``; the profile follows from the length, λ² = norm · length²."""

    dimension: int

    def gram(self, pairs: FloatArray, columns: Columns, length: float, start: int) -> tuple[FloatArray, FloatArray]:
        """Return κ and its derivative in log length from squared chords (N, 1)."""
        x, index = 1.0 - 0.5 * pairs[:, 0], 0.5 * (self.dimension - 1)
        a = coefficients(self.dimension, self._sphere_length(length))
        slope = a * log_slopes(self.dimension, self._sphere_length(length))
        return series(a, index, x), series(slope - a * slope.sum(), index, x)

    def part(self, weight: float, length: float, columns: Columns) -> StationaryPart:
        """Return the term on rows: the length is in the profile, so that a chord counts as it is."""
        profile = SphericalMatern.of_length(self.dimension, self._sphere_length(length))
        return StationaryPart(replace(self.radial, profile=profile), weight, 1.0, np.empty(0), np.empty(0)).on(columns)

    def _sphere_length(self, length: float) -> float:
        return float(self.radial.norm**0.5 * length)


def spherical_norm(dimension: int, chord: float) -> float:
    """Return λ² at which κ of a squared chord is a half, as far as that can be: longer lengths are linear in x."""
    low, high = 1e-3, 1e2
    for _ in range(60):
        middle = (low * high) ** 0.5
        half = SphericalMatern.of_length(dimension, middle).value(np.array([chord]))[0] > 0.5
        low, high = (low, middle) if half else (middle, high)
    return low * low


def series(factors: FloatArray, index: float, x: FloatArray) -> FloatArray:
    """Return Σ factorsₙ Gₙ(x) over n = 1, 2, …, with (n + 2 index) Gₙ₊₁ = 2 (n + index) x Gₙ − n Gₙ₋₁.

    It ends where factors no longer count: |Gₙ| is at most 1.
    """
    before, now = np.ones_like(x), x
    total = np.zeros_like(x)
    size = np.abs(factors)
    counted = int(np.count_nonzero(np.cumsum(size[::-1]) > NEGLIGIBLE * size.sum()))
    for n, factor in enumerate(factors[:counted], start=1):
        total += factor * now
        before, now = now, (2.0 * (n + index) * x * now - n * before) / (n + 2.0 * index)
    return total


def coefficients(dimension: int, length: float) -> FloatArray:
    """Return a₁ … a_L of a length, (L,), by logarithms: levels have up to 10²⁰ harmonics and more."""
    n = np.arange(1, LEVELS + 1)
    harmonics = np.log(2.0 * n + dimension - 1) + gammaln(n + dimension - 1) - gammaln(n + 1) - gammaln(dimension)
    spectrum = -(SMOOTHNESS + 0.5 * dimension) * np.log(2.0 * SMOOTHNESS / length**2 + n * (n + dimension - 1.0))
    return np.asarray(np.exp(harmonics + spectrum - logsumexp(harmonics + spectrum)))


def log_slopes(dimension: int, length: float) -> FloatArray:
    """Return the derivatives of log aₙ in log length before Σ aₙ = 1 is kept, (L,)."""
    n = np.arange(1, LEVELS + 1)
    first = 2.0 * SMOOTHNESS / length**2
    return np.asarray((2.0 * SMOOTHNESS + dimension) * first / (first + n * (n + dimension - 1.0)))
