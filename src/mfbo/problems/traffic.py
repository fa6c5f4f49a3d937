"""Traffic: vehicles of several origin–destination pairs choose routes; a link slows down as it fills (BPR)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.problems.concave import concave_problem
from mfbo.problems.problem import Problem
from mfbo.validation import whole_number

Link = tuple[int, int]
Route = tuple[int, ...]  # nodes from origin to destination

LOAD_FACTOR, LOAD_POWER = 0.15, 4.0  # of the Bureau of Public Roads


@dataclass(frozen=True)
class Road:
    """A link's travel time t₀ (1 + α (flow / capacity)^β): minutes when empty, and vehicles."""

    minutes: float
    capacity: float
    factor: float = LOAD_FACTOR
    power: float = LOAD_POWER

    def __post_init__(self) -> None:
        """Refuse roads without length or room."""
        if not (self.minutes > 0 and self.capacity > 0 and self.factor >= 0 and self.power >= 0):
            raise InvalidInputError(f"a road needs minutes and a capacity above 0, not {self}")


@dataclass(frozen=True, eq=False)
class TrafficPayoff:
    """f = −(minutes on the route), the mean of which is concave in the flows; its optimum is the system-optimal flow.

    uses: (C·A, L), 1 where a route takes a link. free, capacity, factor, power: of the links, (L,), t = free (1 +
    factor (x / capacity)^power), capacity as a share of all vehicles. The same formula holds for finitely many.
    """

    uses: FloatArray
    free: FloatArray
    capacity: FloatArray
    factor: FloatArray
    power: FloatArray

    def cells(self, shares: FloatArray, size: int | None = None) -> FloatArray:
        """Return f in every cell."""
        load = self._loads(shares)
        return np.asarray(-(self.uses @ (self.free * (1.0 + self.factor * load**self.power))).reshape(shares.shape))

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g."""
        return float((shares * self.cells(shares)).sum())

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return ∂g/∂w: minus the marginal minutes, the others' delay included."""
        load = self._loads(shares)
        marginal = self.free * (1.0 + self.factor * (1.0 + self.power) * load**self.power)
        return np.asarray(-(self.uses @ marginal).reshape(shares.shape))

    def _loads(self, shares: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(shares.ravel() @ self.uses, 0.0) / self.capacity)


def traffic(routes: int = 8) -> Problem:
    """Return five origin–destination pairs across Sioux Falls, each with its ``routes`` quickest routes when empty."""
    whole_number(routes, "routes", least=2, most=50)
    return traffic_problem(
        sioux_falls(),
        SIOUX_FALLS_TRIPS,
        routes,
        name="traffic",
        summary="vehicles across Sioux Falls choose routes; links slow down as they fill",
        source="links of LeBlanc, Morlok and Pierskalla (1975), Transportation Networks for Research; demand ours",
    )


def traffic_problem(
    roads: Mapping[Link, Road],
    trips: Mapping[Link, int],
    routes: int,
    *,
    name: str = "traffic-network",
    summary: str = "vehicles choose routes; links slow down as they fill",
    source: str = "the user's own network",
) -> Problem:
    """Return the problem of routing ``trips`` (vehicles by origin and destination) over the quickest ``routes`` each.

    Contexts are the pairs, actions the rank of a route. The optimum is system-optimal among these routes, certified by
    the gap of a concave problem.
    """
    links = {link: place for place, link in enumerate(roads)}
    size = sum(trips.values())
    chosen = [quickest_routes(roads, origin, destination, routes) for origin, destination in trips]
    uses = np.zeros((len(trips), routes, len(links)))
    for pair, rank in np.ndindex(len(trips), routes):
        path = chosen[pair][rank]
        uses[pair, rank, [links[step] for step in pairwise(path)]] = 1.0
    columns = np.array([[road.minutes, road.capacity / size, road.factor, road.power] for road in roads.values()])
    payoff = TrafficPayoff(uses.reshape(len(trips) * routes, len(links)), *columns.T)
    population = Population(
        [f"route {rank + 1}" for rank in range(routes)],
        {f"{origin} to {destination}": count / size for (origin, destination), count in trips.items()},
        size=size,
    )
    return concave_problem(
        payoff,
        population,
        name=name,
        summary=summary,
        source=source,
    )


