"""The Bay Area bikes under docks and a move budget reach the optimum that a convex solver finds."""

import csv
from importlib.resources import files

import numpy as np
import pytest
from scipy.optimize import minimize

from mfbo import Population, create_study, make_problem
from mfbo.simplex import quota

BUDGET = 40


def docks() -> np.ndarray:
    with (files("mfbo.problems") / "data" / "bay-area-bike.csv").open(encoding="utf-8") as lines:
        return np.array([int(row["docks"]) for row in csv.DictReader(lines)])


def convex_optimum(payoff, capacity: np.ndarray, size: int, start: np.ndarray) -> float:
    """SLSQP on shares with an upper bound each: the divergence is convex."""
    found = minimize(
        lambda shares: -payoff.population(np.maximum(shares, 1e-12)[None], None),
        start,
        jac=lambda shares: -payoff.gradient(np.maximum(shares, 1e-12)[None])[0],
        method="SLSQP",
        bounds=[(1e-9, most / size) for most in capacity],
        constraints={"type": "eq", "fun": lambda shares: shares.sum() - 1.0, "jac": np.ones_like},
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    assert found.success
    return -float(found.fun)


@pytest.mark.slow
def test_docks_and_a_move_budget_are_kept_and_the_optimum_is_reached():
    problem = make_problem("bay-area-bike")
    capacity, size = docks() // 2, problem.population.size  # half of the docks, so that they matter
    placed = quota(capacity / capacity.sum(), size)
    stations = dict(zip(problem.population.actions, problem.population.features.tolist(), strict=True))
    population = Population(stations, size=size, capacity=capacity, move_budget=BUDGET, placed=placed)
    optimum = convex_optimum(problem.payoff, capacity, size, placed / size)
    start = problem.payoff.population(placed[None] / size, None)
    study, now, values = create_study(population, seed=0), placed, []
    for _ in range(100):
        plan = study.ask()
        assert plan.allocation.sum() == size
        assert (plan.allocation[0] <= capacity).all()
        assert np.maximum(plan.allocation[0] - now, 0).sum() <= BUDGET
        now = plan.allocation[0]
        values.append(problem.payoff.population(now[None] / size, None))
        study.tell(plan, values[-1])
    assert start < optimum
    assert (optimum - max(values)) / (optimum - start) < 0.01
