"""Records of runs put in groups: a case is what strategies are compared on, a group one strategy's seeds in it."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.catalogue import base_name, make_problem
from mfbo.errors import MfboError
from mfbo.experiments.ceilings import DrawnCeiling, drawn_ceiling
from mfbo.experiments.identities import RunIdentity
from mfbo.experiments.run_records import AnyRun, FailedRun, FinishedRun
from mfbo.experiments.runs import RunResult
from mfbo.experiments.store import ResultStore, StoredSuite
from mfbo.own_parts import is_import_path
from mfbo.problems import Problem
from mfbo.simplex import AllocationMethod, allocate, uniform

USUAL = {"agents": None, "feedback": "system", "context_allocation": "quota", "noise": 0.0, "data_sha256": None}
ORDER = ("default", "mf-gp-ucb", "turbo", "annealing", "genetic", "random")


@dataclass(frozen=True)
class Group:
    """The finished runs of one strategy on one case, ordered by seed.

    name: the strategy's, with its way to place whole agents if the case has it in both.
    """

    strategy: str
    name: str
    records: tuple[FinishedRun, ...]

    @property
    def results(self) -> list[RunResult]:
        """What came out of each run."""
        return [record.result for record in self.records]

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seed of each run."""
        return tuple(record.identity.seed for record in self.records)

    @property
    def finals(self) -> FloatArray:
        """Best value of each run, (S,)."""
        return np.array([result.best_value for result in self.results])

    @property
    def best(self) -> RunResult:
        """The run with the best value of all."""
        return self.results[int(np.argmax(self.finals))]

    @property
    def played(self) -> tuple[int, ...]:
        """Rounds that each run really played."""
        return tuple(result.rounds_played for result in self.results)

    @property
    def allocation(self) -> AllocationMethod:
        """How distributions became whole agents."""
        return self.records[0].identity.allocation

    @property
    def limited(self) -> int:
        """How many runs a time limit ended."""
        return sum(result.time_limited for result in self.results)

    @property
    def time_limit(self) -> float | None:
        """Seconds after which runs begin no further round: the shortest of them, None without any."""
        limits = [record.identity.time_limit for record in self.records]
        return min((limit for limit in limits if limit is not None), default=None)

    @property
    def values(self) -> FloatArray:
        """Payoff of every round of all runs, (S, T), cut where the first of them ended."""
        return self._common([result.values for result in self.results])

    @property
    def traces(self) -> FloatArray:
        """Best payoff so far of all runs, (S, T), cut likewise."""
        return self._common([result.trace for result in self.results])

    @property
    def gains(self) -> FloatArray:
        """Information gain of all runs, (S, T), cut likewise."""
        return self._common([record.information_gain for record in self.records])

    def _common(self, curves: Sequence[Sequence[float]]) -> FloatArray:
        return np.array([curve[: min(self.played)] for curve in curves])


@dataclass(frozen=True)
class Case:
    """A problem with everything fixed but the strategy, its way to place whole agents, and the seed.

    label: names what tells it from the other cases. identity: of its first run, whose settings but those are all's.
    """

    label: str
    problem: str
    agents: int | str
    actions: int
    contexts: int
    rounds: int
    optimum: float | None
    identity: RunIdentity
    groups: tuple[Group, ...]

    def group(self, strategy: str) -> Group | None:
        """Return the runs of a strategy, if there are any; if it was run in both ways, the first."""
        return next((group for group in self.groups if group.strategy == strategy), None)

    @cached_property
    def problem_data(self) -> Problem | None:
        """The problem itself; None if it took a data file, is an import path, or is no longer in the catalogue."""
        if self.identity.data_sha256 is not None or is_import_path(self.problem):
            return None
        try:
            problem = make_problem(self.problem)
        except MfboError:
            return None
        return problem.with_size(None if self.agents == "inf" else int(self.agents))

    @property
    def is_the_papers(self) -> bool:
        """Whether the paper ran it like this but for rounds and allocation: its number of agents, system payoffs."""
        own = None if self.problem_data is None else make_problem(self.problem).population.size
        plain = self.identity.feedback == "system" and self.identity.noise == 0
        return plain and self.agents == own

    @property
    def start(self) -> float | None:
        """Value of the uniform distribution in the mean-field limit: where the gap to the optimum begins."""
        problem = self.problem_data
        return None if problem is None else problem.mean_field_value(uniform(*problem.population.shape))

    @cached_property
    def reachable(self) -> float | None:
        """The best value known for this many whole agents: the optimum rounded to them, or the best that was played.

        With 50 agents it lies below the optimum of the mean-field limit; no method can close that last bit.
        """
        problem = self.problem_data
        if problem is None or problem.optimum is None or problem.population.size is None:
            return self.optimum
        size, optimum = problem.population.size, problem.optimum.distribution
        counts = allocate(optimum, problem.population.weights, size, np.random.default_rng(0))
        played = [float(group.finals.max()) for group in self.groups]
        return max(problem.payoff.population(np.asarray(counts / size), size), *played)

    @cached_property
    def drawn_ceiling(self) -> DrawnCeiling | None:
        """What the optimal distribution is worth to drawn agents; None if no strategy here draws them."""
        if self.problem_data is None or all(group.allocation != "sampled" for group in self.groups):
            return None
        return drawn_ceiling(self.problem_data, self.rounds, self.identity.context_allocation)

    def gap_closed(self, values: FloatArray) -> FloatArray | None:
        """Return (value − uniform) / (optimum − uniform), or None if the optimum is unknown."""
        if self.optimum is None or self.start is None or self.optimum <= self.start:
            return None
        return np.asarray((values - self.start) / (self.optimum - self.start))


