"""Simulated annealing on the assignment: one agent moves at a time, worse results are accepted while it is hot."""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import IntArray
from mfbo.records import History, Proposal, Round
from mfbo.strategies.model_free import ModelFreeStrategy
from mfbo.strategies.per_agent.assignments import (
    assignment_of,
    proposal_of,
    random_assignment,
    require_agents,
    with_one_moved,
)
from mfbo.strategies.reading import told_payoffs

TRIES = 1000  # moves looked at for one that was not played before


@dataclass(frozen=True)
class Annealing(ModelFreeStrategy):
    """Settings as published for MCBO: temperature 100, times 0.8 after every result; a new best is always kept.

    least_chance: the smallest chance of accepting a worse result.
    """

    temperature: float = 100.0
    cooling: float = 0.8
    least_chance: float = 1e-5
    name: str = "annealing"

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        """Return the current assignment with one agent moved; the first one is random.

        Noted: which told result is the current one, and how many results it was chosen from.
        """
        population = history.population
        require_agents(population, self.name)
        told = history.told
        if not told:
            return proposal_of(population, random_assignment(population, rng))
        current = self._current(history, told, rng)
        start = assignment_of(population, told[current])
        tried = {_key(assignment_of(population, asked)) for asked in history.rounds}
        for _ in range(TRIES):
            moved = with_one_moved(start, population.shape[1], rng)
            if _key(moved) not in tried:
                break
        return proposal_of(population, moved, {"current": (float(current),), "seen": (float(len(told)),)})

    def _current(self, history: History, told: tuple[Round, ...], rng: np.random.Generator) -> int:
        """Return the position of the current result: the noted one, tested against every result told since."""
        notes = next((asked.notes for asked in reversed(history.rounds) if "current" in asked.notes), {})
        current = int(notes.get("current", (0.0,))[0])
        payoffs = told_payoffs(history)
        for index in range(int(notes.get("seen", (1.0,))[0]), len(told)):
            heat = self.temperature * self.cooling**index
            chance = np.exp(np.clip((payoffs[index] - payoffs[current]) / max(heat, 1e-300), -700.0, 0.0))
            if payoffs[index] > payoffs[:index].max() or rng.uniform() < max(chance, self.least_chance):
                current = index
        return current


def _key(assignment: IntArray) -> bytes:
    return assignment.astype(np.int32).tobytes()
