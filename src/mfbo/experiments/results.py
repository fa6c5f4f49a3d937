"""Records of cells put in groups: a case is what strategies are compared on, a group one strategy's seeds in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.catalogue import base_name, make_problem
from mfbo.errors import MfboError
from mfbo.experiments.ceilings import DrawnCeiling, drawn_ceiling
from mfbo.experiments.cells import canonical
from mfbo.experiments.store import ResultStore, StoredPlan
from mfbo.problems import Problem
from mfbo.simplex import allocate, uniform

WITHIN_A_CASE = {"strategy", "seed", "time_limit", "allocation"}
USUAL = {"agents": None, "feedback": "system", "contexts": "quota", "noise": 0.0, "data_sha256": None}
ORDER = ("default", "mf-gp-ucb", "turbo", "annealing", "genetic", "random")


@dataclass(frozen=True)
class Group:
    """The finished runs of one strategy on one case, ordered by seed.

    name: the strategy's, with its way to place whole agents if the case has it in both.
    """

    strategy: str
    name: str
    records: tuple[Mapping[str, Any], ...]

    @property
    def results(self) -> list[Mapping[str, Any]]:
        """What came out of each run."""
        return [record["result"] for record in self.records]

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seed of each run."""
        return tuple(int(record["cell"]["seed"]) for record in self.records)

    @property
    def finals(self) -> FloatArray:
        """Best value of each run, (S,)."""
        return np.array([result["best_value"] for result in self.results])

    @property
    def played(self) -> tuple[int, ...]:
        """Rounds that each run really played."""
        return tuple(int(result["rounds_played"]) for result in self.results)

    @property
    def allocation(self) -> str:
        """How distributions became whole agents."""
        return str(self.records[0]["cell"]["allocation"])

    @property
    def limited(self) -> int:
        """How many runs a time limit ended."""
        return sum(bool(result["time_limited"]) for result in self.results)

    @property
    def time_limit(self) -> float | None:
        """Seconds after which runs begin no further round: the shortest of them, None without any."""
        limits = [record["cell"]["time_limit"] for record in self.records]
        return min((float(limit) for limit in limits if limit is not None), default=None)

    def common(self, key: str) -> FloatArray:
        """Return a per-round list of all runs, (S, T), cut where the first of them ended."""
        return np.array([result[key][: min(self.played)] for result in self.results])


@dataclass(frozen=True)
class Case:
    """A problem with everything fixed but the strategy, its way to place whole agents, and the seed.

    label: names what tells it from the other cases.
    """

    label: str
    problem: str
    agents: int | str
    actions: int
    contexts: int
    rounds: int
    optimum: float | None
    settings: Mapping[str, Any]
    groups: tuple[Group, ...]

    def group(self, strategy: str) -> Group | None:
        """Return the runs of a strategy, if there are any; if it was run in both ways, the first."""
        return next((group for group in self.groups if group.strategy == strategy), None)

    @cached_property
    def problem_data(self) -> Problem | None:
        """The problem itself; None if it took a data file or is no longer in the catalogue."""
        if self.settings["data_sha256"] is not None:
            return None
        try:
            problem: Problem = make_problem(self.problem)
        except MfboError:
            return None
        return problem.with_size(None if self.agents == "inf" else int(self.agents))

    @property
    def is_the_papers(self) -> bool:
        """Whether the paper ran it like this but for rounds and allocation: its number of agents, system payoffs."""
        own = None if self.problem_data is None else make_problem(self.problem).population.size
        plain = self.settings["feedback"] == "system" and self.settings["noise"] == 0
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
        return drawn_ceiling(self.problem_data, self.rounds, self.settings["contexts"])

    def gap_closed(self, values: FloatArray) -> FloatArray | None:
        """Return (value − uniform) / (optimum − uniform), or None if the optimum is unknown."""
        if self.optimum is None or self.start is None or self.optimum <= self.start:
            return None
        return np.asarray((values - self.start) / (self.optimum - self.start))


@dataclass(frozen=True)
class Results:
    """All that a folder holds: the plan, the finished cases, the failed records, the number of missing cells."""

    plan: StoredPlan
    records: tuple[Mapping[str, Any], ...]
    cases: tuple[Case, ...]
    failed: tuple[Mapping[str, Any], ...]

    @property
    def missing(self) -> int:
        """Cells of the plan that have no record yet."""
        return len(self.plan.cells) - len(self.records)


def load_results(store: ResultStore) -> Results:
    """Read a results folder."""
    records = store.records()
    done = [record for record in records if record["state"] == "done"]
    failed = tuple(record for record in records if record["state"] == "failed")
    return Results(store.plan(), tuple(records), _cases(done), failed)


def _cases(records: Sequence[Mapping[str, Any]]) -> tuple[Case, ...]:
    together: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        together.setdefault(canonical(_case_settings(record)), []).append(record)
    labels = _labels([members[0] for members in together.values()])
    return tuple(_case(label, members) for label, members in zip(labels, together.values(), strict=True))


def _case_settings(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what all runs of a case share; how many agents there were counts, not how that was asked for."""
    settings = {key: value for key, value in record["cell"].items() if key not in WITHIN_A_CASE}
    return {**settings, "agents": record["result"]["agents"]}


def _case(label: str, records: Sequence[Mapping[str, Any]]) -> Case:
    first = records[0]["result"]
    by_way: dict[tuple[str, str], dict[int, Mapping[str, Any]]] = {}
    for record in records:
        cell = record["cell"]
        seeds = by_way.setdefault((cell["strategy"], cell["allocation"]), {})
        held = seeds.get(cell["seed"])
        if held is None or record["result"]["rounds_played"] > held["result"]["rounds_played"]:
            seeds[cell["seed"]] = record  # the same run with two time limits: the longer one says more
    strategies = [strategy for strategy, _ in by_way]
    groups = [
        Group(
            strategy,
            strategy if strategies.count(strategy) == 1 else f"{strategy} ({allocation})",
            tuple(seeds[seed] for seed in sorted(seeds)),
        )
        for (strategy, allocation), seeds in by_way.items()
    ]
    groups.sort(key=lambda group: _place(base_name(group.strategy)))
    return Case(
        label,
        first["problem"],
        first["agents"],
        first["actions"],
        first["contexts"],
        records[0]["cell"]["rounds"],
        first["optimum"],
        records[0]["cell"],
        tuple(groups),
    )


def _place(strategy: str) -> int:
    return ORDER.index(strategy) if strategy in ORDER else len(ORDER)


def _labels(firsts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name each case by its problem, what differs among the cases of that problem, and what is not as usual."""
    labels = []
    for first in firsts:
        settings = _case_settings(first)
        peers = [_case_settings(each) for each in firsts if each["cell"]["problem"] == first["cell"]["problem"]]
        told = [
            key
            for key, value in settings.items()
            if any(each[key] != value for each in peers) or first["cell"][key] != USUAL.get(key, first["cell"][key])
        ]
        labels.append(", ".join([first["cell"]["problem"], *(_said(key, settings[key]) for key in told)]))
    return labels


def _said(key: str, value: Any) -> str:
    if key == "agents":
        return f"M = {value:,}" if isinstance(value, int) else f"M = {value}"
    if key == "rounds":
        return f"T = {value}"
    if key == "data_sha256":
        return "embedded data" if value is None else f"data {value[:8]}"
    return f"{key.replace('_', ' ')} {value}"
