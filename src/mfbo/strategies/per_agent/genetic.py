"""A genetic algorithm on the assignment: generations of forty, an elite, one-point crossover, one mutation."""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.population import Population
from mfbo.records import History, Proposal, Round, told_payoff
from mfbo.strategies.model_free import ModelFreeStrategy
from mfbo.strategies.per_agent.assignments import (
    assignment_of,
    proposal_of,
    random_assignment,
    require_agents,
    with_one_moved,
)
from mfbo.validation import whole_number

TRIES = 100  # mutations looked at for a child that was not played before


@dataclass(frozen=True)
class Genetic(ModelFreeStrategy):
    """Settings as published for MCBO's categorical algorithm: 40 in a generation, 20 parents, the 10 best of them ever.

    The other parents are drawn from the last generation, better ones more often. Every child is made when it is asked
    for, from its own random draws, so that a generation needs no memory beyond the history.
    """

    generation: int = 40
    parents: int = 20
    elite: int = 10
    name: str = "genetic"

    def __post_init__(self) -> None:
        """Refuse an empty generation."""
        for size in ("generation", "parents", "elite"):
            whole_number(getattr(self, size), size, least=1)

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        """Return a random assignment in the first generation, then a child of two parents."""
        population = history.population
        require_agents(population, self.name)
        start = self.generation * (len(history.rounds) // self.generation)
        earlier = [done for done in history.told if done.number < start]
        if not earlier:
            return proposal_of(population, random_assignment(population, rng))
        last = [done for done in earlier if done.number >= start - self.generation] or earlier
        best = sorted(earlier, key=told_payoff, reverse=True)[: self.elite]
        tried = {assignment_of(population, asked).astype(np.int32).tobytes() for asked in history.rounds}
        mother, father = (self._parent(population, best, last, rng) for _ in range(2))
        child = _crossed(mother, father, rng)
        for _ in range(TRIES):
            mutated = with_one_moved(child, population.shape[1], rng)
            if mutated.astype(np.int32).tobytes() not in tried:
                return proposal_of(population, mutated)
        return proposal_of(population, random_assignment(population, rng))

    def _parent(
        self, population: Population, best: list[Round], last: list[Round], rng: np.random.Generator
    ) -> IntArray:
        """Return one of the elite, or one of the last generation by its payoff, as often as their places say."""
        place = int(rng.integers(self.parents))
        if place < self.elite:
            return assignment_of(population, best[place % len(best)])
        chances = _chances(np.array([told_payoff(done) for done in last]))
        return assignment_of(population, last[int(rng.choice(len(last), p=chances))])


def _chances(payoffs: FloatArray) -> FloatArray:
    """Return how often each is drawn: proportional to payoff − worst + 1, as MCBO does."""
    fitness = payoffs - payoffs.min() + 1.0
    return np.asarray(fitness / fitness.sum())


def _crossed(first: IntArray, second: IntArray, rng: np.random.Generator) -> IntArray:
    """Return the first agents of one parent and the other agents of the other."""
    if len(first) < 2:
        return first
    cut = int(rng.integers(1, len(first)))
    return np.concatenate([second[:cut], first[cut:]])
