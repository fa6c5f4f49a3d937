"""Assignments: the action of every single agent (M,), to and from proposals and rounds."""

import numpy as np

from mfbo.arrays import IntArray
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.records import Notes, Proposal, Round
from mfbo.simplex import quota, realized, uniform


def require_agents(population: Population, name: str) -> int:
    """Return the number of agents; the mean-field limit has none to place one by one."""
    if population.size is None:
        raise InvalidInputError(
            f"strategy {name!r} places agents one by one and the mean-field limit has none: give the population a size"
            " (mfbo run --agents N), or take the strategy 'default'"
        )
    return population.size


def proposal_of(population: Population, assignment: IntArray, notes: Notes | None = None) -> Proposal:
    """Return the proposal that sends every agent where the assignment says."""
    distribution = realized(population.counted(assignment), uniform(*population.shape))
    return Proposal(distribution, {} if notes is None else notes, assignment)


def assignment_of(population: Population, done: Round) -> IntArray:
    """Return the assignment a round played; where only a distribution is known, one that rounds it.

    That is so for added days, plans of other strategies, and rounds of which something else was told than planned.
    """
    played = done.played
    if done.plan.assignment is not None and np.array_equal(played, done.plan.realized):
        return done.plan.assignment
    totals = np.bincount(population.agent_contexts, minlength=population.shape[0])
    counts = np.concatenate([quota(row, int(total)) for row, total in zip(played, totals, strict=True)])
    return np.repeat(np.tile(np.arange(population.shape[1]), population.shape[0]), counts)


def random_assignment(population: Population, rng: np.random.Generator) -> IntArray:
    """Return an action for every agent, all equally likely."""
    return rng.integers(population.shape[1], size=len(population.agent_contexts))


def with_one_moved(assignment: IntArray, actions: int, rng: np.random.Generator) -> IntArray:
    """Return a copy with one agent sent to another action; equal if there is no other."""
    moved = assignment.copy()
    if actions > 1:
        agent = rng.integers(len(moved))
        moved[agent] = (moved[agent] + rng.integers(1, actions)) % actions
    return moved
