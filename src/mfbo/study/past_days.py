"""Which of some past days a study has already, so that bringing them along can be repeated."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.records import Round

SAME_SHARE = 1e-12
_WIDTH = 1e-9  # days that differ by less than this along one direction are compared in full


class DayLookup:
    """Past days, each of which answers for one equal day: same payoff and situation, same shares up to rounding.

    Payoffs are compared as they were told: a total stays the same if the fleet has changed since.

    Days are found by payoff and by their projection on one fixed direction, so n days cost n looks.
    """

    def __init__(self, rounds: Iterable[Round]) -> None:
        self._days: dict[tuple[Any, ...], list[FloatArray]] = defaultdict(list)
        for asked in rounds:
            if asked.added:
                self._days[asked.as_told, _said(asked), _place(asked.played)].append(asked.played)

    def take(self, day: Round) -> bool:
        """Tell whether an equal day is there, and use it up."""
        place = _place(day.played)
        for near in (place, place - 1, place + 1):
            others = self._days.get((day.as_told, _said(day), near), [])
            for index in range(len(others) - 1, -1, -1):
                if np.abs(others[index] - day.played).max() <= SAME_SHARE:
                    del others[index]
                    return True
        return False


def _said(day: Round) -> frozenset[Any]:
    return frozenset(day.situation.items())


def _place(shares: FloatArray) -> int:
    direction = np.sin(np.arange(1.0, shares.size + 1.0))  # numbers without a pattern, below 1
    return int(np.floor(float(shares.reshape(-1) @ direction) / _WIDTH))
