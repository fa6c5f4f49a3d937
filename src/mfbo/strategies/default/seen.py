"""What the default strategy sees of a history, computed once: what was told, of which kind, and what is allowed."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.models import only_system
from mfbo.records import History, Round
from mfbo.simplex import Region
from mfbo.strategies.replay_plan import FitNote

PLANNED = ("planned", "planned costs")  # noisy population payoffs to be earned, and somebody chose the status quo
COSTS = ("costs", "planned costs")  # the same below zero, where days differ
DEMAND = "demand"  # the same where agents merely stand, while luck hides what plans bring
STREET = ("street", "planned", DEMAND, *COSTS)
NEGLIGIBLE_NOISE = 1e-3  # fitted noise variance, in variances of the told payoffs
REPLICATE_TOLERANCE = 1e-9  # relative difference of two payoffs of one plan that counts as noise
EQUAL = 1e-13  # relative difference of payoffs that are taken for one


@dataclass(frozen=True, eq=False)
class Seen:
    """A history with what follows from it.

    told: finished rounds in the order of tells. kind: of their payoffs, see ``data_kind``. region: placements allowed
    next, None without limits.
    """

    history: History
    told: tuple[Round, ...]
    kind: str
    region: Region | None

    @staticmethod
    def of(history: History, kind: str) -> "Seen":
        """Look at a history with this kind of data."""
        return Seen(history, history.told, kind, history.region)

    @cached_property
    def visited(self) -> FloatArray:
        """What the designer controlled in each told round, (m, C, A); m ≥ 1."""
        return self.history.steered

    @property
    def payoffs_are_equal(self) -> bool:
        """Whether all exact payoffs told so far are one: then a model of them has no unit yet."""
        payoffs = [done.payoff for done in self.told if done.payoff is not None]
        if self.kind != "exact" or not payoffs:
            return False
        return max(payoffs) - min(payoffs) <= EQUAL * abs(payoffs[0])

    def allowed(self, distribution: FloatArray) -> FloatArray:
        """Return the nearest distribution inside the limits, (C, A)."""
        return distribution if self.region is None else self.region.projected(distribution)


def data_kind(told: tuple[Round, ...], noise: float | None) -> str:
    """Return "agents" as soon as one agent's payoff is told, otherwise "noisy" or "exact" population payoffs.

    Payoffs are noisy if the user says so, or if one plan brought two payoffs.
    """
    if not only_system(told):
        return "agents"
    return "noisy" if noise is not None or replicates_disagree(told) else "exact"


def drift_is_all(history: History) -> bool:
    """Tell whether payoffs of one plan differ because they drift: the latest fit believes so and finds no noise."""
    latest = None if history.noise is not None else FitNote.latest(history)
    return latest is not None and latest.fit.memory is not None and latest.fit.theta[-1] <= math.log(NEGLIGIBLE_NOISE)


def replicates_disagree(told: tuple[Round, ...]) -> bool:
    """Tell whether one and the same played distribution was told two different population payoffs."""
    first_payoffs: dict[bytes, float] = {}
    for done in told:
        payoff = done.payoff
        if payoff is None:
            continue
        first = first_payoffs.setdefault(done.played_key, payoff)
        if abs(first - payoff) > REPLICATE_TOLERANCE * max(abs(first), abs(payoff)):
            return True
    return False


def is_cost(told: tuple[Round, ...]) -> bool:
    """Tell whether three of four population payoffs are below zero: something that is lost, not luck around nothing."""
    payoffs = [done.payoff for done in told if done.payoff is not None]
    return bool(payoffs) and float(np.quantile(payoffs, 0.75)) < 0.0


def is_earned(told: tuple[Round, ...]) -> bool:
    """Tell whether three of four population payoffs are above zero: something that may be shared out among places."""
    payoffs = [done.payoff for done in told if done.payoff is not None]
    return bool(payoffs) and float(np.quantile(payoffs, 0.25)) > 0.0
