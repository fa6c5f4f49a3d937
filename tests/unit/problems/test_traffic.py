"""Traffic: routes and flows against brute force, Braess's paradox by hand, and another climb."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy.optimize import minimize

from mfbo.errors import InvalidInputError
from mfbo.problems import traffic, traffic_problem
from mfbo.problems.traffic import Road, quickest_routes, sioux_falls
from mfbo.simplex import squares, squares_pullback

SMALL = {(1, 2): Road(3, 10), (2, 4): Road(2, 10), (1, 3): Road(1, 5), (3, 4): Road(5, 9), (3, 2): Road(1, 4)}


def every_route(roads, origin, destination):
    """All routes without loops and their minutes, by trying every order of the nodes between."""
    inner = {node for link in roads for node in link} - {origin, destination}
    found = []
    for count in range(len(inner) + 1):
        for middle in permutations(inner, count):
            path = (origin, *middle, destination)
            if all(step in roads for step in pairwise(path)):
                found.append((sum(roads[step].minutes for step in pairwise(path)), path))
    return sorted(found)


def test_the_quickest_routes_are_those_of_brute_force():
    expected = every_route(SMALL, 1, 4)
    found = quickest_routes(SMALL, 1, 4, len(expected))
    minutes = [sum(SMALL[step].minutes for step in pairwise(path)) for path in found]
    assert minutes == [time for time, _ in expected]
    assert set(found) == {path for _, path in expected}


def test_more_routes_than_there_are_is_refused():
    with pytest.raises(InvalidInputError, match="only 3 routes from 1 to 4"):
        quickest_routes(SMALL, 1, 4, 4)


def test_sioux_falls_has_its_published_size():
    roads = sioux_falls()
    assert len(roads) == 76
    assert {node for link in roads for node in link} == set(range(1, 25))
    assert sum(road.capacity for road in roads.values()) / 76 == pytest.approx(10247.206327, abs=1e-5)
    assert sum(road.minutes for road in roads.values()) == 314


def test_the_payoff_is_minus_the_mean_minutes_added_up_by_hand():
    problem = traffic_problem(SMALL, {(1, 4): 12}, 2)
    routes = quickest_routes(SMALL, 1, 4, 2)
    shares = np.array([0.25, 0.75])
    total = 0.0
    for link, road in SMALL.items():
        flow = 12 * sum(share for share, path in zip(shares, routes, strict=True) if link in pairwise(path))
        total += flow * road.minutes * (1 + 0.15 * (flow / road.capacity) ** 4)
    assert problem.mean_field_value(shares[None, :]) == pytest.approx(-total / 12, rel=1e-12)


def test_braess_shortcut_stays_empty_by_hand():
    """Two routes of 45 + x/100 minutes: half of 4000 cars on each takes 65, and the shortcut pays nobody in all."""
    slow, quick = Road(45.0, 1.0, 0.0, 1.0), Road(1e-9, 1.0, 1e9 / 100.0, 1.0)
    roads = {(1, 2): quick, (1, 3): slow, (2, 4): slow, (3, 4): quick}
    problem = traffic_problem(roads, {(1, 4): 4000}, 2)
    assert problem.optimum.value == pytest.approx(-65.0, abs=1e-6)
    np.testing.assert_allclose(problem.optimum.distribution, 0.5, atol=1e-6)


def test_the_flow_across_sioux_falls_is_system_optimal():
    problem = traffic()
    assert problem.optimality_gap(problem.optimum.distribution) < 1e-8
    contexts, actions = problem.population.shape

    def negative(flat):
        roots = flat.reshape(contexts, actions)
        distribution = squares(roots)
        slope = squares_pullback(roots, distribution, problem.gradient(distribution))
        return -problem.mean_field_value(distribution), -slope.ravel()

    found = minimize(negative, np.ones(contexts * actions), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    assert -found.fun == pytest.approx(problem.optimum.value, abs=1e-3)
    assert -found.fun <= problem.optimum.value + 1e-8


@pytest.mark.parametrize("road", [(0.0, 1.0), (1.0, 0.0), (1.0, float("nan"))])
def test_impossible_roads_are_refused(road):
    with pytest.raises(InvalidInputError, match="capacity above 0"):
        Road(*road)
