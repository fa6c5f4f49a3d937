"""Quadratic payoffs: what an agent gets depends linearly on where all the others are. Exact optima, concave or not."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError

MOST_FACES = 1 << 14  # of the simplex: beyond, enumerating them takes minutes


@dataclass(frozen=True, eq=False)
class QuadraticPayoff:
    """f = b + H w over cells, so that g = ⟨b, w⟩ + ⟨w, H w⟩.

    linear: b (C, A). pairs: H (C·A, C·A); only its symmetric part matters to g. The same formula holds for finitely
    many agents.
    """

    linear: FloatArray
    pairs: FloatArray

    def cells(self, shares: FloatArray, size: int | None = None) -> FloatArray:
        """Return f in every cell."""
        return np.asarray(self.linear + (self.pairs @ shares.ravel()).reshape(shares.shape))

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g."""
        return float((shares * self.cells(shares)).sum())

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return ∂g/∂w = b + (H + Hᵀ) w."""
        flat = shares.ravel()
        return np.asarray(self.linear + (self.pairs @ flat + flat @ self.pairs).reshape(shares.shape))


def quadratic_optimum(payoff: QuadraticPayoff) -> FloatArray:
    """Return the exact global maximizer (1, A) of a quadratic payoff with one context, concave or not.

    Some maximizer is the only critical point in the inside of a face (if there were a flat direction, following it to
    the border would lose nothing), so solving every face's linear system and taking the best finds it: 2^A − 1 of them.
    """
    contexts, actions = payoff.linear.shape
    if contexts != 1 or (1 << actions) > MOST_FACES:
        raise InvalidInputError(f"the faces of {contexts} × {actions} cells are too many to enumerate")
    curvature = payoff.pairs + payoff.pairs.T
    best, top = np.eye(actions)[0], -np.inf
    for size in range(1, actions + 1):
        supports = np.array(list(combinations(range(actions), size)))
        points = _critical_points(payoff.linear[0], curvature, supports)
        values = points @ payoff.linear[0] + 0.5 * np.einsum("ni,ij,nj->n", points, curvature, points)
        inside = np.isfinite(values) & (points >= 0).all(axis=1)
        values = np.where(inside, values, -np.inf)
        if values.max() > top:
            best, top = points[int(np.argmax(values))], float(values.max())
    return np.asarray(best / best.sum())[None, :]


def _critical_points(linear: FloatArray, curvature: FloatArray, supports: FloatArray) -> FloatArray:
    """Return where b + Q P is constant on each support and P sums to 1, (n, A); NaN where that is not one point."""
    count, size = supports.shape
    systems = np.zeros((count, size + 1, size + 1))
    systems[:, :size, :size] = curvature[supports[:, :, None], supports[:, None, :]]
    systems[:, :size, size] = -1.0
    systems[:, size, :size] = 1.0
    right = np.concatenate([-linear[supports], np.ones((count, 1))], axis=1)
    regular = np.linalg.cond(systems) < 1e13
    points = np.full((count, len(linear)), np.nan)
    solved = np.zeros((int(regular.sum()), len(linear)))
    shares = np.linalg.solve(systems[regular], right[regular][:, :, None])[:, :size, 0]
    np.put_along_axis(solved, supports[regular], shares, axis=1)
    points[regular] = solved
    return points
