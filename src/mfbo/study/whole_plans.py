"""From what a strategy answers to a plan in whole agents."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, read_only
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.records import History, Plan, Proposal, read_assignment, read_distribution
from mfbo.seeding import derived_generator
from mfbo.simplex import AllocationMethod, allocate, realized


@dataclass(frozen=True)
class Placing:
    """How plans become whole agents: drawn or by quota, and so the agents of every context; seed: of the draws."""

    seed: int
    allocation: AllocationMethod
    contexts: AllocationMethod

    def plan(self, answer: Any, history: History, strategy: str) -> Plan:
        """Return the next plan of a history, as the strategy of this name proposes it."""
        if not isinstance(answer, Proposal):
            raise InvalidInputError(f"strategy {strategy!r} must answer with a Proposal, not {answer!r}")
        population, number = history.population, len(history.rounds)
        distribution = read_only(read_distribution(answer.distribution, population, "the strategy's plan"))
        region = history.region
        allocation = assignment = None
        if answer.assignment is not None:
            assignment = read_only(read_assignment(answer.assignment, population), np.int32)
            allocation = read_only(population.counted(assignment), np.int64)
            if region is not None:
                raise knows_no_limits(strategy)
        elif region is not None:
            allocation = read_only(region.whole(distribution), np.int64)
            distribution = read_only(realized(allocation, distribution))
        elif population.size is not None:
            drawn = allocate(
                distribution,
                population.weights,
                population.size,
                derived_generator(self.seed, "allocate", number),
                method=self.allocation,
                context_method=self.contexts,
            )
            allocation = read_only(drawn, np.int64)
        return Plan(number, distribution, allocation, assignment)

    def recommended(self, distribution: FloatArray, population: Population, number: int) -> Plan:
        """Return a plan to keep, by quota; it keeps all limits but the move budget."""
        distribution = read_only(distribution)
        allocation = None
        if population.limits is not None:
            region = population.limits.region(population.context_totals, None)
            allocation = read_only(region.whole(distribution), np.int64)
            distribution = read_only(realized(allocation, distribution))
        elif population.size is not None:
            rng = derived_generator(self.seed, "recommend")
            allocation = read_only(allocate(distribution, population.weights, population.size, rng), np.int64)
        return Plan(number, distribution, allocation)


def knows_no_limits(strategy: str) -> InvalidInputError:
    """Return the error for a strategy that places agents one by one where limits are to be kept."""
    return InvalidInputError(f"strategy {strategy!r} places agents one by one and knows no limits; take 'default'")
