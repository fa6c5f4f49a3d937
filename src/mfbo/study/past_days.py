"""Which of some past days a study has already, so that bringing them along can be repeated."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.records import Round
from mfbo.situations import Situation

SAME_SHARE = 1e-12
_WIDTH = 1e-9  # days that differ by less than this along one direction are compared in full


class DayLookup:
    """Past days, each of which answers for one equal day: same payoff and situation, same shares up to rounding.

    Payoffs are compared as they were told: a total stays the same if the fleet has changed since. A day that was
    amended answers as it is now believed, or as it was brought along: the file it came from still says so.

    Days are found by payoff and by their projection on one fixed direction, so n days cost n looks.
    """

    def __init__(self, rounds: Iterable[Round]) -> None:
        self._days: dict[tuple[Any, ...], list[tuple[int, FloatArray]]] = defaultdict(list)
        self._used: set[int] = set()
        for asked in rounds:
            if asked.added:
                self._put(asked.number, asked.as_told, asked.situation, asked.played)
            if asked.brought is not None:
                self._put(asked.number, *asked.brought, asked.plan.realized)

    def _put(self, number: int, payoff: float | None, situation: Situation, shares: FloatArray) -> None:
        self._days[payoff, frozenset(situation.items()), _place(shares)].append((number, shares))

    def take(self, day: Round) -> bool:
        """Tell whether an equal day is there, and use it up."""
        place, said = _place(day.played), frozenset(day.situation.items())
        for near in (place, place - 1, place + 1):
            others = self._days.get((day.as_told, said, near), [])
            for index in range(len(others) - 1, -1, -1):
                number, shares = others[index]
                if number in self._used:
                    del others[index]
                elif np.abs(shares - day.played).max() <= SAME_SHARE:
                    self._used.add(number)
                    del others[index]
                    return True
        return False


def _place(shares: FloatArray) -> int:
    direction = np.sin(np.arange(1.0, shares.size + 1.0))  # numbers without a pattern, below 1
    return int(np.floor(float(shares.reshape(-1) @ direction) / _WIDTH))
