"""One run of one strategy on one problem: settings in, true values and times out."""

import time
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.catalogue import base_name, follows_a_rule, make_problem
from mfbo.errors import InvalidInputError
from mfbo.problems import FeedbackKind, Observer, Problem, forecast_plan
from mfbo.problems.trip_replay import ReplayPayoff
from mfbo.records import Plan
from mfbo.simplex import AllocationMethod
from mfbo.study import Study, create_study
from mfbo.validation import known_name, positive, standard_deviation, whole_number

ALLOCATIONS = get_args(AllocationMethod)
Agents = int | Literal["inf"] | None


@dataclass(frozen=True)
class RunSettings:
    """What to run. ``agents``: a number, "inf" for the mean-field limit, or None for the problem's own.

    ``allocation``: how plans become whole agents. ``context_allocation``: whether every round has the exact share of
    each context, or draws them anew. ``data``: a demand table or raw trip file of the user, for the problems that take
    one.
    """

    problem: str
    strategy: Any = "default"
    rounds: int = 100
    seed: int = 0
    agents: Agents = None
    feedback: str = "system"
    allocation: AllocationMethod = "quota"
    context_allocation: AllocationMethod = "quota"
    noise: float = 0.0
    known_noise: bool = False
    data: str | PathLike[str] | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before anything is computed."""
        whole_number(self.rounds, "rounds", least=1)
        whole_number(self.seed, "seed", least=0)
        standard_deviation(self.noise, "noise")
        for name in ("allocation", "context_allocation"):
            known_name(getattr(self, name), name.replace("_", " "), ALLOCATIONS)
        FeedbackKind.parse(self.feedback)
        if self.agents is not None and self.agents != "inf":
            whole_number(self.agents, "agents", least=1)
        if self.known_noise and self.noise == 0:
            raise InvalidInputError("known noise needs a noise above 0: give --noise SD, or noise = SD in a suite")


@dataclass(frozen=True)
class RunResult:
    """What came out; values are the noise-free population payoff of what was really played.

    recommended_at: value of the recommended plan at the checkpoints asked for.
    trace: best value so far after each round. regret: optimum − best_value, None if the optimum is unknown.
    seconds, ask_seconds: processor time of the run and of the strategy in it, so that other work on the machine does
    not count. rounds: asked for; rounds_played is smaller only if time_limited.
    values: of every round. plans: what was played in every round, (C, A) each; neither is part of the JSON.
    """

    problem: str
    strategy: str
    rounds: int
    seed: int
    agents: int | Literal["inf"]
    actions: int
    contexts: int
    feedback: str
    optimum: float | None
    best_value: float
    regret: float | None
    recommended_value: float
    trace: tuple[float, ...]
    cumulative_regret: float | None
    seconds: float
    ask_seconds: float
    best_distribution: tuple[tuple[float, ...], ...]
    rounds_played: int
    time_limited: bool
    values: tuple[float, ...] = field(default=(), repr=False)
    plans: tuple[FloatArray, ...] = field(default=(), repr=False, compare=False)
    recommended_at: dict[int, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return plain lists and numbers."""
        record = asdict(replace(self, plans=()))
        record["trace"] = list(self.trace)
        record["best_distribution"] = [list(row) for row in self.best_distribution]
        for key in ("recommended_at", "values", "plans"):
            del record[key]
        return record


def run(
    settings: RunSettings,
    problem: Problem | None = None,
    progress: Callable[[int, float], None] | None = None,
    checkpoints: Collection[int] = (),
    time_limit: float | None = None,
) -> RunResult:
    """Play all rounds; ``progress(round, best value)`` is called after each.

    problem: overrides the named one. checkpoints: rounds after which the value of the recommended plan is noted too.
    time_limit: seconds after which no further round is begun; the round under way is played to its end.
    """
    if time_limit is not None:
        positive(time_limit, "time limit")
    started, began = time.perf_counter(), time.process_time()
    chosen = _chosen_problem(settings, problem)
    observer = Observer(chosen, FeedbackKind.parse(settings.feedback), settings.noise, settings.seed)
    study = _study(settings, chosen)
    rounds: list[_PlayedRound] = []
    recommended: dict[int, float] = {}
    best = -np.inf
    for number in range(1, settings.rounds + 1):
        rounds.append(_play_round(study, chosen, observer))
        best = max(best, rounds[-1].value)
        if number in checkpoints:
            recommended[number] = chosen.value(study.recommend(chosen.situation(number)))
        if progress is not None:
            progress(number, best)
        if time_limit is not None and time.perf_counter() - started >= time_limit:
            break
    result = _result(settings, chosen, study, rounds)
    return replace(result, seconds=time.process_time() - began, recommended_at=recommended)


