"""The study: a population, a strategy, a seed, and its rounds. It keeps the loop of ask and tell."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mfbo.arrays import FloatArray, read_only
from mfbo.catalogue import make_strategy
from mfbo.errors import InvalidInputError, RoundStateError, UnknownNameError
from mfbo.interfaces import Posterior, Strategy
from mfbo.population import Population
from mfbo.records import (
    Explanation,
    Feedback,
    History,
    Plan,
    Prediction,
    Proposal,
    Round,
    read_assignment,
    read_distribution,
)
from mfbo.seeding import derived_generator
from mfbo.simplex import AllocationMethod, allocate, realized
from mfbo.validation import known_name, positive, standard_deviation, whole_number

ALLOCATIONS = ("quota", "sampled")


class Study:
    """Asks a strategy for plans and keeps what came of them.

    Every random draw of round t comes from (seed, t), so k rounds, a restart and m more equal k + m rounds.
    """

    def __init__(self, history: History, strategy: Strategy, seed: int, allocation: str, contexts: str) -> None:
        """Use ``create_study``."""
        self.strategy = strategy
        self.seed = seed
        self._history = history
        self._allocation: AllocationMethod = "sampled" if allocation == "sampled" else "quota"
        self._contexts: AllocationMethod = "sampled" if contexts == "sampled" else "quota"

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

    def ask(self) -> Plan:
        """Return the next plan; several may be open at once, and then they spread."""
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
                raise InvalidInputError(
                    f"strategy {self.strategy.name!r} places agents one by one and knows no limits; take 'default'"
                )
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
        plan = Plan(number, distribution, allocation, assignment)
        self._replace_rounds((*self.rounds, Round(plan, dict(proposal.notes))))
        return plan

    def tell(
        self,
        plan: Plan | int,
        payoff: Any = None,
        *,
        agents: Any = None,
        cells: Any = None,
        counts: Any = None,
        distribution: Any = None,
    ) -> Round:
        """Record what a plan brought; any kind of feedback, or several together.

        payoff: the population payoff, or a whole ``Feedback``. agents: (context, action, payoff) of some agents.
        cells: mean payoffs, (C, A), NaN where nobody was seen, with optional counts. distribution: what was really
        played, if not the plan.
        """
        asked = self._open_round(plan)
        feedback = self._read_feedback(payoff, agents, cells, counts)
        played = asked.plan.realized if distribution is None else read_distribution(distribution, self.population)
        done = asked.done(feedback, played, told=len(self._history.told))
        self._put(done)
        return done

    def add(
        self, distribution: Any, payoff: Any = None, *, agents: Any = None, cells: Any = None, counts: Any = None
    ) -> Round:
        """Record a day that was played before or outside this study: what was played, and what was seen.

        Feedback as in ``tell``. After it the strategy skips its random first rounds.
        """
        played = read_only(read_distribution(distribution, self.population))
        feedback = self._read_feedback(payoff, agents, cells, counts)
        past = Round(Plan(len(self.rounds), played), added=True).done(feedback, played, told=len(self._history.told))
        self._replace_rounds((*self.rounds, past))
        return past

    def _read_feedback(self, payoff: Any, agents: Any, cells: Any, counts: Any) -> Feedback:
        if isinstance(payoff, Feedback):
            if agents is not None or cells is not None or counts is not None:
                raise InvalidInputError("a whole Feedback was told: agents=, cells= and counts= belong inside it")
            return Feedback.read(self.population, payoff.payoff, payoff.agents or None, payoff.cells, payoff.counts)
        return Feedback.read(self.population, payoff, agents, cells, counts)

    def fail(self, plan: Plan | int, reason: str) -> Round:
        """Record that a plan brought no result; the study goes on without it."""
        failed = self._open_round(plan).ended("failed", str(reason))
        self._put(failed)
        return failed

    def abandon(self, plan: Plan | int) -> Round:
        """Record that a plan will not be tried."""
        abandoned = self._open_round(plan).ended("abandoned")
        self._put(abandoned)
        return abandoned

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
        """Return the plan to keep: of the visited ones, that with the highest posterior mean."""
        self._told("recommend")
        distribution = read_only(self.strategy.recommend(self._history))
        allocation = None
        if self.population.size is not None:
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
        if not 0 <= number < len(self.rounds):
            raise UnknownNameError(f"plan {number} was never asked; the study has {len(self.rounds)} plans")
        asked = self.rounds[number]
        if isinstance(plan, Plan) and plan is not asked.plan and not _same_plan(plan, asked.plan):
            raise UnknownNameError(f"this plan {number} is not the one this study gave; did another study give it?")
        if asked.state != "open":
            raise RoundStateError(f"plan {number} is already {asked.state}; ask for a new plan to tell more")
        return asked

    def _put(self, changed: Round) -> None:
        rounds = self.rounds
        self._replace_rounds((*rounds[: changed.number], changed, *rounds[changed.number + 1 :]))

    def _replace_rounds(self, rounds: tuple[Round, ...]) -> None:
        self._history = History(self.population, rounds, self._history.noise, self._history.steers)


def create_study(
    population: Population,
    strategy: Any = "default",
    *,
    seed: int = 0,
    noise: float | None = None,
    allocation: Literal["quota", "sampled"] = "quota",
    contexts: Literal["quota", "sampled"] = "quota",
) -> Study:
    """Start a study.

    strategy: a name from ``mfbo strategies`` or an object with ``propose``. noise: known standard deviation of one
    told payoff. allocation: how a plan becomes whole agents. contexts: whether each round has the same number of
    agents per context or draws them anew.
    """
    if not isinstance(population, Population):
        raise InvalidInputError(f"population must be an mfbo.Population, not {population!r}")
    known_name(allocation, "allocation", ALLOCATIONS)
    known_name(contexts, "context allocation", ALLOCATIONS)
    if population.limits is not None and (allocation, contexts) != ("quota", "quota"):
        raise InvalidInputError("random draws keep no limits: take allocation='quota' and contexts='quota'")
    known = None if noise is None else standard_deviation(positive(noise, "noise"), "noise")
    steers: Literal["realized", "planned"] = "planned" if allocation == "sampled" else "realized"
    history = History(population, (), known, steers)
    return Study(history, make_strategy(strategy), whole_number(seed, "seed", least=0), allocation, contexts)


@dataclass(frozen=True, eq=False)
class Result:
    """What ``maximize`` found: the study, its best round, and the plan to keep."""

    study: Study
    best: Round
    recommended: Plan


def maximize(
    payoff: Callable[[Plan], "float | Feedback"],
    population: Population,
    rounds: int,
    *,
    on_error: Literal["stop", "continue"] = "stop",
    progress: Callable[[Round], None] | None = None,
    **study_options: Any,
) -> Result:
    """Ask, call ``payoff(plan)``, tell, ``rounds`` times; options are those of ``create_study``.

    A payoff that raises marks its round failed; then the error is raised ("stop") or the next round asked. A raised
    error, Ctrl-C included, carries the study in its attribute ``study``: nothing told is lost.
    """
    whole_number(rounds, "rounds", least=1)
    known_name(on_error, "on_error", ("stop", "continue"))
    study = create_study(population, **study_options)
    try:
        for _ in range(rounds):
            finished = run_round(study, payoff, on_error=on_error)
            if progress is not None:
                progress(finished)
        return Result(study, study.best, study.recommend())
    except BaseException as error:
        error.study = study  # type: ignore[attr-defined]
        raise


def run_round(
    study: Study, payoff: Callable[[Plan], "float | Feedback"], *, on_error: Literal["stop", "continue"] = "stop"
) -> Round:
    """Play one round of a study: ask, call, tell."""
    plan = study.ask()
    try:
        return study.tell(plan, payoff(plan))
    except Exception as error:
        failed = study.fail(plan, f"{type(error).__name__}: {error}")
        if on_error == "stop":
            raise
        return failed


def _same_plan(first: Plan, second: Plan) -> bool:
    same_agents = (first.allocation is None) == (second.allocation is None)
    if same_agents and first.allocation is not None and second.allocation is not None:
        same_agents = np.array_equal(first.allocation, second.allocation)
    return same_agents and np.array_equal(first.distribution, second.distribution)


def _distance(each: Round, distribution: FloatArray, *, planned: bool) -> float:
    played = each.plan.distribution if planned or each.realized is None else each.realized
    return float(np.abs(played - distribution).sum())
