"""Suites: problems × strategies × seeds as frozen data, built in or read from a TOML file."""

import itertools
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from mfbo.catalogue import PROBLEMS, known_problem, known_strategy, require_data_taker
from mfbo.errors import InvalidInputError, UnknownNameError
from mfbo.experiments.identities import canonical, digest
from mfbo.experiments.runs import Agents, RunSettings
from mfbo.experiments.suite_runs import SuiteRun
from mfbo.given_files import given_bytes
from mfbo.simplex import AllocationMethod
from mfbo.validation import known_name, whole_number

LISTS = ("problems", "strategies", "seeds", "rounds", "agents")
FILE_NAME = re.compile(r"\w[\w. -]{0,99}")
MOST_BYTES = 1_000_000
MOST_RUNS = 100_000


@dataclass(frozen=True)
class Batch:
    """Runs that share everything but problem, strategy, seed, rounds and number of agents: all combinations of these.

    agents: numbers, "inf", or None for the problem's own. time_limit: seconds per run.
    """

    problems: tuple[str, ...]
    strategies: tuple[str, ...]
    seeds: tuple[int, ...]
    rounds: tuple[int, ...]
    agents: tuple[Agents, ...] = (None,)
    feedback: str = "system"
    allocation: AllocationMethod = "quota"
    context_allocation: AllocationMethod = "quota"
    noise: float = 0.0
    known_noise: bool = False
    data: str | None = None
    time_limit: float | None = None

    def __post_init__(self) -> None:
        """Refuse empty or doubled lists, and settings that cannot be run."""
        for name in LISTS:
            values = getattr(self, name)
            if not values:
                raise InvalidInputError(f"{name} is empty: name at least one, or leave the whole batch out")
            if len({repr(value) for value in values}) < len(values):
                raise InvalidInputError(f"{name} must be without repetition, not {list(values)}")
        if self.data is not None:
            for name in (problem for problem in self.problems if problem in PROBLEMS):
                require_data_taker(name)
        count = math.prod(len(getattr(self, name)) for name in LISTS)
        if count > MOST_RUNS:
            raise InvalidInputError(f"a batch has at most {MOST_RUNS:,} runs, not {count:,}: split it")
        self.runs()

    def runs(self) -> list[SuiteRun]:
        """Return the runs, seeds outermost: an interrupted benchmark has then compared all on some seeds."""
        shared = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in LISTS}
        limit = shared.pop("time_limit")
        grid = itertools.product(self.seeds, self.problems, self.agents, self.rounds, self.strategies)
        return [
            SuiteRun(RunSettings(problem, strategy, rounds, seed, agents, **shared), limit)
            for seed, problem, agents, rounds, strategy in grid
        ]


@dataclass(frozen=True)
class Suite:
    """Runs that belong together: its batches, what it is for, and the protocol that all runs follow."""

    name: str
    batches: tuple[Batch, ...]
    summary: str = ""
    protocol: str = ""

    def __post_init__(self) -> None:
        """Refuse a suite without runs."""
        if not self.batches:
            raise InvalidInputError(f"suite {self.name!r} has no runs: add at least one [[runs]] table")
        if FILE_NAME.fullmatch(self.name) is None:
            raise InvalidInputError(f"a suite's name becomes a folder's: letters, digits, - _ and ., not {self.name!r}")

    @cached_property
    def runs(self) -> tuple[SuiteRun, ...]:
        """All runs, none twice, the first seed of all batches first."""
        unique = {run.key: run for batch in self.batches for run in batch.runs()}
        return tuple(sorted(unique.values(), key=lambda run: run.settings.seed))

    @cached_property
    def hash(self) -> str:
        """A hash of what is to be run; names and explanations do not count."""
        return digest(canonical(sorted(run.key for run in self.runs)))[:16]

    def selected(self, problems: Sequence[str] = (), strategies: Sequence[str] = ()) -> tuple[SuiteRun, ...]:
        """Return the runs of these problems and strategies (of all, if none is named), checked against the catalogue.

        Only what is selected must be in the catalogue.
        """
        for kind, names in (("problem", problems), ("strategy", strategies)):
            for name in names:
                known_name(name, f"{kind} of suite {self.name!r}:", self._names(kind))
        chosen = tuple(
            run
            for run in self.runs
            if (not problems or run.settings.problem in problems)
            and (not strategies or run.settings.strategy in strategies)
        )
        if not chosen:
            raise InvalidInputError(f"suite {self.name!r} runs none of the chosen strategies on the chosen problems")
        for run in chosen:
            known_problem(run.settings.problem)
            known_strategy(run.settings.strategy)
        return chosen

    def _names(self, field: str) -> list[str]:
        return list(dict.fromkeys(getattr(run.settings, field) for run in self.runs))

    def description(self) -> dict[str, Any]:
        """Return the suite as plain data; the same as its TOML file would say."""
        head = {"name": self.name, "summary": self.summary, "protocol": self.protocol}
        return {**head, "runs": [_plain(batch) for batch in self.batches]}


