"""Wrong numbers: a payoff far above all others is repeated, believed if it comes again, and left out otherwise."""

from dataclasses import replace

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round, create_study, load_study
from mfbo.errors import DamageError
from mfbo.strategies import Default
from mfbo.strategies.default.doubts import FEWEST, REPEATS, REPETITION, Doubts, Repetition, surprising_best
from mfbo.strategies.default.seen import Seen

POPULATION = Population(["a", "b", "c"])
PAYOFFS = [1.0, 1.2, 0.8, 1.1, 0.9, 1.3, 0.7, 1.05, 0.95, 1.15]
BEST = np.array([0.2, 0.5, 0.3])


def plan_at(number: int) -> np.ndarray:
    share = 0.05 * (number + 1)
    return np.array([[share, 1.0 - share, 0.0]])


def history_of(payoffs, places=None, notes=None, **facts) -> History:
    rounds = []
    for number, payoff in enumerate(payoffs):
        plan = plan_at(number if places is None else places[number])
        asked = Round(Plan(number, plan), notes=(notes or {}).get(number, {}))
        rounds.append(asked.done(Feedback(payoff), plan, number))
    return History(POPULATION, tuple(rounds), **facts)


def waiting_of(history: History) -> tuple[int, ...]:
    return tuple(waits.doubted.number for waits in Doubts.of(history).waiting)


def test_a_payoff_far_above_the_others_waits_to_be_repeated_and_is_not_believed_meanwhile():
    history = history_of([*PAYOFFS[:4], 9.0, *PAYOFFS[4:]])
    doubts = Doubts.of(history)
    median = float(np.median(PAYOFFS))
    repetition = doubts.repeated(history)
    assert doubts == Doubts(waiting=(Repetition(history.rounds[4], repetition.expected),))
    assert repetition.notes == {REPETITION: (4.0, pytest.approx(median), 0.0)}
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
    assert waiting_of(history_of([*PAYOFFS, 9.0, 11.0])) == (11, 10)


def test_a_climb_out_of_a_plain_is_doubted_only_when_it_more_than_doubles_what_was_gained():
    climb = [2.6, 3.9, 5.9, 7.0]  # 2.6 is in doubt at first; believed with its repetition, it vouches for the next
    assert waiting_of(history_of([*PAYOFFS, 2.6])) == (10,)
    assert Doubts.of(history_of([*PAYOFFS, 2.6, *climb], [*range(11), 10, 12, 13, 14])) == Doubts()
    assert waiting_of(history_of([*PAYOFFS, 2.6, 2.6, 4.3], [*range(11), 10, 12])) == (12,)


def test_a_wrong_payoff_vouches_for_no_other():
    history = history_of([*PAYOFFS, 9.0, 11.0, 1.1], [*range(12), 10])
    assert Doubts.of(history).rejected == {10}
    assert waiting_of(history) == (11,)


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


def line(count: int = 12) -> list[float]:
    return [1.0 - 0.1 * place for place in range(count)]


DRAWN = np.random.default_rng(3).dirichlet(np.ones(3), 23)[:, None, :]
WRONG = 22  # the latest round; the fit is of two rounds before


def smooth(plan: np.ndarray) -> float:
    return float(5.0 - 4.0 * ((plan[0] - BEST) ** 2).sum())


def surprised_by(payoffs: list[float], plans: np.ndarray):
    strategy, rounds = Default(), []
    for number, (payoff, plan) in enumerate(zip(payoffs, plans, strict=True)):
        notes = strategy.belief(History(POPULATION, tuple(rounds))).notes if number == WRONG - 2 else {}
        rounds.append(Round(Plan(number, plan), notes=notes).done(Feedback(payoff), plan, number))
    history = History(POPULATION, tuple(rounds))
    assert Doubts.of(history) == Doubts()
    return surprising_best(Seen.of(history, "exact"), strategy.belief(history))


def test_a_best_payoff_that_all_others_contradict_is_repeated_and_what_they_say_of_it_is_expected():
    payoffs = [smooth(plan) for plan in DRAWN]
    payoffs[WRONG] = max(payoffs) + 0.1  # no outlier among the payoffs themselves, but of a plan amid worse ones
    repetition = surprised_by(payoffs, DRAWN)
    assert repetition.doubted.number == WRONG
    assert repetition.expected == pytest.approx(smooth(DRAWN[WRONG]), abs=0.1)


def test_a_best_payoff_that_others_agree_with_or_that_was_told_twice_is_believed():
    payoffs = [smooth(plan) for plan in DRAWN]
    assert surprised_by(payoffs, DRAWN) is None
    payoffs[WRONG] = max(payoffs) + 0.1
    assert surprised_by([*payoffs, payoffs[WRONG]], np.concatenate([DRAWN, DRAWN[[WRONG]]])) is None


NEAR_EXPECTED, EXACT = (8.0, 0.2, 0.0), (8.0, 0.2, 1.0)


def repeated(second: float, note, *, place: int = 8, **facts) -> History:
    """A history in which round 8 told 1.05 and round 12 repeats it at a place of ``plan_at``."""
    payoffs = [*line(), second]
    payoffs[8] = 1.05
    return history_of(payoffs, [*range(12), place], {12: {REPETITION: note}}, **facts)


