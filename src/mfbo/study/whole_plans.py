"""From what a strategy answers to a plan in whole agents."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, read_only
from mfbo.catalogue import searches_single_agents
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.records import History, Plan, Proposal, read_assignment, read_distribution
from mfbo.seeding import derived_generator
from mfbo.simplex import AllocationMethod, allocate, realized, whole_agents
from mfbo.validation import EXACT_SUM


@dataclass(frozen=True)
class Placing:
    """How plans become whole agents: drawn or by quota, and so the agents of every context; seed: of the draws."""

    seed: int
    allocation: AllocationMethod
    contexts: AllocationMethod

    def require_kept(self, population: Population, strategy: str) -> None:
        """Refuse ways of placing that cannot keep the population's limits."""
        if population.limits is None:
            return
        if (self.allocation, self.contexts) != ("quota", "quota"):
            raise InvalidInputError(
                "random draws keep no limits: take allocation='quota' and context_allocation='quota'"
            )
        if searches_single_agents(strategy):
            raise knows_no_limits(strategy)

    def plan(self, answer: Any, history: History, strategy: str) -> Plan:
        """Return the next plan of a history, as the strategy of this name proposes it."""
        if not isinstance(answer, Proposal):
            raise InvalidInputError(f"strategy {strategy!r} must answer with a Proposal, not {answer!r}")
        population, number, region = history.population, len(history.rounds), history.region
        distribution = _checked(answer.distribution, population)
        if answer.assignment is not None:
            assignment = read_only(read_assignment(answer.assignment, population), np.int32)
            if region is not None:
                raise knows_no_limits(strategy)
            counts = read_only(population.counted(assignment), np.int64)
            return Plan(number, distribution, counts, assignment, population.labels)
        if population.size is None:
            return Plan(number, distribution, labels=population.labels)
        if region is not None or self.allocation == self.contexts == "quota":
            counts = whole_agents(distribution, population.context_totals, region)
        else:
            rng = derived_generator(self.seed, "allocate", number)
            methods: dict[str, AllocationMethod] = {"method": self.allocation, "context_method": self.contexts}
            counts = allocate(distribution, population.weights, population.size, rng, **methods)
        if region is not None:
            distribution = read_only(realized(counts, distribution))
        return Plan(number, distribution, read_only(counts, np.int64), labels=population.labels)

    def recommended(self, distribution: FloatArray, population: Population, number: int) -> Plan:
        """Return a plan to keep, by quota; it keeps all limits but the move budget."""
        if population.size is None:
            return Plan(number, read_only(distribution), labels=population.labels)
        totals, limits = population.context_totals, population.limits
        counts = whole_agents(distribution, totals, None if limits is None else limits.region(totals, None))
        played = distribution if limits is None else realized(counts, distribution)
        return Plan(number, read_only(played), read_only(counts, np.int64), labels=population.labels)


def _checked(values: Any, population: Population) -> FloatArray:
    """Return a strategy's distribution (C, A), read-only; most need one look, the others are read as a user's are."""
    if isinstance(values, np.ndarray) and values.dtype == np.float64 and values.shape == population.shape:
        off = np.abs(values.sum(axis=1) - 1.0)  # NaN and infinities are not below the tolerance
        if (off <= EXACT_SUM).all() and (values >= 0).all():
            return np.asarray(read_only(values))
    return np.asarray(read_only(read_distribution(values, population, "the strategy's plan")))


def knows_no_limits(strategy: str) -> InvalidInputError:
    """Return the error for a strategy that places agents one by one where limits are to be kept."""
    return InvalidInputError(f"strategy {strategy!r} places agents one by one and knows no limits; take 'default'")