@dataclass(frozen=True, eq=False)
class _PlayedRound:
    """A plan, its noise-free payoff, and the strategy's processor time for it."""

    plan: Plan
    value: float
    ask_seconds: float


def _chosen_problem(settings: RunSettings, problem: Problem | None) -> Problem:
    chosen = problem or make_problem(settings.problem, settings.data)
    if settings.agents is None:
        return chosen
    return chosen.with_size(None if settings.agents == "inf" else settings.agents)


def _study(settings: RunSettings, problem: Problem) -> Study:
    return create_study(
        problem.population,
        settings.strategy,
        seed=settings.seed,
        noise=settings.noise if settings.known_noise else None,
        allocation=settings.allocation,
        context_allocation=settings.context_allocation,
        situations=None if problem.days is None else problem.days.situations,
        start=_rule_plan(settings, problem),
    )


def _rule_plan(settings: RunSettings, problem: Problem) -> FloatArray | None:
    """Return the plan (1, A) that a strategy which is a rule makes of the problem's trips; None for all others."""
    if not isinstance(settings.strategy, str) or not follows_a_rule(settings.strategy):
        return None
    rule, payoff = base_name(settings.strategy), problem.payoff
    if not isinstance(payoff, ReplayPayoff):
        raise InvalidInputError(
            f"strategy {rule!r} makes its plan of recorded trips, and {problem.name!r} has none; take jersey-city, or "
            "replay_problem with trips of your own"
        )
    bikes = forecast_plan(payoff.trips, problem.population.size or payoff.agents, rule, payoff.docks)
    return np.asarray(bikes[None] / bikes.sum())


def _play_round(study: Study, problem: Problem, observer: Observer) -> _PlayedRound:
    asked = time.process_time()
    number = len(study.rounds)
    plan = study.ask(situation=problem.situation(number))
    ask_seconds = time.process_time() - asked
    study.tell(plan, observer(plan), situation=problem.afterwards(number))
    return _PlayedRound(plan, problem.value(plan), ask_seconds)


def _result(settings: RunSettings, problem: Problem, study: Study, rounds: list[_PlayedRound]) -> RunResult:
    """Return what came out, but for the seconds of the whole run."""
    contexts, actions = problem.population.shape
    optimum = None if problem.optimum is None else problem.optimum.value
    values = np.array([played.value for played in rounds])
    trace = np.maximum.accumulate(values)
    return RunResult(
        problem=problem.name,
        strategy=study.strategy.name,
        rounds=settings.rounds,
        seed=settings.seed,
        agents="inf" if problem.population.size is None else problem.population.size,
        actions=actions,
        contexts=contexts,
        feedback=settings.feedback,
        optimum=optimum,
        best_value=float(trace[-1]),
        regret=None if optimum is None else optimum - float(trace[-1]),
        recommended_value=problem.value(study.recommend(problem.situation(len(rounds)))),
        trace=tuple(trace.tolist()),
        cumulative_regret=None if optimum is None else float(np.sum(optimum - values)),
        seconds=0.0,
        ask_seconds=sum(played.ask_seconds for played in rounds),
        best_distribution=tuple(map(tuple, rounds[int(np.argmax(values))].plan.realized.tolist())),
        rounds_played=len(rounds),
        time_limited=len(rounds) < settings.rounds,
        values=tuple(values.tolist()),
        plans=tuple(played.plan.realized for played in rounds),
    )
