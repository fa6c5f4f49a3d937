"""The swarm: everyone wants to be near π/2, and nobody likes a crowd, eqs. (22) and (23)."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import lambertw

from mfbo.arrays import FloatArray
from mfbo.population import Population
from mfbo.problems.congestion import congestion, congestion_slope
from mfbo.problems.pictures import RewardPicture
from mfbo.problems.problem import Optimum, Problem

CONGESTION = 10.0


@dataclass(frozen=True, eq=False)
class SwarmPayoff:
    """f = φ_a − σ log(1 + P_a); reward: φ (A,); the same formula holds for finitely many agents."""

    reward: FloatArray
    factor: float = CONGESTION

    def cells(self, shares: FloatArray, size: int | None = None) -> FloatArray:
        """Return f in every cell."""
        occupancy = shares.sum(axis=0)
        return np.broadcast_to(self.reward - congestion(occupancy, self.factor), shares.shape)

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g."""
        return float((shares * self.cells(shares)).sum())

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return ∂g/∂w."""
        occupancy = shares.sum(axis=0)
        return np.broadcast_to(self.reward - congestion_slope(occupancy, self.factor), shares.shape)


def swarm_reward(angles: FloatArray) -> FloatArray:
    """Return φ(x) = 2π² (sin x − cos² x) + 2 sin x."""
    return np.asarray(2 * np.pi**2 * (np.sin(angles) - np.cos(angles) ** 2) + 2 * np.sin(angles))


def swarm(actions: int = 30, size: int | None = 50) -> Problem:
    """Return the problem on ``actions`` points of the closed grid on [0, 2π]."""
    angles = np.linspace(0, 2 * np.pi, actions)
    payoff = SwarmPayoff(swarm_reward(angles))
    best = separable_optimum(payoff.reward, payoff.factor)
    return Problem(
        name="swarm",
        summary="agents gather near π/2 and avoid crowds",
        population=Population({f"{angle:.4f}": angle for angle in angles}, size=size),
        payoff=payoff,
        optimum=Optimum(payoff.population(best[None, :]), best[None, :]),
        feedback=("system", "agents", "cells"),
        source="synthetic (paper, section 5.2)",
        license="none needed",
        picture=RewardPicture(angles, swarm_reward),
    )


def separable_optimum(reward: FloatArray, factor: float) -> FloatArray:
    """Return the exact maximizer P (A,) of Σ P_a (φ_a − σ log(1 + P_a)) on the simplex.

    The condition φ_a − σ (log(1+P) + P/(1+P)) = ν is solved for P by Lambert's W, and ν by bisection, eq. (23).
    """

    def occupancy(level: float) -> FloatArray:
        x = (reward - level) / factor - 1.0
        solved = np.exp(x + np.real(lambertw(np.exp(-x)))) - 1.0
        return np.asarray(np.where(reward > level, solved, 0.0))

    low, high = float(reward.min()) - 2 * factor, float(reward.max())
    level = brentq(lambda tried: float(occupancy(tried).sum()) - 1.0, low, high, xtol=1e-14, rtol=1e-15)
    found = occupancy(level)
    return np.asarray(found / found.sum())
