"""Wrong numbers: a payoff far above all others is repeated, believed if it comes again, and left out otherwise."""

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round, create_study
from mfbo.strategies.default.doubts import FEWEST, Doubts

POPULATION = Population(["a", "b", "c"])
PAYOFFS = [1.0, 1.2, 0.8, 1.1, 0.9, 1.3, 0.7, 1.05, 0.95, 1.15]
BEST = np.array([0.2, 0.5, 0.3])


def plan_at(number: int) -> np.ndarray:
    share = 0.05 * (number + 1)
    return np.array([[share, 1.0 - share, 0.0]])


def history_of(payoffs: list[float], places: list[int] | None = None, **facts: str) -> History:
    rounds = []
    for number, payoff in enumerate(payoffs):
        plan = plan_at(number if places is None else places[number])
        rounds.append(Round(Plan(number, plan)).done(Feedback(payoff), plan, number))
    return History(POPULATION, tuple(rounds), **facts)


def test_a_payoff_far_above_the_others_waits_to_be_repeated_and_is_not_believed_meanwhile():
    history = history_of([*PAYOFFS[:4], 9.0, *PAYOFFS[4:]])
    doubts = Doubts.of(history)
    assert doubts == Doubts(waiting=(4,))
    assert doubts.repeated(history) is history.rounds[4]
    assert [done.number for done in doubts.believed(history).told] == [0, 1, 2, 3, 5, 6, 7, 8, 9, 10]


def test_a_real_gain_is_believed_as_soon_as_it_comes_again():
    history = history_of([*PAYOFFS, 9.0, 8.5], [*range(11), 10])
    assert Doubts.of(history) == Doubts()


def test_a_wrong_payoff_is_left_out_for_good_and_its_repetition_is_kept():
    history = history_of([*PAYOFFS, 9.0, 1.1], [*range(11), 10])
    doubts = Doubts.of(history)
    assert doubts == Doubts(rejected=frozenset({10}))
    assert [done.number for done in doubts.believed(history).told] == [*range(10), 11]


def test_two_wrong_payoffs_do_not_hide_each_other():
    assert Doubts.of(history_of([*PAYOFFS, 9.0, 11.0])).waiting == (11, 10)


def test_a_climb_out_of_a_plain_is_doubted_only_when_it_more_than_doubles_what_was_gained():
    climb = [2.6, 3.9, 5.9, 7.0]  # 2.6 is in doubt at first; believed with its repetition, it vouches for the next
    assert Doubts.of(history_of([*PAYOFFS, 2.6])).waiting == (10,)
    assert Doubts.of(history_of([*PAYOFFS, 2.6, *climb], [*range(11), 10, 12, 13, 14])) == Doubts()
    assert Doubts.of(history_of([*PAYOFFS, 2.6, 2.6, 4.3], [*range(11), 10, 12])).waiting == (12,)


def test_a_wrong_payoff_vouches_for_no_other():
    assert Doubts.of(history_of([*PAYOFFS, 9.0, 11.0, 1.1], [*range(12), 10])) == Doubts(frozenset({10}), (11,))


@pytest.mark.parametrize(
    "history",
    [
        history_of(PAYOFFS),
        history_of([*PAYOFFS, -50.0]),  # bad plans are bad
        history_of([*PAYOFFS[: FEWEST - 1], 9.0]),  # too few others to tell
        history_of([*PAYOFFS, 9.0], steers="planned"),  # drawn anew each time: no plan can be repeated
    ],
)
def test_nothing_else_is_doubted(history):
    doubts = Doubts.of(history)
    assert doubts == Doubts()
    assert doubts.believed(history) is history


def test_a_plan_that_is_under_way_or_failed_twice_is_not_asked_again():
    history = history_of([*PAYOFFS, 9.0])
    again = Round(Plan(11, plan_at(10)))
    under_way = History(POPULATION, (*history.rounds, again))
    assert Doubts.of(under_way).repeated(under_way) is None
    failed = [Round(Plan(11 + k, plan_at(10)), state="failed") for k in range(2)]
    assert Doubts.of(History(POPULATION, (*history.rounds, *failed))) == Doubts()


def test_a_study_with_a_wrong_day_recommends_what_it_would_have_without():
    def payoff(distribution: np.ndarray) -> float:
        return float(5.0 - 4.0 * ((distribution[0] - BEST) ** 2).sum())

    study = create_study(POPULATION, seed=1)
    for number in range(24):
        plan = study.ask()
        study.tell(plan, payoff(plan.distribution) * (10.0 if number in (9, 15) else 1.0))
    np.testing.assert_allclose(study.recommend().distribution, BEST[None], atol=0.01)
