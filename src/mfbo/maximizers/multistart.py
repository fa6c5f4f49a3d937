"""Climbing from several starts and keeping the best."""

import math
from collections.abc import Callable, Sequence

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError

Climb = Callable[[FloatArray], tuple[FloatArray, float]]


def best_climb(climb: Climb, starts: Sequence[FloatArray]) -> tuple[FloatArray, float]:
    """Return the best (distribution, value) over all starts; the earlier wins a tie, any finite value beats NaN."""
    if not starts:
        raise InvalidInputError("a maximizer needs at least one start")
    return max((climb(start) for start in starts), key=lambda found: found[1] if math.isfinite(found[1]) else -math.inf)
