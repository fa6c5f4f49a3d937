"""The model as strategies keep it: the schedule, the notes of a fit, and a cache that equals replaying the history."""

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round, create_study
from mfbo.models import Fit, GaussianProcess
from mfbo.models.cholesky import GrowingCholesky
from mfbo.records import told_payoff
from mfbo.strategies import MeanFieldGPUCB
from mfbo.strategies.reading import pending_shares
from mfbo.strategies.replay_plan import FitNote, RefitSchedule

SCHEDULE = RefitSchedule(early=4, later=3, iterations=10)


@pytest.fixture
def population() -> Population:
    return Population(np.linspace(0, 1, 5), {"x": 0.25, "y": 0.75}, size=8)


def round_of(population: Population, number: int, payoff: float | None, notes: dict | None = None) -> Round:
    rng = np.random.default_rng(number)
    distribution = rng.dirichlet(np.ones(5), size=2)
    allocation = np.array([[2, 0, 0, 0, 0], [1, 1, 1, 1, 2]])
    asked = Round(Plan(number, distribution, allocation), notes or {})
    return asked if payoff is None else asked.done(Feedback(payoff), distribution, told=number)


def history_of(population: Population, count: int, noise: float | None = None, offset: int = 0) -> History:
    rounds = tuple(round_of(population, i, float(np.sin(i + offset))) for i in range(count))
    return History(population, rounds, noise)


def modeled() -> MeanFieldGPUCB:
    return MeanFieldGPUCB(schedule=SCHEDULE)


def means(strategy: MeanFieldGPUCB, history: History) -> np.ndarray:
    told = np.stack([each.plan.distribution for each in history.told])
    return strategy.belief(history).posterior.population_means(told)


@pytest.mark.parametrize(
    ("told", "fitted", "due"), [(1, 0, True), (4, 3, True), (4, 4, False), (5, 4, False), (6, 4, False), (7, 4, True)]
)
def test_refit_is_due_every_round_at_first_and_then_rarely(told, fitted, due):
    assert SCHEDULE.due(told, fitted) is due


def test_a_note_of_a_fit_is_read_back_bit_for_bit():
    note = FitNote(7, Fit(np.array([0.1, -2.0 / 3.0, 1e-9]), 1 / 3, 2.7))
    again = FitNote.from_notes(note.to_notes())
    assert again.rounds == 7
    np.testing.assert_array_equal(again.fit.theta, note.fit.theta)
    assert (again.fit.shift, again.fit.scale) == (note.fit.shift, note.fit.scale)


def test_notes_without_a_fit_are_no_note():
    assert FitNote.from_notes({"level": (1.0,)}) is None


def test_notes_are_plain_numbers_and_words():
    notes = FitNote(7, Fit(np.array([0.1, -2.0]), 0.0, 1.0), ("exact", "all")).to_notes()
    assert notes.pop("setting") == ("exact", "all")
    assert all(type(number) is float for numbers in notes.values() for number in numbers)


def test_the_first_preparation_fits_on_all_told_rounds(population):
    note = modeled().belief(history_of(population, 3)).note
    assert note.rounds == 3


def test_a_noted_fit_is_kept_until_the_schedule_says_otherwise(population):
    history = history_of(population, 5)
    fitted = modeled().belief(history).note
    noted = (*history.rounds, round_of(population, 5, 0.3, fitted.to_notes()))
    note = modeled().belief(History(population, noted)).note
    assert note.rounds == 5
    np.testing.assert_array_equal(note.fit.theta, fitted.fit.theta)


def test_a_noted_fit_is_replaced_when_the_schedule_says_so(population):
    history = history_of(population, 5)
    fitted = modeled().belief(history).note
    more = [round_of(population, i, float(i), fitted.to_notes() if i == 5 else None) for i in (5, 6, 7)]
    note = modeled().belief(History(population, (*history.rounds, *more))).note
    assert note.rounds == 8


def test_a_grown_model_equals_a_replayed_one_bit_for_bit(population):
    kept = modeled()
    history = history_of(population, 5)
    note = kept.belief(history).note
    longer = History(population, (*history.rounds, round_of(population, 5, 0.3, note.to_notes())))
    np.testing.assert_array_equal(means(kept, longer), means(modeled(), longer))


def test_a_round_that_fits_anew_grows_no_factor_before(population, monkeypatch):
    kept = modeled()
    history = history_of(population, 3)
    kept.belief(history)
    longer = History(population, (*history.rounds, round_of(population, 3, 0.5)))
    monkeypatch.setattr(GrowingCholesky, "extended", None)
    assert kept.belief(longer).note.rounds == 4


