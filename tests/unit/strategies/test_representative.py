"""Rounds reduced to one agent, as Algorithm 1 reads them: who it is, what it saw, and that nothing else is told."""

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round, create_study
from mfbo.catalogue import make_strategy
from mfbo.problems import arena
from mfbo.strategies.representative import drawn_notes, with_representatives

POPULATION = Population(["a", "b", "c"], {"x": 0.25, "y": 0.75}, size=8)
PLAYED = np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])


def represented(feedback: Feedback, at: float | None = None, number: int = 0) -> tuple[int, int, float]:
    notes = {} if at is None else {"representative": (at,)}
    done = Round(Plan(number, PLAYED), notes).done(feedback, PLAYED, told=number)
    (told,) = with_representatives(History(POPULATION, (done,))).told
    assert told.feedback.payoff is None
    assert told.feedback.cells is None
    (agent,) = told.feedback.agents
    return agent


@pytest.mark.parametrize(
    ("at", "cell"), [(0.0, (0, 0)), (0.24, (0, 0)), (0.26, (1, 1)), (0.62, (1, 1)), (0.64, (1, 2))]
)
def test_the_representative_is_one_of_the_agents_that_played(at, cell):
    assert represented(Feedback(3.5), at) == (*cell, 3.5)


def test_who_was_seen_itself_is_preferred_to_the_population():
    seen = ((0, 0, 1.0), (1, 2, 2.0))
    assert represented(Feedback(9.0, agents=seen), 0.4) == (0, 0, 1.0)
    assert represented(Feedback(9.0, agents=seen), 0.6) == (1, 2, 2.0)


def test_of_cells_those_with_more_agents_are_chosen_more_often():
    cells = np.array([[1.0, np.nan, np.nan], [np.nan, 2.0, np.nan]])
    counts = np.array([[1.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
    assert represented(Feedback(cells=cells, counts=counts), 0.2) == (0, 0, 1.0)
    assert represented(Feedback(cells=cells, counts=counts), 0.3) == (1, 1, 2.0)


def test_rounds_of_other_strategies_have_a_representative_too_and_always_the_same():
    drawn = [represented(Feedback(1.0), number=number)[:2] for number in range(200)]
    assert drawn == [represented(Feedback(1.0), number=number)[:2] for number in range(200)]
    shares = [np.mean([cell == each for each in drawn]) for cell in ((0, 0), (1, 1), (1, 2))]
    np.testing.assert_allclose(shares, [0.25, 0.375, 0.375], atol=0.1)


def test_equal_rounds_stay_the_same_objects_so_that_the_model_can_grow():
    done = Round(Plan(0, PLAYED)).done(Feedback(1.0), PLAYED, told=0)
    history = History(POPULATION, (done,))
    assert with_representatives(history).told[0] is with_representatives(history).told[0]


def test_the_noted_number_comes_from_the_rounds_own_generator():
    assert drawn_notes(np.random.default_rng(3)) == drawn_notes(np.random.default_rng(3))


def test_a_literal_study_reads_one_agent_and_so_proposes_otherwise():
    problem = arena()
    study = create_study(problem.population, "mf-gp-ucb(rows=agent,steps=60)", seed=2, allocation="sampled")
    for _ in range(6):
        plan = study.ask()
        study.tell(plan, problem.value(plan))
    assert all(len(each.notes["representative"]) == 1 for each in study.rounds)
    literal, whole = (
        make_strategy(name).propose(study.history, np.random.default_rng(5)).distribution
        for name in ("mf-gp-ucb(rows=agent,steps=60)", "mf-gp-ucb(steps=60)")
    )
    assert np.abs(literal - whole).max() > 1e-3