@pytest.mark.parametrize(
    ("second", "note", "rejected"),
    [
        (0.25, NEAR_EXPECTED, {8}),
        (1.0, NEAR_EXPECTED, set()),
        (1.0, EXACT, {8}),  # another payoff of the same plan, where payoffs are exact
        (1.05, EXACT, set()),
        (1.05, (8.0, 9.0, 1.0), set()),  # an amended one that was expected to be higher
    ],
)
def test_a_noted_repetition_decides_once_and_for_all(second, note, rejected):
    history = repeated(second, note)
    assert Doubts.of(history) == Doubts(frozenset(rejected))
    payoffs = [done.payoff for done in history.told]
    later = history_of([*payoffs, 5.0, 5.1, 5.2], [*range(12), 8, 13, 14, 15], {12: {REPETITION: note}})
    assert Doubts.of(later).rejected == rejected
    contrary = 1.05 if rejected else 0.25
    again = history_of([*payoffs, contrary], [*range(12), 8, 8], {number: {REPETITION: note} for number in (12, 13)})
    assert Doubts.of(again).rejected == rejected


@pytest.mark.parametrize(("place", "rejected"), [(13, set()), (7, {8})])
def test_a_repetition_that_was_played_nearly_so_decides_and_another_does_not(place, rejected):
    assert Doubts.of(repeated(0.25, EXACT, place=place)).rejected == rejected


@pytest.mark.parametrize(
    "note", [(8.0,), (8.0, 0.2), (8.0, float("nan"), 1.0), ("x", 0.2, 1.0), (float("inf"), 0.2, 1.0)]
)
def test_a_note_of_a_repetition_that_cannot_be_is_damage(note):
    with pytest.raises(DamageError, match="repeats"):
        Doubts.of(repeated(0.25, note))


def asked_again(history: History, state: str, count: int) -> History:
    note = {REPETITION: (4.0, 1.0, 0.0)}
    begun = (Round(Plan(len(history.rounds) + place, plan_at(30)), notes=note) for place in range(count))
    more = [asked if state == "open" else asked.ended(state) for asked in begun]
    return replace(history, rounds=(*history.rounds, *more))


@pytest.mark.parametrize(
    ("state", "count", "due", "waits"),
    [
        ("failed", 1, True, True),
        ("failed", REPEATS, False, False),  # whatever was played in them
        ("abandoned", REPEATS, True, True),
        ("open", 1, False, True),
    ],
)
def test_who_waits_gives_up_after_two_repetitions_that_were_carried_out(state, count, due, waits):
    history = asked_again(history_of([*PAYOFFS[:4], 9.0, *PAYOFFS[4:]]), state, count)
    doubts = Doubts.of(history)
    assert (doubts.repeated(history) is not None) is due
    assert bool(doubts.waiting) is waits


@pytest.mark.parametrize(("size", "verdict"), [(None, True), (100, True), (103, False), (120, None)])
def test_payoffs_of_other_fleets_disprove_as_far_as_these_are_alike(size, verdict):
    """1.0 instead of 1.05 where 0.2 was expected: another payoff of the same fleet, nearly the same of another."""
    history = repeated(1.0, EXACT)
    told, second = history.rounds[8], replace(history.rounds[12], size=size)
    population = Population(list("abc"), size=100)
    assert Repetition(told, 0.2, True).disproved_by(second, population) is verdict


def with_a_wrong_best(**settings):
    """A study whose 25th payoff is just better than all before, of a plan that is not."""
    study = create_study(Population(list("abcd")), seed=1, **settings)
    best = np.array([0.4, 0.3, 0.2, 0.1])

    def payoff(plan) -> float:
        return 5.0 - 4.0 * float(((plan.distribution[0] - best) ** 2).sum())

    for number in range(45):
        if number == 24:
            plan = study.attach(np.array([[0.05, 0.05, 0.05, 0.85]]))
            study.tell(plan, max(done.payoff for done in study.history.told) + 0.02)
            continue
        plan = study.ask()
        study.tell(plan, payoff(plan))
    return study


def test_a_wrong_best_of_a_study_is_asked_again_rejected_and_never_recommended():
    study = with_a_wrong_best()
    noted = [asked for asked in study.history.rounds if asked.notes.get(REPETITION, (-1.0,))[0] == 24.0]
    assert len(noted) == 1
    assert noted[0].plan.distribution[0, 3] == pytest.approx(0.85)
    assert 24 in Doubts.of(study.history).rejected
    assert study.strategy.kind_of(study.strategy.as_modeled(study.history)) == "exact"
    np.testing.assert_allclose(study.recommend().distribution, [[0.4, 0.3, 0.2, 0.1]], atol=0.02)
    again = study.ask_best().number
    assert REPETITION not in study.history.rounds[again].notes


def test_a_study_resumed_in_the_middle_of_a_repetition_goes_on_with_the_same_bits(tmp_path):
    place = f"sqlite:///{tmp_path / 'studies.db'}"
    unbroken = with_a_wrong_best()
    stored = with_a_wrong_best(storage=place, name="wrong")
    np.testing.assert_array_equal(stored.history.steered, unbroken.history.steered)
    np.testing.assert_array_equal(load_study("wrong", place).ask().distribution, unbroken.ask().distribution)
