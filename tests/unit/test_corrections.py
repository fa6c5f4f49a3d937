"""What was told is amended, withdrawn, reinstated; the log keeps it all, the model reads what is believed now."""

import numpy as np
import pytest

from mfbo import Population, create_study, load_study
from mfbo.errors import InvalidInputError, RoundStateError
from mfbo.study import copy_study

PLACES = {"name": ["a", "b", "c"], "x": [0.0, 0.4, 1.0]}


def value(plan):
    return float(-((plan.realized[:, 0] - 0.6) ** 2).sum())


def played(storage=None, rounds=6, wrong=None, **options):
    name = {} if storage is None else {"storage": storage, "name": "one"}
    study = create_study(Population(PLACES, size=20), seed=3, **name, **options)
    for number in range(rounds):
        plan = study.ask()
        study.tell(plan, value(plan) * (10.0 if number == wrong else 1.0))
    return study


def same_rounds(first, second):
    for ours, theirs in zip(first.rounds, second.rounds, strict=True):
        np.testing.assert_array_equal(ours.plan.distribution, theirs.plan.distribution)
        assert dict(ours.notes) == dict(theirs.notes)
        assert (ours.state, ours.told, ours.payoff, ours.correction, ours.seen) == (
            theirs.state,
            theirs.told,
            theirs.payoff,
            theirs.correction,
            theirs.seen,
        )


def test_an_amended_payoff_is_what_the_model_reads():
    right, wrong = played(), played(wrong=5)
    wrong.amend(5, value(wrong.rounds[5].plan), by="ann", reason="a zero too many")
    told = wrong.rounds[5]
    assert told.payoff == right.rounds[5].payoff
    assert told.correction == "amended by ann: a zero too many"
    np.testing.assert_allclose(wrong.predict(told.played).mean, right.predict(told.played).mean, rtol=1e-2, atol=1e-3)


def test_a_fit_is_due_after_a_correction_even_if_the_schedule_says_no():
    study = played(rounds=13)
    plan = study.ask()
    assert int(plan.number) == 13
    before = study.rounds[13].notes["fitted"]
    study.abandon(plan)
    study.amend(2, -0.5)
    plan = study.ask()
    after = study.rounds[plan.number].notes
    assert after["corrections"] == (1.0,)
    assert after["fitted"] == (13.0,) != before


def test_a_withdrawn_round_keeps_its_place_and_comes_back():
    study = played(storage="memory", rounds=4)
    payoffs = [done.payoff for done in study.history.told]
    study.withdraw(1, reason="it was Sunday")
    assert study.rounds[1].state == "withdrawn"
    assert [done.number for done in study.history.told] == [0, 2, 3]
    plan = study.ask()
    study.tell(plan, value(plan))
    study.reinstate(1)
    assert [done.number for done in study.history.told] == [0, 1, 2, 3, 4]
    assert [done.payoff for done in study.history.told][:4] == payoffs
    same_rounds(study, load_study("one", study.storage))


def test_other_kinds_of_feedback_stay_as_they_were_told():
    study = create_study(Population(PLACES, size=20), seed=3)
    plan = study.ask()
    study.tell(plan, 8120.0, cells={"b": 2.0})
    amended = study.amend(plan, 812.0).feedback
    assert (amended.payoff, amended.cells[0, 1]) == (812.0, 2.0)
    amended = study.amend(plan, cells={"a": 1.0}).feedback
    assert amended.payoff == 812.0
    np.testing.assert_array_equal(amended.cells, [[1.0, np.nan, np.nan]])


def test_what_was_really_placed_is_amended_and_agents_stand_there():
    study = create_study(Population(PLACES, size=20), seed=3)
    study.tell(study.ask(), 1.0)
    study.amend(0, placed={"a": 20})
    np.testing.assert_array_equal(study.placed, [[20, 0, 0]])
    np.testing.assert_array_equal(study.rounds[0].played, [[1.0, 0.0, 0.0]])
    study.withdraw(0)
    assert study.placed is None


