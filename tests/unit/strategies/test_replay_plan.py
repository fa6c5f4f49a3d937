"""The plan of a replay: which rounds are fitted on, which appended, from where a fit starts, and whether it is due."""

from zlib import crc32

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round
from mfbo.models import Fit
from mfbo.strategies.replay_plan import FitNote, RefitSchedule, ReplayPlan, Setting

EVEN = np.full((1, 2), 0.5)
EXACT = Setting("exact", "all")
SCHEDULE = RefitSchedule(early=4, later=3)
NOTE = FitNote(5, Fit(np.array([0.1, -2.0]), 1.0, 2.0), ("exact", "all"))


def history(told: int, note: FitNote | None = None) -> History:
    """So many told rounds; the sixth, or the last if there are fewer, was asked with this fit."""
    at = min(told - 1, 5)
    notes = [note.to_notes() if note is not None and number == at else {} for number in range(told)]
    rounds = [Round(Plan(i, EVEN), notes[i]).done(Feedback(float(i)), EVEN, i) for i in range(told)]
    return History(Population(["a", "b"]), tuple(rounds))


def plan_of(told: int, note: FitNote | None = None, setting: Setting = EXACT) -> ReplayPlan:
    return ReplayPlan.of(history(told, note), setting, SCHEDULE)


def numbers(rounds: tuple[Round, ...]) -> list[int]:
    return [each.number for each in rounds]


def test_without_a_note_all_rounds_are_fitted_on_from_the_prior():
    plan = plan_of(3)
    assert (numbers(plan.fitted_on), plan.appended, plan.noted, plan.start) == ([0, 1, 2], (), None, None)


def test_a_noted_fit_is_adopted_where_it_was_made_and_later_rounds_are_appended():
    plan = plan_of(7, NOTE)
    assert (numbers(plan.fitted_on), numbers(plan.appended)) == ([0, 1, 2, 3, 4], [5, 6])
    assert plan.noted.to_notes() == NOTE.to_notes()
    assert plan.told == 5


def test_a_due_fit_starts_from_the_noted_one_and_stands_on_all_rounds():
    plan = plan_of(8, NOTE)
    assert (plan.noted, len(plan.fitted_on), plan.appended, plan.told) == (None, 8, (), 8)
    np.testing.assert_array_equal(plan.start.theta, NOTE.fit.theta)


def test_another_size_is_fitted_anew_from_the_noted_fit():
    plan = plan_of(6, NOTE, Setting("exact", "sparse"))
    assert plan.noted is None
    np.testing.assert_array_equal(plan.start.theta, NOTE.fit.theta)


def test_another_kind_of_data_is_fitted_anew_from_the_prior():
    plan = plan_of(6, NOTE, Setting("agents", "all"))
    assert (plan.noted, plan.start) == (None, None)


def test_checksums_noted_by_older_studies_are_read_as_their_words():
    old = FitNote(NOTE.rounds, NOTE.fit, (float(crc32(b"exact")), float(crc32(b"all"))))
    assert plan_of(6, old).noted.to_notes() == old.to_notes()
    assert plan_of(6, old, Setting("noisy", "all")).noted is None


def test_the_latest_note_counts():
    early = Round(Plan(0, EVEN), FitNote(1, NOTE.fit).to_notes())
    late = Round(Plan(1, EVEN), NOTE.to_notes())
    assert FitNote.latest(History(Population(["a", "b"]), (early, late, Round(Plan(2, EVEN))))).rounds == 5


@pytest.mark.parametrize(
    ("rows", "sparse", "subset", "size"),
    [(251, True, True, "subset"), (250, True, True, "all"), (501, True, False, "sparse"), (501, False, False, "all")],
)
def test_the_size_follows_from_the_number_of_rows(rows, sparse, subset, size):
    assert Setting.of(history(rows).told, "exact", sparse=sparse, subset=subset) == Setting("exact", size)
