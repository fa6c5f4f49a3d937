"""The problems of the battery: instances of many families with exact or certified optima, by name.

    from battery_problems import BATTERY, battery_problem
    problem = battery_problem("team-200")
    problem = battery_problem("team~4")  # a fresh instance of a family, see battery_fresh

Five families are public problems of mfbo (traffic, queues, coverage, portfolio, mixture); the others live here. An
optimum is exact, or comes with a certificate that tests/integration/test_battery.py checks.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from battery_payoffs import (
    BikePayoff,
    HillPayoff,
    RidgePayoff,
    TablePayoff,
    TeamPayoff,
    ThresholdPayoff,
)

from mfbo.arrays import FloatArray, IntArray
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.problems import (
    Optimum,
    Payoff,
    Problem,
    coverage,
    mixture,
    mixture_problem,
    portfolio,
    portfolio_problem,
    queue_problem,
    queues,
    traffic,
    traffic_problem,
)
from mfbo.problems.concave import concave_optimum, spectral_ascent
from mfbo.problems.quadratic import QuadraticPayoff, quadratic_optimum
from mfbo.problems.swarm import SwarmPayoff, separable_optimum
from mfbo.problems.traffic import Road
from mfbo.validation import known_name

Terms = Callable[[FloatArray], FloatArray]
STEPS = 1500  # of the grid on which separable problems are solved


def made(name: str, summary: str, population: Population, payoff: Payoff, best: FloatArray) -> Problem:
    """Return a problem of the battery whose optimum is reached by ``best`` (C, A)."""
    value = payoff.population(population.joint_shares(best))
    feedback = ("system", "agents", "cells")
    return Problem(name, summary, population, payoff, Optimum(value, best), feedback, "synthetic", "none needed")


def numbered(count: int, size: int | None = None) -> Population:
    """Return a population with nothing known of its actions but their number."""
    return Population([f"a{place}" for place in range(count)], size=size)


def braess() -> Problem:
    """Return Braess's network: three routes, one of them a shortcut that should stay almost empty."""
    slow, quick = Road(45.0, 1.0, 0.0, 1.0), Road(0.01, 4000.0, 100.0 * 40.0, 1.0)
    roads = {(1, 2): quick, (1, 3): slow, (2, 4): slow, (3, 4): quick, (2, 3): Road(0.01, 1.0, 0.0, 1.0)}
    return traffic_problem(roads, {(1, 4): 4000}, 3, name="braess", source="Braess (1968), in the form of 4000 cars")


NGUYEN_DUPUIS = (
    (1, 5, 7), (1, 12, 9), (4, 5, 9), (4, 9, 12), (5, 6, 3), (5, 9, 9), (6, 7, 5), (6, 10, 13), (7, 8, 5), (7, 11, 9),
    (8, 2, 9), (9, 10, 10), (9, 13, 9), (10, 11, 6), (11, 2, 9), (11, 3, 8), (12, 6, 7), (12, 8, 14), (13, 3, 11),
)  # fmt: skip


def nguyen_dupuis() -> Problem:
    """Return the network of Nguyen and Dupuis: 4 pairs × 5 routes; capacities ours.

    Several sets of free times are in use; Transportation Networks for Research has others on the same links.
    """
    roads = {(tail, head): Road(float(minutes), 220.0 + 10.0 * minutes) for tail, head, minutes in NGUYEN_DUPUIS}
    trips = {(1, 2): 400, (1, 3): 800, (4, 2): 600, (4, 3): 200}
    source = "links of Nguyen and Dupuis (1984), one of the sets of free times in use; capacities and demand ours"
    return traffic_problem(roads, trips, 5, name="nguyen-dupuis", source=source)


def single_servers() -> Problem:
    """Return 40 M/M/1 servers of very different speeds, three quarters busy."""
    rates = np.geomspace(0.2, 4.0, 40)
    return queue_problem(np.ones(40, dtype=int), rates, 0.75 * rates.sum(), name="servers-40")