@dataclass(frozen=True)
class Results:
    """All that a folder holds: the suite, all records, the cases of the finished ones, the failed ones."""

    suite: StoredSuite
    records: tuple[AnyRun, ...]
    cases: tuple[Case, ...]
    failed: tuple[FailedRun, ...]

    @property
    def missing(self) -> int:
        """Runs of the suite that have no record yet."""
        return len(self.suite.runs) - len(self.records)


def load_results(store: ResultStore) -> Results:
    """Read a results folder."""
    records = store.records()
    finished = [record for record in records if isinstance(record, FinishedRun)]
    failed = tuple(record for record in records if isinstance(record, FailedRun))
    return Results(store.suite(), tuple(records), cases_of(finished), failed)


def cases_of(records: Sequence[FinishedRun]) -> tuple[Case, ...]:
    """Put the records of finished runs together by what all strategies of a comparison share."""
    together: dict[RunIdentity, list[FinishedRun]] = {}
    for record in records:
        together.setdefault(_shared(record), []).append(record)
    labels = _labels([members[0] for members in together.values()])
    return tuple(_case(label, members) for label, members in zip(labels, together.values(), strict=True))


def _shared(record: FinishedRun) -> RunIdentity:
    """Return what all runs of a case share; how many agents there were counts, not how that was asked for."""
    agents = record.result.agents
    return replace(record.identity, strategy="", seed=0, time_limit=None, allocation="quota", agents=agents)


def _case(label: str, records: Sequence[FinishedRun]) -> Case:
    first = records[0]
    by_way: dict[tuple[str, str], dict[int, FinishedRun]] = {}
    for record in records:
        run = record.identity
        by_seed = by_way.setdefault((run.strategy, run.allocation), {})
        other = by_seed.get(run.seed)
        if other is None or record.result.rounds_played > other.result.rounds_played:
            by_seed[run.seed] = record  # the same run with two time limits: the longer one says more
    strategies = [strategy for strategy, _ in by_way]
    groups = [
        Group(
            strategy,
            strategy if strategies.count(strategy) == 1 else f"{strategy} ({allocation})",
            tuple(by_seed[seed] for seed in sorted(by_seed)),
        )
        for (strategy, allocation), by_seed in by_way.items()
    ]
    groups.sort(key=lambda group: _place(base_name(group.strategy)))
    result = first.result
    shape = (result.agents, result.actions, result.contexts)
    return Case(label, result.problem, *shape, first.identity.rounds, result.optimum, first.identity, tuple(groups))


def _place(strategy: str) -> int:
    return ORDER.index(strategy) if strategy in ORDER else len(ORDER)


def _labels(firsts: Sequence[FinishedRun]) -> list[str]:
    """Name each case by its problem, what differs among the cases of that problem, and what is not as usual."""
    labels = []
    for first in firsts:
        asked, shared = first.identity, _shared(first)
        peers = [_shared(other) for other in firsts if other.identity.problem == asked.problem]
        told = [
            name
            for name in sorted(field.name for field in fields(shared))
            if any(getattr(peer, name) != getattr(shared, name) for peer in peers)
            or getattr(asked, name) != USUAL.get(name, getattr(asked, name))
        ]
        labels.append(", ".join([asked.problem, *(_said(name, getattr(shared, name)) for name in told)]))
    return labels


def _said(name: str, value: Any) -> str:
    if name == "agents":
        return f"M = {value:,}" if isinstance(value, int) else f"M = {value}"
    if name == "rounds":
        return f"T = {value}"
    if name == "data_sha256":
        return "embedded data" if value is None else f"data {value[:8]}"
    if name == "context_allocation":
        return f"contexts {value}"
    return f"{name.replace('_', ' ')} {value}"
