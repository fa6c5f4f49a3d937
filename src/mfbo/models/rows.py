"""Rows: every observation is a weight matrix ω over the cells at a distribution ξ, eq. (3)."""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.models.situation_kernel import encoded_situation
from mfbo.population import Population
from mfbo.records import Round
from mfbo.situations import Situations


@dataclass(frozen=True, eq=False)
class Rows:
    """n observations y = ⟨ω, f(·, ξ)⟩ + noise.

    omega: ω (n, C, A); each sums to 1. One agent: one-hot. System payoff: the joint shares w = p ξ.
    shares: w = p ξ (n, C, A) of the distribution that was played.
    values: y (n,).
    noise_scale: (n,) variance of this row's noise as a multiple of the variance of one payoff.
    situations: (n, V + 1) as ``encoded_situation`` returns them; None in a study without them.
    numbers: (n,) of the rounds in which they were told; None where time is of no account.
    """

    omega: FloatArray
    shares: FloatArray
    values: FloatArray
    noise_scale: FloatArray
    situations: FloatArray | None = None
    numbers: FloatArray | None = None

    def __len__(self) -> int:
        """Return n."""
        return len(self.values)

    def chosen(self, places: IntArray) -> "Rows":
        """Return some of the rows."""
        situations = None if self.situations is None else self.situations[places]
        numbers = None if self.numbers is None else self.numbers[places]
        told = self.values[places], self.noise_scale[places]
        return Rows(self.omega[places], self.shares[places], *told, situations, numbers)


def system_rows(shares: FloatArray, values: FloatArray) -> Rows:
    """Return rows of the population payoff itself: ω = w; shares (n, C, A), values (n,)."""
    return Rows(shares, shares, values, np.ones(len(values)))


def joined_rows(parts: list[Rows]) -> Rows:
    """Return the rows of several rounds as one."""
    timed = [part.numbers for part in parts if part.numbers is not None]
    situated = [part.situations for part in parts if part.situations is not None]
    return Rows(
        np.concatenate([part.omega for part in parts]),
        np.concatenate([part.shares for part in parts]),
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.noise_scale for part in parts]),
        np.concatenate(situated) if len(situated) == len(parts) else None,
        np.concatenate(timed) if len(timed) == len(parts) else None,
    )


def rows_of_round(population: Population, done: Round, situations: Situations | None = None) -> Rows:
    """Return all rows that one told round gives, in a fixed order: system, agents, cells; situations: as declared."""
    if done.feedback is None or done.realized is None:
        raise AssertionError(f"round {done.number} has no result")  # History.told holds finished rounds only
    shares, feedback = done.joint_shares(done.realized, population), done.feedback
    omegas, values, scales = [], [], []
    if feedback.payoff is not None:
        omegas.append(shares)
        values.append(feedback.payoff)
        scales.append(1.0)
    for context, action, payoff in feedback.agents:
        omegas.append(_one_hot(context, action, shares))
        values.append(payoff)
        scales.append(1.0)
    if feedback.cells is not None and feedback.counts is not None:
        for context, action in np.argwhere(feedback.counts > 0):
            omegas.append(_one_hot(context, action, shares))
            values.append(float(feedback.cells[context, action]))
            scales.append(1.0 / float(feedback.counts[context, action]))
    omega = np.stack(omegas)
    shared = None
    if situations is not None:
        shared = np.tile(encoded_situation(situations, done.situation, float(done.number)), (len(omega), 1))
    numbers = np.full(len(values), float(done.number))
    return Rows(omega, np.broadcast_to(shares, omega.shape), np.array(values), np.array(scales), shared, numbers)


def _one_hot(context: int, action: int, shares: FloatArray) -> FloatArray:
    omega = np.zeros_like(shares)
    omega[context, action] = 1.0
    return omega


def row_count(done: Round) -> int:
    """Return how many rows a told round gives, without making them."""
    feedback = done.feedback
    if feedback is None:
        return 0
    cells = 0 if feedback.counts is None else int(np.count_nonzero(feedback.counts))
    return (feedback.payoff is not None) + len(feedback.agents) + cells


def spread_and_newest(total: int, kept: int) -> IntArray:
    """Return the places of some of ``total`` rounds: half of them the newest, half spread evenly over those before."""
    kept = min(kept, total)
    newest = kept // 2
    spread = np.linspace(0, total - newest - 1, kept - newest).round().astype(np.int64)
    return np.concatenate([np.unique(spread), np.arange(total - newest, total)])


def only_system(rounds: tuple[Round, ...]) -> bool:
    """Tell whether every told round gave the population payoff and nothing else."""
    for told in rounds:
        if told.feedback is None or told.feedback.agents or told.feedback.cells is not None:
            return False
    return True
