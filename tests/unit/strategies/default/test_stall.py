"""The stall rule: when the strategy sits, how its level rises and falls, and what optimism follows."""

import numpy as np
import pytest

from mfbo import History, Plan, Population, Round
from mfbo.strategies.default.search import Starts
from mfbo.strategies.default.seen import NEGLIGIBLE_NOISE, Seen
from mfbo.strategies.default.stall import TOLERANCE, WINDOW, Stall, level_after, sits

FLAT = np.full(WINDOW + 1, 1.0)
RISING = np.arange(WINDOW + 1.0)


def noted(**notes: float) -> Seen:
    asked = Round(Plan(0, np.full((1, 2), 0.5)), {key: (value,) for key, value in notes.items()})
    return Seen.of(History(Population(["a", "b"]), (asked,)), "exact")


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        (FLAT, True),
        (FLAT[:-1], False),  # too few rounds to tell
        (RISING, False),
        (np.append(FLAT, 0.5), False),  # the last plan is not the best: it is still exploring
        (np.append(FLAT, 1.0 + TOLERANCE / 2), True),
        (np.append(FLAT, 1.0 + TOLERANCE * 2), False),
    ],
)
def test_it_sits_on_a_best_plan_that_does_not_rise(means, expected):
    assert sits(means) is expected


@pytest.mark.parametrize(
    ("means", "before", "after"), [(FLAT, 0, 1), (FLAT, 3, 4), (RISING, 3, 0), (np.append(FLAT, 0.5), 3, 3)]
)
def test_the_level_rises_with_every_stall_falls_with_a_gain_and_stays_otherwise(means, before, after):
    assert level_after(means, before) == after


def test_it_goes_on_from_the_notes_of_the_last_round():
    stall = Stall.of(noted(level=2.0, known=1.0), FLAT, 0.0, 0.3, 8.0)
    assert (stall.level, stall.sits, stall.sat_known) == (3, True, True)
    assert stall.notes == {"level": (3.0,), "multiplier": (0.3 * 2.0**3,), "everybody": (0.0,)}


def test_everybody_is_sent_after_every_second_stall_however_high_the_level_rises():
    sent, notes = [], {}
    for _ in range(4):
        stall = Stall.of(noted(level=2.0, **notes), FLAT, 0.0, 0.3, 8.0).further()  # whole agents raise it once more
        sent.append(stall.sends_everybody)
        notes = {"everybody": stall.notes["everybody"][0]}
    assert sent == [False, True, False, True]
    rising = Stall.of(noted(level=0.0, everybody=0.0), RISING, 0.0, 0.3, 8.0)
    assert not rising.sends_everybody
    assert rising.notes["everybody"] == (1.0,)  # a gain: the next stall is a first one


def test_without_notes_it_begins_at_level_zero():
    assert Stall.of(noted(), RISING, 0.0, 0.3, 8.0) == Stall(0, sits=False, base=0.3, highest=8.0)


@pytest.mark.parametrize(("variance", "base"), [(NEGLIGIBLE_NOISE, 0.3), (2 * NEGLIGIBLE_NOISE, 1.0)])
def test_fitted_noise_raises_the_base(variance, base):
    assert Stall.of(noted(), RISING, variance, 0.3, 8.0).multiplier == base


@pytest.mark.parametrize(("level", "multiplier"), [(0, 0.5), (1, 1.0), (3, 4.0), (9, 6.0)])
def test_optimism_doubles_with_the_level_up_to_its_highest(level, multiplier):
    stall = Stall(level, sits=True, base=0.5, highest=6.0)
    assert stall.multiplier == multiplier
    assert stall.raised is (multiplier > 0.5)


def test_a_level_alone_raises_nothing():
    assert not Stall(4, sits=False, base=0.5, highest=6.0).raised


def test_looking_further_takes_the_next_level_at_once():
    assert Stall(1, sits=False, base=0.5, highest=6.0).further().multiplier == 2.0


@pytest.mark.parametrize(("level", "sat_known", "alone"), [(0, True, False), (1, False, False), (1, True, True)])
def test_while_agents_sit_only_the_incumbent_is_climbed_from(level, sat_known, alone):
    last, best, random = np.zeros((1, 2)), np.ones((1, 2)), np.full((1, 2), 0.5)
    chosen = Stall(level, sits=True, base=0.5, highest=6.0, sat_known=sat_known).chosen(Starts(last, best, random))
    assert [start is best for start in chosen] == ([True] if alone else [False, True, False])


@pytest.mark.parametrize(("level", "told", "rests"), [(4, 4, False), (5, 4, True), (6, 9, False), (7, 9, True)])
def test_it_rests_once_stalls_are_more_than_twice_the_root_of_the_rounds(level, told, rests):
    assert Stall(level, sits=True, base=0.3, highest=8.0).rests(told) is rests


def test_a_rest_is_not_a_stall():
    stall = Stall(5, sits=True, base=0.3, highest=8.0, sat_known=True)
    assert stall.rested == {"level": (4.0,), "multiplier": (0.3,), "known": (1.0,)}
