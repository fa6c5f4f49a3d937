"""Between rounds and assignments: the action of every single agent, (M,), agents ordered by context."""

import numpy as np

from mfbo.arrays import IntArray
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.records import Notes, Proposal, Round
from mfbo.simplex import quota, realized, uniform

NO_NOTES: Notes = {}


def require_agents(population: Population, name: str) -> int:
    """Return the number of agents M; refuse the mean-field limit, where there is no single agent to place."""
    if population.size is None:
        raise InvalidInputError(
            f"strategy {name!r} places single agents and the population has no size: "
            "give size= (on the command line --agents M), or use 'default'"
        )
    return population.size


def assignment_of(population: Population, round: Round) -> IntArray:
    """Return what every agent did in a round, (M,): as planned, or by quotas of what was really played."""
    plan = round.plan
    played = plan.realized if round.realized is None else round.realized
    if plan.assignment is not None and np.array_equal(played, plan.realized):
        return np.asarray(plan.assignment, dtype=np.int64)
    actions = np.arange(population.shape[1])
    totals = np.bincount(population.agent_contexts, minlength=population.shape[0])
    rows = [np.repeat(actions, quota(row, int(total))) for row, total in zip(played, totals, strict=True)]
    return np.concatenate(rows)


def proposal_of(population: Population, assignment: IntArray, notes: Notes = NO_NOTES) -> Proposal:
    """Return the plan that places every agent so; a context without agents gets the uniform row."""
    counts = population.counted(assignment)
    return Proposal(realized(counts, uniform(*population.shape)), notes, assignment)
