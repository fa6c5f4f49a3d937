"""Rows: every observation is a weight matrix ω over the cells at a distribution ξ, eq. (3)."""

from dataclasses import dataclass, fields

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.population import Population
from mfbo.records import Feedback, Round


@dataclass(frozen=True, eq=False)
class Rows:
    """n observations y = ⟨ω, f(·, ξ)⟩ + noise.

    omega: ω (n, C, A); each sums to 1. One agent: one-hot. System payoff: the joint shares w = p ξ.
    shares: w = p ξ (n, C, A) of the distribution that was played.
    values: y (n,).
    noise_scale: (n,) variance of this row's noise as a multiple of the variance of one payoff.
    """

    omega: FloatArray
    shares: FloatArray
    values: FloatArray
    noise_scale: FloatArray

    def __len__(self) -> int:
        """Return n."""
        return len(self.values)


def system_rows(shares: FloatArray, values: FloatArray) -> Rows:
    """Return rows of the population payoff itself: ω = w; shares (n, C, A), values (n,)."""
    return Rows(shares, shares, values, np.ones(len(values)))


def joined_rows(parts: list[Rows]) -> Rows:
    """Return the rows of several rounds as one."""
    return Rows(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(Rows)))


def rows_of_round(population: Population, done: Round) -> Rows:
    """Return all rows that one told round gives, in a fixed order: system, agents, cells."""
    if done.feedback is None or done.realized is None:
        raise AssertionError(f"round {done.number} has no result")  # History.told holds finished rounds only
    shares = population.joint_shares(done.realized)
    omegas, values, scales = _functionals(done.feedback, shares)
    omega = np.stack(omegas)
    return Rows(omega, np.broadcast_to(shares, omega.shape), np.array(values), np.array(scales))


def _functionals(feedback: Feedback, shares: FloatArray) -> tuple[list[FloatArray], list[float], list[float]]:
    omegas: list[FloatArray] = []
    values: list[float] = []
    scales: list[float] = []
    if feedback.payoff is not None:
        omegas.append(shares)
        values.append(feedback.payoff)
        scales.append(1.0)
    seen = [(c, a, y, 1.0) for c, a, y in feedback.agents]
    if feedback.cells is not None and feedback.counts is not None:
        for c, a in np.argwhere(feedback.counts > 0):
            seen.append((int(c), int(a), float(feedback.cells[c, a]), 1.0 / float(feedback.counts[c, a])))
    for c, a, y, scale in seen:
        omega = np.zeros_like(shares)
        omega[c, a] = 1.0
        omegas.append(omega)
        values.append(y)
        scales.append(scale)
    return omegas, values, scales


def row_count(done: Round) -> int:
    """Return how many rows a told round gives, without making them."""
    feedback = done.feedback
    if feedback is None:
        return 0
    cells = 0 if feedback.counts is None else int(np.count_nonzero(feedback.counts))
    return (feedback.payoff is not None) + len(feedback.agents) + cells


def only_system(rounds: tuple[Round, ...]) -> bool:
    """Tell whether every told round gave the population payoff and nothing else."""
    return all(
        each.feedback is not None and not each.feedback.agents and each.feedback.cells is None for each in rounds
    )
