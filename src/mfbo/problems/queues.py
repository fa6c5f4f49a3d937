"""Queues: customers choose among stations of one or several servers each, and wait (M/M/c)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.problems.concave import concave_problem
from mfbo.problems.problem import Problem

STRAIGHT_FROM = 0.9  # of a station's capacity: beyond, its total delay goes on along its tangent
SERVERS = (1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 6, 8)
RATES = (1.0, 1.6, 2.5, 4.0, 0.8, 1.3, 2.2, 0.6, 1.5, 1.0, 0.5, 0.7)
ARRIVALS = 24.0


@dataclass(frozen=True, eq=False)
class QueuePayoff:
    """f = −(mean time at the station), waiting and service: 1/μ + C(c, λ/μ) / (c μ − λ) with Erlang's C.

    servers: c (A,). rates: μ of one server (A,). arrivals: customers per unit of time, so that λ = arrivals · P. A
    queue without end is not a payoff: from 90 % of its capacity on, λ times the delay goes on along its tangent. The
    mean delay is convex in λ. The same formula holds for finitely many customers.
    """

    servers: IntArray
    rates: FloatArray
    arrivals: float

    def cells(self, shares: FloatArray, size: int | None = None) -> FloatArray:
        """Return f in every cell; an empty station takes the time of service alone."""
        flows = self.arrivals * shares.sum(axis=0)
        people, _ = self._people(flows)
        busy = flows > 0
        delays = np.where(busy, people / np.where(busy, flows, 1.0), 1.0 / self.rates)
        return np.broadcast_to(-delays, shares.shape)

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g: by Little's law, minus the customers in the system per arrival."""
        return -float(self._people(self.arrivals * shares.sum(axis=0))[0].sum()) / self.arrivals

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return ∂g/∂w: what one more customer costs everybody."""
        return np.broadcast_to(-self._people(self.arrivals * shares.sum(axis=0))[1], shares.shape)

    def _people(self, flows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return customers at each station, λ times its delay, and the derivative in λ, (A,) each."""
        inside = np.minimum(flows, STRAIGHT_FROM * self.servers * self.rates)
        load = inside / self.rates  # offered load a, in servers
        blocked = erlang_b(self.servers, load)
        spare = self.servers - load
        waits = self.servers * blocked / (spare + load * blocked)  # Erlang's C
        d_blocked = _d_erlang_b(self.servers, load, blocked)
        d_waits = (self.servers * d_blocked - waits * (blocked + load * d_blocked - 1.0)) / (spare + load * blocked)
        people = load + waits * load / spare
        slope = 1.0 + d_waits * load / spare + waits * self.servers / spare**2
        return people + slope / self.rates * (flows - inside), slope / self.rates


def erlang_b(servers: IntArray, load: FloatArray) -> FloatArray:
    """Return Erlang's B, the chance that all of c servers are busy when nobody waits, by recursion on c, (A,)."""
    blocked = np.ones_like(load)
    for count in range(1, int(servers.max()) + 1):
        nearer = load * blocked / (count + load * blocked)
        blocked = np.where(count <= servers, nearer, blocked)
    return blocked


def _d_erlang_b(servers: IntArray, load: FloatArray, blocked: FloatArray) -> FloatArray:
    """Return dB/da = B (c/a − 1 + B); at a = 0 it is 1 for a single server and 0 for more."""
    safe = np.where(load > 0, load, 1.0)
    return np.asarray(np.where(load > 0, blocked * (servers / safe - 1.0 + blocked), np.where(servers == 1, 1.0, 0.0)))


def queues(size: int | None = 500) -> Problem:
    """Return twelve stations of 1 to 8 servers, fast and slow, that are two thirds busy in all."""
    return queue_problem(SERVERS, RATES, ARRIVALS, size=size, name="queues")


def queue_problem(
    servers: Any, rates: Any, arrivals: float, *, size: int | None = None, name: str = "queue-stations"
) -> Problem:
    """Return the problem of sending customers to stations: servers and service rates (A,), arrivals in all.

    The arrivals must be fewer than all servers can serve at 90 % load.
    """
    counts, speeds = np.asarray(servers, dtype=np.int64), np.asarray(rates, dtype=np.float64)
    if counts.shape != speeds.shape or counts.ndim != 1 or not ((counts >= 1).all() and (speeds > 0).all()):
        raise InvalidInputError("every station needs at least one server and a rate above 0")
    most = STRAIGHT_FROM * float((counts * speeds).sum())
    if not 0 < arrivals < most:
        raise InvalidInputError(f"arrivals must be above 0 and below {most:g}, 90 % of what is served, not {arrivals}")
    payoff = QueuePayoff(counts, speeds, float(arrivals))
    names = [f"station {place + 1}" for place in range(len(counts))]
    population = Population(names, size=size)
    return concave_problem(
        payoff,
        population,
        name=name,
        summary="customers choose among stations of one to several servers, and wait",
        source="synthetic (Erlang's formulas)",
    )
