"""Studies are started, kept under a name, and loaded again."""

from dataclasses import replace
from typing import Any, Literal

from mfbo.arrays import IntArray
from mfbo.catalogue import make_strategy
from mfbo.errors import InvalidInputError
from mfbo.interfaces import Strategy
from mfbo.journal import Journal
from mfbo.own_parts import is_import_path
from mfbo.population import Population
from mfbo.records import RISK, Aim
from mfbo.storage import Storage, open_storage
from mfbo.study.settings import (
    ALLOCATIONS,
    LEASE_SECONDS,
    Description,
    StudySettings,
    description_text,
    read_description,
)
from mfbo.study.starting import read_status_quo
from mfbo.study.study import Study
from mfbo.study.whole_plans import Placing
from mfbo.validation import known_name, plain_text, said


def create_study(
    population: Population,
    strategy: Any = "default",
    *,
    seed: int = 0,
    noise: float | None = None,
    allocation: Literal["quota", "sampled"] = "quota",
    context_allocation: Literal["quota", "sampled"] = "quota",
    storage: Any = None,
    name: str | None = None,
    lease_seconds: float | None = LEASE_SECONDS,
    placed: Any = None,
    allow_misfit: bool = False,
    aim: Aim = "find",
    start: Any = None,
    risk: float | None = RISK,
    situations: Any = None,
    payoff_is: Literal["mean", "total"] = "mean",
    load_if_exists: bool = False,
) -> Study:
    """Start a study.

    strategy: a name from ``mfbo strategies`` or an object with ``propose``. noise: known standard deviation of one told
    payoff. allocation: how a plan becomes whole agents. context_allocation: whether each round has the same number of
    agents per context or draws them anew. storage: "sqlite:///file.db", "postgresql+psycopg://…", "memory", or an
    object like ``mfbo.storage.Storage``; the study is kept there under ``name``. lease_seconds: how long a plan is its
    worker's alone (two days; None: for ever). placed: where the agents stand now, whole agents (C, A) or a mapping;
    allow_misfit: take it as counted though it does not fit the fleet or the docks. aim: "find" if only the plan found
    in the end counts, "earn" if every round does: then rounds begin at the status quo, step away from it and guard it.
    start: the status quo, a plan, shares or whole agents, (C, A) or by name; without it where agents stand, past days'
    best, or the uniform plan. risk: what an earning round may cost against the status quo, in shares of what that
    earns; None: anything. situations: what differs between rounds for all agents, as {"day": ["weekday", "weekend"],
    "rain": "number", "date": "time", "requests": {"kind": "number", "known": "after"}}. payoff_is: whether told
    population payoffs are means per agent, or totals, which are divided by the number of agents (and so is the noise).
    load_if_exists: return the study of this name if there is one; it stays as it is, and must have the same strategy.
    """
    words: dict[str, Any] = {"seed": seed, "noise": noise, "lease_seconds": lease_seconds, "placed": placed}
    words |= {"allocation": allocation, "context_allocation": context_allocation, "payoff_is": payoff_is}
    words |= {"aim": aim, "start": start, "risk": risk, "situations": situations, "allow_misfit": allow_misfit}
    return _opened(population, strategy, words, storage, name, load_if_exists=load_if_exists)


def _opened(
    population: Population,
    strategy: Any,
    words: dict[str, Any],
    storage: Any,
    name: str | None,
    *,
    load_if_exists: bool,
) -> Study:
    """Return the stored study of this name if it is wanted and there is one, or else a new one."""
    if not isinstance(load_if_exists, bool):
        raise InvalidInputError(f"load_if_exists must be True or False, not {said(load_if_exists)}")
    loads = load_if_exists and storage is not None and name is not None
    if loads:
        storage = open_storage(storage)
        if _is_there(name, storage):
            return _loaded(str(name), storage, strategy)
    made = make_strategy(strategy)
    population, settings = _settled(population, made.name, words)
    try:
        return _created(Description(population, made.name, settings), made, storage, name)
    except InvalidInputError:
        if not loads or not _is_there(name, storage):  # another process has made it meanwhile
            raise
        return _loaded(str(name), storage, strategy)


