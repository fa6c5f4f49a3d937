"""Payoffs of the battery that few users would want: thresholds, teams, weekday tables, a simulated bike system."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from mfbo.arrays import FloatArray
from mfbo.simplex import jensen_shannon

SMALLEST_SHARE = 1e-12  # in gradients that are infinite on a face


class SharedPayoff:
    """f = g for everyone; subclasses say what g is."""

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g."""
        raise NotImplementedError

    def cells(self, shares: FloatArray, size: int | None = None) -> FloatArray:
        """Return f in every cell."""
        return np.full(shares.shape, self.population(shares))


@dataclass(frozen=True, eq=False)
class ThresholdPayoff(SharedPayoff):
    """g = Σ v_a s((P_a − θ_a) / τ) with the logistic s: a place is won or lost around its threshold.

    prizes: v (A,). thresholds: θ (A,). width: τ.
    """

    prizes: FloatArray
    thresholds: FloatArray
    width: float

    def terms(self, occupancy: FloatArray) -> FloatArray:
        """Return what each place adds, at occupancies of any shape (…, A)."""
        return np.asarray(self.prizes * expit((occupancy - self.thresholds) / self.width))

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g."""
        return float(self.terms(shares.sum(axis=0)).sum())

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return ∂g/∂w."""
        won = expit((shares.sum(axis=0) - self.thresholds) / self.width)
        return np.broadcast_to(self.prizes * won * (1.0 - won) / self.width, shares.shape)


@dataclass(frozen=True, eq=False)
class HillPayoff(SharedPayoff):
    """g = Σ v_a P_a^h / (k_a^h + P_a^h): responses that saturate, some of them only after a slow start (h > 1).

    prizes: v (A,). half: k (A,), the share at half of the response. steepness: h (A,).
    """

    prizes: FloatArray
    half: FloatArray
    steepness: FloatArray

    def terms(self, occupancy: FloatArray) -> FloatArray:
        """Return what each channel adds, at occupancies of any shape (…, A)."""
        powers = np.maximum(occupancy, 0.0) ** self.steepness
        return np.asarray(self.prizes * powers / (self.half**self.steepness + powers))

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g."""
        return float(self.terms(shares.sum(axis=0)).sum())

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return ∂g/∂w."""
        occupancy = np.maximum(shares.sum(axis=0), 0.0)
        powers, scale = occupancy**self.steepness, self.half**self.steepness
        slopes = self.prizes * scale * self.steepness * occupancy ** (self.steepness - 1.0) / (scale + powers) ** 2
        return np.broadcast_to(slopes, shares.shape)


@dataclass(frozen=True, eq=False)
class TeamPayoff(SharedPayoff):
    """g = Π (P_a / α_a)^α_a over the few actions that work together: without one of them there is nothing.

    roles: α (A,), sums to 1, zero for all but a few; P = α is the optimum and pays 1.
    """

    roles: FloatArray

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g."""
        used = self.roles > 0
        return float(np.prod((shares.sum(axis=0)[used] / self.roles[used]) ** self.roles[used]))

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return ∂g/∂w."""
        occupancy = np.maximum(shares.sum(axis=0), SMALLEST_SHARE)
        return np.broadcast_to(self.population(shares) * self.roles / occupancy, shares.shape)


@dataclass(frozen=True, eq=False)
class CrowdPayoff:
    """f = b_ca − κ_a √P_a: types of agents like different places and crowd the same ones. liked: b (C, A)."""

    liked: FloatArray
    crowding: FloatArray

    def cells(self, shares: FloatArray, size: int | None = None) -> FloatArray:
        """Return f in every cell."""
        return np.asarray(self.liked - self.crowding * np.sqrt(np.maximum(shares.sum(axis=0), 0.0)))

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g."""
        return float((shares * self.cells(shares)).sum())

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return ∂g/∂w."""
        return np.asarray(self.liked - 1.5 * self.crowding * np.sqrt(np.maximum(shares.sum(axis=0), 0.0)))


@dataclass(frozen=True, eq=False)
class TablePayoff:
    """f = −JS(ξ_c, Q_c) for everyone in context c: every context has a demand of its own. table: Q (C, A)."""

    table: FloatArray
    weights: FloatArray

    def cells(self, shares: FloatArray, size: int | None = None) -> FloatArray:
        """Return f in every cell."""
        apart = [jensen_shannon(row, demand) for row, demand in zip(self._rows(shares), self.table, strict=True)]
        return np.broadcast_to(-np.array(apart)[:, None], shares.shape)

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g."""
        return float((shares * self.cells(shares)).sum())

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return ∂g/∂w along which a context keeps its agents: −½ log(2 ξ / (ξ + Q)) + f, summed by weight."""
        rows = np.maximum(self._rows(shares), SMALLEST_SHARE)
        inner = -0.5 * np.log(2.0 * rows / (rows + self.table))
        mean = (self._rows(shares) * inner).sum(axis=1, keepdims=True)
        return np.asarray(inner - mean + self.cells(shares))

    def _rows(self, shares: FloatArray) -> FloatArray:
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class RidgePayoff(SharedPayoff):
    """g = −√(δ² + |Uᵀ P − t|²) + δ: a crest along which nothing changes. directions: U (A, k). targets: t (k,)."""

    directions: FloatArray
    targets: FloatArray
    roundness: float

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g."""
        away = shares.sum(axis=0) @ self.directions - self.targets
        return self.roundness - float(np.sqrt(self.roundness**2 + away @ away))

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return ∂g/∂w."""
        away = shares.sum(axis=0) @ self.directions - self.targets
        slope = -self.directions @ away / np.sqrt(self.roundness**2 + away @ away)
        return np.broadcast_to(slope, shares.shape)


@dataclass(frozen=True, eq=False)
class BikePayoff(SharedPayoff):
    """g = trips served in a day per bike: bikes leave where they are wanted and arrive an hour later elsewhere.

    wanted: riders per bike of the fleet, by hour and station (T, A). goes: where they ride to, by hour, (T, A, A), rows
    sum to 1. An hour serves min(stock, wanted) at every station.
    """

    wanted: FloatArray
    goes: FloatArray

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g."""
        return self._day(shares.sum(axis=0))[0]

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return ∂g/∂w where it exists: a station that runs out serves whatever comes."""
        return np.broadcast_to(self._day(shares.sum(axis=0))[1], shares.shape)

    def _day(self, stock: FloatArray) -> tuple[float, FloatArray]:
        served, short = 0.0, []
        for riders, routes in zip(self.wanted, self.goes, strict=True):
            leaving = np.minimum(stock, riders)
            short.append(stock < riders)
            served += float(leaving.sum())
            stock = stock - leaving + leaving @ routes
        worth = np.zeros(self.wanted.shape[1])  # of one more bike, from the last hour back
        for empty, routes in zip(reversed(short), self.goes[::-1], strict=True):
            worth = np.where(empty, 1.0 + routes @ worth, worth)
        return served, worth
