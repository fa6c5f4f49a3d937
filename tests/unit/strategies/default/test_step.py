"""The step of an earning study with exact payoffs is spread over places where many agents stand."""

import numpy as np
import pytest

from mfbo import History, Population
from mfbo.strategies.default.seen import Seen
from mfbo.strategies.default.step import SPREAD, Step
from mfbo.strategies.default.whole_moves import FEW

PLACES = 20
FEW_AGENTS, MANY_AGENTS = FEW * PLACES, 100 * PLACES
EVEN, FAR = np.full((1, PLACES), 1 / PLACES), np.eye(PLACES)[[0]]


def stepped(size, share, kind="exact", center=EVEN, **limits):
    """Return where a step from a center towards one place leads, (A,)."""
    seen = Seen.of(History(Population([f"s{i}" for i in range(PLACES)], size=size, **limits)), kind)
    return Step(share).region(seen, center).projected(FAR)[0]


@pytest.mark.parametrize("size", [MANY_AGENTS, None])
def test_no_place_changes_by_more_than_so_many_steps(size):
    change = np.abs(stepped(size, 0.02) * PLACES - 1.0)
    assert change.max() == pytest.approx(SPREAD * 0.02, abs=1e-5)


@pytest.mark.parametrize(("size", "kind"), [(FEW_AGENTS, "exact"), (MANY_AGENTS, "street")])
def test_few_agents_and_noisy_days_are_held_to_the_number_of_moves_alone(size, kind):
    assert stepped(size, 0.02, kind)[0] == pytest.approx(1 / PLACES + 0.02, abs=1e-5)


def test_an_empty_place_may_fill_up_as_an_even_one_does():
    center = np.full((1, PLACES), 1 / (PLACES - 1))
    center[0, 0] = 0.0
    assert stepped(MANY_AGENTS, 0.04, center=center)[0] == pytest.approx(SPREAD * 0.04 / PLACES, abs=1e-5)


def test_a_center_that_breaks_a_limit_is_mended_first():
    capacity = [MANY_AGENTS // 10] * PLACES
    crowded = np.full((1, PLACES), 0.7 / (PLACES - 1))
    crowded[0, 0] = 0.3
    assert stepped(MANY_AGENTS, 0.02, center=crowded, capacity=capacity)[0] == pytest.approx(0.1, abs=1e-5)
