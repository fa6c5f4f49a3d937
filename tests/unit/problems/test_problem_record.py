"""The problem as a record: what it does with plans, sizes and distributions, whatever its payoff."""

import dataclasses

import numpy as np
import pytest

from mfbo import Population
from mfbo.problems import Optimum, Problem, custom_problem
from mfbo.records import Plan


@dataclasses.dataclass(frozen=True)
class Crowding:
    """f = 1 − P_a, and a bonus that is told only when the number of agents is."""

    def cells(self, shares: np.ndarray, size: int | None = None) -> np.ndarray:
        return np.broadcast_to(1 - shares.sum(axis=0) + (0 if size is None else 1 / size), shares.shape)

    def population(self, shares: np.ndarray, size: int | None = None) -> float:
        return float((shares * self.cells(shares, size)).sum())

    def gradient(self, shares: np.ndarray) -> np.ndarray:
        return np.broadcast_to(1 - 2 * shares.sum(axis=0), shares.shape)


@pytest.fixture
def problem() -> Problem:
    population = Population(["a", "b"], {"x": 0.75, "y": 0.25}, size=4)
    optimum = Optimum(0.5, np.full((2, 2), 0.5))
    return Problem("crowding", "a test", population, Crowding(), optimum, ("system",), "made up", "none")


@pytest.fixture
def plan() -> Plan:
    return Plan(0, np.array([[0.6, 0.4], [1.0, 0.0]]), np.array([[2, 1], [1, 0]]))


def test_shares_of_whole_agents_are_counts_over_their_number(problem, plan):
    assert problem.shares(plan).tolist() == [[0.5, 0.25], [0.25, 0.0]]


def test_shares_in_the_limit_are_weights_times_the_distribution(problem, plan):
    found = problem.shares(Plan(0, plan.distribution))
    np.testing.assert_allclose(found, [[0.45, 0.3], [0.25, 0.0]], rtol=1e-15)


def test_value_of_whole_agents_knows_their_number(problem, plan):
    assert problem.value(plan) == pytest.approx(1 - (0.75**2 + 0.25**2) + 0.25, abs=1e-15)


def test_value_without_an_allocation_is_the_mean_field_value(problem, plan):
    limit = Plan(0, plan.distribution)
    assert problem.value(limit) == problem.mean_field_value(plan.distribution)


def test_gradient_in_the_distribution_carries_the_context_weights(problem):
    found = problem.gradient(np.array([[1.0, 0.0], [1.0, 0.0]]))
    assert found.tolist() == [[-0.75, 0.75], [-0.25, 0.25]]


def test_optimality_gap_adds_up_the_contexts(problem):
    assert problem.optimality_gap(np.array([[1.0, 0.0], [1.0, 0.0]])) == pytest.approx(2.0)


def test_optimality_gap_is_zero_at_the_optimum(problem):
    assert problem.optimality_gap(problem.optimum.distribution) == 0.0


def test_with_size_changes_the_number_of_agents_alone(problem):
    other = problem.with_size(None)
    assert other.population.size is None
    assert problem.population.size == 4
    assert other.payoff is problem.payoff


def test_a_payoff_of_ones_own_sees_a_distribution_whatever_the_rounding_of_its_contexts():
    seen: list[np.ndarray] = []

    def payoff(distribution):
        seen.append(distribution)
        return float(distribution[0, 0])

    problem = custom_problem("own", Population(["a", "b"], ["u", "v"], size=3), payoff)
    assert problem.value(Plan(0, np.full((2, 2), 0.5), np.array([[1, 1], [1, 0]]))) == 0.5  # two of u and one of v
    np.testing.assert_allclose(seen[-1], [[0.5, 0.5], [1.0, 0.0]])
    assert problem.value(Plan(1, np.full((2, 2), 0.5), np.array([[2, 1], [0, 0]]))) == pytest.approx(2 / 3)
    np.testing.assert_allclose(seen[-1][1], 0.0)  # nobody of v was drawn
