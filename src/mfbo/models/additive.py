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

    v_actions, v_contexts: L⁻¹ of the rows' covariances with u(a) and v(c), transposed: (A, n), (C, n); with a single
    context v(c) rides with the actions and v_contexts is None. mean_cells: means of u(a) + v(c), (C, A). margin: prior
    minus explained variance of u(a) + v(c), (C, A).
    """

    v_actions: FloatArray
    v_contexts: FloatArray | None
    mean_cells: FloatArray
    margin: FloatArray
    radials: tuple[RadialGroup, ...]

    @staticmethod
    def of(data: Conditioned) -> "AdditivePosterior":
        """Precompute the parts that all candidates share: one (n, n) by (n, A) product."""
        contexts = len(data.weights)
        by_action, by_context, prior = _covariances(data)
        radials = tuple(group for group in data.groups if isinstance(group, RadialGroup))
        if contexts == 1:
            v_actions = np.ascontiguousarray((data.inverse @ (by_action + by_context)).T)
            mean_cells = (data.alpha @ (by_action + by_context))[None, :]
            spread = (v_actions**2).sum(axis=1)[None, :]
            return AdditivePosterior(data, v_actions, None, mean_cells, prior - spread, radials)
        v_actions = np.ascontiguousarray((data.inverse @ by_action).T)
        v_contexts = np.ascontiguousarray((data.inverse @ by_context).T)
        mean_cells = (data.alpha @ by_context)[:, None] + (data.alpha @ by_action)[None, :]
        spread = (
            (v_actions**2).sum(axis=1)[None, :] + (v_contexts**2).sum(axis=1)[:, None] + 2.0 * v_contexts @ v_actions.T
        )
        return AdditivePosterior(data, v_actions, v_contexts, mean_cells, prior - spread, radials)

    def cells(self, distribution: FloatArray) -> CellMoments:
        """Return mean and variance of f in every cell, (C, A)."""
        data = self.data
        weights = data.weights[:, None]
        evaluated = [group.at(weights * distribution) for group in self.radials]
        kappa = evaluated[0].kappa if len(evaluated) == 1 else np.sum([each.kappa for each in evaluated], axis=0)
        u = data.inverse @ kappa
        left = sum(each.at_zero for each in evaluated) - float(u @ u)
        explained = self.v_actions @ u
        if self.v_contexts is not None:
            explained = explained + (self.v_contexts @ u)[:, None]
        mean = self.mean_cells + float(kappa @ data.alpha)
        variance = self.margin - 2.0 * explained
        variance += left
        np.maximum(variance, VARIANCE_FLOOR, out=variance)

        def pullback(d_mean: FloatArray, d_variance: FloatArray) -> FloatArray:
            d_variance = np.where(variance > VARIANCE_FLOOR, d_variance, 0.0)
            if self.v_contexts is None:
                weighted = d_variance[0] @ self.v_actions
            else:
                weighted = d_variance.sum(axis=0) @ self.v_actions + d_variance.sum(axis=1) @ self.v_contexts
            weighted += float(np.add.reduce(d_variance, axis=None)) * u
            d_kappa = weighted @ data.inverse
            d_kappa *= -2.0
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
