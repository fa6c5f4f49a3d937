"""What is drawn beside each other for a problem: its demand, its optimum and a plan, each with what it is worth."""

import textwrap
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.plotting.figures import words
from mfbo.population import Population
from mfbo.problems import Problem
from mfbo.simplex import uniform

DEMAND_COLOR = "#0072b2"  # Okabe–Ito: safe for the color-blind
PLAN_COLOR = "#d55e00"
LETTERS_PER_INCH = 11


class Pictured(Protocol):
    """What a picture needs to know: a problem has it, and so has a study."""

    @property
    def name(self) -> str:
        """What stands in the title first."""
        ...

    @property
    def summary(self) -> str:
        """What stands there next."""
        ...

    @property
    def population(self) -> Population:
        """Whose actions are drawn."""
        ...

    @property
    def places(self) -> FloatArray | None:
        """Where they are, (A, 2)."""
        ...


@dataclass(frozen=True, eq=False)
class Panel:
    """One picture of a row of pictures: a distribution (C, A) and its occupancy, shares (A,), of all agents."""

    title: str
    distribution: FloatArray
    shares: FloatArray
    is_plan: bool = False


def panels_of(problem: Problem, plan: FloatArray | None) -> list[Panel]:
    """Return the panels of a problem: demand or optimum first, the plan (C, A), if there is one, last."""
    panels = []
    if problem.demand is not None and not _demand_is_optimum(problem):
        panels.append(Panel("demand", problem.demand[None, :], problem.demand))
    panels.append(_reference(problem))
    if plan is not None:
        title = f"plan, payoff {number(problem.mean_field_value(plan))}"
        panels.append(Panel(title, plan, occupancy(problem, plan), is_plan=True))
    return panels


def occupancy(problem: Problem, distribution: FloatArray) -> FloatArray:
    """Return the share of all agents at each action, P = p ξ, (A,)."""
    return np.asarray(problem.population.joint_shares(distribution).sum(axis=0))


def number(value: float) -> str:
    """Return a number for a title: five digits, and a minus sign that is as long as a plus."""
    return f"{value:.5g}".replace("-", "−")


def headline(figure: Any, problem: Pictured) -> None:
    """Write the problem's name and what it asks above all panels, broken to the width of the figure."""
    text = textwrap.fill(
        words(f"{problem.name}: {problem.summary}"), max(int(figure.get_figwidth() * LETTERS_PER_INCH), 20)
    )
    figure.suptitle(text, fontsize=11, fontweight="bold", x=0.01, ha="left")


def _reference(problem: Problem) -> Panel:
    if problem.optimum is None:
        even = uniform(*problem.population.shape)
        title = f"uniform (optimum unknown), payoff {number(problem.mean_field_value(even))}"
        return Panel(title, even, occupancy(problem, even))
    best = problem.optimum.distribution
    payoff = f"optimum, payoff {number(problem.optimum.value)}"
    title = "demand, which is the optimum" if _demand_is_optimum(problem) else payoff
    return Panel(title, best, occupancy(problem, best))


def _demand_is_optimum(problem: Problem) -> bool:
    if problem.demand is None or problem.optimum is None:
        return False
    return np.array_equal(problem.optimum.distribution, problem.demand[None, :])