def test_an_error_on_the_way_leaves_no_half_model(population, monkeypatch):
    kept = modeled()
    history = history_of(population, 3)
    kept.belief(history)
    longer = History(population, (*history.rounds, round_of(population, 3, 0.5)))
    with monkeypatch.context() as broken:
        broken.setattr(GaussianProcess, "refit", None)
        with pytest.raises(TypeError):
            kept.belief(longer)
    np.testing.assert_array_equal(means(kept, longer), means(modeled(), longer))


def test_a_shorter_history_after_a_longer_one_is_answered_as_if_it_were_the_first(population):
    kept = modeled()
    kept.belief(history_of(population, 6))
    short = history_of(population, 3)
    np.testing.assert_array_equal(means(kept, short), means(modeled(), short))


def test_another_history_of_the_same_length_is_answered_as_if_it_were_the_first(population):
    kept = modeled()
    kept.belief(history_of(population, 4))
    other = history_of(population, 4, offset=9)
    np.testing.assert_array_equal(means(kept, other), means(modeled(), other))


@pytest.mark.parametrize("changed", ["theta", "standardization"])
def test_another_noted_fit_is_answered_as_if_it_were_the_first(population, changed):
    """The told rounds are the cached ones; only the fit that the latest open round noted is another."""
    kept = modeled()
    history = history_of(population, 5)
    note = kept.belief(history).note
    notes = note.to_notes()
    notes[changed] = tuple(0.5 * each + 0.1 for each in notes[changed])
    other = History(population, (*history.rounds, round_of(population, 5, None, notes)))
    np.testing.assert_array_equal(means(kept, other), means(modeled(), other))


def test_another_known_noise_is_answered_as_if_it_were_the_first(population):
    kept = modeled()
    plain = history_of(population, 5)
    note = kept.belief(plain).note
    rounds = (*plain.rounds, round_of(population, 5, 0.3, note.to_notes()))
    kept.belief(History(population, rounds))
    noisy = History(population, rounds, noise=2.0)
    np.testing.assert_array_equal(means(kept, noisy), means(modeled(), noisy))


def test_what_the_designer_steers_is_the_realized_distribution_by_quota(population):
    played = round_of(population, 0, None).done(Feedback(1.0), np.full((2, 5), 0.2), told=0)
    assert History(population, (played,)).steered.tolist() == [[[0.2] * 5] * 2]


def test_what_the_designer_steers_is_the_plan_when_agents_are_sampled(population):
    played = round_of(population, 0, None).done(Feedback(1.0), np.full((2, 5), 0.2), told=0)
    found = History(population, (played,), steers="planned").steered
    np.testing.assert_array_equal(found[0], played.plan.distribution)


def test_pending_shares_are_those_of_the_open_plans_in_whole_agents(population):
    history = History(population, (round_of(population, 0, 1.0), round_of(population, 1, None)))
    expected = [[0.25, 0, 0, 0, 0], [0.125, 0.125, 0.125, 0.125, 0.25]]
    np.testing.assert_allclose(pending_shares(history), [expected])


def test_without_open_plans_what_is_believed_after_them_is_what_is_believed_now(population):
    belief = modeled().belief(history_of(population, 2))
    assert belief.after_open_plans is belief.posterior


NAN = float("nan")


@pytest.mark.parametrize(
    ("feedback", "value"),
    [
        (Feedback(3.0), 3.0),
        (Feedback(3.0, agents=((0, 0, 9.0),)), 3.0),
        (Feedback(agents=((0, 0, 1.0), (1, 2, 4.0))), 2.5),
        (Feedback(cells=np.array([[1.0, NAN], [5.0, NAN]]), counts=np.array([[3.0, 0.0], [1.0, 0.0]])), 2.0),
    ],
)
def test_a_told_round_is_worth_its_system_payoff_or_the_mean_of_what_was_seen(feedback, value):
    plan = Plan(0, np.full((2, 2), 0.5))
    assert told_payoff(Round(plan).done(feedback, plan.distribution, told=0)) == value


def test_means_of_cells_that_nobody_counted_stand_for_the_agents_who_were_there():
    population = Population(["a", "b"], {"u": 0.75, "v": 0.25})
    study = create_study(population, "random")
    told = study.tell(study.ask(), cells=[[1.0, 0.0], [4.0, NAN]], distribution=[[0.9, 0.1], [0.5, 0.5]])
    seen = np.array([0.75 * 0.9, 0.75 * 0.1, 0.25 * 0.5])
    assert told_payoff(told) == pytest.approx(float(seen @ [1.0, 0.0, 4.0]) / seen.sum())
    elsewhere = study.tell(study.ask(), cells=[[NAN, 2.0], [NAN, NAN]], distribution=[[1.0, 0.0], [1.0, 0.0]])
    assert told_payoff(elsewhere) == 2.0
