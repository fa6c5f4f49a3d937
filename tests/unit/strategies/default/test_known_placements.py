"""Whole agents are not sent where they already were."""

import numpy as np

from mfbo import History, Plan, Population, Round
from mfbo.simplex import quota
from mfbo.strategies.default.known_placements import PLAYED_OFTEN, KnownPlacements
from mfbo.strategies.default.seen import Seen

POPULATION = Population(["a", "b", "c"], size=6)


def history_of(*allocations, steers="realized"):
    rounds = [Round(Plan(i, np.array([row]) / 6, np.array([row]))) for i, row in enumerate(allocations)]
    return History(POPULATION, tuple(rounds), steers=steers)


def known(history):
    return KnownPlacements.of(Seen.of(history, "exact"))


def toward_c(distribution):
    return float(distribution[0, 2]), np.zeros((1, 3))


def test_an_allocation_is_known_if_it_was_played_or_is_open():
    placements = known(history_of([2, 2, 2]))
    assert placements.hold(np.array([[0.34, 0.33, 0.33]]))
    assert not placements.hold(np.array([[0.6, 0.2, 0.2]]))


def test_sampled_agents_and_the_mean_field_limit_know_no_allocation():
    assert not known(history_of([2, 2, 2], steers="planned")).hold(np.full((1, 3), 1 / 3))
    limit = History(POPULATION.with_size(None), history_of([2, 2, 2]).rounds)
    assert not known(limit).hold(np.full((1, 3), 1 / 3))


def test_a_new_allocation_is_left_alone():
    plan = np.array([[0.6, 0.2, 0.2]])
    assert known(history_of([2, 2, 2])).left(plan, toward_c, np.random.default_rng(0)) is plan


def test_a_known_allocation_moves_one_agent_to_the_most_promising_place():
    found = known(history_of([2, 2, 2])).left(np.full((1, 3), 1 / 3), toward_c, np.random.default_rng(0))
    counts = quota(found[0], 6)
    assert counts[2] == 3
    assert counts.sum() == 6


def test_a_move_that_limits_forbid_is_not_made():
    full = Population(["a", "b", "c"], size=6, capacity={"c": 2})
    rounds = (Round(Plan(0, np.full((1, 3), 1 / 3), np.array([[2, 2, 2]]))),)
    found = known(History(full, rounds)).left(np.full((1, 3), 1 / 3), toward_c, np.random.default_rng(0))
    assert quota(found[0], 6)[2] <= 2


def test_a_single_action_stays_where_it_is():
    lonely = Population(["only"], size=3)
    history = History(lonely, (Round(Plan(0, np.ones((1, 1)), np.array([[3]]))),))
    plan = np.ones((1, 1))
    assert known(history).left(plan, toward_c, np.random.default_rng(0)) is plan


def test_where_payoffs_drift_an_allocation_is_known_for_a_tenth_of_their_length():
    seen = Seen.of(history_of([2, 2, 2], *[[6, 0, 0]] * 3), "exact")
    even = np.full((1, 3), 1 / 3)
    assert [KnownPlacements.of(seen, memory).hold(even) for memory in (30.0, 40.0, None)] == [False, True, True]


def test_under_noise_an_allocation_is_known_once_it_was_played_often():
    even = np.full((1, 3), 1 / 3)
    often = [
        KnownPlacements.of(Seen.of(history_of(*[[2, 2, 2]] * times), "noisy")).hold(even)
        for times in (PLAYED_OFTEN - 1, PLAYED_OFTEN)
    ]
    assert often == [False, True]
