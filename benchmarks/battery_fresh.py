"""Fresh instances of the battery's families, by family and number.

    from battery_problems import battery_problem
    problem = battery_problem("thresholds~7")

What was chosen on the battery itself is checked on these, of which there are as many as numbers. All optima are exact,
certified, or those of the families they come from.
"""

from collections.abc import Callable

import numpy as np
from battery_payoffs import CrowdPayoff, RidgePayoff, TeamPayoff, ThresholdPayoff
from battery_problems import climbed, made, numbered, separable_best

from mfbo.population import Population
from mfbo.problems import Problem, coverage_problem, mixture_problem, portfolio_problem, queue_problem, traffic_problem
from mfbo.problems.concave import concave_optimum
from mfbo.problems.quadratic import QuadraticPayoff, quadratic_optimum
from mfbo.problems.traffic import both_ways, sioux_falls

Generator = np.random.Generator
SIDE = 4  # crossings along a side of the town of grid-traffic
LAST_TOLERANCE = 1e-6  # of the optimum of payoffs whose slope is infinite on a face


def mixture(name: str, rng: Generator) -> Problem:
    """Return a blend of ten with strong synergies and antagonisms."""
    names = [f"x{place}" for place in range(10)]
    ingredients = dict(zip(names, rng.uniform(0, 1, 10).tolist(), strict=True))
    pairs = {(names[i], names[j]): float(rng.normal(scale=6.0)) for i in range(10) for j in range(i)}
    return mixture_problem(ingredients, pairs, name=name)


def thresholds(name: str, rng: Generator) -> Problem:
    """Return twelve places, each held only beyond a sharp threshold."""
    payoff = ThresholdPayoff(rng.uniform(0.5, 1.5, 12), rng.uniform(0.08, 0.22, 12), 0.012)
    best = climbed(payoff, separable_best(payoff.terms, 12)[0])
    return made(name, "places held beyond a threshold", numbered(12), payoff, best)


def sparse(name: str, rng: Generator) -> Problem:
    """Return 200 actions of which three pay."""
    reward = rng.uniform(0, 0.3, 200)
    reward[rng.choice(200, 3, replace=False)] = rng.uniform(1.2, 1.6, 3)
    payoff = QuadraticPayoff(reward[None], -np.eye(200))
    return made(name, "three of 200 actions pay", numbered(200), payoff, concave_optimum(payoff, numbered(200)))


def team(name: str, rng: Generator) -> Problem:
    """Return 200 actions of which three pay only together."""
    roles = np.zeros(200)
    roles[rng.choice(200, 3, replace=False)] = rng.dirichlet([5, 5, 5])
    return made(name, "three of 200 actions pay together", numbered(200), TeamPayoff(roles), roles[None])


def grid_traffic(name: str, rng: Generator) -> Problem:
    """Return five streams of vehicles across a town of sixteen crossings, ten routes each."""
    table: list[tuple[int, int, float, float]] = []
    for node in range(SIDE * SIDE):
        beside, below = node + 1, node + SIDE
        if beside % SIDE:
            table.append((node, beside, float(rng.integers(2, 9)), float(rng.uniform(3000, 9000))))
        if below < SIDE * SIDE:
            table.append((node, below, float(rng.integers(2, 9)), float(rng.uniform(3000, 9000))))
    trips = {(0, 15): 7000, (3, 12): 6000, (12, 3): 5000, (1, 14): 6000, (8, 7): 5000}
    return traffic_problem(both_ways(table), trips, 10, name=name)


def sioux(name: str, rng: Generator) -> Problem:
    """Return five streams of vehicles between drawn places of Sioux Falls, ten routes each."""
    trips: dict[tuple[int, int], int] = {}
    while len(trips) < 5:
        origin, destination = rng.integers(1, 25, 2).tolist()
        if origin != destination:
            trips[origin, destination] = int(rng.integers(5000, 9000))
    return traffic_problem(sioux_falls(), trips, 10, name=name)


def portfolio(name: str, rng: Generator) -> Problem:
    """Return 50 assets under four factors."""
    loadings = rng.normal(size=(50, 4)) * np.array([0.12, 0.06, 0.05, 0.04]) + np.array([0.15, 0, 0, 0])
    covariance = loadings @ loadings.T + np.diag(rng.uniform(0.1, 0.35, 50) ** 2)
    returns = 0.03 + 0.35 * loadings[:, 0] + 0.03 * rng.normal(size=50)
    return portfolio_problem([f"asset {place}" for place in range(50)], returns, covariance, aversion=4.0, name=name)


