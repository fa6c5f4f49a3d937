"""Coverage, portfolio and mixture: published optima, and others by brute force."""

import numpy as np
import pytest

from mfbo.errors import InvalidInputError
from mfbo.problems import coverage, coverage_problem, mixture, mixture_problem, portfolio, portfolio_problem
from mfbo.problems.portfolio import CAPITAL, market_covariance


def test_the_best_portfolio_is_the_market():
    np.testing.assert_allclose(portfolio().optimum.distribution[0], CAPITAL, atol=1e-5)


def test_the_equilibrium_returns_are_those_of_the_published_table():
    published = [0.039, 0.069, 0.084, 0.090, 0.043, 0.068, 0.076]
    np.testing.assert_allclose(portfolio().payoff.linear[0], published, atol=6e-4)


def test_two_assets_by_hand():
    """Means 1 and 0, unit variances, no correlation, aversion 4: maximize x − 2 (x² + (1 − x)²), x = 5/8."""
    problem = portfolio_problem(["one", "two"], [1.0, 0.0], np.eye(2), aversion=4.0)
    np.testing.assert_allclose(problem.optimum.distribution[0], [0.625, 0.375], atol=1e-6)


def test_a_covariance_that_is_none_is_refused():
    with pytest.raises(InvalidInputError, match="positive semidefinite"):
        portfolio_problem(["a", "b"], [0.1, 0.2], np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(InvalidInputError, match="square covariance"):
        portfolio_problem(["a", "b"], [0.1, 0.2], market_covariance())


def test_the_longest_yarn_has_no_polystyrene():
    """On the edge x₂ = 0: 11.7 x + 16.4 (1 − x) + 11.4 x (1 − x) is largest at x = 6.7 / 22.8."""
    problem = mixture()
    best = problem.optimum
    np.testing.assert_allclose(best.distribution[0], [6.7 / 22.8, 0.0, 1 - 6.7 / 22.8], atol=1e-12)
    grid = [(i / 60, j / 60, 1 - (i + j) / 60) for i in range(61) for j in range(61 - i)]
    values = [problem.mean_field_value(np.array([point])) for point in grid]
    assert max(values) <= best.value + 1e-12
    assert max(values) == pytest.approx(best.value, abs=2e-3)


def test_the_polynomial_of_the_yarn_is_the_least_squares_fit_of_its_fifteen_measurements():
    """Measured twice pure and three times half and half, so the fit goes through the six means."""
    measured = {
        (1.0, 0.0, 0.0): [11.0, 12.4],
        (0.0, 1.0, 0.0): [8.8, 10.0],
        (0.0, 0.0, 1.0): [16.8, 16.0],
        (0.5, 0.5, 0.0): [15.0, 14.8, 16.1],
        (0.5, 0.0, 0.5): [17.7, 16.4, 16.6],
        (0.0, 0.5, 0.5): [10.0, 9.7, 11.8],
    }
    for blend, elongations in measured.items():
        assert mixture().mean_field_value(np.array([blend])) == pytest.approx(np.mean(elongations), abs=1e-12)


def test_the_payoff_of_a_mixture_is_the_polynomial_as_written():
    problem = mixture_problem({"a": 1.0, "b": 2.0, "c": 0.5}, {("a", "b"): 3.0, ("c", "a"): -1.0})
    x, y, z = 0.2, 0.5, 0.3
    assert problem.mean_field_value(np.array([[x, y, z]])) == pytest.approx(x + 2 * y + 0.5 * z + 3 * x * y - z * x)


@pytest.mark.parametrize("pair", [("a", "x"), ("a", "a")])
def test_a_pair_of_unknown_or_equal_ingredients_is_refused(pair):
    with pytest.raises(InvalidInputError, match="is not a pair"):
        mixture_problem({"a": 1.0, "b": 2.0}, {pair: 1.0})


def test_coverage_of_one_point_by_two_equal_sites_needs_no_choice():
    problem = coverage_problem([[0.0, 0.1], [0.0, -0.1]], [[0.0, 0.0]], [3.0])
    values = [problem.mean_field_value(np.array([[x, 1 - x]])) for x in (0.0, 0.3, 1.0)]
    np.testing.assert_allclose(values, problem.optimum.value, rtol=1e-12)


def test_a_further_unit_adds_less():
    problem = coverage()
    shares = problem.optimum.distribution
    steps = [problem.payoff.population(share * shares) for share in (0.0, 0.5, 1.0)]
    assert steps[1] - steps[0] > steps[2] - steps[1] > 0


def test_the_listed_coverage_is_certified():
    problem = coverage()
    assert problem.optimality_gap(problem.optimum.distribution) < 1e-9


def test_a_demand_for_other_points_is_refused():
    with pytest.raises(InvalidInputError, match="a demand for every point"):
        coverage_problem([[0.0, 0.1]], [[0.0, 0.0]], [3.0, 1.0])
    with pytest.raises(InvalidInputError, match="reach above 0"):
        coverage_problem([[0.0, 0.1]], [[0.0, 0.0]], [3.0], reach=0.0)
