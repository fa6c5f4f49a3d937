"""The swarm problem: pinned reward, penalty, gradient and optimum, in the limit and for fifty agents."""

import heapq

import numpy as np
import pytest

from mfbo.problems import Problem, swarm
from mfbo.problems.congestion import congestion, congestion_slope
from mfbo.problems.swarm import SwarmPayoff, separable_optimum, swarm_reward
from mfbo.records import Plan
from mfbo.simplex import allocate, uniform

CLOSED = np.linspace(0, 2 * np.pi, 30)
HALF_OPEN = 2 * np.pi * np.arange(30) / 30
OPTIMA = {"closed": (CLOSED, 18.0134418620, 18.01182168), "half-open": (HALF_OPEN, 18.1028239851, 18.10281757)}


@pytest.fixture(scope="module")
def problem() -> Problem:
    return swarm()


def alone_at(index: int, count: int = 30) -> np.ndarray:
    return np.eye(count)[[index]]


def plan_of(counts: dict[int, int]) -> Plan:
    allocation = np.zeros((1, 30), dtype=np.int64)
    allocation[0, list(counts)] = list(counts.values())
    return Plan(0, allocation / allocation.sum(), allocation)


def test_population_is_fifty_agents_on_thirty_places_by_default(problem):
    assert (problem.population.shape, problem.population.size) == ((1, 30), 50)


def test_features_are_the_closed_grid(problem):
    np.testing.assert_array_equal(problem.population.features[:, 0], CLOSED)


@pytest.mark.parametrize(("index", "value"), [(0, -19.7392088022), (7, 21.6494703358), (8, 20.936185333)])
def test_reward_on_the_closed_grid_is_pinned(index, value):
    assert swarm_reward(CLOSED)[index] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("index", [7, 8])
def test_reward_on_the_half_open_grid_is_pinned(index):
    assert swarm_reward(HALF_OPEN)[index] == pytest.approx(21.4044446058, rel=1e-9)


def test_reward_is_highest_at_a_quarter_turn():
    assert swarm_reward(np.array(np.pi / 2)) == pytest.approx(2 * np.pi**2 + 2, rel=1e-14)


def test_penalty_of_the_uniform_crowd_is_pinned():
    occupancy = np.full(30, 1 / 30)
    assert -occupancy @ congestion(occupancy, 10.0) == pytest.approx(-0.3278982282, rel=1e-9)


def test_penalty_of_one_crowd_is_pinned():
    assert -congestion(np.array([1.0]), 10.0)[0] == pytest.approx(-6.9314718056, rel=1e-9)


def test_the_paper_s_printed_penalty_of_the_uniform_crowd_is_pinned():
    """Σ_a σ log(1 + P_a), which rewards crowds (E6): kept as a number, not used."""
    assert -congestion(np.full(30, 1 / 30), 10.0).sum() == pytest.approx(-9.836947, abs=1e-6)


def test_congestion_slope_is_the_derivative_of_the_total_penalty():
    occupancy, step = np.array([0.0, 0.1, 0.7, 1.0]), 1e-6
    total = lambda p: p * congestion(p, 10.0)  # noqa: E731
    numeric = (total(occupancy + step) - total(occupancy - step)) / (2 * step)
    np.testing.assert_allclose(congestion_slope(occupancy, 10.0), numeric, rtol=1e-7, atol=1e-9)


def test_uniform_value_is_pinned(problem):
    assert problem.mean_field_value(uniform(1, 30)) == pytest.approx(-10.526489, abs=1e-6)


def test_best_single_place_is_pinned(problem):
    values = [problem.mean_field_value(alone_at(index)) for index in range(30)]
    assert max(values) == pytest.approx(14.717999, abs=1e-6)


@pytest.mark.parametrize(("index", "value"), [(0, -20.3896876756), (7, 20.9989914624)])
def test_gradient_at_the_uniform_distribution_is_pinned(problem, index, value):
    assert problem.gradient(uniform(1, 30))[0, index] == pytest.approx(value, rel=1e-9)


def test_the_gradient_is_not_the_payoff_because_of_the_externality(problem):
    shares = uniform(1, 30)
    externality = problem.payoff.cells(shares) - problem.payoff.gradient(shares)
    np.testing.assert_allclose(externality, 10.0 * (1 / 30) / (1 + 1 / 30), rtol=1e-12)


