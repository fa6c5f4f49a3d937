"""A history that grows change by change equals one made at once; a study without a storage encodes nothing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfbo import Feedback, History, Plan, Population, Round, create_study
from mfbo.records import Lease
from mfbo.storage import codec

POPULATION = Population(["a", "b", "c"], size=6)
EVEN = np.full((1, 3), 1 / 3)
COUNTS = np.array([[2, 2, 2]])


def changed(history: History, word: str, pick: int) -> Round | None:
    """Return the round that this word makes or changes; None if there is nothing that it could change."""
    if word in ("ask", "counted"):
        plan = Plan(len(history.rounds), EVEN, COUNTS)
        return Round.asked(plan, {}, Lease("w"), COUNTS if word == "counted" else None, history.next_word)
    if not history.open:
        return None
    asked, seen = history.open[pick % len(history.open)], history.next_word
    match word:
        case "lease":
            return asked.leased("x", 1.0, None, seen)
        case "tell":
            return asked.done(Feedback(1.0), EVEN, len(history.told), seen=seen)
        case "fail":
            return asked.ended("failed", "rain", seen=seen)
    return asked.ended("abandoned")


WORDS = st.sampled_from(["ask", "counted", "lease", "tell", "fail", "abandon"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(WORDS, st.integers(0, 5)), max_size=25))
def test_a_history_grown_by_changes_equals_one_made_of_its_rounds(changes):
    grown = History(POPULATION)
    for word, pick in changes:
        change = changed(grown, word, pick)
        if change is not None:
            grown = grown.after(change)
    made = History(POPULATION, grown.rounds)
    assert (grown.told, grown.open, grown.next_word) == (made.told, made.open, made.next_word)
    assert (grown.placed is None) == (made.placed is None)


def test_past_days_are_told_last_and_move_nobody():
    asked = History(POPULATION).after(Round.asked(Plan(0, EVEN, COUNTS), {}, Lease(), None, 0))
    day = Round.past(1, EVEN).done(Feedback(2.0), EVEN, told=0)
    grown = asked.with_past([day])
    made = History(POPULATION, grown.rounds)
    assert (grown.told, grown.open, grown.next_word) == (made.told, made.open, made.next_word)
    assert grown.told == (day,)
    assert grown.placed is None


def test_counting_agents_changes_where_they_stand_and_nothing_else():
    history = History(POPULATION).after(Round.asked(Plan(0, EVEN, COUNTS), {}, Lease(), None, 0))
    now = np.array([[6, 0, 0]])
    recounted = history.counted(now)
    assert recounted.placed is now
    assert (recounted.rounds, recounted.open, recounted.told) == (history.rounds, history.open, history.told)
    assert history.counted(None) is history


def test_rounds_put_in_place_of_others_are_sorted_anew():
    first = History(POPULATION).after(Round.asked(Plan(0, EVEN, COUNTS), {}, Lease(), None, 0))
    told = first.after(first.rounds[0].done(Feedback(1.0), EVEN, 0))
    other = told.rounds[0].as_system
    assert replace(told, rounds=(other,)).told == (other,)


def test_a_study_without_a_storage_encodes_nothing(monkeypatch):
    for name in ("to_text", "array_record"):
        monkeypatch.setattr(codec, name, lambda *_: pytest.fail("encoded"))
    study = create_study(POPULATION, "random")
    study.add(EVEN, 1.0)
    study.tell(study.ask(), 1.0)
    study.fail(study.ask(), "rain")
    study.abandon(study.ask(worker="w"))
    assert [asked.state for asked in study.rounds] == ["done", "done", "failed", "abandoned"]


def test_stored_weights_are_taken_as_they_are():
    weights = np.array([0.1, 0.2, 0.7])
    population = Population(["a"], ["x", "y", "z"], 10).with_weights(weights)
    assert population.weights.tobytes() == weights.tobytes()
    assert not population.weights.flags.writeable


def test_a_population_cannot_be_changed():
    with pytest.raises(AttributeError):
        POPULATION.size = 7
    with pytest.raises(ValueError, match="read-only"):
        POPULATION.context_totals[0] = 1