def ridge(name: str, rng: Generator) -> Problem:
    """Return 24 actions and one combination that must be met."""
    directions = rng.normal(size=(24, 5)) * np.geomspace(3.0, 0.3, 5)
    best = rng.dirichlet(np.full(24, 0.2))
    return made(name, "a sharp crest", numbered(24), RidgePayoff(directions, best @ directions, 0.05), best[None])


def quadratic(name: str, rng: Generator) -> Problem:
    """Return a concave quadratic over 30 actions."""
    root = rng.normal(size=(30, 30)) * np.geomspace(1, 0.1, 30)
    payoff = QuadraticPayoff(rng.normal(size=(1, 30)), -root @ root.T)
    return made(name, "no structure", numbered(30), payoff, concave_optimum(payoff, numbered(30)))


def servers(name: str, rng: Generator) -> Problem:
    """Return 25 stations of one to three servers."""
    rates = np.exp(rng.uniform(np.log(0.2), np.log(4), 25))
    return queue_problem(rng.integers(1, 4, 25), rates, 0.7 * float(rates.sum()), name=name)


def network(name: str, rng: Generator) -> Problem:
    """Return thirteen platforms that gain from friends."""
    friends = np.triu(rng.random((13, 13)) < 0.3, 1) * rng.uniform(0.5, 2, (13, 13))
    pairs = friends + friends.T + np.diag(rng.uniform(-0.5, 1, 13))
    payoff = QuadraticPayoff(rng.uniform(0, 0.5, (1, 13)), pairs)
    return made(name, "platforms gain from friends", numbered(13), payoff, quadratic_optimum(payoff))


def covering(name: str, rng: Generator) -> Problem:
    """Return 20 units at 30 sites of a town with three centers."""
    sites, centers = rng.uniform(size=(30, 2)), rng.uniform(size=(3, 2))
    points = np.clip(centers[rng.integers(3, size=80)] + 0.13 * rng.normal(size=(80, 2)), 0, 1)
    return coverage_problem(sites, points, rng.gamma(1.0, size=80), size=20, name=name)


def shared(name: str, rng: Generator) -> Problem:
    """Return four types of agents who like different places and crowd the same ones, in squares."""
    crowding, kinds, actions = rng.uniform(2, 6, 12), 4, 12
    pairs = np.zeros((kinds, actions, kinds, actions))
    for action in range(actions):
        pairs[:, action, :, action] = -crowding[action]
    liked = rng.normal(size=(kinds, actions)) * 0.6
    population = _typed(kinds, actions, rng)
    payoff = QuadraticPayoff(liked, pairs.reshape(kinds * actions, -1))
    return made(name, "types of agents crowd the same places", population, payoff, concave_optimum(payoff, population))


def crowded(name: str, rng: Generator) -> Problem:
    """Return three types of agents who like different places and crowd the same ones, by roots."""
    crowding, kinds, actions = rng.uniform(1, 4, 20), 3, 20
    liked = rng.normal(size=(kinds, actions)) * 0.6
    population = _typed(kinds, actions, rng)
    payoff = CrowdPayoff(liked, crowding)
    best = concave_optimum(payoff, population, tolerance=LAST_TOLERANCE)
    return made(name, "types of agents crowd the same places", population, payoff, best)


def _typed(kinds: int, actions: int, rng: Generator) -> Population:
    weights = rng.dirichlet(np.full(kinds, 3.0)).tolist()
    return Population([f"a{place}" for place in range(actions)], {f"c{kind}": w for kind, w in enumerate(weights)})


FAMILIES: dict[str, tuple[int, Callable[[str, Generator], Problem]]] = {
    "mixture": (7000, mixture),
    "thresholds": (7100, thresholds),
    "sparse": (7200, sparse),
    "team": (7300, team),
    "grid-traffic": (7400, grid_traffic),
    "sioux-falls": (7450, sioux),
    "portfolio": (7500, portfolio),
    "ridge": (7600, ridge),
    "quadratic": (7700, quadratic),
    "servers": (7800, servers),
    "network": (7900, network),
    "coverage": (8000, covering),
    "shared": (8100, shared),
    "crowded": (8200, crowded),
}  # with the seed of number 0


def fresh_problem(family: str, number: int) -> Problem:
    """Return one instance of a family."""
    first, make = FAMILIES[family]
    return make(f"{family}~{number}", np.random.default_rng(first + number))
