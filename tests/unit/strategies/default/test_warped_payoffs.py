"""Costs that grow steeply are searched on a logarithm, and shown as they are."""

import numpy as np
import pytest

from mfbo import Population, create_study, load_study
from mfbo.errors import DamageError
from mfbo.models import Fit
from mfbo.models.unit import Warp
from mfbo.strategies.replay_plan import FitNote

ROUNDS = 30
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


def test_the_search_warps_steep_costs(study):
    warped = [asked.number for asked in study.history.rounds if "warp" in asked.notes]
    assert warped
    top, size = study.history.rounds[-1].notes["warp"]
    told = [done.payoff for done in study.history.told]
    assert min(told) < top <= max(told)
    assert size > 0


def test_what_is_shown_is_in_the_payoffs_own_unit(study):
    for done in study.history.told[:: ROUNDS // 6]:
        assert study.predict(done.plan.distribution).mean == pytest.approx(done.payoff, abs=0.02)
    belief = study.strategy.belief(study.strategy.as_modeled(study.history))
    assert belief.note.fit.warp is None
    again = study.strategy.belief(study.strategy.as_modeled(study.history))
    assert again.process is belief.process  # asked twice, fitted once
    assert study.explain().rows()


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
    study = played(aim="earn", start=[0.2] * 5)
    assert not any("warp" in asked.notes for asked in study.history.rounds)


def test_a_noted_warp_is_read_back_and_one_that_cannot_be_is_damage():
    notes = FitNote(30, Fit(np.array([0.1, 0.2]), 0.0, 1.0, warp=Warp(0.5, 1 / 3))).to_notes()
    assert FitNote.from_notes(notes).fit.warp == Warp(0.5, 1 / 3)
    for odd in ((0.5, 0.0), (0.5, -1.0), (float("nan"), 1.0), (0.5,), ("a", 1.0)):
        with pytest.raises(DamageError):
            FitNote.from_notes({**notes, "warp": odd})