@pytest.mark.parametrize("aim", ["find", "earn"])
def test_resumed_before_every_call_or_never_plans_are_equal(tmp_path, aim):
    def lives(study):
        for number in range(12):
            plan = study().ask()
            study().tell(plan.number, value(plan))
            if number == 3:
                study().fail(study().ask().number, "rain")
            if number in (5, 8):
                study().amend(number - 2, 0.5 * number, by="ann")
            if number in (6, 9):
                study().withdraw(number - 3)
                study().withdraw(4) if number == 6 else None
            if number == 10:
                study().reinstate(3)

    unbroken = create_study(Population(PLACES, size=20), seed=3, aim=aim)
    lives(lambda: unbroken)
    address = f"sqlite:///{tmp_path}/one.db"
    create_study(Population(PLACES, size=20), seed=3, aim=aim, storage=address, name="one")
    lives(lambda: load_study("one", address))
    same_rounds(load_study("one", address), unbroken)


def test_an_ask_that_knows_nothing_of_a_correction_is_made_again():
    study = played(storage="memory", rounds=3)
    other = load_study("one", study.storage)
    propose, waiting = other.strategy.propose, [lambda: study.amend(0, 7.0)]

    class Interrupted:
        name = "default"

        def propose(self, history, rng):
            proposal = propose(history, rng)
            if waiting:
                waiting.pop()()
            return proposal

    other.strategy = Interrupted()
    plan = other.ask()
    study.refresh()
    alone = played(rounds=3)
    alone.amend(0, 7.0)
    np.testing.assert_array_equal(plan.distribution, alone.ask().distribution)
    assert [entry.kind for entry in study.log()][-2:] == ["amended", "asked"]


def test_the_log_says_what_was_told_first():
    study = played(storage="memory", rounds=2)
    study.amend(1, 812.0, by="ann", reason="a zero too many")
    study.withdraw(0, by="bob")
    log = study.log()
    assert [(entry.kind, entry.plan) for entry in log] == [
        ("asked", 0),
        ("told", 0),
        ("asked", 1),
        ("told", 1),
        ("amended", 1),
        ("withdrawn", 0),
    ]
    assert log[3].said["payoff"] == value(study.rounds[1].plan)
    assert (log[4].said["payoff"], log[4].by, log[4].reason) == (812.0, "ann", "a zero too many")
    with pytest.raises(InvalidInputError, match="keeps no log"):
        played().log()


def test_only_what_was_told_can_be_corrected():
    study = played(rounds=1)
    plan = study.ask()
    for call in (study.amend, study.withdraw, study.reinstate):
        with pytest.raises(RoundStateError, match="plan 1 is open: only"):
            call(plan, 1.0) if call == study.amend else call(plan)
    with pytest.raises(InvalidInputError, match="nothing is amended"):
        study.amend(0)
    with pytest.raises(InvalidInputError, match="payoff"):
        study.amend(0, float("nan"))
    study.withdraw(0)
    with pytest.raises(RoundStateError, match="plan 0 is withdrawn: only a told plan"):
        study.amend(0, 1.0)


def test_the_situation_of_a_day_is_amended(tmp_path):
    address = f"sqlite:///{tmp_path}/one.db"
    situations = {"day": ["weekday", "weekend"], "rain": "number"}
    study = create_study(Population(PLACES, size=20), seed=3, situations=situations, storage=address, name="one")
    for number in range(6):
        plan = study.ask(situation={"day": "weekend" if number % 3 else "weekday"})
        study.tell(plan, value(plan), situation={"rain": 0.1 * number})
    study.amend(2, situation={"day": "weekday"}, reason="a holiday")
    assert study.rounds[2].situation == {"day": "weekday", "rain": 0.2}
    assert study.log()[-1].said == {"situation": {"day": "weekday"}}
    again = copy_study("one", "two", address)
    assert again.rounds[2].situation == study.rounds[2].situation
    weekend = {"situation": {"day": "weekend"}}
    np.testing.assert_array_equal(again.ask(**weekend).distribution, study.ask(**weekend).distribution)


def test_a_past_day_that_was_amended_is_not_brought_along_again():
    """Its file still says the old number: importing it again must not bring the mistake back."""
    study = create_study(Population(["a", "b"], size=4), "random", storage="memory", name="past")
    days = [([0.5, 0.5], 8120.0), ([0.25, 0.75], 700.0), ([0.5, 0.5], 8120.0)]
    study.add_missing(days)
    study.amend(0, 812.0)
    study.amend(0, 813.0)
    assert load_study("past", study.storage).add_missing(days) == []
    corrected = [([0.5, 0.5], 813.0), *days[1:]]
    assert study.add_missing(corrected) == []  # the file was mended too
    study.change(open={"c": None})
    assert len(study.add_missing([([0.5, 0.5, 0.0], payoff) for payoff in (8120.0, 813.0, 8120.0)])) == 1
