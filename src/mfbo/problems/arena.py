"""The arena: two teams of supporters on opposite sides of the pitch, without crowds, eqs. (24) and (25)."""

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from scipy.optimize import minimize

from mfbo.arrays import FloatArray, read_only
from mfbo.population import Population
from mfbo.problems.congestion import congestion, congestion_slope
from mfbo.problems.pictures import PitchPicture
from mfbo.problems.problem import Optimum, Problem
from mfbo.simplex import squares, squares_pullback

CONGESTION = 10.0
EMBEDDED_SEATS = 30
PAIR_FACTOR = 2.0  # ordered pairs over M (M − 1) / 2 (E7)


@dataclass(frozen=True, eq=False)
class ArenaPayoff:
    """f = k s_c (Cos η)_a − σ log(1 + P_a), η_a = Σ_c s_c w_ca.

    angles: (A,); signs: s (C,), +1 and −1 for the two teams. Finite M leaves out the pairs of an agent with itself.
    """

    angles: FloatArray
    signs: FloatArray
    factor: float = CONGESTION

    def cells(self, shares: FloatArray, size: int | None = None) -> FloatArray:
        """Return f in every cell."""
        attraction = self.signs[:, None] * self._field(shares)[None, :]
        if size is not None:
            attraction = (size * attraction - 1.0) / max(size - 1, 1)
        return np.asarray(PAIR_FACTOR * attraction - congestion(shares.sum(axis=0), self.factor))

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g."""
        return float((shares * self.cells(shares, size)).sum())

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return ∂g/∂w."""
        pull = 2.0 * PAIR_FACTOR * self.signs[:, None] * self._field(shares)[None, :]
        return np.asarray(pull - congestion_slope(shares.sum(axis=0), self.factor))

    def _field(self, shares: FloatArray) -> FloatArray:
        """Return (Cos η)_a through the two components of the mean direction: O(A), not O(A²)."""
        signed = self.signs @ shares
        cosine, sine = np.cos(self.angles), np.sin(self.angles)
        return np.asarray(cosine * (signed @ cosine) + sine * (signed @ sine))


def arena(actions: int = 30, size: int | None = 50) -> Problem:
    """Return the problem on ``actions`` seats of the closed grid on [0, 2π], half of the agents in each team."""
    angles = np.linspace(0, 2 * np.pi, actions)
    signs = np.array([-1.0, 1.0])
    payoff = ArenaPayoff(angles, signs)
    best = _embedded_distribution() if actions == EMBEDDED_SEATS else best_distribution(actions)
    seats = {"name": [f"{angle:.4f}" for angle in angles], "angle": angles}
    return Problem(
        name="arena",
        summary="two teams on opposite sides of the pitch, without crowds",
        population=Population(seats, contexts={"visitors": 0.5, "hosts": 0.5}, context_features=signs, size=size),
        payoff=payoff,
        optimum=Optimum(payoff.population(0.5 * best), best),
        feedback=("system", "agents", "cells"),
        source="synthetic (paper, section 5.2)",
        license="none needed",
        picture=PitchPicture(),
    )


@cache
def _embedded_distribution() -> FloatArray:
    """Return the stored optimum for 30 seats, (2, 30); a test computes it anew."""
    text = resources.files("mfbo.problems").joinpath("data", "arena-30.json").read_text(encoding="utf-8")
    return np.asarray(read_only(json.loads(text)["distribution"]))


def best_distribution(actions: int) -> FloatArray:
    """Return the best local optimum, (2, A), over starts with the teams opposite each other at every half seat.

    g is a convex quadratic of rank two plus a concave penalty: for a fixed mean direction the optimum is unique, so a
    start for every direction finds them all; docs/theory.md gives the certificate for 30 seats.
    """
    angles = np.linspace(0, 2 * np.pi, actions)
    payoff = ArenaPayoff(angles, np.array([-1.0, 1.0]))

    def negated(flat: FloatArray) -> tuple[float, FloatArray]:
        roots = flat.reshape(2, actions)
        distribution = squares(roots)
        gradient = 0.5 * payoff.gradient(0.5 * distribution)
        return -payoff.population(0.5 * distribution), -squares_pullback(roots, distribution, gradient).ravel()

    found = []
    for direction in np.linspace(0, 2 * np.pi, 2 * actions, endpoint=False):
        facing = np.cos(angles - direction)
        start = np.exp(np.stack([-facing, facing]))
        result = minimize(
            negated, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-10}
        )
        found.append((float(result.fun), squares(result.x.reshape(2, actions))))
    return np.asarray(read_only(min(found, key=lambda local: local[0])[1]))