def _is_there(name: str | None, storage: Storage) -> bool:
    return any(found.name == name for found in storage.studies())


def _settled(population: Population, strategy: str, words: dict[str, Any]) -> tuple[Population, StudySettings]:
    """Return the population, with where its agents stand in its limits, and the settings that users' words make."""
    if not isinstance(population, Population):
        raise InvalidInputError(f"population must be an mfbo.Population, not {said(population)}")
    _require_limits_kept(population, strategy, words["allocation"], words["context_allocation"])
    fixed_contexts = words["context_allocation"] == "quota"
    misfits = words["allow_misfit"]
    population, placed = _started(population, words["placed"], fixed_contexts=fixed_contexts, allow_misfit=misfits)
    start = read_status_quo(words["start"], _placement(placed, population), population)
    planned = words["start"] is not None
    settings = StudySettings.checked({**words, "placed": placed, "status_quo": start, "planned": planned})
    return population, settings.per_agent(population)


def _require_limits_kept(population: Population, strategy: str, allocation: str, context_allocation: str) -> None:
    """Refuse unknown ways of placing, and those that cannot keep the population's limits."""
    known_name(allocation, "allocation", ALLOCATIONS)
    known_name(context_allocation, "context allocation", ALLOCATIONS)
    quotas: Any = (allocation, context_allocation)
    Placing(0, *quotas).require_kept(population, strategy)


def _started(
    population: Population, placed: Any, *, fixed_contexts: bool, allow_misfit: bool
) -> tuple[Population, IntArray | None]:
    """Return the population with where its agents stand now in its limits, and where that is, (C, A)."""
    if placed is None:
        return population, None
    start = population.read_placed(placed)
    if population.limits is not None:
        population = population.with_limits(replace(population.limits, placed=start))
    wrong = population.misfit(start, fixed_contexts=fixed_contexts)
    if wrong and not allow_misfit:
        raise InvalidInputError(f"{wrong}; if it was counted so, say allow_misfit=True, and it is kept as it is")
    return population, start


def _created(described: Description, strategy: Strategy, storage: Any, name: str | None) -> Study:
    """Return a new study, after writing its description to the storage if there is one."""
    if storage is None:
        if name is not None:
            raise InvalidInputError(f"the name {said(name)} needs a storage to be kept in: give storage=")
        return _assembled(described, strategy, None)
    if not isinstance(name, str) or not name.strip():
        raise InvalidInputError(f"a stored study needs a name, not {said(name)}: give name=")
    name = plain_text(name, "name")
    store = open_storage(storage)
    store.create(name, description_text(described))
    return _assembled(described, strategy, Journal(store, name))


def load_study(name: str, storage: Any, *, strategy: Any = None) -> Study:
    """Return a stored study with all its rounds.

    strategy: only for a study that was created with a strategy of your own: an equal object, or its import path again
    (what a store names is not imported unasked).
    """
    store = open_storage(storage, create=False)
    try:
        return _loaded(name, store, strategy)
    except BaseException:
        if store is not storage:
            store.close()
        raise


def _loaded(name: str, store: Storage, strategy: Any) -> Study:
    described = read_description(name, store.description(plain_text(name, "name")))
    if strategy is None and is_import_path(described.strategy):
        raise InvalidInputError(
            f"study {name!r} was created with a strategy of your own: to import it, say strategy={described.strategy!r}"
        )
    made = make_strategy(described.strategy if strategy is None else strategy)
    if made.name != described.strategy:
        raise InvalidInputError(f"study {name!r} was created with the strategy {described.strategy!r}")
    study = _assembled(described, made, Journal(store, name))
    study.refresh()
    return study


def _assembled(described: Description, strategy: Strategy, journal: Journal | None) -> Study:
    settings = described.settings
    return Study(settings.history(described.population), strategy, settings, journal=journal)


def _placement(standing: IntArray | None, population: Population) -> IntArray | None:
    """Return where agents are said to stand before the first plan, here or in the limits."""
    return standing if standing is not None or population.limits is None else population.limits.placed
