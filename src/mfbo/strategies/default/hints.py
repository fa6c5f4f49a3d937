"""Cells beside a payoff: pieces of it, or only hints.

Cells are pieces if they add up, g = Σ w f. What an operator counts per station often does not: rides that began there
belong to bikes from elsewhere. Then the payoff alone is modeled, so that telling more is never worse than telling less.
"""

from dataclasses import replace

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.population import Population
from mfbo.records import Feedback, History, Round

FEWEST = 3  # rounds from which the payoffs' own spread is a measure
FIRST_TOLERANCE = 0.01  # of the largest payoff, before that
TOLERANCE = 0.5  # of the payoffs' standard deviation: beyond it the cells' sum says little about the payoff
ROUNDING = 1e-6  # of the largest payoff
UNSEEN = 1e-9  # share of the agents in cells that nobody saw, up to which a sum is complete


def without_hints(history: History) -> History:
    """Return the history with payoffs alone where both were told, if cells do not add up to them."""
    compared = [pair for done in history.told if (pair := _compared(history.population, done)) is not None]
    if not compared or _add_up(np.array(compared)):
        return history
    rounds = [
        replace(done, feedback=Feedback(done.feedback.payoff, done.feedback.agents))
        if done.feedback is not None and done.feedback.payoff is not None
        else done
        for done in history.rounds
    ]
    return replace(history, rounds=tuple(rounds))


def _compared(population: Population, done: Round) -> tuple[float, float] | None:
    """Return the payoff and the sum of the cells of a round that tells all of both."""
    feedback = done.feedback
    if feedback is None or feedback.payoff is None or feedback.cells is None:
        return None
    shares = done.joint_shares(done.played, population)
    seen = ~np.isnan(feedback.cells)
    if shares[~seen].sum() > UNSEEN:
        return None
    return feedback.payoff, float(shares[seen] @ feedback.cells[seen])


def _add_up(compared: FloatArray) -> bool:
    """Tell whether sums are payoffs, as far as the payoffs differ; compared: payoffs and sums (m, 2)."""
    payoffs, sums = compared.T
    error = float(np.sqrt(np.mean((payoffs - sums) ** 2)))
    size = float(np.abs(payoffs).max())
    if len(payoffs) < FEWEST:
        return error <= FIRST_TOLERANCE * size
    return error <= max(TOLERANCE * float(payoffs.std()), ROUNDING * size)
