"""What was told is corrected: amended, withdrawn, reinstated. Nothing is rewritten: every correction is an event."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray, read_only
from mfbo.errors import InvalidInputError, UnknownNameError, never_asked
from mfbo.population import Population, changed
from mfbo.records import Feedback, Plan, Round, read_distribution
from mfbo.simplex import realized
from mfbo.storage import Event, EventKind, codec
from mfbo.storage.replay import replayed
from mfbo.storage.rules import require_correctable
from mfbo.study.log import LogEntry, read_log
from mfbo.study.questions import Questions
from mfbo.validation import plain_text, said

FEWEST_TOLD = 5  # payoffs whose range says how far outside another one is …
FAR = 3.0  # … by so many times that range
FEWEST_ALIKE, ALIKE = 2, 2.0  # fewer say it too if they are of one sign and none is so many times another …
OTHER_SIZE = 5.0  # … of one that is so many times larger or smaller


class Corrections(Questions):
    """A history that can be corrected; payoff_is: whether payoffs are told per agent or of all together."""

    payoff_is: str

    def amend(
        self,
        plan: Plan | int,
        payoff: Any = None,
        *,
        situation: Any = None,
        new_categories: bool = False,
        by: str = "",
        reason: str = "",
        agents: Any = None,
        cells: Any = None,
        counts: Any = None,
        distribution: Any = None,
        placed: Any = None,
        allow_misfit: bool = False,
    ) -> Round:
        """Say what a told plan really brought, or what was really played; whatever is not given stays as it was told.

        Arguments as in ``tell``; what is None in ``situation`` is unknown again. by, reason: who corrects it, and why.
        The model reads the round as it is now believed to have been, at its old place in the order of tells; what was
        told first stays in the log.
        """
        with self.lock:
            while True:
                asked = self._round(plan)
                require_correctable("amended", asked.number, asked.state)
                feedback = self._amended_feedback(asked, payoff, agents, cells, counts)
                played, counted = self._really_played(asked, distribution, placed, allow_misfit=allow_misfit)
                feedback = self._recounted(asked, feedback, counted)
                stated = self._read_situation(situation, "after", new_categories=new_categories)
                unsaid = () if self._history.situations is None else self._history.situations.unsaid(situation)
                if feedback is None and played is None and not stated and not unsaid:
                    raise InvalidInputError(
                        "nothing is amended: give a payoff, agents, cells, what was really placed, or the situation"
                    )
                said: dict[str, Any] = {"situation": stated, "unknown": unsaid}
                record = codec.amendment_record(*read_author(by, reason), feedback, played, counted, **said)
                if self._correct("amended", asked.number, record):
                    return self.rounds[asked.number]

    def withdraw(self, plan: Plan | int, *, by: str = "", reason: str = "") -> Round:
        """Say that a plan that was told or failed never happened; the study goes on as if it had been abandoned."""
        return self._corrected("withdrawn", plan, by, reason)

    def reinstate(self, plan: Plan | int, *, by: str = "", reason: str = "") -> Round:
        """Say that a withdrawn plan did happen: it is again what it was before."""
        return self._corrected("reinstated", plan, by, reason)

    def log(self) -> list[LogEntry]:
        """Return all that was ever said of this study, in its order: asks, tells as they were told, corrections."""
        if self._journal is None:
            raise InvalidInputError("a study without a storage keeps no log: give create_study(…, storage=, name=)")
        return read_log(self._journal.storage.events(self._journal.name))

    def _corrected(self, kind: EventKind, plan: Plan | int, by: str, reason: str) -> Round:
        with self.lock:
            record = codec.correction_record(*read_author(by, reason))
            while True:
                asked = self._round(plan)
                require_correctable(kind, asked.number, asked.state)
                if self._correct(kind, asked.number, record):
                    return self.rounds[asked.number]

    def _correct(self, kind: EventKind, number: int, record: dict[str, Any]) -> bool:
        """Write a correction, or a change of the study; False if another process was first."""
        if self._journal is None:
            self._history = replayed(self._history, [Event(0, number, kind, codec.to_text(record), 0.0)])
            return True
        self._history, was_first = self._journal.correct(self._history, kind, number, record)
        return was_first

    def _amended_feedback(self, asked: Round, payoff: Any, agents: Any, cells: Any, counts: Any) -> Feedback | None:
        """Return what is now believed to have been seen; kinds that are not given stay; None if none is given."""
        if payoff is None and agents is None and cells is None and counts is None:
            return None
        new = self._read_feedback(payoff, agents, cells, counts)
        old = Feedback() if asked.feedback is None else asked.feedback
        if isinstance(payoff, Feedback):
            return new
        seen = (old.cells, old.counts) if new.cells is None else (new.cells, new.counts)
        paid = old if new.payoff is None else new
        return Feedback(paid.payoff, new.agents or old.agents, *seen, paid.total)

    def _recounted(self, asked: Round, feedback: Feedback | None, counted: IntArray | None) -> Feedback | None:
        """Return feedback with its payoff per agent, if payoffs are told as totals; None if nothing changes.

        The agents are those that were counted, now or before, or else as many as the round had.
        """
        seen = asked.feedback if feedback is None and counted is not None else feedback
        if seen is None or seen.payoff is None or self.payoff_is != "total":
            return feedback
        counts = asked.placed if counted is None else counted
        size = (asked.size or self.population.size or 1) if counts is None else max(int(counts.sum()), 1)
        total = seen.payoff if seen.total is None else seen.total
        return replace(seen, payoff=total / size, total=total)

    def doubtful(self, plan: Plan | int, payoff: float) -> str:
        """Say how far a payoff is from all that was told so far; empty if it is not far, or too little was told."""
        with self.lock:
            asked = self._round(plan)
            read = self._recounted(asked, Feedback(payoff), None)
            told = [done for done in self._history.told if done.payoff is not None and done.number != asked.number]
            usual = _usual_range([done.payoff or 0.0 for done in told])
            if read is None or read.payoff is None or usual is None or usual[0] <= read.payoff <= usual[1]:
                return ""
            said_so_far = sorted(done.as_told or 0.0 for done in told)
            between = f"{said_so_far[0]:.6g} to {said_so_far[-1]:.6g}"
            return f"a payoff of {payoff:.6g} is far outside what was told so far ({between})"

    def _really_played(
        self, asked: Round, distribution: Any, placed: Any, *, allow_misfit: bool
    ) -> tuple[FloatArray | None, IntArray | None]:
        """Return what was really played, (C, A), and counted, (C, A); None if it is not given."""
        if placed is None:
            return (None if distribution is None else read_only(read_distribution(distribution, self.population))), None
        counted = self._read_placed(placed, self._fleet_of(asked), allow_misfit=allow_misfit)
        if distribution is not None:
            raise InvalidInputError("what was played is told twice: give placed= or distribution=, not both")
        return realized(counted, asked.plan.distribution), counted

    def _read_feedback(self, payoff: Any, agents: Any, cells: Any, counts: Any) -> Feedback:
        if isinstance(payoff, Feedback):
            if agents is not None or cells is not None or counts is not None:
                raise InvalidInputError("a whole Feedback was told: agents=, cells= and counts= belong inside it")
            return Feedback.read(self.population, payoff.payoff, payoff.agents or None, payoff.cells, payoff.counts)
        return Feedback.read(self.population, payoff, agents, cells, counts)

    def _read_placed(self, placed: Any, fleet: Population, *, allow_misfit: bool) -> IntArray:
        """Read where agents stand, (C, A), of a fleet that must be whole unless misfits are allowed."""
        counts = fleet.read_placed(placed)
        wrong = "" if allow_misfit else self._misfit(counts, fleet)
        if wrong:
            raise InvalidInputError(f"{wrong}; if it was counted so, say allow_misfit=True, and it is kept as it is")
        return counts

    def _fleet_of(self, asked: Round) -> Population:
        """Return who was placed in a round, on its own day; limits are not asked if the fleet has changed since."""
        if asked.size == asked.today.get("size") and asked.weights is None:
            with suppress(InvalidInputError):  # the study has changed since, and that day could not be any more
                return changed(self.population, asked.today) if asked.today else self.population
        weights = self.population.weights if asked.weights is None else asked.weights
        size = self.population.size if asked.size is None else asked.size
        return self.population.replaced(size=size, weights=weights, limits=None)

    def _misfit(self, counts: IntArray, fleet: Population) -> str:
        return fleet.misfit(counts, fixed_contexts=self._placing.contexts == "quota")

    def _round(self, plan: Plan | int) -> Round:
        """Return the round of a plan, or of its number, as it is now, after reading what others did."""
        number = plan.number if isinstance(plan, Plan) else plan
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise InvalidInputError(f"plan must be a plan from ask() or its number, not {said(plan)}")
        self.refresh()
        rounds = self._history.rounds
        if not 0 <= number < len(rounds):
            raise UnknownNameError(never_asked(said(number), len(rounds)))
        asked = rounds[number]
        if isinstance(plan, Plan) and plan is not asked.plan and not _same_plan(plan, asked.plan):
            raise UnknownNameError(f"this plan {number} is not the one this study gave; did another study give it?")
        return asked


def _usual_range(payoffs: list[float]) -> tuple[float, float] | None:
    """Return between what a payoff is not far from those told so far; None if they say too little."""
    low, high = min(payoffs, default=0.0), max(payoffs, default=0.0)
    if len(payoffs) >= FEWEST_TOLD and low < high:
        return low - FAR * (high - low), high + FAR * (high - low)
    if len(payoffs) < FEWEST_ALIKE or low * high <= 0 or max(low / high, high / low) > ALIKE:
        return None
    return (low / OTHER_SIZE, high * OTHER_SIZE) if low > 0 else (low * OTHER_SIZE, high / OTHER_SIZE)


def read_author(by: str, reason: str) -> tuple[str, str]:
    """Return who says so, and why, as texts that can be kept; both may be empty."""
    return "" if by == "" else plain_text(by, "by"), "" if reason == "" else plain_text(reason, "reason")


def _same_plan(first: Plan, second: Plan) -> bool:
    """Tell whether a plan that was handed out is the one that is kept; actions and contexts may have come since."""
    if (first.allocation is None) != (second.allocation is None):
        return False
    same = first.allocation is None or _same_table(first.allocation, np.asarray(second.allocation))
    return same and _same_table(first.distribution, second.distribution)


def _same_table(first: Any, second: Any) -> bool:
    rows, columns = first.shape
    return np.array_equal(first, second[:rows, :columns]) and not second[:rows, columns:].any()
