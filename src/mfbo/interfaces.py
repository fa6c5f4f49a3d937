"""The contracts between the parts, on one page. We maximize everywhere.

A gradient travels backwards as a *pullback*: a function that takes the derivatives of some scalar with respect to
the outputs and returns its derivative with respect to the distribution ξ, (C, A). Models supply pullbacks,
acquisitions use them, so neither knows how the other works.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.records import History, Proposal

Objective = Callable[[FloatArray], tuple[float, FloatArray]]
"""ξ (C, A) → value and its gradient in ξ (C, A), off the simplex too (the maximizer projects)."""


@dataclass(frozen=True, eq=False)
class PopulationMoments:
    """Posterior of g at one ξ; ``pullback(d_mean, d_variance)`` is (C, A)."""

    mean: float
    variance: float
    pullback: Callable[[float, float], FloatArray]


@dataclass(frozen=True, eq=False)
class CellMoments:
    """Posterior of f in every cell at one ξ, (C, A) each; ``pullback(d_mean, d_variance)`` is (C, A)."""

    mean: FloatArray
    variance: FloatArray
    pullback: Callable[[FloatArray, FloatArray], FloatArray]


class Posterior(Protocol):
    """What is believed of f and g after the data; in standardized payoffs unless it says otherwise."""

    def population(self, distribution: FloatArray) -> PopulationMoments:
        """Return mean and variance of g(ξ)."""
        ...

    def cells(self, distribution: FloatArray) -> CellMoments:
        """Return mean and variance of f(a, c, ξ) in every cell."""
        ...

    def population_means(self, distributions: FloatArray) -> FloatArray:
        """Return the mean of g at m distributions at once: (m, C, A) → (m,)."""
        ...

    def changes(self, start: FloatArray, distributions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of g(ξ′) − g(ξ) for a start ξ (C, A) and m distributions ξ′ (m, C, A), (m,) each.

        What both have in common cancels, so a small step has a small variance however uncertain g itself is.
        """
        ...


class Acquisition(Protocol):
    """Says how promising a distribution is."""

    def __call__(self, distribution: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient, (C, A)."""
        ...


class Maximizer(Protocol):
    """Climbs an acquisition over the simplex, from one or several starts."""

    def __call__(self, objective: Objective, starts: Sequence[FloatArray]) -> tuple[FloatArray, float]:
        """Return the best distribution found, (C, A), and its value."""
        ...


class Strategy(Protocol):
    """Proposes the next plan from the history alone, so it can be replayed and resumed from records.

    Equal history and equal generator state give an equal proposal; anything a strategy remembers between calls is
    a cache and never changes an answer.
    """

    @property
    def name(self) -> str:
        """The name under which records and tables list it."""
        ...

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        """Return the plan to try next."""
        ...

    def recommend(self, history: History) -> FloatArray:
        """Return the distribution to keep when no more rounds are played; needs a told round."""
        ...

    def posterior(self, history: History) -> Posterior | None:
        """Return the model of the payoff in the payoff's own units, or None if the strategy has no model."""
        ...