def factor_portfolio() -> Problem:
    """Return 60 assets under three factors: few of them are worth holding."""
    rng = np.random.default_rng(1952)
    loadings = rng.normal(size=(60, 3)) * np.array([0.12, 0.06, 0.05]) + np.array([0.15, 0.0, 0.0])
    covariance = loadings @ loadings.T + np.diag(rng.uniform(0.1, 0.35, 60) ** 2)
    returns = 0.03 + 0.35 * loadings[:, 0] + 0.03 * rng.normal(size=60)
    names = [f"asset {place}" for place in range(60)]
    return portfolio_problem(names, returns, covariance, aversion=4.0, name="portfolio-60")


def strong_mixture() -> Problem:
    """Return a blend of ten with strong synergies and antagonisms: many local optima."""
    rng = np.random.default_rng(1958)
    names = [f"x{place}" for place in range(10)]
    ingredients = dict(zip(names, rng.uniform(0.0, 1.0, 10).tolist(), strict=True))
    pairs = {(names[i], names[j]): float(rng.normal(scale=6.0)) for i in range(10) for j in range(i)}
    return mixture_problem(ingredients, pairs, name="mixture-10")


def block_mixture() -> Problem:
    """Return a blend of twelve in which four work together and every other pair harms."""
    rng = np.random.default_rng(1967)
    names = [f"x{place}" for place in range(12)]
    good = {1, 4, 7, 10}
    pairs = {
        (names[i], names[j]): float(rng.uniform(4.0, 7.0) if {i, j} <= good else -rng.uniform(0.0, 4.0))
        for i in range(12)
        for j in range(i)
    }
    ingredients = {name: 0.0 if place in good else 0.6 for place, name in enumerate(names)}
    return mixture_problem(ingredients, pairs, name="mixture-12")


def separable_best(terms: Terms, actions: int, steps: int = STEPS) -> tuple[FloatArray, float]:
    """Return the best occupancy (A,) on a grid of ``steps`` units for Σ h_a(P_a), and what a share more adds."""
    values = terms(np.arange(steps + 1)[:, None] / steps * np.ones(actions))
    best, choices = _added_up(values)
    left, units = steps, []
    for choice in reversed(choices):
        units.append(int(choice[left]))
        left -= units[-1]
    price = (best[steps] - best[steps - actions]) * steps / actions
    return np.array(units[::-1]) / steps, float(price)