@pytest.mark.parametrize("grid", OPTIMA)
def test_optimum_is_pinned(grid):
    angles, value, _ = OPTIMA[grid]
    payoff = SwarmPayoff(swarm_reward(angles))
    best = separable_optimum(payoff.reward, payoff.factor)
    assert payoff.population(best[None, :]) == pytest.approx(value, abs=1e-8)


def test_optimal_distribution_is_pinned(problem):
    expected = np.zeros(30)
    expected[6:10] = [0.21816733, 0.37245847, 0.31744976, 0.09192444]
    np.testing.assert_allclose(problem.optimum.distribution[0], expected, atol=1e-8)


def test_optimal_distribution_on_the_half_open_grid_is_symmetric():
    best = separable_optimum(swarm_reward(HALF_OPEN), 10.0)
    np.testing.assert_allclose(best[6:10], [0.15953049, 0.34046951, 0.34046951, 0.15953049], atol=1e-8)


def test_optimum_has_no_optimality_gap(problem):
    assert 0 <= problem.optimality_gap(problem.optimum.distribution) + 1e-12 < 1e-8


def test_optimality_gap_bounds_the_regret(problem):
    rng = np.random.default_rng(0)
    for _ in range(50):
        distribution = rng.dirichlet(np.full(30, 0.3), size=1)
        regret = problem.optimum.value - problem.mean_field_value(distribution)
        assert problem.optimality_gap(distribution) >= regret >= 0


def greedy_counts(reward: np.ndarray, agents: int) -> np.ndarray:
    """Exact for a separable concave total: give every next agent to the place with the largest marginal gain."""
    total = lambda a, n: n / agents * (reward[a] - 10 * np.log1p(n / agents))  # noqa: E731
    counts = np.zeros(len(reward), dtype=np.int64)
    queue = [(-(total(a, 1) - total(a, 0)), a) for a in range(len(reward))]
    heapq.heapify(queue)
    for _ in range(agents):
        _, a = heapq.heappop(queue)
        counts[a] += 1
        heapq.heappush(queue, (-(total(a, counts[a] + 1) - total(a, counts[a])), a))
    return counts


@pytest.mark.parametrize("grid", OPTIMA)
def test_exact_optimum_of_fifty_agents_is_pinned(grid):
    angles, _, value = OPTIMA[grid]
    payoff = SwarmPayoff(swarm_reward(angles))
    counts = greedy_counts(payoff.reward, 50)
    assert payoff.population(counts[None, :] / 50, 50) == pytest.approx(value, abs=1e-8)


def test_value_of_the_best_fifty_agents_is_pinned(problem):
    assert problem.value(plan_of({6: 11, 7: 18, 8: 16, 9: 5})) == pytest.approx(18.01182168, abs=1e-8)


def test_quota_deployment_of_the_optimum_costs_almost_nothing(problem):
    counts = allocate(problem.optimum.distribution, np.ones(1), 50, np.random.default_rng(0))
    assert problem.value(Plan(0, problem.optimum.distribution, counts)) > 18.0117


def test_sampled_deployment_of_the_optimum_costs_the_predicted_bias(problem):
    """E[g] falls by (1/2M) Σ F''(P) P (1 − P): 18.0134 → 17.915 at M = 50."""
    rng = np.random.default_rng(1)
    draws = rng.multinomial(50, problem.optimum.distribution[0], size=4000) / 50
    assert np.mean([problem.payoff.population(each[None, :], 50) for each in draws]) == pytest.approx(17.915, abs=0.01)


def test_no_ascent_from_random_starts_beats_the_optimum(problem):
    """Frank–Wolfe with exact-enough steps from many starts: g is concave, so all end at the optimum from below."""
    rng = np.random.default_rng(2)
    for _ in range(10):
        distribution = rng.dirichlet(np.full(30, 0.3), size=1)
        for step in range(400):
            target = alone_at(int(np.argmax(problem.gradient(distribution))))
            distribution = distribution + 2 / (step + 3) * (target - distribution)
        value = problem.mean_field_value(distribution)
        assert problem.optimum.value - 0.02 < value <= problem.optimum.value + 1e-9


@pytest.mark.parametrize("actions", [1, 2, 7, 200])
def test_the_optimum_is_found_for_other_numbers_of_places(actions):
    problem = swarm(actions, None)
    assert problem.optimum.distribution.shape == (1, actions)
    assert problem.optimality_gap(problem.optimum.distribution) < 1e-8
