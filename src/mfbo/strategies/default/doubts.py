"""Wrong numbers: a payoff that is too good to be true is left out until its plan has been told twice.

One wrong payoff, ten times too high, would be the best for ever. A real gain that looks like one loses one round: its
plan is repeated at once, and it is believed when the second payoff is nearer to it than to what was expected, and left
out for good otherwise. Two kinds are in doubt:

- one far above all others, where these are expected again. Who climbs out of a plain leaves all others far below in
  every round, so only a payoff that more than doubles what is believed to have been gained is in doubt;
- the best of exact payoffs, when the model that knows all others is surprised by it: a wrong number may make a bad plan
  just as good as the best. It is not left out while it waits, for models are surprised by real gains too.

Low payoffs are not doubted: bad plans are bad. What a repetition was for, and what was expected, is noted in its round,
so that later payoffs change no verdict; whatever else is in doubt is read off the history.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mfbo.models.unit import NORMAL_QUARTILES
from mfbo.records import History, Note, Round
from mfbo.strategies.default.seen import Seen
from mfbo.strategies.modeled import Belief
from mfbo.strategies.reading import as_if_failed

FEWEST = 8  # payoffs beside the one in doubt from which quartiles, and a model's surprise, mean something
FAR = 5.0  # robust standard deviations above the median beyond which a payoff is in doubt
DOUBLED = 2.0  # times the highest gain believed so far, over the median, beyond which a payoff is in doubt
SURPRISING = 6.0  # standard deviations above what all others say, beyond which the best of exact ones is in doubt
REPEATS = 2  # asks of a plan after which nobody waits for a second payoff any more
REPETITION = "repeats"  # notes the number of the round that is repeated, and the payoff expected if that was wrong


@dataclass(frozen=True)
class Repetition:
    """A round whose plan is to be played again, and the payoff that is expected if its own was wrong."""

    doubted: Round
    expected: float

    @property
    def notes(self) -> dict[str, Note]:
        """What the round that repeats the plan notes."""
        return {REPETITION: (float(self.doubted.number), self.expected)}


@dataclass(frozen=True)
class Doubts:
    """What is not believed of a history.

    rejected: numbers of rounds whose repetition told otherwise. waiting: those to be repeated, the highest first, with
    what is expected instead.
    """

    rejected: frozenset[int] = frozenset()
    waiting: tuple[tuple[int, float], ...] = ()

    @staticmethod
    def of(history: History) -> "Doubts":
        """Look at all population payoffs, more than ``FEWEST``; those of agents or unrepeatable plans are believed."""
        if history.steers != "realized" or history.situations is not None:
            return Doubts()  # a good day is no wrong number, and no other day repeats it
        if any(done.payoff is None for done in history.told):
            return Doubts()
        verdicts = _verdicts(history.told)
        rejected = {number for number, wrong in verdicts.items() if wrong}
        told = [done for done in history.told if done.number not in rejected]
        waiting: list[tuple[int, float]] = []
        far, highest = _far_above(told)
        for done, median in reversed(far):
            second = [_payoff(other) for other in told if other.played_key == done.played_key and other is not done]
            judged = done.number in verdicts
            if second and not judged and not _agrees(_payoff(done), max(second), median):
                rejected.add(done.number)
            elif second or judged or _payoff(done) - median <= DOUBLED * (highest - median):
                highest = max(highest, _payoff(done))
            elif _can_be_repeated(history, done):
                waiting.insert(0, (done.number, median))
        return Doubts(frozenset(rejected), tuple(waiting))

    def believed(self, history: History) -> History:
        """Return the history as if the rounds in doubt had failed."""
        return as_if_failed(history, {*self.rejected, *(number for number, _ in self.waiting)})

    def repeated(self, history: History) -> Repetition | None:
        """Return what is to be played again now; None if none waits, or if it is under way."""
        under_way = {asked.played_key for asked in history.open}
        by_number = {asked.number: asked for asked in history.rounds}
        waiting = (Repetition(by_number[number], expected) for number, expected in self.waiting)
        return next((found for found in waiting if found.doubted.played_key not in under_way), None)


def surprising_best(seen: Seen, belief: Belief) -> Repetition | None:
    """Return the best round if all others contradict it; None if they do not, or if it was told or asked twice."""
    history = seen.history
    if history.steers != "realized" or history.situations is not None:
        return None
    found = getattr(belief.posterior, "leave_one_out", lambda: None)()
    if found is None or len(found[0]) != len(seen.told):
        return None  # some payoffs are left out, so rows are not rounds
    errors, variances = found
    payoffs = [_payoff(done) for done in seen.told]
    place = int(np.argmax(payoffs))
    best = seen.told[place]
    if float(errors[place]) <= SURPRISING * float(variances[place]) ** 0.5:
        return None
    asked = sum(other.played_key == best.played_key for other in history.rounds)
    if asked > 1 or not _can_be_repeated(history, best):
        return None
    unit = belief.note.fit.unit
    told = float(unit.standardized(np.array([payoffs[place]]))[0])
    return Repetition(best, unit.payoff(told - float(errors[place])))


def _verdicts(told: Sequence[Round]) -> dict[int, bool]:
    """Return of every round that was repeated because it was in doubt whether it was wrong, by its number."""
    by_number = {done.number: done for done in told}
    verdicts = {}
    for done in told:
        if REPETITION not in done.notes:
            continue
        number, expected = (float(noted) for noted in done.notes[REPETITION])
        doubted = by_number.get(int(number))
        if doubted is not None and doubted.played_key == done.played_key:  # neither was played otherwise
            verdicts[doubted.number] = not _agrees(_payoff(doubted), _payoff(done), expected)
    return verdicts


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


def _agrees(payoff: float, second: float, expected: float) -> bool:
    """Tell whether what the same plan told otherwise is nearer to this payoff than to what was expected."""
    return second > 0.5 * (payoff + expected)


def _can_be_repeated(history: History, done: Round) -> bool:
    """Tell whether its plan is allowed now, and was not asked too often in vain."""
    region = history.region
    allocation = done.plan.allocation
    allowed = region is None or (allocation is not None and region.contains(allocation))
    asked = sum(1 for other in history.rounds if other.played_key == done.played_key)
    return allowed and asked <= REPEATS
