"""A problem is data: a population, a payoff, its optimum, and what one may see of it. Nothing here is random."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.cards import Card, Shown, amount, place_dots
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.problems.pictures import Picture, PlacesPicture
from mfbo.records import Plan
from mfbo.situations import Situation, Situations


class Payoff(Protocol):
    """A payoff of joint shares w = p ξ (C, A), for ``size`` agents or, when None, in the mean-field limit."""

    def cells(self, shares: FloatArray, size: int | None = None) -> FloatArray:
        """Return f, one agent's payoff in every cell, (C, A)."""
        ...

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g = Σ w f, the population payoff, eq. (2)."""
        ...

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return ∂g/∂w in the mean-field limit, (C, A); it differs from f by the externality."""
        ...


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best population payoff in the mean-field limit and a distribution (C, A) that reaches it.

    proven: False if it is only the best that is known, a lower bound.
    """

    value: float
    distribution: FloatArray
    proven: bool = True


@dataclass(frozen=True, eq=False)
class Day:
    """One round of a problem whose rounds differ: its payoff and optimum, what is known before it and after it."""

    payoff: Payoff
    optimum: Optimum
    before: Situation
    after: Situation


@dataclass(frozen=True, eq=False)
class Days:
    """All rounds of such a problem; at: the round of this number, counted from 0."""

    situations: Situations
    at: Callable[[int], Day]


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Shown):
    """A named benchmark problem.

    optimum: None if unknown. feedback: the kinds of feedback it can give ("system", "agents", "cells").
    places: where the actions are on a map, (A, 2), longitude and latitude or x and y. grid: (row, column) of every
    action, (A, 2), row 0 in the south. demand: what is asked for at each action, (A,). picture: how it is shown. note:
    what a user should know before trusting a result. days: what every round is, if rounds differ; then values are
    counted from each round's own optimum, which is 0.
    """

    name: str
    summary: str
    population: Population
    payoff: Payoff
    optimum: Optimum | None
    feedback: tuple[str, ...]
    source: str
    license: str
    places: FloatArray | None = None
    grid: FloatArray | None = None
    demand: FloatArray | None = None
    picture: Picture = field(default_factory=PlacesPicture)
    note: str = ""
    days: Days | None = None

    @property
    def known_optimum(self) -> Optimum:
        """The optimum, for those who cannot do without; all problems of the catalogue have one."""
        if self.optimum is None:
            raise InvalidInputError(f"the optimum of {self.name!r} is not known: give the problem one")
        return self.optimum

    def with_size(self, size: int | None) -> "Problem":
        """Return the same problem for another number of agents (None: the mean-field limit)."""
        return replace(self, population=self.population.with_size(size))

    def with_note(self, note: str) -> "Problem":
        """Return the same problem with a note for the user."""
        return replace(self, note=note)

    def shares(self, plan: Plan) -> FloatArray:
        """Return the joint shares (C, A) that a plan really puts in place."""
        if plan.allocation is not None:
            return np.asarray(plan.allocation / plan.allocation.sum())
        return self.population.joint_shares(plan.distribution)

    def value(self, plan: Plan) -> float:
        """Return the noise-free population payoff of what the plan really puts in place.

        If rounds differ, minus the best that the plan's own round could have brought.
        """
        best = 0.0 if self.days is None else self.days.at(plan.number).optimum.value
        size = None if plan.allocation is None else self.population.size
        return self.payoff_of(plan).population(self.shares(plan), size) - best

    def on_day(self, number: int) -> "Problem":
        """Return the problem of one round alone, with its own payoff and optimum; itself if rounds do not differ."""
        if self.days is None:
            return self
        day = self.days.at(number)
        return replace(self, payoff=day.payoff, optimum=day.optimum, days=None)

    def payoff_of(self, plan: Plan) -> Payoff:
        """Return the payoff of the plan's own round."""
        return self.payoff if self.days is None else self.days.at(plan.number).payoff

    def situation(self, number: int) -> Situation | None:
        """Return what is known before the round of this number; None if rounds do not differ."""
        return None if self.days is None else self.days.at(number).before

    def afterwards(self, number: int) -> Situation | None:
        """Return what is known only after the round of this number; None if nothing is."""
        return None if self.days is None else self.days.at(number).after or None

    def mean_field_value(self, distribution: FloatArray) -> float:
        """Return g(ξ) in the mean-field limit."""
        return self.payoff.population(self.population.joint_shares(distribution))

    def gradient(self, distribution: FloatArray) -> FloatArray:
        """Return ∂g/∂ξ in the mean-field limit, (C, A)."""
        shares = self.population.joint_shares(distribution)
        return np.asarray(self.population.weights[:, None] * self.payoff.gradient(shares))

    def optimality_gap(self, distribution: FloatArray) -> float:
        """Return the Frank–Wolfe gap: an upper bound on the regret of ξ if g is concave, zero at a local optimum."""
        gradient = self.gradient(distribution)
        return float(gradient.max(axis=1).sum() - (gradient * distribution).sum())

    def _card(self) -> Card:
        best, population = self.optimum, self.population
        words = {
            "about": self.summary,
            "population": population.spoken,
            "optimum": ""
            if best is None
            else f"{amount(float(best.value))}{'' if best.proven else ', the best known'}",
            "feedback": ", ".join(self.feedback),
            "source": self.source,
            "license": self.license,
            "note": self.note,
        }
        drawings: tuple[Callable[[], str], ...] = ()
        if self.places is not None and best is not None:
            shares = population.joint_shares(best.distribution).sum(axis=0)
            drawings = (
                partial(place_dots, self.places, shares, population.actions, geographic=population.labels.geographic),
            )
        facts = tuple((word, said) for word, said in words.items() if said)
        return Card(f"Problem {self.name!r}", facts, drawings)
