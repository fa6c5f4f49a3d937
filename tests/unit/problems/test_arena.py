"""The arena problem: pinned values, pair sums by brute force, symmetries, and an optimum that no ascent beats."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mfbo.problems import Problem, arena
from mfbo.problems.arena import ArenaPayoff
from mfbo.records import Plan
from mfbo.simplex import allocate, softmax, squares, squares_pullback, uniform

SIGNS = np.array([-1.0, 1.0])
CLOSED = np.linspace(0, 2 * np.pi, 30)
HALF_OPEN = 2 * np.pi * np.arange(30) / 30
OPTIMUM = 1.0661015491
HALF_OPEN_OPTIMUM = 1.0271830400


@pytest.fixture(scope="module")
def problem() -> Problem:
    return arena()


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(4)


def opposite() -> np.ndarray:
    """Joint shares of all visitors at seat 0 and all hosts at seat 15."""
    shares = np.zeros((2, 30))
    shares[0, 0] = shares[1, 15] = 0.5
    return shares


def by_pairs(angles: np.ndarray, counts: np.ndarray) -> float:
    """The payoff of whole agents by a double loop over ordered pairs, nobody paired with itself."""
    agents = [(c, a) for c in range(2) for a in range(len(angles)) for _ in range(counts[c, a])]
    size = len(agents)
    reward = 0.0
    for i, (c, a) in enumerate(agents):
        for j, (d, b) in enumerate(agents):
            if i != j:
                reward += SIGNS[c] * SIGNS[d] * np.cos(angles[a] - angles[b])
    occupancy = counts.sum(axis=0) / size
    return 2 * reward / (size * (size - 1)) - 10 * float((occupancy * np.log1p(occupancy)).sum())


def test_population_is_two_equal_teams_of_fifty_agents(problem):
    assert problem.population.shape == (2, 30)
    assert problem.population.size == 50
    assert problem.population.weights.tolist() == [0.5, 0.5]


def test_context_features_are_the_signs_of_the_teams(problem):
    assert problem.population.context_features.tolist() == [[-1.0], [1.0]]


def test_features_are_the_closed_grid(problem):
    np.testing.assert_array_equal(problem.population.features[:, 0], CLOSED)


@pytest.mark.parametrize(("angles", "value"), [(CLOSED, -2.0605131239), (HALF_OPEN, -2.0546510811)])
def test_two_crowds_opposite_each_other_are_pinned(angles, value):
    assert ArenaPayoff(angles, SIGNS).population(opposite()) == pytest.approx(value, rel=1e-9)


def test_uniform_value_is_pinned(problem):
    assert problem.mean_field_value(uniform(2, 30)) == pytest.approx(-0.3278982282, rel=1e-8)


def test_optimum_is_pinned(problem):
    assert problem.optimum.value == pytest.approx(OPTIMUM, abs=1e-6)


def test_optimum_value_belongs_to_its_distribution(problem):
    assert problem.mean_field_value(problem.optimum.distribution) == pytest.approx(problem.optimum.value, abs=1e-13)


def test_optimum_has_no_first_order_gap(problem):
    assert 0 <= problem.optimality_gap(problem.optimum.distribution) + 1e-12 < 1e-5


def ascended(payoff: ArenaPayoff, start: np.ndarray) -> float:
    """Climb to a local optimum by exponentiated gradient steps, a method the package does not use, then by L-BFGS."""
    distribution = start
    for _ in range(150):
        distribution = softmax(np.log(distribution) + 0.3 * payoff.gradient(0.5 * distribution))

    def negated(flat: np.ndarray) -> tuple[float, np.ndarray]:
        roots = flat.reshape(2, 30)
        here = squares(roots)
        return -payoff.population(0.5 * here), -squares_pullback(roots, here, 0.5 * payoff.gradient(0.5 * here)).ravel()

    first = np.sqrt(np.maximum(distribution, 1e-8)).ravel()
    found = minimize(negated, first, jac=True, method="L-BFGS-B", options={"maxiter": 500, "ftol": 1e-14, "gtol": 1e-9})
    return -float(found.fun)


@pytest.fixture(scope="module", params=["closed", "half-open"])
def ascents(request) -> tuple[float, list[float]]:
    rng = np.random.default_rng(8)
    angles, best = (CLOSED, OPTIMUM) if request.param == "closed" else (HALF_OPEN, HALF_OPEN_OPTIMUM)
    payoff = ArenaPayoff(angles, SIGNS)
    starts = [
        np.maximum(rng.dirichlet(np.full(30, spread), size=2), 1e-9) for spread in (0.1, 0.3, 1.0) for _ in range(10)
    ]
    return best, [ascended(payoff, start) for start in starts]


def test_no_ascent_from_random_starts_beats_the_optimum(ascents):
    best, found = ascents
    assert max(found) <= best + 2e-7


def test_some_ascent_from_random_starts_reaches_nearly_the_optimum(ascents):
    best, found = ascents
    assert max(found) > best - 1e-3


@pytest.mark.parametrize("angles", [CLOSED, HALF_OPEN], ids=["closed", "half-open"])
@pytest.mark.parametrize("size", [2, 3, 17, 50])
def test_finite_payoff_equals_the_double_loop_over_ordered_pairs(angles, size, rng):
    counts = rng.multinomial(size, rng.dirichlet(np.full(60, 0.3))).reshape(2, 30)
    found = ArenaPayoff(angles, SIGNS).population(counts / size, size)
    assert found == pytest.approx(by_pairs(angles, counts), abs=1e-12)


def test_own_payoff_of_an_agent_equals_its_own_pair_sum(rng):
    size = 12
    counts = rng.multinomial(size, np.full(60, 1 / 60)).reshape(2, 30)
    cells = ArenaPayoff(CLOSED, SIGNS).cells(counts / size, size)
    agents = [(c, a) for c in range(2) for a in range(30) for _ in range(counts[c, a])]
    for i, (c, a) in enumerate(agents):
        others = agents[:i] + agents[i + 1 :]
        reward = 2 * sum(SIGNS[c] * SIGNS[d] * np.cos(CLOSED[a] - CLOSED[b]) for d, b in others) / (size - 1)
        penalty = 10 * np.log1p(counts[:, a].sum() / size)
        assert cells[c, a] == pytest.approx(reward - penalty, abs=1e-12)


def test_exchanging_the_teams_changes_nothing(rng):
    payoff = ArenaPayoff(CLOSED, SIGNS)
    shares = 0.5 * rng.dirichlet(np.ones(30), size=2)
    assert payoff.population(shares[::-1]) == pytest.approx(payoff.population(shares), abs=1e-14)
    assert payoff.population(shares[::-1], 50) == pytest.approx(payoff.population(shares, 50), abs=1e-14)


def test_turning_everyone_by_a_seat_changes_nothing_on_the_half_open_grid(rng):
    shares = 0.5 * rng.dirichlet(np.ones(30), size=2)
    payoff = ArenaPayoff(HALF_OPEN, SIGNS)
    assert payoff.population(np.roll(shares, 1, axis=1)) == pytest.approx(payoff.population(shares), abs=1e-13)


def test_turning_everyone_by_a_seat_matters_on_the_closed_grid(rng):
    shares = 0.5 * rng.dirichlet(np.ones(30), size=2)
    payoff = ArenaPayoff(CLOSED, SIGNS)
    assert abs(payoff.population(np.roll(shares, 1, axis=1)) - payoff.population(shares)) > 1e-4


def test_field_in_two_components_equals_the_full_matrix_of_cosines(rng):
    shares = 0.5 * rng.dirichlet(np.ones(30), size=2)
    eta = SIGNS @ shares
    full = np.cos(CLOSED[:, None] - CLOSED[None, :]) @ eta
    expected = 2 * SIGNS[:, None] * full[None, :] - 10 * np.log1p(shares.sum(axis=0))
    np.testing.assert_allclose(ArenaPayoff(CLOSED, SIGNS).cells(shares), expected, atol=1e-13)


def test_sampled_deployment_of_the_optimum_has_the_pinned_mean_and_spread(problem):
    """iid contexts and seats, M = 50: 0.8975 ± 0.061, the paper's r ≈ 0.9."""
    rng = np.random.default_rng(0)
    best, weights = problem.optimum.distribution, problem.population.weights
    values = [
        problem.value(Plan(0, best, allocate(best, weights, 50, rng, method="sampled", context_method="sampled")))
        for _ in range(4000)
    ]
    assert np.mean(values) == pytest.approx(0.8975, abs=0.005)
    assert np.std(values) == pytest.approx(0.061, abs=0.005)


def test_sampled_seats_of_equal_teams_have_the_pinned_mean(problem):
    rng = np.random.default_rng(0)
    best, weights = problem.optimum.distribution, problem.population.weights
    values = [problem.value(Plan(0, best, allocate(best, weights, 50, rng, method="sampled"))) for _ in range(4000)]
    assert np.mean(values) == pytest.approx(0.9089, abs=0.005)


def test_quota_deployment_of_the_optimum_is_pinned(problem):
    """Largest-remainder rounding of ξ*: 1.054470."""
    best = problem.optimum.distribution
    counts = allocate(best, problem.population.weights, 50, np.random.default_rng(0))
    assert problem.value(Plan(0, best, counts)) == pytest.approx(1.054470, abs=1e-5)


@pytest.mark.parametrize("actions", [2, 8, 13])
def test_the_optimum_is_stationary_for_other_numbers_of_seats(actions):
    problem = arena(actions, None)
    assert problem.optimum.distribution.shape == (2, actions)
    assert problem.optimality_gap(problem.optimum.distribution) < 1e-3
