"""Luck that all cells of a day share is found by comparing cells that are equally full, and taken out."""

from dataclasses import replace

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round
from mfbo.situations import Situations
from mfbo.strategies.default.shared_luck import CellTable, without_shared_luck

STATIONS, DAYS = 30, 8
POPULATION = Population([f"s{i}" for i in range(STATIONS)], size=300)
FACTORS = np.array([1.0, 0.7, 1.2, 0.9, 1.3, 0.8, 1.0, 1.1])


def history(factors, own_luck=0.1, seed=0):
    """Return days on which a few bikes stand elsewhere each time; a station's rides per bike fall with its bikes."""
    rng, rounds = np.random.default_rng(seed), []
    worth = rng.uniform(1.0, 4.0, STATIONS)
    counts = np.full(STATIONS, 10)
    for day, factor in enumerate(factors):
        full, other = rng.choice(STATIONS, 2, replace=False)
        counts = counts + np.eye(STATIONS, dtype=int)[other] - np.eye(STATIONS, dtype=int)[full]
        cells = factor * worth / np.sqrt(counts) * (1.0 + own_luck * rng.standard_normal(STATIONS))
        shares = counts[None] / counts.sum()
        feedback = Feedback(
            float(shares[0] @ cells), ((0, 3, float(cells[3])),), cells[None], counts[None].astype(float)
        )
        rounds.append(Round(Plan(day, shares, counts[None])).done(feedback, shares, told=day))
    return History(POPULATION, tuple(rounds), aim="earn")


def test_the_factors_of_days_are_found():
    told = history(FACTORS).told
    np.testing.assert_allclose(CellTable.of(told).factors(DAYS), FACTORS / FACTORS.mean(), rtol=0.08)


def test_they_are_those_of_least_squares():
    table = CellTable.of(history(FACTORS).told)
    found = table.factors(DAYS)

    def unexplained(factors):
        return table._unexplained(factors, table._levels(factors))

    for day in range(DAYS):
        nudge = 1e-4 * np.eye(DAYS)[day]
        assert unexplained(found) <= min(unexplained(found + nudge), unexplained(found - nudge)) + 1e-9


def test_everything_told_of_a_day_is_divided_by_its_factor():
    told = history(FACTORS)
    usual = without_shared_luck(told)
    factors = CellTable.of(told.told).factors(DAYS)
    for before, after, factor in zip(told.told, usual.told, factors, strict=True):
        assert after.feedback.payoff == pytest.approx(before.feedback.payoff / factor)
        assert after.feedback.agents[0][2] == pytest.approx(before.feedback.agents[0][2] / factor)
        np.testing.assert_allclose(after.feedback.cells, before.feedback.cells / factor)
        np.testing.assert_array_equal(after.feedback.counts, before.feedback.counts)


@pytest.mark.parametrize("seed", range(5))
def test_luck_of_the_cells_alone_is_left_alone(seed):
    told = history(np.ones(DAYS), own_luck=0.3, seed=seed)
    assert without_shared_luck(told) is told


def test_days_whose_cells_have_no_luck_of_their_own_are_left_alone():
    told = history(FACTORS, own_luck=1e-3)  # then all that differs may be what the plans did
    assert without_shared_luck(told) is told


def test_what_situations_say_is_left_to_the_model():
    told = replace(history(FACTORS), situations=Situations.read({"rain": "number"}))
    assert without_shared_luck(told) is told


@pytest.mark.parametrize("days", [0, 1])
def test_too_few_days_are_left_alone(days):
    told = history(FACTORS[:days])
    assert without_shared_luck(told) is told


def test_payoffs_without_cells_are_left_alone():
    rounds = tuple(replace(done, feedback=Feedback(1.0)) for done in history(FACTORS).rounds)
    told = replace(history(FACTORS), rounds=rounds)
    assert without_shared_luck(told) is told
