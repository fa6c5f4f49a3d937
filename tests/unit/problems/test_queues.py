"""Queues: Erlang's formulas against the stationary distribution itself, the optimum of M/M/1 servers in closed form."""

import math

import numpy as np
import pytest

from mfbo.errors import InvalidInputError
from mfbo.problems.queues import QueuePayoff, erlang_b, queue_problem, queues


def people_by_balance(servers: int, rate: float, flow: float, most: int = 3000) -> float:
    """Mean number of customers from the birth–death balance, cut off far out."""
    log_weight, logs = 0.0, [0.0]
    for count in range(1, most):
        log_weight += math.log(flow / (rate * min(count, servers)))
        logs.append(log_weight)
    weights = np.exp(np.array(logs) - max(logs))
    return float((weights @ np.arange(most)) / weights.sum())


@pytest.mark.parametrize(("servers", "rate", "flow"), [(1, 1.0, 0.6), (2, 0.7, 1.1), (5, 2.0, 8.5), (8, 0.5, 3.0)])
def test_the_delay_is_that_of_the_balance_equations(servers, rate, flow):
    payoff = QueuePayoff(np.array([servers]), np.array([rate]), flow)
    expected = people_by_balance(servers, rate, flow) / flow
    assert -payoff.population(np.ones((1, 1))) == pytest.approx(expected, rel=1e-9)
    assert -payoff.cells(np.ones((1, 1)))[0, 0] == pytest.approx(expected, rel=1e-9)


def test_erlang_b_of_three_servers_by_its_definition():
    load = 1.7
    terms = [load**k / math.factorial(k) for k in range(4)]
    assert erlang_b(np.array([3]), np.array([load]))[0] == pytest.approx(terms[3] / sum(terms))


def test_an_overloaded_station_goes_on_along_its_tangent():
    payoff = QueuePayoff(np.array([2]), np.array([1.0]), 1.0)
    people = [payoff._people(np.array([flow]))[0][0] for flow in (1.8, 2.3, 2.8)]
    assert people[2] - people[1] == pytest.approx(people[1] - people[0], rel=1e-12)
    slope = (payoff._people(np.array([1.8 - 1e-6]))[0][0] - people[0]) / -1e-6
    assert (people[1] - people[0]) / 0.5 == pytest.approx(slope, rel=1e-4)


def test_an_empty_station_takes_the_time_of_service():
    payoff = QueuePayoff(np.array([1, 3]), np.array([2.0, 0.5]), 1.0)
    assert payoff.cells(np.array([[1.0, 0.0]]))[0, 1] == pytest.approx(-2.0)
    assert payoff.gradient(np.array([[1.0, 0.0]]))[0, 1] == pytest.approx(-2.0)


def test_the_optimum_of_single_servers_is_the_square_root_rule():
    """λ_a = μ_a − √(μ_a / ν), with one ν for all servers in use."""
    rates = np.array([1.0, 2.0, 4.0])
    problem = queue_problem([1, 1, 1], rates, 4.0)
    spare = (rates.sum() - 4.0) / np.sqrt(rates).sum()
    np.testing.assert_allclose(problem.optimum.distribution[0] * 4.0, rates - spare * np.sqrt(rates), atol=1e-5)


def test_the_listed_problem_is_certified():
    problem = queues()
    assert problem.optimality_gap(problem.optimum.distribution) < 1e-9
    assert problem.population.size == 500


@pytest.mark.parametrize(
    ("servers", "rates", "arrivals", "said"),
    [([1], [1.0], 0.95, "arrivals must be"), ([0], [1.0], 0.1, "at least one server"), ([1, 1], [1.0], 0.1, "server")],
)
def test_impossible_stations_are_refused(servers, rates, arrivals, said):
    with pytest.raises(InvalidInputError, match=said):
        queue_problem(servers, rates, arrivals)
