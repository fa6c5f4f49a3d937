"""Diminishing returns: what an earning study expects of a more even plan before a noisy month could teach it.

Where places are alike as far as anybody knows and an agent brings less where others stand already, a plan brings about
as much as the sum of the square roots of its occupancies. The model learns what differs from that.
"""

from dataclasses import dataclass, field, fields, replace

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import CellMoments, PopulationMoments, Posterior
from mfbo.models.street_demand import OFFSET
from mfbo.records import History
from mfbo.strategies.modeled import Belief


@dataclass(frozen=True, eq=False)
class Crowding:
    """The expected change of g against the status quo, eq. (37): level · (Σ √P / Σ √P₀ − 1).

    level: what a round earns, or 0 if nothing is expected. weights: p (C,). reference: Σ √P₀ of the status quo.
    """

    level: float
    weights: FloatArray
    reference: float

    @staticmethod
    def of(history: History, status_quo: FloatArray) -> "Crowding":
        """Expect it of a history that tells population payoffs, unless somebody planned the status quo (C, A)."""
        payoffs = [done.payoff for done in history.told if done.payoff is not None]
        level = max(float(np.median(payoffs)), 0.0) if payoffs and not history.planned else 0.0
        weights = history.population.weights
        return Crowding(level, weights, float(_roots(weights @ status_quo).sum()))

    def scaled(self, scale: float) -> "Crowding":
        """Return the same in another unit of payoffs."""
        return replace(self, level=self.level / scale)

    def at(self, distributions: FloatArray) -> FloatArray:
        """Return the expected changes of m distributions (m, C, A), (m,)."""
        roots = _roots(np.einsum("c,mca->ma", self.weights, distributions))
        return np.asarray(self.level * (roots.sum(axis=1) / self.reference - 1.0))

    def gradient(self, distribution: FloatArray) -> FloatArray:
        """Return its slope at one distribution, (C, A)."""
        slopes = 0.5 * self.level / self.reference / _roots(self.weights @ distribution)
        return np.asarray(self.weights[:, None] * slopes)

    def removed_from(self, history: History) -> History:
        """Return the history with payoffs as far as they are not expected."""
        if not self.level:
            return history
        rounds = list(history.rounds)
        for place, done in enumerate(rounds):
            if done.feedback is not None and done.feedback.payoff is not None and done.realized is not None:
                own = self if done.weights is None else replace(self, weights=done.weights)
                payoff = done.feedback.payoff - float(own.at(done.realized[None])[0])
                rounds[place] = replace(done, feedback=replace(done.feedback, payoff=payoff))
        return replace(history, rounds=tuple(rounds))


@dataclass(frozen=True, eq=False)
class CrowdedPosterior:
    """A posterior of what is not expected, with what is."""

    rest: Posterior
    crowding: Crowding

    def population(self, distribution: FloatArray) -> PopulationMoments:
        """Return mean and variance of g(ξ)."""
        inner = self.rest.population(distribution)
        slope = self.crowding.gradient(distribution)
        return PopulationMoments(
            inner.mean + float(self.crowding.at(distribution[None])[0]),
            inner.variance,
            lambda d_mean, d_variance: inner.pullback(d_mean, d_variance) + d_mean * slope,
        )

    def cells(self, distribution: FloatArray) -> CellMoments:
        """Return mean and variance of f in every cell, (C, A); what is expected is the same in all of them."""
        inner = self.rest.cells(distribution)
        slope = self.crowding.gradient(distribution)
        return CellMoments(
            inner.mean + float(self.crowding.at(distribution[None])[0]),
            inner.variance,
            lambda d_mean, d_variance: inner.pullback(d_mean, d_variance) + float(d_mean.sum()) * slope,
        )

    def population_means(self, distributions: FloatArray) -> FloatArray:
        """Return the mean of g at m distributions, (m,)."""
        return self.rest.population_means(distributions) + self.crowding.at(distributions)

    def changes(self, start: FloatArray, distributions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of g(ξ′) − g(ξ), (m,) each."""
        mean, variance = self.rest.changes(start, distributions)
        return mean + self.crowding.at(distributions) - self.crowding.at(start[None])[0], variance

    def leave_one_out(self) -> tuple[FloatArray, FloatArray] | None:
        """Return errors and variances of predicting each row from the others, (n,): what is expected cancels."""
        found = getattr(self.rest, "leave_one_out", None)
        return None if found is None else found()


@dataclass(frozen=True, eq=False)
class CrowdedBelief(Belief):
    """A belief in what is not expected, with what is; crowding: in standardized payoffs."""

    crowding: Crowding = field(kw_only=True)

    @staticmethod
    def of(rest: Belief, crowding: Crowding) -> "CrowdedBelief":
        """Add what is expected to a belief in the rest."""
        return CrowdedBelief(**{part.name: getattr(rest, part.name) for part in fields(Belief)}, crowding=crowding)

    def _conditioned(self, pending: FloatArray | None) -> Posterior:
        """Return the posterior of the rest with what is expected; pending: as in ``Belief``."""
        return CrowdedPosterior(super()._conditioned(pending), self.crowding)


def _roots(occupancy: FloatArray) -> FloatArray:
    """Return √P, a little less steep at 0; (…, A)."""
    return np.asarray(np.sqrt(np.maximum(occupancy, 0.0) + OFFSET / occupancy.shape[-1]))