def quickest_routes(roads: Mapping[Link, Road], origin: int, destination: int, count: int) -> list[Route]:
    """Return the ``count`` quickest routes without a loop on the empty network, quickest first (best-first search)."""
    leaving: dict[int, list[int]] = {}
    for tail, head in roads:
        leaving.setdefault(tail, []).append(head)
    left = _minutes_to(roads, destination)
    found: list[Route] = []
    waiting: list[tuple[float, float, Route]] = [(left.get(origin, np.inf), 0.0, (origin,))]
    while waiting and len(found) < count:
        waiting.sort(reverse=True)
        _, minutes, path = waiting.pop()
        if path[-1] == destination:
            found.append(path)
            continue
        for head in leaving.get(path[-1], []):
            if head not in path and head in left:
                spent = minutes + roads[path[-1], head].minutes
                waiting.append((spent + left[head], spent, (*path, head)))
    if len(found) < count:
        raise InvalidInputError(f"there are only {len(found)} routes from {origin} to {destination}, not {count}")
    return found


def _minutes_to(roads: Mapping[Link, Road], destination: int) -> dict[int, float]:
    """Return the least minutes to the destination from every node that reaches it (Bellman–Ford)."""
    least = {destination: 0.0}
    for _ in range(len(roads)):
        changed = False
        for (tail, head), road in roads.items():
            through = least.get(head, np.inf) + road.minutes
            if through < least.get(tail, np.inf):
                least[tail], changed = through, True
        if not changed:
            break
    return least


def both_ways(table: Sequence[tuple[int, int, float, float]]) -> dict[Link, Road]:
    """Return the roads of a table of (node, node, minutes, capacity), each in both directions."""
    one_way = {(tail, head): Road(minutes, capacity) for tail, head, minutes, capacity in table}
    return one_way | {(head, tail): road for (tail, head), road in one_way.items()}


def sioux_falls() -> dict[Link, Road]:
    """Return the 76 links of Sioux Falls with their published times and capacities."""
    return both_ways(SIOUX_FALLS)


SIOUX_FALLS_TRIPS = {(1, 20): 9000, (13, 7): 8000, (2, 22): 7000, (24, 6): 6000, (3, 18): 6000}  # ours

SIOUX_FALLS = (
    (1, 2, 6, 25900.20064), (1, 3, 4, 23403.47319), (2, 6, 5, 4958.180928), (3, 4, 4, 17110.52372),
    (3, 12, 4, 23403.47319), (4, 5, 2, 17782.7941), (4, 11, 6, 4908.82673), (5, 6, 4, 4947.995469),
    (5, 9, 5, 10000.0), (6, 8, 2, 4898.587646), (7, 8, 3, 7841.81131), (7, 18, 2, 23403.47319),
    (8, 9, 10, 5050.193156), (8, 16, 5, 5045.822583), (9, 10, 3, 13915.78842), (10, 11, 5, 10000.0),
    (10, 15, 6, 13512.00155), (10, 16, 4, 4854.917717), (10, 17, 8, 4993.510694), (11, 12, 6, 4908.82673),
    (11, 14, 4, 4876.508287), (12, 13, 3, 25900.20064), (13, 24, 4, 5091.256152), (14, 15, 5, 5127.526119),
    (14, 23, 4, 4924.790605), (15, 19, 3, 14564.75315), (15, 22, 3, 9599.180565), (16, 17, 2, 5229.910063),
    (16, 18, 3, 19679.89671), (17, 19, 2, 4823.950831), (18, 20, 4, 23403.47319), (19, 20, 4, 5002.607563),
    (20, 21, 6, 5059.91234), (20, 22, 5, 5075.697193), (21, 22, 2, 5229.910063), (21, 24, 3, 4885.357564),
    (22, 23, 4, 5000.0), (23, 24, 2, 5078.508436),
)  # fmt: skip
