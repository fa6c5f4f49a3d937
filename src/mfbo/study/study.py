"""The study: a population, a strategy, a seed, and its rounds. It keeps the loop of ask and tell."""

import logging
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mfbo.arrays import FloatArray, IntArray, read_only
from mfbo.cards import Card, Shown
from mfbo.errors import InvalidInputError, RoundStateError
from mfbo.interfaces import Strategy
from mfbo.journal import Journal
from mfbo.parallel import run_rounds
from mfbo.population import Change, Population
from mfbo.records import Feedback, History, Lease, Plan, Proposal, Round, lifted, padded, read_distribution
from mfbo.seeding import derived_generator
from mfbo.simplex import Moves, whole_agents
from mfbo.situations import Situation
from mfbo.study.changes import Changes
from mfbo.study.past_days import DayLookup
from mfbo.study.settings import StudySettings
from mfbo.study.starting import read_status_quo
from mfbo.study.study_card import study_card
from mfbo.study.whole_plans import Placing
from mfbo.validation import carried_text, plain_text, whole_number

_log = logging.getLogger(__package__)
OF_ONE_PLAN = ("guard", "repeats")  # notes that say something of the plan they were made for alone
FARTHEST_DAY = 366 * 86_400.0  # seconds for which a plan is held at most before its lease begins


