"""When every agent gets the same payoff, each of them tells the population payoff."""

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round
from mfbo.problems import FeedbackKind, Observer, bay_area_bike
from mfbo.strategies import Default
from mfbo.strategies.reading import with_shared_payoffs

POPULATION = Population(["a", "b", "c"])


def history(*feedbacks: Feedback) -> History:
    even = np.full((1, 3), 1 / 3)
    return History(POPULATION, tuple(Round(Plan(i, even)).done(f, even, i) for i, f in enumerate(feedbacks)))


def agents(*payoffs: float) -> Feedback:
    return Feedback(agents=tuple((0, i % 3, payoff) for i, payoff in enumerate(payoffs)))


def test_payoffs_that_all_share_become_population_payoffs():
    cells = Feedback(cells=np.array([[2.0, np.nan, 2.0]]), counts=np.array([[5.0, 0.0, 1.0]]))
    read = with_shared_payoffs(history(agents(1.5, 1.5), cells, Feedback(7.0), agents(3.0)))
    assert [each.feedback.payoff for each in read.rounds] == [1.5, 2.0, 7.0, 3.0]
    assert all(each.feedback.agents == () and each.feedback.cells is None for each in read.rounds)


@pytest.mark.parametrize(
    "feedbacks",
    [
        (agents(1.0), agents(2.0)),  # one agent a round: it cannot be seen
        (agents(1.0, 1.0), agents(1.0, 1.1)),
        (Feedback(1.0), Feedback(2.0)),
        (Feedback(1.0, agents=((0, 0, 1.2),)),),
    ],
)
def test_otherwise_the_history_is_left_as_it_is(feedbacks):
    given = history(*feedbacks)
    assert with_shared_payoffs(given) is given


def test_the_same_round_is_read_as_the_same_object():
    given = history(agents(1.5, 1.5))
    assert with_shared_payoffs(given).rounds[0] is with_shared_payoffs(given).rounds[0]


def test_open_and_failed_rounds_stay():
    even = np.full((1, 3), 1 / 3)
    extra = (Round(Plan(1, even)), Round(Plan(2, even)).ended("failed", "rain"))
    given = History(POPULATION, (*history(agents(1.0, 1.0)).rounds, *extra))
    assert with_shared_payoffs(given).rounds[1:] == extra


def test_cells_of_a_shared_payoff_are_as_good_as_the_payoff_itself():
    problem = bay_area_bike().with_size(None)
    plans = []
    for kind in ("system", "cells"):
        look, rounds = Observer(problem, FeedbackKind.parse(kind)), ()
        for number in range(8):
            proposal = Default().propose(History(problem.population, rounds), np.random.default_rng(number))
            plan = Plan(number, proposal.distribution)
            rounds = (*rounds, Round(plan, proposal.notes).done(look(plan), plan.distribution, number))
        plans.append(np.stack([each.plan.distribution for each in rounds]))
    np.testing.assert_allclose(plans[0], plans[1], atol=1e-6)