def separable_bound(terms: Terms, actions: int, price: float, steps: int = STEPS, parts: int = 64) -> float:
    """Return what Σ h_a(P_a) cannot exceed on the simplex, h_a rising; any price ν bounds, the optimum's tightly.

    Σ h_a = ν + Σ (h_a − ν P_a). With every P_a rounded to the nearest of ``steps`` units these sum to steps ± A / 2,
    and within a unit h_a − ν P_a is at most the largest h_a(right) − ν · left over its parts.
    """
    most = steps + actions // 2 + 1
    edges = np.maximum((np.arange(most + 1)[:, None] - 0.5 + np.arange(parts + 1) / parts) / steps, 0.0)
    heights = terms(edges[:, :, None] * np.ones(actions))
    best, _ = _added_up((heights[:, 1:] - price * edges[:, :-1, None]).max(axis=1))
    return price + float(best[steps - actions // 2 - 1 :].max())


def _added_up(values: FloatArray) -> tuple[FloatArray, list[IntArray]]:
    """Return the best Σ of one value per column (n, A) by the sum of its rows, and the rows chosen column by column."""
    count, actions = values.shape
    behind = np.arange(count)[:, None] - np.arange(count)[None, :]
    best, choices = np.where(np.arange(count) == 0, 0.0, -np.inf), []
    for action in range(actions):
        totals = np.where(behind >= 0, best[behind], -np.inf) + values[None, :, action]
        choices.append(totals.argmax(axis=1))
        best = totals.max(axis=1)
    return best, choices


def climbed(payoff: Payoff, start: FloatArray) -> FloatArray:
    """Return the local maximum (1, A) that is reached from an occupancy (A,)."""

    def field(distribution: FloatArray) -> tuple[float, FloatArray]:
        return payoff.population(distribution), np.array(payoff.gradient(distribution))

    return spectral_ascent(field, start[None, :], 1e-12)[0]


def thresholds() -> Problem:
    """Return twelve places to defend, each held only beyond a sharp threshold; half of them can be."""
    rng = np.random.default_rng(1921)
    payoff = ThresholdPayoff(rng.uniform(0.5, 1.5, 12), rng.uniform(0.08, 0.22, 12), 0.012)
    best = climbed(payoff, separable_best(payoff.terms, 12)[0])
    return made("thresholds-12", "defend places that are held beyond a threshold", numbered(12), payoff, best)


def advertising() -> Problem:
    """Return ten channels whose response saturates, some of them after a slow start."""
    rng = np.random.default_rng(1913)
    payoff = HillPayoff(rng.uniform(0.5, 2.0, 10), rng.uniform(0.04, 0.3, 10), np.tile([1.0, 1.0, 1.6, 2.5, 3.0], 2))
    best = climbed(payoff, separable_best(payoff.terms, 10)[0])
    return made("advertising-10", "split a budget over channels that saturate", numbered(10), payoff, best)


def sparse_rewards() -> Problem:
    """Return 200 actions of which three pay, each less as it fills."""
    rng = np.random.default_rng(1996)
    reward = rng.uniform(0.0, 0.3, 200)
    reward[[17, 90, 163]] = [1.5, 1.3, 1.4]
    payoff = QuadraticPayoff(reward[None, :], -np.eye(200))
    return made("sparse-200", "three of 200 actions pay", numbered(200), payoff, concave_optimum(payoff, numbered(200)))


def sparse_team() -> Problem:
    """Return 200 actions of which three pay only together."""
    roles = np.zeros(200)
    roles[[31, 77, 154]] = [0.5, 0.3, 0.2]
    return made("team-200", "three of 200 actions pay together", numbered(200), TeamPayoff(roles), roles[None, :])


def network_effects() -> Problem:
    """Return twelve platforms that gain from their own users and from those of friends, up to a crowd."""
    rng = np.random.default_rng(1985)
    friends = np.triu(rng.random((12, 12)) < 0.3, 1) * rng.uniform(0.5, 2.0, (12, 12))
    pairs = friends + friends.T + np.diag(rng.uniform(-0.5, 1.0, 12))
    payoff = QuadraticPayoff(rng.uniform(0.0, 0.5, (1, 12)), pairs)
    return made("network-12", "platforms gain from friends", numbered(12), payoff, quadratic_optimum(payoff))


def repulsion() -> Problem:
    """Return 49 places on a grid where neighbors repel and a slope attracts."""
    axis = np.linspace(0.0, 1.0, 7)
    places = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    apart = ((places[:, None] - places[None]) ** 2).sum(axis=2)
    payoff = QuadraticPayoff((0.4 * places[:, 0] + 0.2 * places[:, 1])[None, :], -2.0 * np.exp(-apart / (2 * 0.2**2)))
    population = Population(places)
    return made("repulsion-49", "neighbors repel", population, payoff, concave_optimum(payoff, population))


def ridge() -> Problem:
    """Return 40 actions of which only three combinations matter."""
    rng = np.random.default_rng(1962)
    directions = rng.normal(size=(40, 3))
    best = rng.dirichlet(np.full(40, 0.15))
    return made(
        "ridge-40",
        "three directions matter",
        numbered(40),
        RidgePayoff(directions, best @ directions, 0.3),
        best[None, :],
    )


def sharp_ridge() -> Problem:
    """Return 20 actions and one combination that must be met exactly."""
    rng = np.random.default_rng(1963)
    directions = rng.normal(size=(20, 5)) * np.geomspace(3.0, 0.3, 5)
    best = rng.dirichlet(np.full(20, 0.2))
    return made(
        "ridge-20", "a sharp crest", numbered(20), RidgePayoff(directions, best @ directions, 0.03), best[None, :]
    )


def unstructured() -> Problem:
    """Return a concave quadratic over 2 × 15 cells without any structure."""
    rng = np.random.default_rng(1901)
    root = rng.normal(size=(30, 30)) * np.geomspace(1.0, 0.1, 30)
    payoff = QuadraticPayoff(rng.normal(size=(2, 15)), -root @ root.T)
    population = Population([f"a{place}" for place in range(15)], {"x": 0.35, "y": 0.65})
    return made("quadratic-2x15", "no structure", population, payoff, concave_optimum(payoff, population))


def weekdays() -> Problem:
    """Return seven weekdays, each with its own demand over 24 hours."""
    hours, days = np.arange(24), np.arange(7)

    def bump(center: float, width: float) -> FloatArray:
        return np.asarray(np.exp(-(((hours - center + 12) % 24 - 12) ** 2) / (2 * width**2)))

    work = bump(8, 1.3) + 1.2 * bump(17.5, 1.8) + 0.4 * bump(12.5, 1.5)
    free = 0.9 * bump(14, 4.0) + 0.5 * bump(22, 2.0)
    table = np.stack([0.04 + (free if day >= 5 else work) * (1.0 + 0.1 * day) for day in days])
    table[4] += 0.8 * bump(23, 1.5)
    table /= table.sum(axis=1, keepdims=True)
    names = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    shares = dict(zip(names, [0.15, 0.15, 0.15, 0.15, 0.2, 0.1, 0.1], strict=True))
    population = Population(hours.astype(float), shares, size=2000)
    return made("weekdays-7x24", "hours of seven weekdays", population, TablePayoff(table, population.weights), table)


def bikes() -> Problem:
    """Return a simulated day of bikes at 20 stations: out of the suburbs in the morning, back in the evening."""
    payoff, places = bike_day()
    population = Population(places, size=400)
    best = bike_optimum(payoff)[0]
    return made("bikes-20", "trips served in a simulated day", population, payoff, best[None, :])


def bike_day() -> tuple[BikePayoff, FloatArray]:
    """Return the payoff and the places of its stations, (20, 2)."""
    rng = np.random.default_rng(1965)
    places = rng.uniform(-1.0, 1.0, (20, 2))
    center = np.exp(-(places**2).sum(axis=1) / 0.3)
    busy = rng.gamma(2.0, 0.5, 20)
    wanted, goes = [], []
    for hour in range(6, 22):
        tide = np.exp(-((hour - 8) ** 2) / 4) - np.exp(-((hour - 17) ** 2) / 6)
        level = 0.25 + np.exp(-((hour - 8) ** 2) / 4) + np.exp(-((hour - 17) ** 2) / 6)
        leave = busy * np.exp(-2.5 * tide * (center - 0.4))
        arrive = busy * np.exp(2.5 * tide * (center - 0.4))
        wanted.append(0.48 * level * leave / leave.sum())
        goes.append(np.tile(arrive / arrive.sum(), (20, 1)))
    return BikePayoff(np.array(wanted), np.array(goes)), places


def bike_optimum(payoff: BikePayoff) -> tuple[FloatArray, float]:
    """Return the stock (A,) in the morning that a linear program finds, and its bound on the trips.

    The program may leave riders waiting although bikes stand there, which the simulation never does: its value bounds.
    """
    from scipy.optimize import linprog

    hours, stations = payoff.wanted.shape
    count = stations * (1 + hours)  # the stock in the morning, then trips by hour and station
    rows, right = [], []
    stock = np.zeros((stations, count))
    stock[:, :stations] = np.eye(stations)
    for hour in range(hours):
        trips = np.zeros((stations, count))
        trips[:, stations * (1 + hour) : stations * (2 + hour)] = np.eye(stations)
        rows.append(trips - stock)
        right.append(np.zeros(stations))
        stock = stock - trips + payoff.goes[hour].T @ trips
    bounds = [(0.0, 1.0)] * stations + [(0.0, float(most)) for most in payoff.wanted.ravel()]
    costs = -np.concatenate([np.zeros(stations), np.ones(count - stations)])
    whole = np.concatenate([np.ones(stations), np.zeros(count - stations)])[None, :]
    found = linprog(costs, np.concatenate(rows), np.concatenate(right), whole, [1.0], bounds, method="highs")
    start = np.maximum(found.x[:stations], 0.0)
    return np.asarray(start / start.sum()), -float(found.fun)


def two_actions() -> Problem:
    """Return two actions: the smallest choice there is."""
    payoff = SwarmPayoff(np.array([1.0, 0.2]), 2.0)
    return made("two", "two actions", numbered(2), payoff, separable_optimum(payoff.reward, payoff.factor)[None, :])


def few_agents(size: int, actions: int) -> Problem:
    """Return few agents who avoid each other."""
    rng = np.random.default_rng(size)
    payoff = SwarmPayoff(rng.uniform(0.0, 2.0, actions), 3.0)
    best = separable_optimum(payoff.reward, payoff.factor)[None, :]
    return made(f"agents-{size}", "few agents", numbered(actions, size), payoff, best)


def many_places() -> Problem:
    """Return 500 places in a landscape of two hills, where nobody likes a crowd."""
    rng = np.random.default_rng(500)
    places = rng.uniform(size=(500, 2))
    hills = [((0.3, 0.7), 0.15, 1.0), ((0.75, 0.25), 0.1, 1.3)]
    reward = sum(height * np.exp(-((places - at) ** 2).sum(axis=1) / (2 * width**2)) for at, width, height in hills)
    payoff = SwarmPayoff(np.asarray(reward), 25.0)
    best = separable_optimum(payoff.reward, payoff.factor)[None, :]
    return made("places-500", "a landscape of 500 places", Population(places, size=5000), payoff, best)


CONCAVE = (
    "traffic",
    "braess",
    "nguyen-dupuis",
    "queues",
    "coverage",
    "portfolio",
    "portfolio-60",
    "sparse-200",
    "team-200",
    "repulsion-49",
    "ridge-40",
    "ridge-20",
    "quadratic-2x15",
    "weekdays-7x24",
    "two",
    "agents-5",
    "places-500",
)  # so is any blend of them: their optima stay certified while they drift

BATTERY: dict[str, Callable[[], Problem]] = {
    "traffic": traffic,
    "braess": braess,
    "nguyen-dupuis": nguyen_dupuis,
    "queues": queues,
    "servers-40": single_servers,
    "coverage": coverage,
    "portfolio": portfolio,
    "portfolio-60": factor_portfolio,
    "mixture": mixture,
    "mixture-10": strong_mixture,
    "mixture-12": block_mixture,
    "thresholds-12": thresholds,
    "sparse-200": sparse_rewards,
    "team-200": sparse_team,
    "network-12": network_effects,
    "repulsion-49": repulsion,
    "ridge-40": ridge,
    "ridge-20": sharp_ridge,
    "quadratic-2x15": unstructured,
    "weekdays-7x24": weekdays,
    "advertising-10": advertising,
    "bikes-20": bikes,
    "two": two_actions,
    "agents-1": lambda: few_agents(1, 6),
    "agents-5": lambda: few_agents(5, 8),
    "places-500": many_places,
}


@cache
def battery_problem(name: str) -> Problem:
    """Return the problem of this name, or a fresh instance of a family, such as thresholds~3."""
    family, marked, number = name.partition("~")
    if not marked:
        return BATTERY[known_name(name, "problem of the battery:", list(BATTERY))]()
    from battery_fresh import FAMILIES, fresh_problem

    known_name(family, "family of the battery:", list(FAMILIES))
    if not number.isdecimal():
        raise InvalidInputError(f"{name!r} lacks the number of an instance: {family}~0, {family}~1, …")
    return fresh_problem(family, int(number))
