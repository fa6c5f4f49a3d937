"""Studies are started, kept under a name, and loaded again."""

from dataclasses import replace
from typing import Any, Literal

from mfbo.arrays import IntArray
from mfbo.catalogue import make_strategy, searches_single_agents
from mfbo.errors import InvalidInputError, StorageError
from mfbo.interfaces import Strategy
from mfbo.journal import Journal
from mfbo.population import Population
from mfbo.records import History
from mfbo.storage import Storage, codec, open_storage
from mfbo.study.study import LEASE_SECONDS, Study, knows_no_limits
from mfbo.validation import known_name, positive, standard_deviation, whole_number

ALLOCATIONS = ("quota", "sampled")
FORMAT = 1  # of the description of a stored study


def create_study(
    population: Population,
    strategy: Any = "default",
    *,
    seed: int = 0,
    noise: float | None = None,
    allocation: Literal["quota", "sampled"] = "quota",
    contexts: Literal["quota", "sampled"] = "quota",
    storage: Any = None,
    name: str | None = None,
    lease_seconds: float | None = LEASE_SECONDS,
    placed: Any = None,
) -> Study:
    """Start a study.

    strategy: a name from ``mfbo strategies`` or an object with ``propose``. noise: known standard deviation of one
    told payoff. allocation: how a plan becomes whole agents. contexts: whether each round has the same number of
    agents per context or draws them anew. storage: "sqlite:///file.db", "postgresql+psycopg://…", "memory", or an
    object like ``mfbo.storage.Storage``; the study is kept there under ``name``. lease_seconds: how long a plan is
    its worker's alone (two days; None: for ever). placed: where the agents stand now, whole agents (C, A).
    """
    if not isinstance(population, Population):
        raise InvalidInputError(f"population must be an mfbo.Population, not {population!r}")
    known_name(allocation, "allocation", ALLOCATIONS)
    known_name(contexts, "context allocation", ALLOCATIONS)
    if population.limits is not None and (allocation, contexts) != ("quota", "quota"):
        raise InvalidInputError("random draws keep no limits: take allocation='quota' and contexts='quota'")
    known = None if noise is None else standard_deviation(positive(noise, "noise"), "noise")
    made = make_strategy(strategy)
    if population.limits is not None and searches_single_agents(made.name):
        raise knows_no_limits(made.name)
    start = None if placed is None else population.read_placed(placed)
    if start is not None and population.limits is not None:
        population = population.with_limits(replace(population.limits, placed=start))
    settings: dict[str, Any] = {
        "seed": whole_number(seed, "seed", least=0),
        "noise": known,
        "allocation": allocation,
        "contexts": contexts,
        "lease_seconds": None if lease_seconds is None else positive(lease_seconds, "lease_seconds"),
        "placed": start,
    }
    if storage is None:
        if name is not None:
            raise InvalidInputError(f"the name {name!r} needs a storage to be kept in: give storage=")
        return _assembled(population, made, None, "", **settings)
    if not isinstance(name, str) or not name.strip():
        raise InvalidInputError(f"a stored study needs a name, not {name!r}: give name=")
    store = open_storage(storage)
    description = {
        "format": FORMAT,
        "population": codec.population_record(population),
        "strategy": made.name,
        **settings,
        "placed": codec.array_record(settings["placed"], "i8"),
    }
    store.create(name, codec.to_text(description))
    return _assembled(population, made, store, name, **settings)


def load_study(name: str, storage: Any, *, strategy: Any = None) -> Study:
    """Return a stored study with all its rounds.

    strategy: only for a study that was created with a strategy object of your own: an equal object.
    """
    store = open_storage(storage, create=False)
    description = codec.from_text(store.description(name))
    if description.get("format") != FORMAT:
        raise StorageError(f"study {name!r} has format {description.get('format')!r}: a newer mfbo wrote it")
    settings = {key: description[key] for key in ("seed", "noise", "allocation", "contexts", "lease_seconds")}
    made = make_strategy(description["strategy"] if strategy is None else strategy)
    if made.name != description["strategy"]:
        raise InvalidInputError(f"study {name!r} was created with the strategy {description['strategy']!r}")
    population = codec.population_of(description["population"])
    study = _assembled(population, made, store, name, **settings, placed=codec.array_of(description["placed"]))
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
) -> Study:
    history = History(population, (), noise, "planned" if allocation == "sampled" else "realized")
    journal = Journal(history, storage, name)
    return Study(
        history, strategy, seed, allocation, contexts, journal=journal, lease_seconds=lease_seconds, placed=placed
    )
