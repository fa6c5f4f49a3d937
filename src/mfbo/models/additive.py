"""The structured posterior for additive kernels f = u(a) + v(c) + h(ξ), eqs. (9) and (10).

All cells of a candidate share the distribution part, so one evaluation costs O(n² + n (A + C) + A C) on top of the
distances, and nothing of size (A C, n) is ever built.
"""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import CellMoments
from mfbo.models.kernel import Part
from mfbo.models.posterior import VARIANCE_FLOOR, Conditioned, TermPosterior


@dataclass(frozen=True, eq=False)
class AdditivePosterior(TermPosterior):
    """Adds to the general posterior what does not depend on ξ.

    products: (n + A + C, n), turns the rows' covariances κ with h(ξ) into all that is needed of them in one product:
    L⁻¹ κ, and −2 times the covariances with u(a) and v(c) that the data explain; with a single context v(c) rides with
    the actions and has no rows of its own. mean_cells: means of u(a) + v(c), (C, A). margin: prior minus explained
    variance of u(a) + v(c), (C, A). moving: the parts of h(ξ).
    """

    products: FloatArray
    mean_cells: FloatArray
    margin: FloatArray
    moving: tuple[Part, ...]

    @staticmethod
    def of(data: Conditioned) -> "AdditivePosterior":
        """Precompute the parts that all candidates share: two products of (A + C, n) by (n, n)."""
        contexts = len(data.weights)
        by_action, by_context, prior = _covariances(data)
        if contexts == 1:
            by_action, by_context = by_action + by_context, np.empty((data.count, 0))
        v_actions, v_contexts = (data.inverse @ by_action).T, (data.inverse @ by_context).T
        if data.level is not None:  # the same in all cells, so it rides with the actions
            v_actions, prior = v_actions + data.level.whitened, prior + data.level.prior
        products = np.concatenate([data.inverse, -2.0 * v_actions @ data.inverse, -2.0 * v_contexts @ data.inverse])
        mean_cells = (data.alpha @ by_action)[None, :]
        if data.level is not None:
            mean_cells = mean_cells + data.level.mean
        spread = (v_actions**2).sum(axis=1)[None, :]
        if contexts > 1:
            mean_cells = mean_cells + (data.alpha @ by_context)[:, None]
            spread = spread + (v_contexts**2).sum(axis=1)[:, None] + 2.0 * v_contexts @ v_actions.T
        moving = tuple(part for part in data.parts if part.role == "distribution")
        return AdditivePosterior(data, products, mean_cells, prior - spread, moving)

    def cells(self, distribution: FloatArray) -> CellMoments:
        """Return mean and variance of f in every cell, (C, A)."""
        data = self.data
        rows, actions = data.count, distribution.shape[1]
        weights = data.weights[:, None]
        candidates = [part.at(weights * distribution) for part in self.moving]
        kappa, prior = candidates[0].cross, candidates[0].prior
        for candidate in candidates[1:]:
            kappa, prior = kappa + candidate.cross, prior + candidate.prior
        found = self.products @ kappa
        u = found[:rows]
        mean = self.mean_cells + float(kappa @ data.alpha)
        variance = self.margin + found[rows : rows + actions]
        if len(weights) > 1:
            variance += found[rows + actions :, None]
        variance += prior - float(u @ u)
        np.maximum(variance, VARIANCE_FLOOR, out=variance)

        def pullback(d_mean: FloatArray, d_variance: FloatArray) -> FloatArray:
            d_variance = d_variance * (variance > VARIANCE_FLOOR)
            d_found = np.empty(len(found))
            np.multiply(u, -2.0 * float(np.add.reduce(d_variance, axis=None)), out=d_found[:rows])
            np.add.reduce(d_variance, axis=0, out=d_found[rows : rows + actions])
            if len(weights) > 1:
                np.add.reduce(d_variance, axis=1, out=d_found[rows + actions :])
            d_kappa = d_found @ self.products
            d_kappa += float(np.add.reduce(d_mean, axis=None)) * data.alpha
            d_shares = candidates[0].pullback(d_kappa, 0.0)
            for candidate in candidates[1:]:
                d_shares = d_shares + candidate.pullback(d_kappa, 0.0)
            return np.asarray(weights * d_shares)

        return CellMoments(mean, variance, pullback)


def _covariances(data: Conditioned) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the rows' covariances with u(a) (n, A) and v(c) (n, C), and the prior variance of u(a) + v(c) (C, A).

    What is the same in all cells rides with the actions.
    """
    contexts = len(data.weights)
    by_action, by_context = np.zeros((data.count, 1)), np.zeros((data.count, contexts))
    prior = np.zeros((contexts, 1))
    for part in data.parts:
        for cross, variance in part.own():
            prior = prior + variance
            if cross.shape[1] == 1:
                by_action = by_action + cross[:, 0, :]
            else:
                by_context = by_context + cross[:, :, 0]
    return by_action, by_context, prior
