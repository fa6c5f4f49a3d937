"""Days whose luck hides what plans bring: when they are, and what is played meanwhile."""

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round, create_study
from mfbo.situations import Situations
from mfbo.strategies import Default
from mfbo.strategies.default.guard import Guard
from mfbo.strategies.default.hidden_days import luck_hides
from mfbo.strategies.default.seen import DEMAND, Seen
from mfbo.strategies.default.step import MOST_NOISY

PEOPLE = Population({f"s{i}": (float(i % 4), float(i // 4)) for i in range(16)}, size=160)
PILED = np.array([[40, 2, 2, 10, 2, 30, 2, 4, 6, 2, 20, 2, 2, 4, 30, 2]])

STUDENT_4 = 2.776445105  # 97.5 % of Student's distribution with four degrees of freedom, by a printed table


def days(*payoffs, plan=PILED / 160, people=PEOPLE, **words):
    """Return a history that was told these payoffs of one plan."""
    told = [Round(Plan(i, plan)).done(Feedback(payoff), plan, told=i) for i, payoff in enumerate(payoffs)]
    return History(people, tuple(told), aim="earn", **words)


@pytest.mark.parametrize(
    ("payoffs", "words", "hidden"),
    [
        ((100.0, 115.0), {}, True),
        ((100.0, 101.0), {}, False),  # a day's luck of 0.7 % is seen at once
        ((100.0, 109.0) * 2, {}, True),
        ((100.0, 109.0) * 10, {}, False),  # the same luck, and ten times as many days
        ((*np.linspace(100.0, 140.0, 9),), {}, False),  # what rises evenly is not luck
        ((100.0, 115.0), {"risk": 0.5}, False),
        ((100.0, 115.0), {"risk": None}, False),
        ((100.0, 101.0), {"noise": 15.0}, True),
        ((-100.0, -115.0), {}, False),  # what is lost is no demand
        ((-5.0, 15.0), {}, False),
        ((100.0,), {}, False),
        ((100.0, 115.0), {"situations": Situations.read({"rain": "number"})}, False),
    ],
)
def test_luck_hides_what_the_days_told_are_too_few_to_show(payoffs, words, hidden):
    assert luck_hides(days(*payoffs, **words)) == hidden


def test_places_that_contexts_share_are_left_to_the_usual_model():
    people = Population(["a", "b"], contexts=["old", "young"])
    assert not luck_hides(days(100.0, 115.0, plan=np.full((2, 2), 0.5), people=people))


@pytest.mark.parametrize(("words", "kind"), [({}, DEMAND), ({"planned": True}, "planned")])
def test_only_agents_that_merely_stand_are_modeled_by_demand(words, kind):
    assert Default().kind_of(days(100.0, 115.0, **words)) == kind
    assert Default().kind_of(days(*(100.0, 109.0) * 10)) == "street"


def test_a_crowd_is_thinned_out_by_whole_steps_as_far_as_it_is_safe():
    study = create_study(PEOPLE, aim="earn", placed=PILED, seed=1)
    for payoff in (100.0, 120.0):
        study.tell(study.ask(), payoff)
    plan = study.ask().allocation
    moved = plan - PILED
    assert moved[PILED >= 30].sum() < 0 < moved[PILED <= 2].sum()
    assert np.maximum(moved, 0).sum() <= round(MOST_NOISY * 160) + 1
    seen = Seen.of(study.history, DEMAND)
    guard = Guard.of(seen, study.strategy.belief(study.history))
    assert guard.deviations == pytest.approx(STUDENT_4)
    assert guard.passes(plan[None] / 160)[0]


def test_an_even_placement_is_kept_while_luck_hides_what_is_better():
    study = create_study(PEOPLE, aim="earn", placed=np.full((1, 16), 10), seed=1)
    for payoff in (100.0, 120.0, 90.0, 115.0):
        plan = study.ask()
        np.testing.assert_array_equal(plan.allocation, 10)
        study.tell(plan, payoff)
