"""Where the search begins, and how full it trusts an action to become."""

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round
from mfbo.strategies.default import search
from mfbo.strategies.default.search import Starts, trusted_occupancy
from mfbo.strategies.default.seen import Seen

LAST, FAR = np.array([[0.5, 0.5]]), np.array([[0.9, 0.1]])


def starts(incumbent: np.ndarray, rounds: int = 2) -> Starts:
    told = tuple(Round(Plan(i, LAST)).done(Feedback(1.0), LAST, i) for i in range(rounds))
    seen = Seen.of(History(Population(["a", "b"]), told), "exact")
    return Starts.of(seen, incumbent, np.random.default_rng(0))


def names(chosen: Starts) -> list[str]:
    known = {id(chosen.last): "last", id(chosen.incumbent): "incumbent", id(chosen.random): "random"}
    return [known[id(start)] for start in chosen.every]


def test_the_last_plan_the_incumbent_and_a_random_one_are_climbed():
    chosen = starts(FAR)
    assert names(chosen) == ["last", "incumbent", "random"]
    assert chosen.incumbent is FAR


def test_an_incumbent_that_is_nearly_the_last_plan_is_not_climbed_twice():
    chosen = starts(LAST + np.array([[1e-3, -1e-3]]))
    assert names(chosen) == ["incumbent", "random"]
    assert chosen.incumbent is LAST


def test_after_many_rounds_the_last_plan_is_left_out(monkeypatch):
    monkeypatch.setattr(search, "ROUND_BUDGET", 1)
    assert names(starts(FAR)) == ["incumbent", "random"]


@pytest.mark.parametrize("budget", [1, 9])
def test_a_plan_takes_the_place_of_the_first_start(monkeypatch, budget):
    monkeypatch.setattr(search, "ROUND_BUDGET", budget)
    chosen = starts(FAR)
    plan = np.array([[0.2, 0.8]])
    first, *others = chosen.instead_of_first(plan).every
    assert first is plan
    assert all(map(np.array_equal, others, chosen.every[1:]))
    assert len(others) == len(chosen.every) - 1


def test_an_action_may_become_twice_as_full_as_ever_seen_or_as_an_even_share():
    occupancies = np.array([[0.7, 0.2, 0.1, 0.0], [0.1, 0.4, 0.4, 0.1]])
    np.testing.assert_allclose(trusted_occupancy(occupancies, 2.0), [1.4, 0.8, 0.8, 0.5])
