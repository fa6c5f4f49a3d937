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

    v_actions, v_contexts: L⁻¹ of the rows' covariances with u(a) and v(c), transposed: (A, n), (C, n).
    mean_cells: means of u(a) + v(c), (C, A). spread: |V_a + V_c|², (C, A). prior: prior variance of u(a) + v(c).
    """

    v_actions: FloatArray
    v_contexts: FloatArray
    mean_cells: FloatArray
    spread: FloatArray
    prior: FloatArray
    radials: tuple[RadialGroup, ...]

    @staticmethod
    def of(data: Conditioned) -> "AdditivePosterior":
        """Precompute the parts that all candidates share: one (n, n) by (n, A) product."""
        actions: FloatArray | None = None
        contexts: FloatArray | None = None
        prior = np.zeros((1, 1))
        for group in data.groups:
            if isinstance(group, StaticGroup):
                part = group.static
                prior = prior + part.diagonal
                if part.feature.axis == "actions":
                    actions = part.coupled if actions is None else actions + part.coupled
                else:
                    contexts = part.coupled if contexts is None else contexts + part.coupled
        # The constant term rides with the contexts: every cell has exactly one.
        base = np.zeros((data.count, len(data.weights))) if contexts is None else contexts
        by_context = base + data.constant
        by_action = np.zeros((data.count, 1)) if actions is None else actions
        v_actions = np.ascontiguousarray((data.inverse @ by_action).T)
        v_contexts = np.ascontiguousarray((data.inverse @ by_context).T)
        mean_cells = (data.alpha @ by_context)[:, None] + (data.alpha @ by_action)[None, :]
        spread = (
            (v_actions**2).sum(axis=1)[None, :] + (v_contexts**2).sum(axis=1)[:, None] + 2.0 * v_contexts @ v_actions.T
        )
        radials = tuple(group for group in data.groups if isinstance(group, RadialGroup))
        return AdditivePosterior(data, v_actions, v_contexts, mean_cells, spread, prior + data.constant, radials)

    def cells(self, distribution: FloatArray) -> CellMoments:
        """Return mean and variance of f in every cell, (C, A)."""
        data = self.data
        shares = data.weights[:, None] * distribution
        evaluated = [group.at(shares) for group in self.radials]
        kappa = np.zeros(data.count)
        at_zero = 0.0
        for each in evaluated:
            kappa = kappa + each.kappa
            at_zero += each.at_zero
        u = data.inverse @ kappa
        shape = distribution.shape
        mean = np.broadcast_to(self.mean_cells + float(kappa @ data.alpha), shape)
        explained = self.spread + 2.0 * (self.v_actions @ u)[None, :] + 2.0 * (self.v_contexts @ u)[:, None]
        variance = np.broadcast_to(np.maximum(self.prior + (at_zero - float(u @ u)) - explained, VARIANCE_FLOOR), shape)

        def pullback(d_mean: FloatArray, d_variance: FloatArray) -> FloatArray:
            d_variance = np.where(variance > VARIANCE_FLOOR, d_variance, 0.0)
            by_action = d_variance.sum(axis=0) if len(self.v_actions) > 1 else d_variance.sum(keepdims=True)[0]
            by_context = d_variance.sum(axis=1)
            weighted = by_action @ self.v_actions + by_context @ self.v_contexts + float(by_context.sum()) * u
            d_kappa = float(d_mean.sum()) * data.alpha - 2.0 * (weighted @ data.inverse)
            d_shares = np.zeros(shape)
            for each in evaluated:
                d_shares += each.pullback(d_kappa)
            return data.weights[:, None] * d_shares

        return CellMoments(mean, variance, pullback)
