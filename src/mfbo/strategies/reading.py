"""What strategies read off a history: payoffs, what was steered, what is on its way, what may be recommended."""

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.records import History, told_payoff
from mfbo.simplex import whole_agents


def told_payoffs(history: History) -> FloatArray:
    """Return the told payoffs in the order of tells, (n,), each round as one number."""
    return np.array([told_payoff(each) for each in history.told], dtype=np.float64)


def steered(history: History) -> FloatArray:
    """Return what the designer controlled in each told round, (m, C, A): see ``History.steers``."""
    planned = history.steers == "planned"
    return np.stack([each.plan.distribution if planned else each.played for each in history.told])


def recommendable(history: History) -> IntArray:
    """Return which told rounds may be recommended: those that keep the limits; all of them if none does."""
    limits = history.population.limits
    if limits is None:
        return np.arange(len(history.told))
    totals = history.population.context_totals
    region = limits.region(totals, None)
    kept = [region.contains(whole_agents(played, totals)) for played in steered(history)]
    return np.flatnonzero(kept) if any(kept) else np.arange(len(kept))


def pending_shares(history: History) -> FloatArray:
    """Return the joint shares of open plans, (m, C, A), m ≥ 0."""
    plans = [history.population.joint_shares(each.plan.realized) for each in history.open]
    return np.stack(plans) if plans else np.empty((0, *history.population.shape))
