"""Rows: what one told round says, as linear functionals of the payoff function."""

import numpy as np
import pytest

from mfbo.models import only_system, rows_of_round, system_rows
from mfbo.population import Population
from mfbo.records import Feedback, Plan, Round

POPULATION = Population(["a", "b", "c"], {"young": 0.25, "old": 0.75})
PLAYED = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
SHARES = np.array([[0.05, 0.075, 0.125], [0.45, 0.225, 0.075]])
CELLS = [[1.0, np.nan, 3.0], [np.nan, 5.0, np.nan]]


def told(**feedback):
    return Round(Plan(0, PLAYED)).done(Feedback.read(POPULATION, **feedback), PLAYED, 0)


def one_hot(context, action):
    omega = np.zeros((2, 3))
    omega[context, action] = 1.0
    return omega


def test_a_system_payoff_weighs_every_cell_by_its_share():
    rows = rows_of_round(POPULATION, told(payoff=7.0))
    np.testing.assert_allclose(rows.omega, SHARES[None])
    np.testing.assert_array_equal(rows.values, [7.0])
    np.testing.assert_array_equal(rows.noise_scale, [1.0])


def test_an_agent_is_a_one_hot_row():
    rows = rows_of_round(POPULATION, told(agents=[("old", "b", 2.0), ("young", "c", 4.0)]))
    np.testing.assert_array_equal(rows.omega, [one_hot(1, 1), one_hot(0, 2)])
    np.testing.assert_array_equal(rows.values, [2.0, 4.0])
    np.testing.assert_array_equal(rows.noise_scale, [1.0, 1.0])


def test_a_cell_mean_has_the_noise_of_its_head_count():
    rows = rows_of_round(POPULATION, told(cells=CELLS, counts=[[4, 0, 5], [0, 10, 0]]))
    np.testing.assert_array_equal(rows.omega, [one_hot(0, 0), one_hot(0, 2), one_hot(1, 1)])
    np.testing.assert_array_equal(rows.values, [1.0, 3.0, 5.0])
    np.testing.assert_allclose(rows.noise_scale, [1 / 4, 1 / 5, 1 / 10])


def test_a_cell_mean_without_counts_is_one_agent():
    np.testing.assert_array_equal(rows_of_round(POPULATION, told(cells=CELLS)).noise_scale, [1.0, 1.0, 1.0])


def test_all_kinds_come_in_a_fixed_order():
    rows = rows_of_round(POPULATION, told(cells=CELLS, agents=[("old", "b", 2.0)], payoff=7.0))
    np.testing.assert_array_equal(rows.values, [7.0, 2.0, 1.0, 3.0, 5.0])


def test_every_row_carries_the_shares_that_were_played():
    rows = rows_of_round(POPULATION, told(payoff=7.0, agents=[("old", "b", 2.0)]))
    np.testing.assert_allclose(rows.shares, [SHARES, SHARES])


def test_every_row_sums_to_one():
    rows = rows_of_round(POPULATION, told(payoff=7.0, agents=[("old", "b", 2.0)], cells=CELLS))
    np.testing.assert_allclose(rows.omega.sum(axis=(1, 2)), 1.0)


def test_system_rows_are_what_a_round_gives():
    direct, of_round = system_rows(SHARES[None], np.array([7.0])), rows_of_round(POPULATION, told(payoff=7.0))
    np.testing.assert_allclose(direct.omega, of_round.omega)
    np.testing.assert_allclose(direct.shares, of_round.shares)
    assert len(direct) == len(of_round) == 1


@pytest.mark.parametrize(
    ("feedback", "answer"),
    [
        ({"payoff": 1.0}, True),
        ({"payoff": 1.0, "agents": [("old", "b", 2.0)]}, False),
        ({"payoff": 1.0, "cells": CELLS}, False),
        ({"cells": CELLS}, False),
    ],
)
def test_only_system_payoffs(feedback, answer):
    assert only_system((told(payoff=1.0), told(**feedback))) is answer