def read_suite(path: Path) -> Suite:
    """Read a suite from a TOML file; data files in it are relative to its folder."""
    try:
        record = tomllib.loads(given_bytes(path, MOST_BYTES).decode())
    except InvalidInputError as error:
        raise InvalidInputError(f"suite {error}") from error
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, numbers or brackets beyond all measure
        raise InvalidInputError(f"{path} is not readable as TOML: {error}") from error
    try:
        suite = suite_of({"name": path.stem, **record})
    except (InvalidInputError, UnknownNameError) as error:
        raise type(error)(f"{path}: {error}") from error
    return replace(suite, batches=tuple(_placed(batch, path.parent) for batch in suite.batches))


def suite_of(record: Mapping[str, Any]) -> Suite:
    """Return the suite that plain data describe, or say which key or value cannot be."""
    _check_keys(record, ("name", "summary", "protocol", "runs"), "a suite")
    for key in ("name", "summary", "protocol"):
        if not isinstance(record.get(key, ""), str):
            raise InvalidInputError(f"{key} must be text, not {record[key]!r}")
    runs = record.get("runs", [])
    if not isinstance(runs, list) or not all(isinstance(table, Mapping) for table in runs):
        raise InvalidInputError("runs must be tables: write [[runs]] above each")
    texts = {key: record[key] for key in ("name", "summary", "protocol") if key in record}
    return Suite(batches=tuple(_batch(table) for table in runs), **texts)


def suite_toml(suite: Suite) -> str:
    """Return a suite as a TOML file to start one's own from."""
    lines = [f"{key} = {_toml(value)}" for key, value in suite.description().items() if key != "runs" and value]
    for batch in suite.description()["runs"]:
        lines += ["", "[[runs]]", *(f"{key} = {_toml(value)}" for key, value in batch.items())]
    return "\n".join(lines) + "\n"


def _batch(record: Mapping[str, Any]) -> Batch:
    names = [field.name for field in fields(Batch)]
    _check_keys(record, names, "[[runs]]")
    missing = [name for name in ("problems", "strategies", "seeds", "rounds") if name not in record]
    if missing:
        raise InvalidInputError(f"[[runs]] needs {', '.join(missing)}")
    values = dict(record)
    if isinstance(values["seeds"], int) and not isinstance(values["seeds"], bool):
        values["seeds"] = list(range(whole_number(values["seeds"], "seeds", least=1, most=100_000)))
    for name in LISTS:
        if name in values:
            values[name] = tuple(values[name]) if isinstance(values[name], list) else (values[name],)
    for name in values["problems"]:
        known_problem(name)
    values["strategies"] = tuple(known_strategy(str(name)) for name in values["strategies"])
    for name in ("feedback", "data"):
        if not isinstance(values.get(name, ""), str):
            raise InvalidInputError(f"{name} must be text, not {values[name]!r}")
    if not isinstance(values.get("known_noise", False), bool):
        raise InvalidInputError(f"known_noise must be true or false, not {values['known_noise']!r}")
    return Batch(**values)


def _check_keys(record: Mapping[str, Any], allowed: Sequence[str], where: str) -> None:
    for key in record:
        if key not in allowed:
            raise InvalidInputError(f"unknown key {key!r} in {where}; it may have: {', '.join(allowed)}")


def _placed(batch: Batch, folder: Path) -> Batch:
    if batch.data is None:
        return batch
    try:
        return replace(batch, data=str((folder / batch.data).resolve()))
    except ValueError as error:
        raise InvalidInputError(f"data file {batch.data!r} cannot be read: {error}") from error


def _plain(batch: Batch) -> dict[str, Any]:
    """Return what differs from the defaults, lists as lists."""
    plain = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(batch).items()}
    if batch.agents == (None,):
        del plain["agents"]
    return {key: value for key, value in plain.items() if value is not None}


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(_toml(item) for item in value)}]"
    if isinstance(value, str):
        return canonical(value)  # a JSON string is a TOML string
    return repr(value)
