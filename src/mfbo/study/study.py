"""The study: a population, a strategy, a seed, and its rounds. It keeps the loop of ask and tell."""

import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, Literal

import numpy as np

from mfbo.arrays import FloatArray, IntArray, read_only
from mfbo.errors import InvalidInputError, RoundStateError, UnknownNameError
from mfbo.interfaces import Posterior, Strategy
from mfbo.journal import Journal
from mfbo.parallel import run_rounds
from mfbo.population import Population
from mfbo.records import (
    Explanation,
    Feedback,
    History,
    Lease,
    Plan,
    Prediction,
    Proposal,
    Round,
    read_assignment,
    read_distribution,
)
from mfbo.seeding import derived_generator
from mfbo.simplex import AllocationMethod, allocate, realized
from mfbo.storage import Storage
from mfbo.validation import known_name, whole_number

LEASE_SECONDS = 172_800.0  # two days: a plan is played on one day and told on the next


class Study:
    """Asks a strategy for plans and keeps what came of them.

    Every random draw of round t comes from (seed, t), so k rounds, a restart and m more equal k + m rounds.
    With a storage every ask and tell is written before it is answered; several processes may load one study, and each
    ask and tell reads what the others did (``refresh`` does that alone). A study object belongs to one thread.
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
        self.strategy = strategy
        self.seed = seed
        self.lease_seconds = lease_seconds
        self._placed = placed
        self._journal = Journal(history) if journal is None else journal
        self._allocation: AllocationMethod = "sampled" if allocation == "sampled" else "quota"
        self._contexts: AllocationMethod = "sampled" if contexts == "sampled" else "quota"

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
        """Whole agents as they stand now, (C, A): as last played, or as given at the start; None if unknown."""
        if self.population.size is None:
            return self._placed
        known = self._history.placed
        return self._placed if known is None else known

    def refresh(self) -> None:
        """Read what other processes did to this study."""
        self._journal.refresh()

    def ask(self, worker: str | None = None) -> Plan:
        """Return the next plan; several may be open at once, and then they spread.

        worker: who will carry it out. A worker with an open plan gets that plan again. A plan that was not told
        within ``lease_seconds`` is offered to whoever asks next; a tell that comes later is kept, and marked late.
        """
        while True:
            self.refresh()
            now = time.time()
            lease = Lease(worker, None if self.lease_seconds is None else now + self.lease_seconds)
            offered = self._offered(worker, now)
            if offered is None:
                asked = self._proposed(lease)
                if self._journal.add_open(asked):
                    return asked.plan
            elif not offered.lease.has_expired(now):
                return offered.plan
            elif not self._still_allowed(offered):
                self.abandon(offered.plan)  # agents moved on meanwhile: from here it would break a limit
            elif self._journal.lease(offered, worker, lease.expires):
                return offered.plan

    def _still_allowed(self, waiting: Round) -> bool:
        region, allocation = self._history.region, waiting.plan.allocation
        return region is None or allocation is None or region.contains(allocation)

    def _offered(self, worker: str | None, now: float) -> Round | None:
        """Return the worker's own open round, or else one whose lease has expired."""
        waiting = self._history.open
        own = [each for each in waiting if worker is not None and each.lease.worker == worker]
        expired = [each for each in waiting if each.lease.has_expired(now)]
        return next(iter([*own, *expired]), None)

    def _proposed(self, lease: Lease) -> Round:
        number = len(self.rounds)
        proposal = self.strategy.propose(self._history, derived_generator(self.seed, "propose", number))
        if not isinstance(proposal, Proposal):
            raise InvalidInputError(f"strategy {self.strategy.name!r} must answer with a Proposal, not {proposal!r}")
        distribution = read_only(read_distribution(proposal.distribution, self.population, "the strategy's plan"))
        region = self._history.region
        allocation = assignment = None
        if proposal.assignment is not None:
            assignment = read_only(read_assignment(proposal.assignment, self.population), np.int32)
            allocation = read_only(self.population.counted(assignment), np.int64)
            if region is not None:
                raise knows_no_limits(self.strategy.name)
        elif region is not None:
            allocation = read_only(region.whole(distribution), np.int64)
            distribution = read_only(realized(allocation, distribution))
        elif self.population.size is not None:
            rng = derived_generator(self.seed, "allocate", number)
            allocation = read_only(
                allocate(
                    distribution,
                    self.population.weights,
                    self.population.size,
                    rng,
                    method=self._allocation,
                    context_method=self._contexts,
                ),
                np.int64,
            )
        return Round(Plan(number, distribution, allocation, assignment), dict(proposal.notes), lease=lease)

    def tell(
        self,
        plan: Plan | int,
        payoff: Any = None,
        *,
        agents: Any = None,
        cells: Any = None,
        counts: Any = None,
        distribution: Any = None,
        worker: str | None = None,
    ) -> Round:
        """Record what a plan brought; any kind of feedback, or several together.

        payoff: the population payoff, or a whole ``Feedback``. agents: (context, action, payoff) of some agents.
        cells: mean payoffs, (C, A), NaN where nobody was seen, with optional counts. distribution: what was really
        played, if not the plan. worker: who tells; a former holder's result is marked late.
        """
        asked = self._open_round(plan)
        feedback = self._read_feedback(payoff, agents, cells, counts)
        played = asked.plan.realized if distribution is None else read_distribution(distribution, self.population)
        former = worker is not None and worker != asked.lease.worker and worker in asked.lease.former
        late = former or asked.lease.has_expired(time.time())
        return self._journal.end(asked.done(feedback, played, told=len(self._history.told), late=late))

    def add(
        self, distribution: Any, payoff: Any = None, *, agents: Any = None, cells: Any = None, counts: Any = None
    ) -> Round:
        """Record a day that was played before or outside this study: what was played, and what was seen.

        Feedback as in ``tell``. After it the strategy skips its random first rounds.
        """
        played = read_only(read_distribution(distribution, self.population))
        feedback = self._read_feedback(payoff, agents, cells, counts)
        self.refresh()
        past = Round(Plan(len(self.rounds), played), added=True).done(feedback, played, told=len(self._history.told))
        return self._journal.add_done(past)

    def _read_feedback(self, payoff: Any, agents: Any, cells: Any, counts: Any) -> Feedback:
        if isinstance(payoff, Feedback):
            if agents is not None or cells is not None or counts is not None:
                raise InvalidInputError("a whole Feedback was told: agents=, cells= and counts= belong inside it")
            return Feedback.read(self.population, payoff.payoff, payoff.agents or None, payoff.cells, payoff.counts)
        return Feedback.read(self.population, payoff, agents, cells, counts)

    def fail(self, plan: Plan | int, reason: str) -> Round:
        """Record that a plan brought no result; the study goes on without it."""
        return self._journal.end(self._open_round(plan).ended("failed", str(reason)))

    def abandon(self, plan: Plan | int) -> Round:
        """Record that a plan will not be tried."""
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
        return run_rounds(self, payoff, rounds, workers, executor, stop=on_error == "stop", progress=progress)

    @property
    def best(self) -> Round:
        """The told round with the highest told payoff (for agents and cells: the highest posterior mean)."""
        told = self._told("best")
        known = [each.payoff for each in told if each.payoff is not None]
        if len(known) == len(told):
            return told[int(np.argmax(known))]
        recommended = self.strategy.recommend(self._history)
        planned = self._history.steers == "planned"
        return min(told, key=lambda each: _distance(each, recommended, planned=planned))

    def recommend(self) -> Plan:
        """Return the plan to keep: of the visited ones, that with the highest posterior mean.

        It keeps all limits but the move budget: getting there may take several rounds.
        """
        self._told("recommend")
        distribution = read_only(self.strategy.recommend(self._history))
        allocation = None
        limits = self.population.limits
        if limits is not None:
            allocation = read_only(limits.region(self.population.context_totals, None).whole(distribution), np.int64)
            distribution = read_only(realized(allocation, distribution))
        elif self.population.size is not None:
            rng = derived_generator(self.seed, "recommend")
            allocation = read_only(allocate(distribution, self.population.weights, self.population.size, rng), np.int64)
        return Plan(len(self.rounds), distribution, allocation)

    def predict(self, distribution: Any) -> Prediction:
        """Return what the model expects of a distribution (C, A): of g, and of f in every cell."""
        posterior = self._posterior("predict")
        checked = read_distribution(distribution, self.population)
        whole, cells = posterior.population(checked), posterior.cells(checked)
        return Prediction(whole.mean, whole.variance**0.5, cells.mean, np.sqrt(cells.variance))

    def explain(self, distribution: Any = None) -> Explanation:
        """Return a prediction for a distribution (the recommended one by default), and where one more agent helps."""
        posterior = self._posterior("explain")
        checked = self.recommend().realized if distribution is None else distribution
        checked = read_distribution(checked, self.population)
        whole, cells = posterior.population(checked), posterior.cells(checked)
        slopes = whole.pullback(1.0, 0.0)  # ∂μ/∂ξ: p_c times what a whole context is worth at an action
        relative = slopes - (checked * slopes).sum(axis=1, keepdims=True)
        size = self.population.size
        one_agent = 0.01 if size is None else 1.0 / (size * self.population.weights[:, None])
        return Explanation(
            mean=whole.mean,
            sd=whole.variance**0.5,
            cell_mean=cells.mean,
            cell_sd=np.sqrt(cells.variance),
            distribution=checked,
            gain=relative * one_agent,
            population=self.population,
        )

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
            raise InvalidInputError(f"plan must be a plan from ask() or its number, not {plan!r}")
        self.refresh()
        if not 0 <= number < len(self.rounds):
            raise UnknownNameError(f"plan {number} was never asked; the study has {len(self.rounds)} plans")
        asked = self.rounds[number]
        if isinstance(plan, Plan) and plan is not asked.plan and not _same_plan(plan, asked.plan):
            raise UnknownNameError(f"this plan {number} is not the one this study gave; did another study give it?")
        if asked.state != "open":
            raise RoundStateError(f"plan {number} is already {asked.state}; ask for a new plan to tell more")
        return asked


def knows_no_limits(strategy: str) -> InvalidInputError:
    """Return the error for a strategy that places agents one by one where limits are to be kept."""
    return InvalidInputError(f"strategy {strategy!r} places agents one by one and knows no limits; take 'default'")


def _same_plan(first: Plan, second: Plan) -> bool:
    same_agents = (first.allocation is None) == (second.allocation is None)
    if same_agents and first.allocation is not None and second.allocation is not None:
        same_agents = np.array_equal(first.allocation, second.allocation)
    return same_agents and np.array_equal(first.distribution, second.distribution)


def _distance(each: Round, distribution: FloatArray, *, planned: bool) -> float:
    there = each.plan.distribution if planned else each.played
    return float(np.abs(there - distribution).sum())
