"""How much one caller may ask for in a time: a bucket of drops for each address, refilled evenly."""

import time
from collections import OrderedDict

MOST_CALLERS = 10_000  # whose buckets are remembered; the longest silent ones are forgotten


class Rate:
    """So many a second on the long run, and ``burst`` at once."""

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second = per_second
        self._burst = burst
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # caller → drops left, when

    def allows(self, caller: str) -> bool:
        """Take one drop from a caller's bucket; False if it is empty."""
        left = self._left(caller)
        taken = left >= 1.0
        self._buckets[caller] = (left - taken, time.monotonic())
        self._buckets.move_to_end(caller)
        if len(self._buckets) > MOST_CALLERS:
            self._buckets.popitem(last=False)
        return taken

    def is_empty(self, caller: str) -> bool:
        """Tell whether a caller has no drop left; none is taken."""
        return self._left(caller) < 1.0

    def _left(self, caller: str) -> float:
        left, at = self._buckets.get(caller, (self._burst, 0.0))
        return min(self._burst, left + (time.monotonic() - at) * self._per_second)
