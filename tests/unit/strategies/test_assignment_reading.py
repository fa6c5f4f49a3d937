"""Assignments: read off rounds of every origin, and turned into plans that agree with them."""

import numpy as np
import pytest

from mfbo import Feedback, Plan, Population, Round
from mfbo.errors import InvalidInputError
from mfbo.strategies.per_agent.assignments import assignment_of, proposal_of, require_agents

POPULATION = Population(["a", "b", "c"], {"x": 0.4, "y": 0.6}, size=5)
ASSIGNMENT = np.array([2, 0, 1, 1, 2])


def asked() -> Round:
    proposal = proposal_of(POPULATION, ASSIGNMENT)
    return Round(Plan(0, proposal.distribution, POPULATION.counted(ASSIGNMENT), ASSIGNMENT))


def test_a_proposal_counts_its_agents_per_context():
    proposal = proposal_of(POPULATION, ASSIGNMENT, {"note": (1.0,)})
    np.testing.assert_allclose(proposal.distribution, [[0.5, 0, 0.5], [0, 2 / 3, 1 / 3]])
    assert proposal.notes == {"note": (1.0,)}
    assert proposal.assignment is ASSIGNMENT


def test_a_context_without_agents_gets_the_uniform_row():
    lonely = Population(["a", "b"], {"x": 0.9, "y": 0.1}, size=1)
    np.testing.assert_allclose(proposal_of(lonely, np.array([1])).distribution, [[0, 1], [0.5, 0.5]])


def test_the_assignment_of_an_asked_round_is_the_planned_one():
    done = asked().done(Feedback(1.0), asked().plan.realized, told=0)
    np.testing.assert_array_equal(assignment_of(POPULATION, asked()), ASSIGNMENT)
    np.testing.assert_array_equal(assignment_of(POPULATION, done), ASSIGNMENT)


def test_when_something_else_was_played_that_counts():
    played = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    done = asked().done(Feedback(1.0), played, told=0)
    np.testing.assert_array_equal(assignment_of(POPULATION, done), [0, 0, 2, 2, 2])


def test_a_round_without_an_assignment_is_read_off_by_quotas():
    past = Round(Plan(0, np.array([[0.5, 0.5, 0.0], [0.3, 0.3, 0.4]])), added=True)
    np.testing.assert_array_equal(assignment_of(POPULATION, past), [0, 1, 0, 1, 2])


def test_the_mean_field_limit_is_refused_with_the_way_out():
    assert require_agents(POPULATION, "turbo") == 5
    with pytest.raises(InvalidInputError, match=r"'turbo'.*--agents N"):
        require_agents(Population(["a", "b"]), "turbo")
