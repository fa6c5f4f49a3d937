"""The history of a study: the population and its rounds so far, sorted once, and what follows from them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.cards import Card, Shown
from mfbo.population import Population
from mfbo.records.plan import Notes
from mfbo.records.rounds import Round
from mfbo.simplex import Region
from mfbo.situations import Situation, Situations

Aim = Literal["find", "earn"]
RISK = 0.05  # what a round may cost against the status quo if nobody says otherwise, in shares of what it earns


@dataclass(frozen=True, eq=False, repr=False)
class History(Shown):
    """All that a strategy may know: the population and the rounds so far, in the order of asks.

    noise: known standard deviation of one told payoff; None when unknown.
    steers: which distribution the designer controls, the realized one or (sampled agents) the planned one.
    now: where agents stand, (C, A), if they were counted after the last round.
    aim: what counts, the final plan ("find") or the sum over all rounds ("earn"). status_quo: the distribution (C, A)
    that would be played otherwise; None if nobody said. risk: what a round may cost against it, in shares of what it
    earns; None: anything. planned: whether somebody chose the status quo, instead of finding agents there.
    corrections: how often rounds were corrected or the population changed so far: what was fitted before the last time
    is out of date. situations: what is known to differ between rounds; None: nothing. situation: that of the round
    being planned, or in which plans are judged.
    """

    population: Population
    rounds: tuple[Round, ...] = ()
    noise: float | None = None
    steers: Literal["realized", "planned"] = "realized"
    now: IntArray | None = None
    aim: Aim = "find"
    status_quo: FloatArray | None = None
    risk: float | None = RISK
    planned: bool = False
    corrections: int = 0
    situations: Situations | None = None
    situation: Situation = field(default_factory=dict)

    @cached_property
    def told(self) -> tuple[Round, ...]:
        """Finished rounds in the order in which they were told."""
        done = [asked for asked in self.rounds if asked.state == "done"]
        return tuple(sorted(done, key=lambda finished: -1 if finished.told is None else finished.told))

    @cached_property
    def open(self) -> tuple[Round, ...]:
        """Rounds that were asked and not yet told."""
        return tuple(asked for asked in self.rounds if asked.state == "open")

    @property
    def steered(self) -> FloatArray:
        """What the designer controlled in each told round, (m, C, A), m ≥ 1, see ``steers``; put together anew."""
        controlled = attrgetter("plan.distribution" if self.steers == "planned" else "played")
        return np.stack(list(map(controlled, self.told)))

    @cached_property
    def next_word(self) -> int:
        """The position of the next word on where agents stand, see ``Round.seen``."""
        return 1 + max((asked.seen for asked in self.rounds if asked.seen is not None), default=-1)

    @cached_property
    def next_told(self) -> int:
        """The position of the next tell; that of a withdrawn round stays its own."""
        return 1 + max((asked.told for asked in self.rounds if asked.told is not None), default=-1)

    def after(self, changed: Round) -> "History":
        """Return the history with a new round, or with one that was open as it is now; nothing is sorted again."""
        number = changed.plan.number
        still_open = []
        for asked in self.open:
            if asked.plan.number != number:
                still_open.append(asked)
            elif changed.state == "open":
                still_open.append(changed)
        if changed.state == "open" and number == len(self.rounds):
            still_open.append(changed)
        rounds = (*self.rounds[:number], changed, *self.rounds[number + 1 :])
        situations = self._knowing([changed]) if changed.situation else self.situations
        grown = replace(self, rounds=rounds, situations=situations)
        vars(grown).update(  # what the cached properties would find
            told=(*self.told, changed) if changed.state == "done" else self.told,
            open=tuple(still_open),
            next_word=self.next_word if changed.seen is None else max(self.next_word, changed.seen + 1),
            next_told=self.next_told if changed.told is None else max(self.next_told, changed.told + 1),
        )
        return grown

    def with_past(self, days: Sequence[Round]) -> "History":
        """Return the history with days that were played outside the study, told last."""
        longer = replace(self, rounds=(*self.rounds, *days), situations=self._knowing(days))
        vars(longer).update(told=(*self.told, *days), open=self.open, next_word=self.next_word)
        return longer

    def counted(self, now: IntArray | None) -> "History":
        """Return the history with agents as they were counted now, (C, A); None: nobody counted."""
        return self if now is None else self._with_equal_rounds(now=now)

    def on_a_day(self, population: Population) -> "History":
        """Return the history with the population as it is today; agents stand where they stand without it."""
        return self._with_equal_rounds(population=population, now=self.placed)

    def with_rounds(self, rounds: Sequence[Round]) -> "History":
        """Return the history with these rounds instead of its own; new categories of situations come with them."""
        situations = None if self.situations is None else self._knowing(rounds)
        return replace(self, rounds=tuple(rounds), situations=situations)

    def _knowing(self, rounds: Sequence[Round]) -> Situations | None:
        situations = self.situations
        for played in rounds:
            if situations is not None and played.situation:
                situations = situations.holding(played.situation)
        return situations

    def in_situation(self, situation: Situation) -> "History":
        """Return the history with this as the situation of the round being planned."""
        if situation == self.situation:
            return self
        knowing = None if self.situations is None else self.situations.holding(situation)
        return self._with_equal_rounds(situation=dict(situation), situations=knowing)

    def _with_equal_rounds(self, **others: Any) -> "History":
        """Return the history with other fields and the same rounds, which are not sorted again."""
        same = replace(self, **others)
        vars(same).update(told=self.told, open=self.open, next_word=self.next_word, next_told=self.next_told)
        return same

    @cached_property
    def region(self) -> Region | None:
        """Placements allowed next, from where agents are now; None without limits."""
        limits = self.population.limits
        if limits is None:
            return None
        return limits.region(self.population.context_totals, self.placed)

    @cached_property
    def placed(self) -> IntArray | None:
        """Whole agents as they stand now, (C, A): by the last word of any round, or as the limits say; None if unknown.

        Past days move nobody.
        """
        if self.now is not None or self.population.size is None:
            return self.now
        spoken = [asked for asked in self.rounds if asked.last_word is not None and not asked.added]
        for asked in sorted(spoken, key=lambda asked: -(asked.last_word or 0)):
            found = asked.standing(self.population)
            if found is not None:
                return found
        return None if self.population.limits is None else self.population.limits.placed

    @property
    def last_notes(self) -> Notes:
        """What the strategy noted at its latest proposal (empty before the first)."""
        return self.rounds[-1].notes if self.rounds else {}

    def _card(self) -> Card:
        rounds = f"{len(self.told):,} told, {len(self.open):,} open"
        return Card(f"History of {len(self.rounds):,} rounds: {rounds}", (("population", self.population.spoken),))
