"""Features φ(ω, ξ): linear in the observation's weights ω, nonlinear in the shares w = p ξ, eq. (6).

Being linear in ω they are features of the payoff function f itself, so system payoffs, single agents and cell means
can stand in one model. For a system row ω = w, and φ = w ψ(w) is a nonlinear function of the distribution alone.

To add a shape ψ: a class below, and its name in ``SHAPES``.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mfbo.arrays import FloatArray

Axis = Literal["cells", "actions", "contexts"]
FAST = 10.0


@dataclass(frozen=True)
class Shape(ABC):
    """The factor ψ(s) of a share s (of a cell, or of an action) among A actions; ``offset`` keeps roots finite."""

    actions: int
    offset: float = 0.0

    @abstractmethod
    def value(self, share: FloatArray) -> FloatArray:
        """Return ψ(s)."""

    @abstractmethod
    def derivative(self, share: FloatArray) -> FloatArray:
        """Return ψ'(s)."""

    @abstractmethod
    def product(self, share: FloatArray) -> tuple[FloatArray, FloatArray | float]:
        """Return s ψ(s), the feature of the population payoff itself, and its derivative."""


class One(Shape):
    """ψ = 1."""

    def value(self, share: FloatArray) -> FloatArray:
        """Return ones."""
        return np.ones_like(share)

    def derivative(self, share: FloatArray) -> FloatArray:
        """Return zeros."""
        return np.zeros_like(share)

    def product(self, share: FloatArray) -> tuple[FloatArray, FloatArray | float]:
        """Return s and 1."""
        return share, 1.0


class Root(Shape):
    """ψ = (s + offset)^-½."""

    def value(self, share: FloatArray) -> FloatArray:
        """Return ψ(s)."""
        return np.asarray(1.0 / np.sqrt(share + self.offset))

    def derivative(self, share: FloatArray) -> FloatArray:
        """Return ψ'(s)."""
        return np.asarray(-0.5 / ((share + self.offset) * np.sqrt(share + self.offset)))

    def product(self, share: FloatArray) -> tuple[FloatArray, FloatArray | float]:
        """Return s ψ(s) and its derivative."""
        shifted = share + self.offset
        root = np.sqrt(shifted)
        return share / root, (0.5 * share + self.offset) / (shifted * root)


class Linear(Shape):
    """ψ = A s."""

    def value(self, share: FloatArray) -> FloatArray:
        """Return ψ(s)."""
        return self.actions * share

    def derivative(self, share: FloatArray) -> FloatArray:
        """Return A."""
        return np.full_like(share, float(self.actions))

    def product(self, share: FloatArray) -> tuple[FloatArray, FloatArray | float]:
        """Return s ψ(s) and its derivative."""
        return self.actions * share * share, 2.0 * self.actions * share


class Log(Shape):
    """ψ = log(1 + A s)."""

    def value(self, share: FloatArray) -> FloatArray:
        """Return ψ(s)."""
        return np.asarray(np.log1p(self.actions * share))

    def derivative(self, share: FloatArray) -> FloatArray:
        """Return ψ'(s)."""
        return np.asarray(self.actions / (1.0 + self.actions * share))

    def product(self, share: FloatArray) -> tuple[FloatArray, FloatArray | float]:
        """Return s ψ(s) and its derivative."""
        scaled = self.actions * share
        log = np.log1p(scaled)
        return share * log, log + scaled / (1.0 + scaled)


class Decay(Shape):
    """ψ = 1 / (1 + A s)."""

    @property
    def rate(self) -> float:
        """How fast ψ falls."""
        return float(self.actions)

    def value(self, share: FloatArray) -> FloatArray:
        """Return ψ(s)."""
        return np.asarray(1.0 / (1.0 + self.rate * share))

    def derivative(self, share: FloatArray) -> FloatArray:
        """Return ψ'(s)."""
        return np.asarray(-self.rate / (1.0 + self.rate * share) ** 2)

    def product(self, share: FloatArray) -> tuple[FloatArray, FloatArray | float]:
        """Return s ψ(s) and its derivative."""
        below = 1.0 + self.rate * share
        return share / below, 1.0 / below**2


class FastDecay(Decay):
    """ψ = 1 / (1 + 10 A s)."""

    @property
    def rate(self) -> float:
        """How fast ψ falls."""
        return self.actions * FAST


SHAPES: dict[str, type[Shape]] = {
    "one": One,
    "root": Root,
    "linear": Linear,
    "log": Log,
    "decay": Decay,
    "fast decay": FastDecay,
}


@dataclass(frozen=True, eq=False)
class Feature:
    """One feature map: which cells are summed, how they are weighted, what is subtracted.

    axis: "cells" keeps (C, A) and weighs by the cell's own share w; "actions" sums over contexts to (1, A) and weighs
    by the occupancy P; "contexts" sums over actions to (C, 1), unweighted.
    center: subtracted value, in the feature's shape, or 0.
    """

    axis: Axis
    shape: Shape
    center: FloatArray | float = 0.0

    def of_rows(self, omega: FloatArray, shares: FloatArray) -> FloatArray:
        """Return φ of n rows: ω, w (n, C, A) → (n, R, K)."""
        return np.asarray(self._summed(omega) * self.shape.value(self._summed(shares)) - self.center)

    def at(self, shares: FloatArray) -> tuple[FloatArray, FloatArray | float]:
        """Return φ(w, ξ) of the population payoff at one distribution and its slope: w (C, A) → (R, K) each.

        The pullback is a product: d/dφ · slope is d/dw, and broadcasts to (C, A).
        """
        values, slope = self.shape.product(self._summed(shares))
        return values - self.center, slope

    def factors(self, shares: FloatArray) -> FloatArray:
        """Return ψ of every cell (broadcasts to (C, A)): a one-hot row has φ = ψ at its place, minus the center."""
        return self.shape.value(self._summed(shares))

    def factors_pullback(self, shares: FloatArray, d_factors: FloatArray) -> FloatArray:
        """Chain d/dψ, given per cell (C, A), back to d/dw; broadcasts to (C, A)."""
        return np.asarray(self._summed(d_factors) * self.shape.derivative(self._summed(shares)))

    @property
    def is_plain(self) -> bool:
        """Whether φ = Π ω: neither weighted nor centered, so that it does not change with ξ."""
        return isinstance(self.shape, One) and not np.any(self.center)

    def _summed(self, values: FloatArray) -> FloatArray:
        if self.axis == "cells":
            return values
        return np.asarray(np.add.reduce(values, axis=-2 if self.axis == "actions" else -1, keepdims=True))
