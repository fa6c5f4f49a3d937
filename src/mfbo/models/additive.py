"""The structured posterior for additive kernels f = u(a) + v(c) + h(ξ), eqs. (9) and (10).

All cells of a candidate share the distribution part, so one evaluation costs O(n² + n (A + C) + A C) on top of the
distances, and nothing of size (A C, n) is ever built.
"""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import CellMoments
from mfbo.models.conditioning import Conditioned, RadialGroup, StaticGroup
from mfbo.models.posterior import VARIANCE_FLOOR, TermPosterior


@dataclass(frozen=True, eq=False)
class AdditivePosterior(TermPosterior):
    """Adds to the general posterior what does not depend on ξ.

    products: (n + A + C, n), turns the rows' covariances κ with h(ξ) into all that is needed of them in one product:
    L⁻¹ κ, and −2 times the covariances with u(a) and v(c) that the data explain; with a single context v(c) rides with
    the actions and has no rows of its own. mean_cells: means of u(a) + v(c), (C, A). margin: prior minus explained
    variance of u(a) + v(c), (C, A).
    """

    products: FloatArray
    mean_cells: FloatArray
    margin: FloatArray
    radials: tuple[RadialGroup, ...]

    @staticmethod
    def of(data: Conditioned) -> "AdditivePosterior":
        """Precompute the parts that all candidates share: two products of (A + C, n) by (n, n)."""
        contexts = len(data.weights)
        by_action, by_context, prior = _covariances(data)
        if contexts == 1:
            by_action, by_context = by_action + by_context, np.empty((data.count, 0))
        v_actions, v_contexts = (data.inverse @ by_action).T, (data.inverse @ by_context).T
        products = np.concatenate([data.inverse, -2.0 * v_actions @ data.inverse, -2.0 * v_contexts @ data.inverse])
        mean_cells = (data.alpha @ by_action)[None, :]
        spread = (v_actions**2).sum(axis=1)[None, :]
        if contexts > 1:
            mean_cells = mean_cells + (data.alpha @ by_context)[:, None]
            spread = spread + (v_contexts**2).sum(axis=1)[:, None] + 2.0 * v_contexts @ v_actions.T
        radials = tuple(group for group in data.groups if isinstance(group, RadialGroup))
        return AdditivePosterior(data, products, mean_cells, prior - spread, radials)

    def cells(self, distribution: FloatArray) -> CellMoments:
        """Return mean and variance of f in every cell, (C, A)."""
        data = self.data
        rows, actions = data.count, distribution.shape[1]
        weights = data.weights[:, None]
        evaluated = [group.at(weights * distribution) for group in self.radials]
        kappa = evaluated[0].kappa if len(evaluated) == 1 else np.sum([each.kappa for each in evaluated], axis=0)
        found = self.products @ kappa
        u = found[:rows]
        mean = self.mean_cells + float(kappa @ data.alpha)
        variance = self.margin + found[rows : rows + actions]
        if len(weights) > 1:
            variance += found[rows + actions :, None]
        variance += sum(each.at_zero for each in evaluated) - float(u @ u)
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
            d_shares = evaluated[0].pullback(d_kappa)
            for each in evaluated[1:]:
                d_shares = d_shares + each.pullback(d_kappa)
            return np.asarray(weights * d_shares)

        return CellMoments(mean, variance, pullback)


def _covariances(data: Conditioned) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the rows' covariances with u(a) (n, A) and v(c) (n, C), and the prior variance of u(a) + v(c) (C, A).

    The constant term rides with the contexts: every cell has exactly one.
    """
    contexts = len(data.weights)
    by_action = np.zeros((data.count, 1))
    by_context = np.full((data.count, contexts), data.constant)
    prior = np.full((contexts, 1), data.constant)
    for group in data.groups:
        if not isinstance(group, StaticGroup):
            continue
        for part in group.parts:
            prior = prior + part.diagonal
            coupled = group.coupled[:, part.columns]
            if part.feature.axis == "actions":
                by_action = by_action + coupled
            else:
                by_context = by_context + coupled
    return by_action, by_context, prior
