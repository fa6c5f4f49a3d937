"""The certified maximizer of a concave payoff: ascent until the Frank–Wolfe gap bounds what is left to gain."""

from collections.abc import Callable

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import NumericalError
from mfbo.population import Population
from mfbo.problems.problem import Optimum, Payoff, Problem
from mfbo.simplex import projected, uniform

Field = Callable[[FloatArray], tuple[float, FloatArray]]

TOLERANCE = 1e-10  # of the gap, relative to the size of the payoff
STEPS = 20_000
MEMORY = 10  # values that an accepted step may fall below the best of
HALVINGS = 60
LONGEST, SHORTEST = 1e8, 1e-12


def concave_problem(
    payoff: Payoff, population: Population, *, name: str, summary: str, source: str, places: FloatArray | None = None
) -> Problem:
    """Return the problem of a concave payoff with its certified optimum; it can be seen in every way."""
    best = concave_optimum(payoff, population)
    return Problem(
        name=name,
        summary=summary,
        population=population,
        payoff=payoff,
        optimum=Optimum(payoff.population(population.joint_shares(best)), best),
        feedback=("system", "agents", "cells"),
        source=source,
        license="none needed",
        places=places,
    )


def concave_optimum(payoff: Payoff, population: Population, tolerance: float = TOLERANCE) -> FloatArray:
    """Return ξ (C, A) at which a concave payoff is within ``tolerance`` of its maximum, relative to its size.

    The Frank–Wolfe gap max_η ⟨∇g(ξ), η − ξ⟩ bounds the regret of ξ, so that the result carries its own
    proof; a payoff for which the gap does not close (one that is not concave, say) is an error.
    """

    def field(distribution: FloatArray) -> tuple[float, FloatArray]:
        shares = population.joint_shares(distribution)
        return payoff.population(shares), population.weights[:, None] * payoff.gradient(shares)

    found, gap, value = spectral_ascent(field, uniform(*population.shape), tolerance)
    if gap > tolerance * max(1.0, abs(value)):
        raise NumericalError(f"the gap to the optimum stays at {gap:.2g} after {STEPS} steps: is the payoff concave?")
    return found


def spectral_ascent(field: Field, start: FloatArray, tolerance: float) -> tuple[FloatArray, float, float]:
    """Climb by spectral projected gradients (Birgin, Martínez and Raydan, 2000); return ξ, its gap and its value.

    field: value and gradient at ξ (C, A), rows on the simplex.
    """
    here = start
    value, gradient = field(here)
    recent = [value]
    step = 1.0 / max(float(np.abs(gradient).max()), SHORTEST)
    best = here, gap_at(here, gradient), value
    for _ in range(STEPS):
        gap = gap_at(here, gradient)
        if gap < best[1]:
            best = here, gap, value
        if gap <= tolerance * max(1.0, abs(value)):
            break
        direction = projected(here + step * gradient) - here
        slope = float((gradient * direction).sum())
        share = 1.0
        for _ in range(HALVINGS):
            there = here + share * direction
            new_value, new_gradient = field(there)
            if new_value >= min(recent) + 1e-4 * share * slope - 1e-15 * abs(value):
                break
            share *= 0.5
        moved = there - here
        curvature = -float((moved * (new_gradient - gradient)).sum())
        length = float((moved * moved).sum())
        step = float(np.clip(length / curvature, SHORTEST, LONGEST)) if curvature > 0 else LONGEST
        here, value, gradient = there, new_value, new_gradient
        recent = [*recent[1 - MEMORY :], value]
    return best


def gap_at(distribution: FloatArray, gradient: FloatArray) -> float:
    """Return the Frank–Wolfe gap of ξ (C, A) with gradient ∂g/∂ξ: what moving everybody to the best action promises."""
    return float(gradient.max(axis=1).sum() - (gradient * distribution).sum())
