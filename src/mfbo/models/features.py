"""Features φ(ω, ξ): linear in the observation's weights ω, nonlinear in the shares w = p ξ, eq. (6).

Being linear in ω they are features of the payoff function f itself, so system payoffs, single agents and cell means
can stand in one model. For a system row ω = w, and φ = w ψ(w) is a nonlinear function of the distribution alone.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mfbo.arrays import FloatArray

Axis = Literal["cells", "actions", "contexts"]
Shape = Literal["one", "root", "linear", "log", "decay", "fast decay"]
FAST = 10.0


@dataclass(frozen=True)
class Weighting:
    """The factor ψ(s) of a share s (of a cell, or of an action), and its derivative.

    one: 1 · root: (s + offset)^-½ · linear: A s · log: log(1 + A s) · decay: 1 / (1 + A s) ·
    fast decay: 1 / (1 + 10 A s).
    """

    shape: Shape
    actions: int
    offset: float = 0.0

    @property
    def _rate(self) -> float:
        return self.actions * (FAST if self.shape == "fast decay" else 1.0)

    def value(self, share: FloatArray) -> FloatArray:
        """Return ψ(s)."""
        match self.shape:
            case "one":
                return np.ones_like(share)
            case "root":
                return np.asarray(1.0 / np.sqrt(share + self.offset))
            case "linear":
                return self.actions * share
            case "log":
                return np.asarray(np.log1p(self.actions * share))
            case "decay" | "fast decay":
                return np.asarray(1.0 / (1.0 + self._rate * share))

    def derivative(self, share: FloatArray) -> FloatArray:
        """Return ψ'(s)."""
        match self.shape:
            case "one":
                return np.zeros_like(share)
            case "root":
                return np.asarray(-0.5 / ((share + self.offset) * np.sqrt(share + self.offset)))
            case "linear":
                return np.full_like(share, float(self.actions))
            case "log":
                return np.asarray(self.actions / (1.0 + self.actions * share))
            case "decay" | "fast decay":
                return np.asarray(-self._rate / (1.0 + self._rate * share) ** 2)

    def product(self, share: FloatArray) -> FloatArray:
        """Return s ψ(s), the feature of the population payoff itself."""
        match self.shape:
            case "one":
                return share
            case "root":
                return np.asarray(share / np.sqrt(share + self.offset))
            case "linear":
                return self.actions * share * share
            case "log":
                return np.asarray(share * np.log1p(self.actions * share))
            case "decay" | "fast decay":
                return np.asarray(share / (1.0 + self._rate * share))

    def product_slope(self, share: FloatArray) -> FloatArray | float:
        """Return d/ds of s ψ(s)."""
        match self.shape:
            case "one":
                return 1.0
            case "root":
                shifted = share + self.offset
                return np.asarray((0.5 * share + self.offset) / (shifted * np.sqrt(shifted)))
            case "linear":
                return 2.0 * self.actions * share
            case "log":
                scaled = self.actions * share
                return np.asarray(np.log1p(scaled) + scaled / (1.0 + scaled))
            case "decay" | "fast decay":
                return np.asarray(1.0 / (1.0 + self._rate * share) ** 2)


@dataclass(frozen=True, eq=False)
class Feature:
    """One feature map: which cells are summed, how they are weighted, what is subtracted.

    axis: "cells" keeps (C, A) and weighs by the cell's own share w; "actions" sums over contexts to (1, A) and weighs
    by the occupancy P; "contexts" sums over actions to (C, 1), unweighted.
    center: subtracted value, in the feature's shape, or None.
    """

    axis: Axis
    weighting: Weighting
    center: FloatArray | None = None

    def of_rows(self, omega: FloatArray, shares: FloatArray) -> FloatArray:
        """Return φ of n rows: ω, w (n, C, A) → (n, R, K)."""
        values = self._summed(omega)
        if self.weighting.shape != "one":
            values = values * self.weighting.value(self._summed(shares))
        return values if self.center is None else values - self.center

    def at(self, shares: FloatArray) -> FloatArray:
        """Return φ(w, ξ) of the population payoff at one distribution: w (C, A) → (R, K)."""
        values = self.weighting.product(self._summed(shares))
        return values if self.center is None else values - self.center

    def pullback(self, shares: FloatArray, d_feature: FloatArray) -> FloatArray:
        """Chain d/dφ (R, K) of ``at`` back to d/dw; broadcasts to (C, A)."""
        return np.asarray(d_feature * self.weighting.product_slope(self._summed(shares)))

    def factors(self, shares: FloatArray) -> FloatArray:
        """Return ψ of every cell (broadcasts to (C, A)): a one-hot row has φ = ψ at its place, minus the center."""
        return self.weighting.value(self._summed(shares))

    def factors_pullback(self, shares: FloatArray, d_factors: FloatArray) -> FloatArray:
        """Chain d/dψ, given per cell (C, A), back to d/dw; broadcasts to (C, A)."""
        return np.asarray(self._summed(d_factors) * self.weighting.derivative(self._summed(shares)))

    def _summed(self, values: FloatArray) -> FloatArray:
        if self.axis == "cells":
            return values
        return np.asarray(values.sum(axis=-2 if self.axis == "actions" else -1, keepdims=True))
