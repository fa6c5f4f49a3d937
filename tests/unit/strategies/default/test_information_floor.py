"""Optimism under noise: raised until a plan teaches something, lowered step by step, none in greedy rounds."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from mfbo import History, Plan, Population, Round
from mfbo.strategies.default.information_floor import FLOOR, GREEDY_EVERY, GREEDY_FROM, RAISE, InformationFloor
from mfbo.strategies.default.search import Starts
from mfbo.strategies.default.seen import Seen

EVEN = np.full((1, 2), 0.5)
STARTS = Starts(None, EVEN, EVEN)


def after(rounds: int, multiplier: float | None = None) -> Seen:
    notes = {} if multiplier is None else {"multiplier": (multiplier,)}
    asked = tuple(Round(Plan(i, EVEN), notes) for i in range(rounds))
    return Seen.of(History(Population(["a", "b"]), asked), "noisy")


@dataclass
class Doubtful:
    """A search whose plan of multiplier m has variance m²; it remembers the multipliers."""

    climbs: list[float] = field(default_factory=list)

    @property
    def posterior(self) -> "Doubtful":
        return self

    def climbed(self, multiplier, starts):
        self.climbs.append(multiplier)
        return np.array([[multiplier, 0.0]])

    def population(self, plan):
        return SimpleNamespace(variance=float(plan[0, 0]) ** 2)


def test_it_begins_at_the_base():
    floor = InformationFloor.of(after(3), 0.25, base=1.5, highest=8.0)
    assert floor == InformationFloor(1.5, 8.0, FLOOR * FLOOR * 0.25, greedy=False)


@pytest.mark.parametrize(("noted", "multiplier"), [(8.0, 8.0 / RAISE), (1.6, 1.5)])
def test_it_goes_on_one_step_below_the_noted_multiplier_but_not_below_the_base(noted, multiplier):
    assert InformationFloor.of(after(3, noted), 0.25, base=1.5, highest=8.0).multiplier == multiplier


def test_where_payoffs_drift_every_plan_teaches():
    floor = InformationFloor.of(after(3, 8.0), 0.25, base=1.5, highest=8.0, drifts=True)
    assert floor == InformationFloor(1.5, 1.5, 0.0, greedy=False)


def test_a_plan_that_teaches_enough_is_taken_at_once():
    search = Doubtful()
    _, floor = InformationFloor(1.5, 8.0, 1.0, greedy=False).climbed(search, STARTS)
    assert search.climbs == [1.5]
    assert floor.notes == {"multiplier": (1.5,)}


def test_optimism_rises_until_a_plan_teaches_enough():
    search = Doubtful()
    plan, floor = InformationFloor(1.5, 8.0, 3.0**2, greedy=False).climbed(search, STARTS)
    assert search.climbs == [1.5, 1.5 * RAISE, 1.5 * RAISE * RAISE]
    assert floor.multiplier == plan[0, 0] == search.climbs[-1]


def test_optimism_has_a_ceiling():
    _, floor = InformationFloor(1.5, 2.0, 100.0, greedy=False).climbed(Doubtful(), STARTS)
    assert floor.multiplier == 2.0


def test_later_every_fifth_round_is_greedy_and_keeps_the_noted_multiplier():
    greedy = [number for number in range(1, 42) if InformationFloor.of(after(number), 1.0, 1.5, 8.0).greedy]
    assert greedy == list(range(GREEDY_FROM, 42, GREEDY_EVERY))
    search = Doubtful()
    _, floor = InformationFloor.of(after(GREEDY_FROM, 5.0), 1.0, 1.5, 8.0).climbed(search, STARTS)
    assert search.climbs == [0.0]
    assert floor.notes == {"multiplier": (5.0,)}
