"""Rounds that look where nobody was seen."""

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round, create_study
from mfbo.strategies.default.lookers import LOOK_EVERY, look_is_due, unseen_cells, with_lookers
from mfbo.strategies.default.seen import Seen, data_kind

POPULATION = Population(["a", "b", "c"], ["x", "y"])
EVEN = np.full((2, 3), 1 / 3)
AGENT = Feedback(agents=((1, 2, 0.5),))


def history(*feedbacks: Feedback) -> History:
    return History(POPULATION, tuple(Round(Plan(i, EVEN)).done(f, EVEN, i) for i, f in enumerate(feedbacks)))


def seen(*feedbacks: Feedback) -> Seen:
    told = history(*feedbacks)
    return Seen.of(told, data_kind(told.told, None))


def test_cells_of_which_agents_or_means_were_told_are_seen():
    cells = np.full((2, 3), np.nan)
    cells[0, 1] = 1.0
    told = history(Feedback(1.0), AGENT, Feedback(cells=cells, counts=np.ones((2, 3))))
    np.testing.assert_array_equal(unseen_cells(told), [[True, False, True], [True, True, False]])


@pytest.mark.parametrize(("everybody", "looks"), [(False, [0.5, 0.25, 0.25]), (True, [0.0, 0.5, 0.5])])
def test_half_of_a_context_looks_or_all_of_it_and_one_that_saw_all_stays(everybody, looks):
    told = history(Feedback(agents=((0, 0, 1.0), (1, 0, 1.0), (1, 1, 2.0), (1, 2, 3.0))))
    looked = with_lookers(told, np.array([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]]), everybody=everybody)
    np.testing.assert_allclose(looked, [looks, [0.2, 0.3, 0.5]])


@pytest.mark.parametrize(("feedback", "due"), [(AGENT, [3, 7]), (Feedback(1.0), [])])
def test_every_fourth_round_looks_once_agents_are_told(feedback, due):
    rounds = [number for number in range(9) if look_is_due(seen(*[feedback] * number), raised=False)]
    assert rounds == due


@pytest.mark.parametrize(("feedback", "due"), [(AGENT, True), (Feedback(1.0), False)])
def test_raised_optimism_looks_at_once_if_agents_are_told(feedback, due):
    assert look_is_due(seen(feedback), raised=True) is due


def test_every_fourth_round_gives_unseen_cells_a_share():
    study = create_study(Population([f"p{i}" for i in range(12)], size=None), seed=0)
    for number in range(2 * LOOK_EVERY):
        plan = study.ask()
        if number == 2 * LOOK_EVERY - 1:
            unseen = unseen_cells(study.history)
            assert unseen.any()
            assert plan.distribution[unseen].sum() >= 0.5 - 1e-9
        study.tell(plan, agents=[("all", "p0", 1.0), ("all", "p1", float(number))])
