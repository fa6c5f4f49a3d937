"""Studies are started, kept under a name, and loaded again."""

from dataclasses import replace
from typing import Any, Literal

from mfbo.arrays import FloatArray, IntArray
from mfbo.catalogue import make_strategy, searches_single_agents
from mfbo.errors import InvalidInputError
from mfbo.interfaces import Strategy
from mfbo.journal import Journal
from mfbo.population import Population
from mfbo.records import RISK, Aim, History
from mfbo.storage import Storage, codec, open_storage
from mfbo.study.description import ALLOCATIONS, FORMAT, read_description
from mfbo.study.starting import AIMS, read_risk, read_status_quo
from mfbo.study.study import LEASE_SECONDS, Study
from mfbo.study.whole_plans import knows_no_limits
from mfbo.validation import known_name, plain_text, positive, said, standard_deviation, whole_number


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
) -> Study:
    """Start a study.

    strategy: a name from ``mfbo strategies`` or an object with ``propose``. noise: known standard deviation of one
    told payoff. allocation: how a plan becomes whole agents. context_allocation: whether each round has the same
    number of agents per context or draws them anew. storage: "sqlite:///file.db", "postgresql+psycopg://…", "memory",
    or an object like ``mfbo.storage.Storage``; the study is kept there under ``name``. lease_seconds: how long a plan
    is its worker's alone (two days; None: for ever). placed: where the agents stand now, whole agents (C, A) or a
    mapping; allow_misfit: take it as counted though it does not fit the fleet or the docks. aim: "find" if only the
    plan found in the end counts, "earn" if every round does: then rounds begin at the status quo, step away from it and
    guard it. start: the status quo, a plan, shares or whole agents (C, A); without it where agents stand, past days'
    best, or the uniform plan. risk: what an earning round may cost against the status quo, in shares of what that
    earns; None: anything.
    """
    if not isinstance(population, Population):
        raise InvalidInputError(f"population must be an mfbo.Population, not {said(population)}")
    made = make_strategy(strategy)
    _require_limits_kept(population, made.name, allocation, context_allocation)
    fixed_contexts = context_allocation == "quota"
    population, standing = _started(population, placed, fixed_contexts=fixed_contexts, allow_misfit=allow_misfit)
    settings: dict[str, Any] = {
        "seed": whole_number(seed, "seed", least=0),
        "noise": None if noise is None else standard_deviation(positive(noise, "noise"), "noise"),
        "allocation": allocation,
        "contexts": context_allocation,
        "lease_seconds": None if lease_seconds is None else positive(lease_seconds, "lease_seconds"),
        "placed": standing,
        "aim": known_name(aim, "aim", AIMS),
        "status_quo": read_status_quo(start, _placement(standing, population), population),
        "risk": None if risk is None else read_risk(risk),
        "planned": start is not None,
    }
    return _created(population, made, storage, name, settings)


def _require_limits_kept(population: Population, strategy: str, allocation: str, context_allocation: str) -> None:
    """Refuse unknown ways of placing, and those that cannot keep the population's limits."""
    known_name(allocation, "allocation", ALLOCATIONS)
    known_name(context_allocation, "context allocation", ALLOCATIONS)
    if population.limits is None:
        return
    if (allocation, context_allocation) != ("quota", "quota"):
        raise InvalidInputError("random draws keep no limits: take allocation='quota' and context_allocation='quota'")
    if searches_single_agents(strategy):
        raise knows_no_limits(strategy)


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


def _created(
    population: Population, strategy: Strategy, storage: Any, name: str | None, settings: dict[str, Any]
) -> Study:
    """Return a new study, after writing its description to the storage if there is one."""
    if storage is None:
        if name is not None:
            raise InvalidInputError(f"the name {said(name)} needs a storage to be kept in: give storage=")
        return _assembled(population, strategy, None, "", **settings)
    if not isinstance(name, str) or not name.strip():
        raise InvalidInputError(f"a stored study needs a name, not {said(name)}: give name=")
    name = plain_text(name, "name")
    store = open_storage(storage)
    description = {
        "format": FORMAT,
        "population": codec.population_record(population),
        "strategy": strategy.name,
        **settings,
        "placed": codec.array_record(settings["placed"], "i8"),
        "status_quo": codec.array_record(settings["status_quo"]),
    }
    store.create(name, codec.to_text(description))
    return _assembled(population, strategy, store, name, **settings)


def load_study(name: str, storage: Any, *, strategy: Any = None) -> Study:
    """Return a stored study with all its rounds.

    strategy: only for a study that was created with a strategy object of your own: an equal object.
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
    made = make_strategy(described.strategy if strategy is None else strategy)
    if made.name != described.strategy:
        raise InvalidInputError(f"study {name!r} was created with the strategy {described.strategy!r}")
    study = _assembled(described.population, made, store, name, **described.settings)
    study.refresh()
    return study


def _assembled(
    population: Population,
    strategy: Strategy,
    storage: Storage | None,
    name: str,
    *,
    seed: int,
    noise: float | None,
    allocation: str,
    contexts: str,
    lease_seconds: float | None,
    placed: IntArray | None,
    aim: Aim,
    status_quo: FloatArray | None,
    risk: float | None,
    planned: bool,
) -> Study:
    steers: Literal["planned", "realized"] = "planned" if allocation == "sampled" else "realized"
    history = History(population, (), noise, steers, aim=aim, status_quo=status_quo, risk=risk, planned=planned)
    journal = None if storage is None else Journal(storage, name)
    return Study(
        history, strategy, seed, allocation, contexts, journal=journal, lease_seconds=lease_seconds, placed=placed
    )


def _placement(standing: IntArray | None, population: Population) -> IntArray | None:
    """Return where agents are said to stand before the first plan, here or in the limits."""
    return standing if standing is not None or population.limits is None else population.limits.placed
