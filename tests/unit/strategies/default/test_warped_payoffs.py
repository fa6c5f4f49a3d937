"""Costs that grow steeply are looked at on a logarithm, and shown as they are."""

from dataclasses import replace

import numpy as np
import pytest

from mfbo import Population, create_study, load_study
from mfbo.errors import DamageError
from mfbo.models import Fit
from mfbo.models.unit import Warp
from mfbo.seeding import derived_generator
from mfbo.strategies import Default
from mfbo.strategies.modeled import Belief
from mfbo.strategies.replay_plan import FitNote

ROUNDS = 32
BEST = np.array([0.35, 0.3, 0.2, 0.15, 0.0])


def steep(plan) -> float:
    return -float(np.expm1(12.0 * ((plan.distribution[0] - BEST) ** 2).sum()))


def played(**settings):
    study = create_study(Population(list("abcde")), seed=3, **settings)
    for _ in range(ROUNDS):
        plan = study.ask()
        study.tell(plan, steep(plan))
    return study


@pytest.fixture(scope="module")
def study():
    return played()


def belief_of(study):
    return study.strategy.belief(study.strategy.as_modeled(study.history))


def test_looks_believe_in_warped_payoffs_and_what_is_shown_does_not(study):
    belief = belief_of(study)
    warped = belief.warped
    assert belief.note.fit.warp is None
    assert warped.note.fit.warp is not None
    told = np.array([done.payoff for done in study.history.told])
    visited = study.history.steered
    for each in (belief, warped):  # each knows what was told, in its unit
        np.testing.assert_allclose(
            each.posterior.population_means(visited), each.note.fit.unit.standardized(told), atol=2e-3
        )
    best = max(study.history.told, key=lambda done: done.payoff)
    assert study.predict(best.plan.distribution).mean == pytest.approx(best.payoff, abs=0.02)


@pytest.mark.parametrize("number", [28, 29, 30, 31])
def test_a_look_believes_in_warped_payoffs_and_a_climb_in_those_told(study, number, monkeypatch):
    def proposed() -> np.ndarray:
        before = replace(study.history, rounds=study.history.rounds[:number])
        return Default().propose(before, derived_generator(study.seed, "propose", number)).distribution

    warped = proposed()
    monkeypatch.setattr(Belief, "warped", None)
    assert np.array_equal(proposed(), warped) is (number % 2 == 1)


def test_the_best_told_is_recommended_however_badly_a_model_may_know_it():
    study = create_study(Population(list("abcdef")), seed=2)
    for _ in range(40):
        plan = study.ask()
        study.tell(plan, -float(np.expm1(60.0 * ((plan.distribution[0] - 1 / 6) ** 2).sum() + plan.distribution[0, 0])))
    best = max(study.history.told, key=lambda done: done.payoff)
    np.testing.assert_array_equal(study.recommend().distribution, best.played)


def test_the_warp_is_noted_in_the_round_that_looks_too(study):
    noted = [asked.number for asked in study.history.rounds if "warp" in asked.notes]
    assert noted
    assert {number % 2 for number in noted} == {0, 1}
    top, size, _, scale = study.history.rounds[-1].notes["warp"]
    told = [done.payoff for done in study.history.told]
    assert min(told) < top <= max(told)
    assert min(size, scale) > 0


def test_a_study_that_is_resumed_and_looked_at_goes_on_with_the_same_bits(study, tmp_path):
    place = f"sqlite:///{tmp_path / 'studies.db'}"
    resumed = create_study(Population(list("abcde")), seed=3, storage=place, name="steep")
    for done in study.history.told:
        if done.number >= ROUNDS - 8:
            resumed = load_study("steep", storage=place)
            resumed.predict(BEST[None])
        plan = resumed.ask()
        np.testing.assert_array_equal(plan.distribution, done.plan.distribution)
        resumed.tell(plan, steep(plan))
    np.testing.assert_array_equal(resumed.recommend().distribution, study.recommend().distribution)


def test_a_study_that_earns_warps_nothing():
    earning = played(aim="earn", start=[0.2] * 5)
    assert not any("warp" in asked.notes for asked in earning.history.rounds)


def test_a_noted_warp_is_read_back_and_one_that_cannot_be_is_damage():
    fit = Fit(np.array([0.1, 0.2]), 0.0, 1.0, warped=Fit(np.array([0.3, 0.4]), 1.0, 2.0, warp=Warp(0.5, 1 / 3)))
    notes = FitNote(30, fit).to_notes()
    again = FitNote.from_notes(notes).fit.warped
    assert (again.warp, again.shift, again.scale) == (Warp(0.5, 1 / 3), 1.0, 2.0)
    np.testing.assert_array_equal(again.theta, [0.3, 0.4])
    for odd in (
        (0.5, 0.0, 1.0, 1.0),
        (0.5, 1.0, 1.0, -1.0),
        (float("nan"), 1.0, 1.0, 1.0),
        (0.5,),
        ("a", 1.0, 1.0, 1.0),
    ):
        with pytest.raises(DamageError):
            FitNote.from_notes({**notes, "warp": odd})
    with pytest.raises(DamageError):
        FitNote.from_notes({key: value for key, value in notes.items() if key != "warped theta"})
