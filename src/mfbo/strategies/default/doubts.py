"""Wrong numbers: a payoff far above all others is left out until its plan has been told twice, so it is played again.

One wrong payoff, ten times too high, would be the best for ever. A real gain this large loses one round: it is repeated
at once, believed when the second payoff is nearer to it than to the others, and left out for good otherwise. Who climbs
out of a plain leaves all others far below in every round, so only a payoff that more than doubles what is believed to
have been gained is in doubt. All of it is read off the history, so nothing has to be noted. Low payoffs are not
doubted: bad plans are bad.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mfbo.models.gaussian_process import NORMAL_QUARTILES
from mfbo.records import History, Round
from mfbo.strategies.reading import as_if_failed

FEWEST = 8  # payoffs beside the one in doubt from which quartiles mean something
FAR = 5.0  # robust standard deviations above the median beyond which a payoff is in doubt
DOUBLED = 2.0  # times the highest gain believed so far, over the median, beyond which a payoff is in doubt
REPEATS = 2  # asks of a plan after which nobody waits for a second payoff any more


@dataclass(frozen=True)
class Doubts:
    """What is not believed of a history.

    rejected: numbers of rounds whose repetition told otherwise. waiting: those to be repeated, the highest first.
    """

    rejected: frozenset[int] = frozenset()
    waiting: tuple[int, ...] = ()

    @staticmethod
    def of(history: History) -> "Doubts":
        """Look at all population payoffs, more than ``FEWEST``; those of agents or unrepeatable plans are believed."""
        told = history.told
        if history.steers != "realized" or history.situations is not None:
            return Doubts()  # a good day is no wrong number, and no other day repeats it
        if any(done.payoff is None for done in told):
            return Doubts()
        rejected: set[int] = set()
        waiting: list[int] = []
        far, highest = _far_above(told)
        for done, median in reversed(far):
            second = [_payoff(other) for other in told if other.played_key == done.played_key and other is not done]
            if second and not _agrees(_payoff(done), second, median):
                rejected.add(done.number)
            elif second or _payoff(done) - median <= DOUBLED * (highest - median):
                highest = max(highest, _payoff(done))
            elif _can_be_repeated(history, done):
                waiting.insert(0, done.number)
        return Doubts(frozenset(rejected), tuple(waiting))

    def believed(self, history: History) -> History:
        """Return the history as if the rounds in doubt had failed."""
        return as_if_failed(history, {*self.rejected, *self.waiting})

    def repeated(self, history: History) -> Round | None:
        """Return the round whose plan is to be played again now; None if none waits, or if it is under way."""
        if not self.waiting:
            return None
        under_way = {asked.played_key for asked in history.open}
        by_number = {asked.number: asked for asked in history.rounds}
        waiting = (by_number[number] for number in self.waiting)
        return next((done for done in waiting if done.played_key not in under_way), None)


def _payoff(done: Round) -> float:
    return 0.0 if done.payoff is None else done.payoff  # only rounds with a population payoff are looked at


def _far_above(told: Sequence[Round]) -> tuple[list[tuple[Round, float]], float]:
    """Return the rounds far above the others, the highest first, with the others' median; and the highest below."""
    far: list[tuple[Round, float]] = []
    for done in sorted(told, key=lambda done: (-_payoff(done), done.number)):
        others = [_payoff(other) for other in told if other.played_key != done.played_key]
        if len(others) < FEWEST or _payoff(done) <= _limit(others):
            return far, _payoff(done)  # all that follow are lower
        far.append((done, float(np.median(others))))
    return far, float("-inf")


def _limit(payoffs: Sequence[float]) -> float:
    """Return the payoff beyond which one is in doubt beside these."""
    lower, median, upper = np.percentile(payoffs, [25.0, 50.0, 75.0])
    return float(median + FAR * (upper - lower) / NORMAL_QUARTILES)


def _agrees(payoff: float, second: Sequence[float], median: float) -> bool:
    """Tell whether what the same plan told otherwise is nearer to this payoff than to the others."""
    return max(second) > 0.5 * (payoff + median)


def _can_be_repeated(history: History, done: Round) -> bool:
    """Tell whether its plan is allowed now, and was not asked too often in vain."""
    region = history.region
    allocation = done.plan.allocation
    allowed = region is None or (allocation is not None and region.contains(allocation))
    asked = sum(1 for other in history.rounds if other.played_key == done.played_key)
    return allowed and asked <= REPEATS