class Study(Changes, Shown):
    """Asks a strategy for plans and keeps what came of them.

    Every random draw of round t comes from (seed, t), so k rounds, a restart and m more equal k + m rounds.
    With a storage every ask and tell is written before it is answered; several processes may load one study, and each
    ask and tell reads what the others did (``refresh`` does that alone). Threads may share a study object: its calls
    follow one another. A process must not fork while another of its threads is inside a call.

    Wherever a distribution, placed agents or cells are taken, they are an array (C, A), or (A,) for one context, or
    names: {action: number}, {(context, action): number} or {context: {action: number}}; a data frame's column labeled
    so; or a data frame with the columns "action", "context" (if there are several) and "share", "agents" or "payoff".
    A distribution may be a plan too: what it really puts in place. An action that is not named has the share 0, no
    agents, or was not seen; the shares of every context must sum to 1.
    """

    def __init__(
        self, history: History, strategy: Strategy, settings: StudySettings, *, journal: Journal | None = None
    ) -> None:
        """Use ``create_study`` or ``load_study``."""
        placing = Placing(settings.seed, settings.allocation, settings.context_allocation)
        super().__init__(history, strategy, placing, journal)
        self.seed = settings.seed
        self.payoff_is = settings.payoff_is
        self.lease_seconds = settings.lease_seconds
        self._placed = settings.placed

    def _card(self) -> Card:
        return study_card(self.name, self.strategy.name, self.seed, self._history)

    @property
    def placed(self) -> IntArray | None:
        """Whole agents as they stand now, (C, A): as last counted or played, or as at the start; None if unknown."""
        standing = None if self.population.size is None else self._history.placed
        if standing is not None or self._placed is None:
            return standing
        start: IntArray = padded(self._placed, self.population)
        return start

    def ask(
        self,
        worker: str | None = None,
        *,
        size: int | None = None,
        closed: Any = None,
        capacity: Any = None,
        minimum: Any = None,
        placed: Any = None,
        allow_misfit: bool = False,
        situation: Any = None,
        new_categories: bool = False,
    ) -> Plan:
        """Return the next plan; several may be open at once, and then they spread.

        worker: who will carry it out. A worker with an open plan gets that plan again. A plan that was not told within
        ``lease_seconds`` (from its day on, if its situation has one to come) is offered to whoever asks next; a tell
        that comes later is kept, and marked late. placed: where agents stand now, whole agents, if they moved by
        themselves since the last round: moves are counted from there, and an open plan that would take too many is
        abandoned for a new one. allow_misfit: take ``placed`` though it does not fit fleet or docks. situation: what is
        known of the round, {"day": "weekend", "rain": 0.3}, new_categories: though never heard of before; an open plan
        that was made without knowing it is abandoned too. In this round alone: size; closed, actions that hold nobody;
        capacity, minimum, as in ``change``, which is for what stays.
        """
        with self.lock:
            worker = None if worker is None else plain_text(worker, "worker")
            stated = self._read_situation(situation, "before", new_categories=new_categories)
            special = any(said is not None for said in (size, closed, capacity, minimum))
            plan = None
            while plan is None:
                self.refresh()
                today, fleet = self._today(size, closed, capacity, minimum) if special else ({}, self.population)
                counted = None if placed is None else self._read_placed(placed, fleet, allow_misfit=allow_misfit)
                now = time.time()
                day = _Day(today, fleet, counted, Lease(worker, self._expiry(now, stated)), now, stated)
                offered = self._offered(worker, now) if self._history.open else None
                plan = self._new(day) if offered is None else self._again(offered, day)
            return plan

    def _expiry(self, now: float, stated: Situation) -> float | None:
        """Return until when a new plan is its worker's: counted from its day, if that is known and still to come."""
        if self.lease_seconds is None:
            return None
        situations = self._history.situations
        day = None if situations is None else situations.moment(stated)
        begins = now if day is None else min(max(now, day), now + FARTHEST_DAY)
        return begins + self.lease_seconds

    def _offered(self, worker: str | None, now: float) -> Round | None:
        """Return the worker's own open round, or else one whose lease has expired."""
        expired = None
        for asked in self._history.open:
            if worker is not None and asked.lease.worker == worker:
                return asked
            if expired is None and asked.lease.has_expired(now):
                expired = asked
        return expired

    def _new(self, day: "_Day") -> Plan | None:
        """Return the strategy's next plan; None if another process asked first."""
        history = day.seen(self._history)
        proposal = self.strategy.propose(history, derived_generator(self.seed, "propose", len(history.rounds)))
        return self._open(proposal, day, history)

    def _open(self, proposal: Proposal, day: "_Day", history: History) -> Plan | None:
        """Add a round for a proposal made of a history as it is seen today; None if another process asked first."""
        plan = self._placing.plan(proposal, history, self.strategy.name)
        notes, words = dict(proposal.notes), {"today": day.today, "situation": day.situation}
        asked = Round.asked(plan, notes, day.lease, day.counted, history.next_word, **words)
        if self._journal is None:
            self._history, was_first = self._history.after(asked), True
        else:
            self._history, was_first = self._journal.ask(self._history, asked)
        _log.info("round %d %s", plan.number, "asked" if was_first else "was asked by another process first")
        return plan if was_first else None

    def _again(self, offered: Round, day: "_Day") -> Plan | None:
        """Return an open plan for its holder or a new one; None if it cannot be played, or another was first."""
        if _says_more(day.situation, offered.situation):
            self._give_up(offered, "it was made for another situation")
            return None
        expired = offered.lease.has_expired(day.now)
        broken = self._unfit(offered, day.today, day.fleet)
        if not broken and not expired and (day.counted is None or _same(day.counted, self.placed)):
            return offered.plan
        broken = broken or _broken_by(offered.plan, day.seen(self._history))
        if broken:  # agents moved on meanwhile, or the day is another: from here it would break a limit
            self._give_up(offered, broken)
            return None
        expires = day.lease.expires if expired else offered.lease.expires
        return offered.plan if self._lease(offered, day.lease.worker, expires, day.counted) else None

    def _give_up(self, offered: Round, reason: str) -> None:
        with suppress(RoundStateError):  # another process has just told it
            self._end(self._open_round(offered.plan).ended("abandoned", reason))

    def _lease(self, offered: Round, worker: str | None, expires: float | None, start: IntArray | None) -> bool:
        """Give an open plan to another holder, or anew; False if another process was first."""
        leased = offered.leased(worker, expires, start, self._history.next_word)
        if self._journal is None:
            self._history = self._history.after(leased)
            return True
        self._history, was_first = self._journal.lease(self._history, leased, start)
        return was_first

    def attach(self, distribution: Any, worker: str | None = None, *, situation: Any = None) -> Plan:
        """Take a plan of your own as the next one: shares, whole agents, or a plan; arrays or names.

        It is played and told like any other, and must keep the limits. situation: as in ``ask``.
        """
        with self.lock:
            stated = self._read_situation(situation, "before")
            self.refresh()
            wanted = read_status_quo(distribution, None, self.population)
            if wanted is None:
                raise InvalidInputError("attach needs a plan: shares or whole agents")
            if self._history.region is not None:
                counts = whole_agents(wanted, self.population.context_totals)
                broken = _broken_by(Plan(0, wanted, counts), self._history)
                if broken:
                    raise InvalidInputError(f"the plan cannot be attached: {broken}")
            return self._opened(wanted, worker, stated)

    def ask_best(self, worker: str | None = None, *, situation: Any = None) -> Plan:
        """Return the best plan believed in as the next one, or the nearest to it that the move budget allows."""
        with self.lock:
            stated = self._read_situation(situation, "before")
            self.refresh()
            self._told("the best plan")
            recommended = self.strategy.recommend(self._history.in_situation(stated))
            return self._opened(recommended, worker, stated)

    def _opened(self, distribution: FloatArray, worker: str | None, situation: Situation) -> Plan:
        """Open a round for a distribution that the strategy did not propose; its notes go on from there."""
        who = None if worker is None else plain_text(worker, "worker")
        plan = None
        while plan is None:
            expires = self._expiry(time.time(), situation)
            notes = {key: note for key, note in self._history.last_notes.items() if key not in OF_ONE_PLAN}
            proposal = Proposal(distribution, notes)
            day = _Day({}, self.population, None, Lease(who, expires), 0.0, situation)
            plan = self._open(proposal, day, day.seen(self._history))
        return plan

    def moves(self, plan: Plan, after: Plan | None = None) -> Moves | None:
        """Return what leads from where agents stand to a plan; None if either is not known in whole agents.

        after: the plan that will have been played by then.
        """
        placed = self.placed if after is None else after.allocation
        if placed is None or plan.allocation is None:
            return None
        return Moves.between(placed, plan.allocation, fixed_contexts=self._placing.contexts == "quota")

    def rounds_to(self, plan: Plan) -> int | None:
        """Return how many rounds it takes to a plan under the move budget; None if where agents stand is not known."""
        moves, limits = self.moves(plan), self.population.limits
        if moves is None:
            return None
        if moves.moved == 0 or limits is None or limits.move_budget is None:
            return int(moves.moved > 0)
        return None if limits.move_budget == 0 else -(-moves.moved // limits.move_budget)

    def tell(
        self,
        plan: Plan | int,
        payoff: Any = None,
        *,
        agents: Any = None,
        cells: Any = None,
        counts: Any = None,
        distribution: Any = None,
        placed: Any = None,
        allow_misfit: bool = False,
        worker: str | None = None,
        situation: Any = None,
        new_categories: bool = False,
    ) -> Round:
        """Record what a plan brought; any kind of feedback, or several together.

        payoff: the population payoff, or a whole ``Feedback``. agents: (context, action, payoff) of some agents.
        cells: mean payoffs, (C, A), NaN where nobody was seen, with optional counts. What was really played, if not
        the plan: placed, whole agents, kept as counted; or distribution, shares. allow_misfit: take
        ``placed`` though it does not fit the fleet or the docks. worker: who tells; a former holder's result is marked
        late. situation: what is known of the round by now, beside or instead of what was said when it was asked.
        """
        with self.lock:
            worker = None if worker is None else plain_text(worker, "worker")
            stated = self._read_situation(situation, "after", new_categories=new_categories)
            asked = self._open_round(plan)
            feedback = self._read_feedback(payoff, agents, cells, counts)
            played, counted = self._really_played(asked, distribution, placed, allow_misfit=allow_misfit)
            played = asked.plan.realized if played is None else played
            feedback = self._recounted(asked, feedback, counted) or feedback
            former = worker is not None and worker != asked.lease.worker and worker in asked.lease.former
            late = former or asked.lease.has_expired(time.time())
            told, seen = self._history.next_told, self._history.next_word
            done = asked.done(feedback, played, told, late=late, placed=counted, seen=seen, situation=stated)
            return self._end(done)

    def add(
        self,
        distribution: Any,
        payoff: Any = None,
        *,
        agents: Any = None,
        cells: Any = None,
        counts: Any = None,
        size: int | None = None,
        situation: Any = None,
        new_categories: bool = False,
    ) -> Round:
        """Record a day that was played before or outside this study: what was played, and what was seen.

        distribution: shares as an array or by name. Feedback and situation as in ``tell``. size: the agents there were,
        if not as many as now; a total is divided by them. After it the strategy skips its random first rounds.
        """
        with self.lock:
            self.refresh()
            stated = self._read_situation(situation, "after", new_categories=new_categories)
            past = self._past(distribution, self._read_feedback(payoff, agents, cells, counts), stated, size)
            return self._add([past], only_missing=False)[0]

    def add_missing(self, days: Iterable[tuple[Any, ...]], *, new_categories: bool = False) -> list[Round]:
        """Record past days, except those added before: (distribution, payoff[, situation[, size]]) each, as in ``add``.

        Return the new ones. All or none; of several who bring the same days along at once, each day comes in once.
        """
        with self.lock:
            self.refresh()
            past = []
            for distribution, payoff, *said_of_it in days:
                situation, size, *_ = (*said_of_it, None, None)
                stated = self._read_situation(situation, "after", new_categories=new_categories)
                past.append(self._past(distribution, self._read_feedback(payoff, None, None, None), stated, size))
            return self._add(past, only_missing=True)

    def _add(self, days: list[Round], *, only_missing: bool) -> list[Round]:
        """Add days that were read of the population as it is now; if another process was first, as it is then."""
        while True:
            days = [lifted(past, self.population) for past in days]
            earlier = DayLookup(self.rounds if only_missing else ())
            new = [past for past in days if not earlier.take(past)]
            rounds, told = len(self.rounds), self._history.next_told
            numbered = [past.numbered(rounds + place, told + place) for place, past in enumerate(new)]
            if self._journal is None or not numbered:
                self._history = self._history.with_past(numbered)
                return numbered
            self._history, was_first = self._journal.add(self._history, numbered)
            if was_first:
                return numbered

    def _past(self, distribution: Any, feedback: Feedback, situation: Situation, size: Any) -> Round:
        played = read_only(read_distribution(distribution, self.population))
        usual = self.population.size
        agents = None if size is None or usual is None else whole_number(size, "size", least=1)
        unusual = None if agents == usual else agents
        past = Round.past(0, played, unusual, self.population.labels)  # it is numbered when it is added
        feedback = self._recounted(past, feedback, None) or feedback
        return past.done(feedback, played, told=0, situation=situation)

    def fail(self, plan: Plan | int, reason: str, *, placed: Any = None, allow_misfit: bool = False) -> Round:
        """Record that a plan was carried out and brought no result; the study goes on without it.

        Agents stand where the plan put them, or as counted in ``placed``; it and ``allow_misfit`` as in ``tell``.
        """
        with self.lock:
            asked = self._open_round(plan)
            counted = self._really_played(asked, None, placed, allow_misfit=allow_misfit)[1]
            seen = self._history.next_word
            return self._end(asked.ended("failed", carried_text(reason), placed=counted, seen=seen))

    def abandon(self, plan: Plan | int) -> Round:
        """Record that a plan will not be tried: no agent was moved for it."""
        with self.lock:
            return self._end(self._open_round(plan).ended("abandoned"))

    def _end(self, ended: Round) -> Round:
        """Replace an open round by itself with its result, or failed, or abandoned."""
        if self._journal is None:
            self._history = self._history.after(ended)
        else:
            self._history, ended = self._journal.end(self._history, ended)
        _log.info("round %d %s", ended.number, ended.state)
        return ended

    def run(
        self,
        payoff: Callable[[Plan], "float | Feedback"],
        rounds: int,
        *,
        workers: int = 4,
        executor: Executor | None = None,
        on_error: Literal["stop", "continue"] = "continue",
        progress: Callable[[Round], None] | None = None,
    ) -> list[Round]:
        """Play rounds, ``workers`` at a time, and return them in the order in which they ended.

        executor: any ``concurrent.futures`` executor, such as a process pool or a Dask client's ``get_executor()``;
        threads by default. A payoff that raises marks its round failed; then the next one is asked, or the error is
        raised ("stop"). The order of tells is that of the workers, so only one worker gives the same study twice.
        """
        return run_rounds(self, payoff, rounds, workers, executor, on_error=on_error, progress=progress)

    def _open_round(self, plan: Plan | int) -> Round:
        asked = self._round(plan)
        if asked.state != "open":
            raise RoundStateError(f"plan {asked.number} is already {asked.state}; ask for a new plan to tell more")
        return asked


@dataclass(frozen=True, eq=False)
class _Day:
    """What is said when a plan is asked for: what is otherwise today, who is placed, where they were counted (C, A)."""

    today: Change
    fleet: Population
    counted: IntArray | None
    lease: Lease
    now: float
    situation: Situation

    def seen(self, history: History) -> History:
        """Return a history as the strategy sees it today."""
        if self.counted is not None:
            history = history.counted(self.counted)
        if self.situation:
            history = history.in_situation(self.situation)
        return history.on_a_day(self.fleet) if self.today else history


def _broken_by(plan: Plan, history: History) -> str:
    """Say which limit a plan would break from where agents stand; empty if none."""
    region, allocation = history.region, plan.allocation
    if region is None or allocation is None or region.contains(allocation):
        return ""
    moved = region.moved(allocation)
    if moved <= region.allowed_moves:
        return "from where agents stand now it breaks a limit"
    return f"from where agents stand now it moves {moved} agents; {region.allowed_moves} may be moved"


def _says_more(stated: Situation, known: Situation) -> bool:
    """Tell whether something is said of a round that was not known when its plan was made, or was otherwise."""
    return any(name not in known or known[name] != value for name, value in stated.items())


def _same(first: IntArray | None, second: IntArray | None) -> bool:
    if first is None or second is None:
        return first is second
    return np.array_equal(first, second)
