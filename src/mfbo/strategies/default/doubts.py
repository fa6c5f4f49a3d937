"""Wrong numbers: a payoff that is too good to be true is not believed before its plan has been told twice.

One wrong payoff, ten times too high, would be the best for ever. A real gain that looks like one loses one round: what
was played is played again at once, and the payoff is believed unless the second one disproves it. Two kinds are in
doubt:

- one far above all others, where these are expected again. Who climbs out of a plain leaves all others far below in
  every round, so only a payoff that more than doubles what is believed to have been gained is in doubt, and it is left
  out while it waits;
- the best of exact payoffs, when the model that knows all others is surprised by it: a wrong number may make a bad plan
  just as good as the best. It stays in while it waits, for models are surprised by real gains too. Where another plan
  was told the same payoff twice, any other second payoff disproves it.

Low payoffs are not doubted: bad plans are bad. What a repetition is for, and what is expected, is noted in its round:
later payoffs change no verdict, and nobody waits for ever where the plan is never played as planned.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import DamageError
from mfbo.models.unit import NORMAL_QUARTILES
from mfbo.population import Population
from mfbo.records import History, Note, Round
from mfbo.simplex import whole_agents
from mfbo.strategies.default.seen import REPLICATE_TOLERANCE, Seen
from mfbo.strategies.modeled import Belief
from mfbo.strategies.reading import as_if_failed

FEWEST = 8  # payoffs beside the one in doubt from which quartiles, and a model's surprise, mean something
FAR = 5.0  # robust standard deviations above the median beyond which a payoff is in doubt
DOUBLED = 2.0  # times the highest gain believed so far, over the median, beyond which a payoff is in doubt
SURPRISING = 6.0  # standard deviations above what all others say, beyond which the best of exact ones is in doubt
REPEATS = 2  # repetitions after which nobody waits for a second payoff any more
NEARLY = 0.05  # share of the agents that may stand elsewhere in a repetition that still says something
REPETITION = "repeats"  # notes the number of the doubted round, the payoff expected if it is wrong, and whether exact
NEVER_PLAYED = ("abandoned", "withdrawn")  # states of rounds that do not count as repetitions


@dataclass(frozen=True)
class Repetition:
    """A round that is to be played again.

    expected: its payoff if the told one is wrong. exact: whether payoffs are known to be exact.
    """

    doubted: Round
    expected: float
    exact: bool = False

    @property
    def played(self) -> FloatArray:
        """What to play again, (C, A)."""
        return self.doubted.played

    @property
    def notes(self) -> dict[str, Note]:
        """What the round that repeats it notes."""
        return {REPETITION: (float(self.doubted.number), self.expected, float(self.exact))}

    def is_due(self, history: History) -> bool:
        """Tell whether to ask for it now: it is allowed, not under way, and was not asked too often in vain."""
        region, population = history.region, history.population
        if region is not None and not region.contains(whole_agents(self.played, population.context_totals)):
            return False
        others = self._asked(history)
        return len(others) < REPEATS and not any(asked.state == "open" for asked in others)

    def is_under_way(self, history: History) -> bool:
        """Tell whether it was asked for and not told yet."""
        return any(asked.state == "open" for asked in self._asked(history))

    def _asked(self, history: History) -> list[Round]:
        return [asked for asked in history.rounds if self._is_of(asked)]

    def _is_of(self, asked: Round) -> bool:
        if asked.state in NEVER_PLAYED or asked.number == self.doubted.number:
            return False
        noted = _noted(asked)
        return asked.played_key == self.doubted.played_key or (noted is not None and noted[0] == self.doubted.number)

    def disproved_by(self, second: Round, population: Population) -> bool | None:
        """Tell whether what was told of a repetition disproves the payoff; None if too much was played otherwise.

        population: whose size a round has that names none of its own.
        """
        moved = 0.5 * float(np.abs(second.played - self.played).sum()) / len(self.played)
        fleets = [fleet_of(done, population) or 1 for done in (self.doubted, second)]
        if max(moved, abs(fleets[1] - fleets[0]) / fleets[0]) > NEARLY:
            return None
        told, again = _payoff(self.doubted), _payoff(second)
        if self.exact and second.played_key == self.doubted.played_key and fleets[0] == fleets[1]:
            return abs(again - told) > REPLICATE_TOLERANCE * max(abs(again), abs(told))
        return _disproves(again, told, self.expected)


@dataclass(frozen=True)
class Doubts:
    """What is not believed of a history.

    rejected: numbers of rounds whose repetition told otherwise. waiting: those to be repeated, the highest first.
    """

    rejected: frozenset[int] = frozenset()
    waiting: tuple[Repetition, ...] = ()

    @staticmethod
    def of(history: History) -> "Doubts":
        """Look at all population payoffs, more than ``FEWEST``; those of agents or unrepeatable plans are believed."""
        if history.steers != "realized" or history.situations is not None:
            return Doubts()  # a good day is no wrong number, and no other day repeats it
        if any(done.payoff is None for done in history.told):
            return Doubts()
        verdicts = _verdicts(history)
        rejected = {number for number, wrong in verdicts.items() if wrong}
        told = [done for done in history.told if done.number not in rejected]
        waiting: list[Repetition] = []
        far, highest = _far_above(told)
        for done, median in reversed(far):
            second = [_payoff(other) for other in told if other.played_key == done.played_key and other is not done]
            judged, repetition = done.number in verdicts, Repetition(done, median)
            if second and not judged and _disproves(max(second), _payoff(done), median):
                rejected.add(done.number)
            elif second or judged or _payoff(done) - median <= DOUBLED * (highest - median):
                highest = max(highest, _payoff(done))
            elif repetition.is_due(history) or repetition.is_under_way(history):
                waiting.insert(0, repetition)
        return Doubts(frozenset(rejected), tuple(waiting))

    def believed(self, history: History) -> History:
        """Return the history as if the rounds in doubt had failed."""
        return as_if_failed(history, {*self.rejected, *(waits.doubted.number for waits in self.waiting)})

    def repeated(self, history: History) -> Repetition | None:
        """Return what is to be played again now; None if none waits, or if it is under way."""
        return next((waits for waits in self.waiting if waits.is_due(history)), None)


def surprising_best(seen: Seen, belief: Belief) -> Repetition | None:
    """Return the best round if all others contradict it; None if they do not, or if it cannot be repeated now."""
    history = seen.history
    if history.steers != "realized" or history.situations is not None:
        return None
    found = getattr(belief.posterior, "leave_one_out", lambda: None)()
    if found is None or len(found[0]) != len(seen.told):
        return None  # some payoffs are left out, so rows are not rounds
    errors, variances = found
    payoffs = [_payoff(done) for done in seen.told]
    place = int(np.argmax(payoffs))
    best, error = seen.told[place], float(errors[place])
    keys = [done.played_key for done in seen.told]
    if error <= SURPRISING * float(variances[place]) ** 0.5 or keys.count(best.played_key) > 1:
        return None
    exact = len(set(keys)) < len(keys)  # some plan was told twice, and the same
    repetition = Repetition(best, payoffs[place] - belief.note.fit.scale * error, exact)
    same_fleet = fleet_of(best, history.population) == history.population.size  # another may bring another payoff
    return repetition if same_fleet and repetition.is_due(history) else None


def _noted(asked: Round) -> tuple[int, float, bool] | None:
    """Return what a round notes of the one that it repeats; None if it repeats none."""
    if REPETITION not in asked.notes:
        return None
    try:
        number, expected, exact = map(float, asked.notes[REPETITION])
        if not np.isfinite(expected):
            raise ValueError("no payoff")
        return int(number), expected, exact == 1.0
    except (TypeError, ValueError, OverflowError) as error:
        raise DamageError(f"a round's note {REPETITION!r} is not what this strategy writes: {error!r}") from error


def fleet_of(done: Round, population: Population) -> int | None:
    """Return how many agents a round was planned for; None in the mean-field limit."""
    return population.size if done.size is None else done.size


def _verdicts(history: History) -> dict[int, bool]:
    """Return of every round that was repeated because it was in doubt whether it was wrong, by its number."""
    by_number = {done.number: done for done in history.told}
    verdicts: dict[int, bool] = {}
    for done in history.told:
        noted = _noted(done)
        if noted is None or noted[0] not in by_number or noted[0] == done.number:
            continue
        verdict = Repetition(by_number[noted[0]], *noted[1:]).disproved_by(done, history.population)
        if verdict is not None:
            verdicts.setdefault(noted[0], verdict)  # the first one that says something
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


def _disproves(second: float, told: float, expected: float) -> bool:
    """Tell whether a second payoff of the same plan is nearer to what was expected than to what was told."""
    return abs(second - expected) <= abs(second - told)
