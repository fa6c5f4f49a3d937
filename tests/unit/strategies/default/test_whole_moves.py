"""Single agents are moved to where the acquisition is highest, within the region, if there are few of them."""

import numpy as np
import pytest

from mfbo import History, Population
from mfbo.strategies.default.seen import Seen
from mfbo.strategies.default.step import Step
from mfbo.strategies.default.whole_moves import WholeMoves

TARGET = np.array([[0.35, 0.05, 0.3, 0.3], [0.1, 0.5, 0.2, 0.2]])
EVEN = np.full((2, 4), 0.25)


def near_target(distribution):
    """The acquisition: the nearer to the target, the better."""
    return -float(((distribution - TARGET) ** 2).sum()), -2.0 * (distribution - TARGET)


def seen_by(size, region_of=None):
    population = Population(["a", "b", "c", "d"], contexts={"x": 0.5, "y": 0.5}, size=size)
    seen = Seen.of(History(population), "exact")
    return seen if region_of is None else Seen(seen.history, (), "exact", Step(region_of).region(seen, EVEN))


def single_moves(counts):
    for context in range(2):
        for left in np.flatnonzero(counts[context]):
            for taken in range(4):
                other = counts.copy()
                other[context, left] -= 1
                other[context, taken] += 1
                yield other


def test_no_single_move_betters_where_it_ends():
    plan = WholeMoves(seen_by(24), near_target).onwards_from(EVEN)
    counts = np.round(12 * plan)
    np.testing.assert_allclose(plan, counts / 12)
    assert max(near_target(other / 12)[0] for other in single_moves(counts)) <= near_target(plan)[0]
    assert near_target(plan)[0] > near_target(EVEN)[0]


def test_the_region_is_kept():
    plan = WholeMoves(seen_by(24, region_of=1 / 12), near_target).onwards_from(EVEN)
    assert 12 * np.abs(plan - EVEN).sum() / 2 == pytest.approx(2.0)  # of 24 agents a twelfth may stand elsewhere


def test_a_full_action_that_promises_most_does_not_stop_other_moves():
    names = [f"a{place}" for place in range(20)]
    population = Population(names, size=60, capacity={"a0": 2})
    worth = np.linspace(9.0, 0.0, 20)[None]
    seen = Seen.of(History(population), "exact")

    def linear(distribution):
        return float((distribution * worth).sum()), worth

    plan = WholeMoves(seen, linear).onwards_from(seen.allowed(np.full((1, 20), 0.05)))
    assert (60 * plan[0])[0] <= 2.0 + 1e-9
    assert linear(plan)[0] > 7.0


@pytest.mark.parametrize("size", [None, 1000])
def test_many_agents_are_left_as_the_climb_has_spread_them(size):
    plan = np.tile([0.241, 0.259, 0.25, 0.25], (2, 1))
    assert WholeMoves(seen_by(size), near_target).onwards_from(plan) is plan
