"""Settings of the battery: a problem as it is, with noise, with a few wrong days, or drifting.

A world is a problem's name and its settings, joined by "+": queues, queues+noise, queues+wrong, queues+noise+wrong,
queues+drift. All sizes are shares of the gap between the uniform plan and the optimum.
"""

from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from math import comb

import numpy as np
from battery_problems import CONCAVE, battery_problem
from scipy.optimize import brentq

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError
from mfbo.problems import Payoff, Problem
from mfbo.problems.concave import concave_optimum
from mfbo.records import Plan
from mfbo.seeding import derived_generator
from mfbo.simplex import allocate, uniform
from mfbo.validation import known_name

NOISE = 0.05  # standard deviation of a told payoff
WRONG_EVERY = 50  # rounds, of which one is wrong: 2 %
WRONG_FACTOR = 10.0  # above the floor of payoffs: see ``World.told``
DRIFT_ROUNDS = 150
SETTINGS = ("noise", "wrong", "drift")
MOST_PLACEMENTS = 200_000  # of whole agents that are tried one by one


@dataclass(frozen=True, eq=False)
class BlendedPayoff:
    """(1 − s) g + s g′, where g′ is g with the actions in reverse order."""

    payoff: Payoff
    share: float

    def cells(self, shares: FloatArray, size: int | None = None) -> FloatArray:
        """Return f in every cell."""
        ahead, turned = self.payoff.cells(shares, size), self.payoff.cells(shares[:, ::-1], size)[:, ::-1]
        return np.asarray((1.0 - self.share) * ahead + self.share * turned)

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g."""
        ahead, turned = self.payoff.population(shares, size), self.payoff.population(shares[:, ::-1], size)
        return (1.0 - self.share) * ahead + self.share * turned

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return ∂g/∂w."""
        ahead, turned = self.payoff.gradient(shares), self.payoff.gradient(shares[:, ::-1])[:, ::-1]
        return np.asarray((1.0 - self.share) * ahead + self.share * turned)


@dataclass(frozen=True, eq=False)
class World:
    """A problem that answers in its own way.

    start: value of the uniform plan. last_blend: share of the turned payoff in round ``DRIFT_ROUNDS``, 0 without drift.
    """

    problem: Problem
    settings: tuple[str, ...]
    start: float
    last_blend: float

    def told(self, plan: Plan, seed: int) -> float:
        """Return what is told after a plan: with noise, or ten times too high above the floor of payoffs.

        The floor is one gap below the uniform plan, so that "ten times" means the same on every scale.
        """
        rng = derived_generator(seed, "feedback", plan.number)
        gap = self._gap(0)
        payoff = self.value(plan, plan.number)
        if "noise" in self.settings:
            payoff += NOISE * gap * rng.standard_normal()
        if "wrong" in self.settings and is_wrong_day(seed, plan.number):
            floor = self.start - gap
            payoff = floor + WRONG_FACTOR * max(payoff - floor, 0.0)
        return payoff

    def value(self, plan: Plan, number: int) -> float:
        """Return the true payoff of a plan in round ``number``."""
        size = None if plan.allocation is None else self.problem.population.size
        return self._payoff(number).population(self.problem.shares(plan), size)

    def closed(self, plan: Plan, number: int) -> float:
        """Return the share of the gap that a plan closes in round ``number``."""
        return (self.value(plan, number) - self.start) / self._gap(number)

    def _payoff(self, number: int) -> Payoff:
        share = self._blend(number)
        return BlendedPayoff(self.problem.payoff, share) if share > 0 else self.problem.payoff

    def _blend(self, number: int) -> float:
        return self.last_blend * number / DRIFT_ROUNDS

    def _gap(self, number: int) -> float:
        return _optimum(self.problem.name, self._blend(number)) - self.start


def is_wrong_day(seed: int, number: int) -> bool:
    """Tell whether a round is the wrong one, drawn by the seed, among its fifty."""
    block, place = divmod(number, WRONG_EVERY)
    return place == int(derived_generator(seed, "wrong day", block).integers(WRONG_EVERY))


@cache
def world(name: str) -> World:
    """Return the world of a name such as "queues+noise"."""
    problem_name, *settings = name.split("+")
    for setting in settings:
        known_name(setting, "setting of the battery:", list(SETTINGS))
    problem = battery_problem(problem_name)
    if "drift" in settings:
        known_name(problem_name, "problem that can drift:", CONCAVE)
    size = problem.population.size
    even = uniform(*problem.population.shape)
    counts = None if size is None else allocate(even, problem.population.weights, size, np.random.default_rng(0))
    start = problem.value(Plan(0, even, counts))
    return World(problem, tuple(settings), start, _last_blend(problem) if "drift" in settings else 0.0)


def _last_blend(problem: Problem) -> float:
    """Return the blend at which the first optimum has lost half of the gap there is then."""
    if problem.optimum is None:
        raise InvalidInputError(f"{problem.name} has no optimum that could move")
    first = problem.population.joint_shares(problem.optimum.distribution)
    start = problem.mean_field_value(uniform(*problem.population.shape))

    def kept(share: float) -> float:
        payoff = BlendedPayoff(problem.payoff, share)
        best = _optimum(problem.name, share)
        return (payoff.population(first) - start) / (best - start) - 0.5

    if kept(1.0) > 0:
        raise InvalidInputError(f"{problem.name} turned around is too much like itself: choose another for drift")
    return float(brentq(kept, 0.0, 1.0, xtol=1e-3))


@cache
def _optimum(name: str, share: float) -> float:
    """Return the best value: of whole agents if they can be counted through, of the mean-field limit otherwise."""
    problem = battery_problem(name)
    if share > 0:
        payoff = BlendedPayoff(problem.payoff, share)
        best = concave_optimum(payoff, problem.population, tolerance=1e-6)
        return payoff.population(problem.population.joint_shares(best))
    contexts, actions = problem.population.shape
    size = problem.population.size
    if size is not None and contexts == 1 and comb(size + actions - 1, size) <= MOST_PLACEMENTS:
        return best_of_whole_agents(problem)
    if problem.optimum is None:
        raise InvalidInputError(f"{name} has no known optimum")
    return problem.optimum.value


def best_of_whole_agents(problem: Problem) -> float:
    """Return the best value of all placements of a few agents in one context, each tried."""
    size = problem.population.size or 0
    actions = problem.population.shape[1]
    counts = (np.bincount(who, minlength=actions) for who in combinations_with_replacement(range(actions), size))
    return max(problem.payoff.population(each[None, :] / size, size) for each in counts)
