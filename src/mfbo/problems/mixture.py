"""Mixtures: the property of a blend is linear in its ingredients plus synergies of pairs (Scheffé's polynomial)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.problems.problem import Optimum, Problem
from mfbo.problems.quadratic import QuadraticPayoff, quadratic_optimum

YARN = {"polyethylene": 11.7, "polystyrene": 9.4, "polypropylene": 16.4}
YARN_PAIRS = {
    ("polyethylene", "polystyrene"): 19.0,
    ("polyethylene", "polypropylene"): 11.4,
    ("polystyrene", "polypropylene"): -9.6,
}


def mixture(size: int | None = None) -> Problem:
    """Return Cornell's yarn: elongation of a blend of three polymers, fitted to fifteen measurements."""
    source = "Cornell, Experiments with Mixtures (2002), the yarn example of chapter 2"
    summary = "blend three polymers for the longest elongation of a yarn"
    return mixture_problem(YARN, YARN_PAIRS, size=size, name="mixture", source=source, summary=summary)


def mixture_problem(
    ingredients: Mapping[str, float],
    pairs: Mapping[tuple[str, str], float],
    *,
    size: int | None = None,
    name: str = "mixture-design",
    source: str = "the user's own polynomial",
    summary: str = "blend ingredients, some of which help or harm each other",
) -> Problem:
    """Return the problem of maximizing Σ β_a P_a + Σ β_ab P_a P_b; at most 13 ingredients, the optimum is exact.

    ingredients: β of each pure one. pairs: β of pairs, 0 if not named.
    """
    names = list(ingredients)
    places = {ingredient: place for place, ingredient in enumerate(names)}
    synergy = np.zeros((len(names), len(names)))
    for (one, other), value in pairs.items():
        if one not in places or other not in places or one == other:
            raise InvalidInputError(f"({one!r}, {other!r}) is not a pair of these ingredients: {', '.join(names)}")
        synergy[places[one], places[other]] += 0.5 * value
        synergy[places[other], places[one]] += 0.5 * value
    payoff = QuadraticPayoff(np.array([list(ingredients.values())], dtype=np.float64), synergy)
    population: Any = Population(names, size=size)
    best = quadratic_optimum(payoff)
    return Problem(
        name=name,
        summary=summary,
        population=population,
        payoff=payoff,
        optimum=Optimum(payoff.population(best), best),
        feedback=("system", "agents", "cells"),
        source=source,
        license="none needed",
    )
