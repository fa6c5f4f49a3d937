"""The study: a population, a strategy, a seed, and its rounds. It keeps the loop of ask and tell."""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from mfbo.arrays import FloatArray, IntArray, read_only
from mfbo.errors import InvalidInputError, RoundStateError, UnknownNameError
from mfbo.interfaces import Posterior, Strategy
from mfbo.journal import Journal
from mfbo.parallel import run_rounds
from mfbo.population import Population, rounded_placement
from mfbo.records import (
    Feedback,
    History,
    Lease,
    Plan,
    Proposal,
    Round,
    read_distribution,
)
from mfbo.seeding import derived_generator
from mfbo.simplex import Moves, realized
from mfbo.storage import Storage
from mfbo.study.explaining import Explanation, Prediction, explained, predicted
from mfbo.study.one_at_a_time import Shared, one_at_a_time
from mfbo.study.outlook import FeedbackTold, Outlook, looked_out
from mfbo.study.past_days import KnownDays
from mfbo.study.starting import read_status_quo
from mfbo.study.whole_plans import Placing
from mfbo.validation import carried_text, known_name, plain_text, said, whole_number

LEASE_SECONDS = 172_800.0  # two days: a plan is played on one day and told on the next


class Study(Shared):
    """Asks a strategy for plans and keeps what came of them.

    Every random draw of round t comes from (seed, t), so k rounds, a restart and m more equal k + m rounds.
    With a storage every ask and tell is written before it is answered; several processes may load one study, and each
    ask and tell reads what the others did (``refresh`` does that alone). Threads may share a study object: its calls
    follow one another. A process must not fork while another of its threads is inside a call.
    """

    def __init__(
        self,
        history: History,
        strategy: Strategy,
        seed: int,
        allocation: str,
        contexts: str,
        *,
        journal: Journal | None = None,
        lease_seconds: float | None = LEASE_SECONDS,
        placed: IntArray | None = None,
    ) -> None:
        """Use ``create_study`` or ``load_study``."""
        super().__init__()
        self.strategy = strategy
        self.seed = seed
        self.lease_seconds = lease_seconds
        self._placed = placed
        self._journal = Journal(history) if journal is None else journal
        self._placing = Placing(
            seed,
            allocation="sampled" if allocation == "sampled" else "quota",
            contexts="sampled" if contexts == "sampled" else "quota",
        )

    @property
    def name(self) -> str:
        """The name under which it is stored; empty without a storage."""
        return self._journal.name

    @property
    def storage(self) -> Storage | None:
        """Where it is stored."""
        return self._journal.storage

    @property
    def _history(self) -> History:
        return self._journal.history

    @property
    def population(self) -> Population:
        """Who is placed."""
        return self._history.population

    @property
    def history(self) -> History:
        """All rounds so far; immutable."""
        return self._history

    @property
    def rounds(self) -> tuple[Round, ...]:
        """All rounds in the order of asks, whatever their state."""
        return self._history.rounds

    @property
    def placed(self) -> IntArray | None:
        """Whole agents as they stand now, (C, A): as last counted or played, or as at the start; None if unknown."""
        if self.population.size is None:
            return self._placed
        known = self._history.placed
        return self._placed if known is None else known

    @one_at_a_time
    def refresh(self) -> None:
        """Read what other processes did to this study."""
        self._journal.refresh()

    @one_at_a_time
    def ask(self, worker: str | None = None, *, placed: Any = None, allow_misfit: bool = False) -> Plan:
        """Return the next plan; several may be open at once, and then they spread.

        worker: who will carry it out. A worker with an open plan gets that plan again. A plan that was not told
        within ``lease_seconds`` is offered to whoever asks next; a tell that comes later is kept, and marked late.
        placed: where agents stand now, whole agents (C, A) or a mapping, if they moved by themselves since the last
        round: moves are counted from there, and an open plan that would take too many is abandoned for a new one.
        allow_misfit: take ``placed`` as counted though it does not fit the fleet or the docks.
        """
        worker = None if worker is None else plain_text(worker, "worker")
        counted = self._read_placed(placed, allow_misfit=allow_misfit)
        while True:
            self.refresh()
            now = time.time()
            lease = Lease(worker, None if self.lease_seconds is None else now + self.lease_seconds)
            offered = self._offered(worker, now)
            if offered is None:
                asked = self._proposed(lease, counted)
                if self._journal.add_open(asked):
                    return asked.plan
                continue
            expired = offered.lease.has_expired(now)
            if not expired and (counted is None or _same(counted, self.placed)):
                return offered.plan
            broken = self._broken_by(offered.plan, counted)
            if broken:  # agents moved on meanwhile: from here it would break a limit
                with suppress(RoundStateError):  # another process has just told it
                    self._journal.end(self._open_round(offered.plan).ended("abandoned", broken))
            elif self._journal.lease(offered, worker, lease.expires if expired else offered.lease.expires, counted):
                return offered.plan

    @one_at_a_time
    def attach(self, distribution: Any, worker: str | None = None) -> Plan:
        """Take a plan of your own as the next one: shares or whole agents (C, A), a mapping, or a plan.

        It is played and told like any other, and must keep the limits.
        """
        wanted = read_status_quo(distribution, None, self.population)
        if wanted is None:
            raise InvalidInputError("attach needs a plan: shares or whole agents")
        self.refresh()
        region = self._history.region
        if region is not None:
            counts = rounded_placement(wanted, self.population.context_totals)
            broken = self._broken_by(Plan(0, wanted, counts), None)
            if broken:
                raise InvalidInputError(f"the plan cannot be attached: {broken}")
        return self._opened(wanted, worker)

    @one_at_a_time
    def ask_best(self, worker: str | None = None) -> Plan:
        """Return the best plan believed in as the next one, or the nearest to it that the move budget allows."""
        self.refresh()
        self._told("ask_best")
        return self._opened(self.strategy.recommend(self._history), worker)

    def _opened(self, distribution: FloatArray, worker: str | None) -> Plan:
        """Open a round for a distribution that the strategy did not propose."""
        who = None if worker is None else plain_text(worker, "worker")
        while True:
            lease = Lease(who, None if self.lease_seconds is None else time.time() + self.lease_seconds)
            plan = self._placing.plan(Proposal(distribution), self._history, self.strategy.name)
            if self._journal.add_open(Round(plan, dict(self._history.last_notes), lease=lease)):
                return plan

    def _broken_by(self, plan: Plan, counted: IntArray | None) -> str:
        """Say which limit an open plan would break from where agents stand now; empty if none."""
        region, allocation = replace(self._history, now=counted).region, plan.allocation
        if region is None or allocation is None or region.contains(allocation):
            return ""
        moved = region.moved(allocation)
        if moved <= region.allowed_moves:
            return "from where agents stand now it breaks a limit"
        return f"from where agents stand now it moves {moved} agents; {region.allowed_moves} may be moved"

    def _read_placed(self, placed: Any, *, allow_misfit: bool) -> IntArray | None:
        if placed is None:
            return None
        counts = self.population.read_placed(placed)
        wrong = "" if allow_misfit else self.misfit(counts)
        if wrong:
            raise InvalidInputError(f"{wrong}; if it was counted so, say allow_misfit=True, and it is kept as it is")
        return counts

    def misfit(self, placed: Any) -> str:
        """Say why counted agents (C, A) cannot be the whole fleet in its docks; empty if they can."""
        counts = self.population.read_placed(placed)
        return self.population.misfit(counts, fixed_contexts=self._placing.contexts == "quota")

    def moves(self, plan: Plan) -> Moves | None:
        """Return what leads from where agents stand to a plan; None if either is not known in whole agents."""
        placed = self.placed
        if placed is None or plan.allocation is None:
            return None
        return Moves.between(placed, plan.allocation, fixed_contexts=self._placing.contexts == "quota")

    def _offered(self, worker: str | None, now: float) -> Round | None:
        """Return the worker's own open round, or else one whose lease has expired."""
        waiting = self._history.open
        own = [each for each in waiting if worker is not None and each.lease.worker == worker]
        expired = [each for each in waiting if each.lease.has_expired(now)]
        return next(iter([*own, *expired]), None)

    def _proposed(self, lease: Lease, counted: IntArray | None) -> Round:
        number = len(self.rounds)
        history = self._history if counted is None else replace(self._history, now=counted)
        proposal = self.strategy.propose(history, derived_generator(self.seed, "propose", number))
        plan = self._placing.plan(proposal, history, self.strategy.name)
        asked = Round(plan, dict(proposal.notes), lease=lease)
        return asked.counted(counted, self._history.next_word)

    @one_at_a_time
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
    ) -> Round:
        """Record what a plan brought; any kind of feedback, or several together.

        payoff: the population payoff, or a whole ``Feedback``. agents: (context, action, payoff) of some agents.
        cells: mean payoffs, (C, A), NaN where nobody was seen, with optional counts. What was really played, if not
        the plan: placed, whole agents (C, A) or a mapping, kept as counted; or distribution, shares. allow_misfit: take
        ``placed`` though it does not fit the fleet or the docks. worker: who tells; a former holder's result is marked
        late.
        """
        worker = None if worker is None else plain_text(worker, "worker")
        asked = self._open_round(plan)
        feedback = self._read_feedback(payoff, agents, cells, counts)
        counted = self._read_placed(placed, allow_misfit=allow_misfit)
        if counted is not None and distribution is not None:
            raise InvalidInputError("what was played is told twice: give placed= or distribution=, not both")
        played = asked.plan.realized if distribution is None else read_distribution(distribution, self.population)
        if counted is not None:
            played = realized(counted, asked.plan.distribution)
        former = worker is not None and worker != asked.lease.worker and worker in asked.lease.former
        late = former or asked.lease.has_expired(time.time())
        told, seen = len(self._history.told), self._history.next_word
        return self._journal.end(asked.done(feedback, played, told, late=late, placed=counted, seen=seen))

    @one_at_a_time
    def add(
        self, distribution: Any, payoff: Any = None, *, agents: Any = None, cells: Any = None, counts: Any = None
    ) -> Round:
        """Record a day that was played before or outside this study: what was played, and what was seen.

        Feedback as in ``tell``. After it the strategy skips its random first rounds.
        """
        past = self._past(distribution, self._read_feedback(payoff, agents, cells, counts))
        self.refresh()
        while True:
            added = self._journal.add_done([past])
            if added is not None:
                return added[0]

    @one_at_a_time
    def add_missing(self, days: Iterable[tuple[Any, Any]]) -> list[Round]:
        """Record past days, (distribution, payoff) each, except those that were added before; return the new ones.

        All or none; of several who bring the same days along at once, each day comes in once.
        """
        past = [
            self._past(distribution, self._read_feedback(payoff, None, None, None)) for distribution, payoff in days
        ]
        self.refresh()
        while True:
            known = KnownDays(self.rounds)
            added = self._journal.add_done([each for each in past if not known.take(each)])
            if added is not None:
                return list(added)

    def _past(self, distribution: Any, feedback: Feedback) -> Round:
        played = read_only(read_distribution(distribution, self.population))
        return Round(Plan(0, played), added=True).done(feedback, played, told=0)  # the journal numbers it

    def _read_feedback(self, payoff: Any, agents: Any, cells: Any, counts: Any) -> Feedback:
        if isinstance(payoff, Feedback):
            if agents is not None or cells is not None or counts is not None:
                raise InvalidInputError("a whole Feedback was told: agents=, cells= and counts= belong inside it")
            return Feedback.read(self.population, payoff.payoff, payoff.agents or None, payoff.cells, payoff.counts)
        return Feedback.read(self.population, payoff, agents, cells, counts)

    @one_at_a_time
    def fail(self, plan: Plan | int, reason: str, *, placed: Any = None, allow_misfit: bool = False) -> Round:
        """Record that a plan was carried out and brought no result; the study goes on without it.

        Agents stand where the plan put them, or as counted in ``placed``; it and ``allow_misfit`` as in ``tell``.
        """
        asked = self._open_round(plan)
        counted = self._read_placed(placed, allow_misfit=allow_misfit)
        seen = self._history.next_word
        return self._journal.end(asked.ended("failed", carried_text(reason), placed=counted, seen=seen))

    @one_at_a_time
    def abandon(self, plan: Plan | int) -> Round:
        """Record that a plan will not be tried: no agent was moved for it."""
        return self._journal.end(self._open_round(plan).ended("abandoned"))

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
        whole_number(rounds, "rounds", least=1)
        whole_number(workers, "workers", least=1)
        known_name(on_error, "on_error", ("stop", "continue"))
        return run_rounds(
            self, payoff, rounds, min(workers, rounds), executor, stop=on_error == "stop", progress=progress
        )

    @property
    @one_at_a_time
    def best(self) -> Round:
        """The round with the highest told payoff, luck included; ``best_expected`` if none was told as one number."""
        paid = [(each.payoff, each) for each in self._told("best") if each.payoff is not None]
        return max(paid, key=lambda pair: pair[0])[1] if paid else self.best_expected

    @property
    @one_at_a_time
    def best_expected(self) -> Round:
        """The told round whose plan is recommended: that with the highest posterior mean."""
        told = self._told("best_expected")
        recommended = self.strategy.recommend(self._history)
        planned = self._history.steers == "planned"
        return min(told, key=lambda each: _distance(each, recommended, planned=planned))

    @one_at_a_time
    def recommend(self) -> Plan:
        """Return the plan to keep: of the visited ones, that with the highest posterior mean.

        It keeps all limits but the move budget: getting there may take several rounds.
        """
        self._told("recommend")
        return self._placing.recommended(self.strategy.recommend(self._history), self.population, len(self.rounds))

    def rounds_to(self, plan: Plan) -> int | None:
        """Return how many rounds it takes to a plan under the move budget; None if where agents stand is not known."""
        moves, limits = self.moves(plan), self.population.limits
        if moves is None:
            return None
        if moves.moved == 0 or limits is None or limits.move_budget is None:
            return int(moves.moved > 0)
        return None if limits.move_budget == 0 else -(-moves.moved // limits.move_budget)

    @one_at_a_time
    def outlook(
        self,
        rounds: int = 30,
        *,
        feedback: FeedbackTold = "payoff",
        simulations: int = 8,
        progress: Callable[[int], None] | None = None,
    ) -> Outlook:
        """Return what further rounds are expected to bring against the status quo, told one number or cells a round.

        The strategy plays against ``simulations`` draws from what it believes; ``progress(done)`` after each.
        """
        whole_number(rounds, "rounds", least=1)
        whole_number(simulations, "simulations", least=1)
        known_name(feedback, "feedback", ("payoff", "cells"))
        self._told("outlook")
        return looked_out(self.strategy, self._history, self._placing, rounds, simulations, feedback, progress)

    @one_at_a_time
    def predict(self, distribution: Any) -> Prediction:
        """Return what the model expects of a distribution (C, A): of g, and of f in every cell."""
        posterior = self._posterior("predict")
        return predicted(posterior, read_distribution(distribution, self.population))

    @one_at_a_time
    def expected(self) -> tuple[FloatArray, FloatArray]:
        """Return what the model expects of what was played in every told round, mean and sd (n,), in order of tells."""
        posterior = self._posterior("expect")
        moments = [posterior.population(each.played) for each in self._history.told]
        return np.array([each.mean for each in moments]), np.array([each.variance**0.5 for each in moments])

    @one_at_a_time
    def explain(self, distribution: Any = None) -> Explanation:
        """Return a prediction for a distribution (the recommended one by default), and what moving one agent changes.

        In whole agents, the distribution is rounded to them; moves keep the limits.
        """
        posterior = self._posterior("explain")
        if distribution is None:
            plan = self.recommend()
            return explained(posterior, self.population, plan.realized, plan.allocation)
        checked = read_distribution(distribution, self.population)
        size = self.population.size
        counts = None if size is None else rounded_placement(checked, self.population.context_totals)
        return explained(posterior, self.population, checked, counts)

    def _posterior(self, purpose: str) -> Posterior:
        self._told(purpose)
        posterior = self.strategy.posterior(self._history)
        if posterior is None:
            raise InvalidInputError(f"strategy {self.strategy.name!r} has no model to {purpose} with; use 'default'")
        return posterior

    def _told(self, purpose: str) -> tuple[Round, ...]:
        told = self._history.told
        if not told:
            raise RoundStateError(f"{purpose} needs at least one told round; ask for a plan and tell its payoff first")
        return told

    def _open_round(self, plan: Plan | int) -> Round:
        number = plan.number if isinstance(plan, Plan) else plan
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise InvalidInputError(f"plan must be a plan from ask() or its number, not {said(plan)}")
        self.refresh()
        if not 0 <= number < len(self.rounds):
            raise UnknownNameError(f"plan {said(number)} was never asked; the study has {len(self.rounds)} plans")
        asked = self.rounds[number]
        if isinstance(plan, Plan) and plan is not asked.plan and not _same_plan(plan, asked.plan):
            raise UnknownNameError(f"this plan {number} is not the one this study gave; did another study give it?")
        if asked.state != "open":
            raise RoundStateError(f"plan {number} is already {asked.state}; ask for a new plan to tell more")
        return asked


def _same_plan(first: Plan, second: Plan) -> bool:
    return _same(first.allocation, second.allocation) and np.array_equal(first.distribution, second.distribution)


def _same(first: IntArray | None, second: IntArray | None) -> bool:
    if first is None or second is None:
        return first is second
    return np.array_equal(first, second)


def _distance(each: Round, distribution: FloatArray, *, planned: bool) -> float:
    there = each.plan.distribution if planned else each.played
    return float(np.abs(there - distribution).sum())
