"""What strategies read off a history: payoffs, what is on its way, what may be recommended."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.models.situation_kernel import NO_ROUND, encoded_situation
from mfbo.records import History, told_payoff
from mfbo.simplex import whole_agents

SAME = 1e-9  # relative difference of two payoffs up to which they count as one


def told_payoffs(history: History) -> FloatArray:
    """Return the told payoffs in the order of tells, (n,), each round as one number."""
    return np.array([told_payoff(done) for done in history.told], dtype=np.float64)


def recommendable(history: History) -> IntArray:
    """Return which told rounds may be recommended: those that keep the limits; all of them if none does."""
    limits = history.population.limits
    if limits is None:
        return np.arange(len(history.told))
    totals = history.population.context_totals
    region = limits.region(totals, None)
    allowed = [region.contains(whole_agents(played, totals)) for played in history.steered]
    return np.flatnonzero(allowed) if any(allowed) else np.arange(len(allowed))


def pending_shares(history: History) -> FloatArray:
    """Return the joint shares of open plans, (m, C, A), m ≥ 1."""
    return np.stack([asked.joint_shares(asked.plan.realized, history.population) for asked in history.open])


def situation_of(history: History) -> FloatArray | None:
    """Return the situation of the round being planned, (V + 1,), as rows carry it; None in a study without them."""
    return None if history.situations is None else encoded_situation(history.situations, history.situation, NO_ROUND)


def pending_situations(history: History) -> FloatArray | None:
    """Return the situations of open plans, (m, V + 1), m ≥ 1; None in a study without situations."""
    if history.situations is None:
        return None
    return np.stack(
        [encoded_situation(history.situations, asked.situation, float(asked.number)) for asked in history.open]
    )


def as_if_failed(history: History, numbers: Collection[int]) -> History:
    """Return the history as if the rounds of these numbers had brought no result."""
    if not numbers:
        return history
    rounds = (replace(done, state="failed") if done.number in numbers else done for done in history.rounds)
    return replace(history, rounds=tuple(rounds))


def with_shared_payoffs(history: History) -> History:
    """Return the history with every agent's and cell's payoff told as the population payoff, if all agents share it.

    It takes a round in which two payoffs were told, and no round in which two differ: one exception, and the history
    is returned as it is.
    """
    compared = False
    for done in history.told:
        payoffs = done.payoff_range
        if payoffs.highest - payoffs.lowest > SAME * max(abs(payoffs.lowest), abs(payoffs.highest)):
            return history
        compared = compared or payoffs.told > 1
    if not compared:
        return history
    rounds = tuple(asked.as_system if asked.state == "done" else asked for asked in history.rounds)
    return replace(history, rounds=rounds)
