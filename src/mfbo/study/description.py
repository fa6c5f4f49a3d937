"""The description of a stored study, read and checked: who is placed, the strategy's name, the settings."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mfbo.arrays import IntArray, read_only
from mfbo.errors import DamageError, InvalidInputError, StorageError
from mfbo.population import Population
from mfbo.records import RISK, History, Round, read_distribution
from mfbo.storage import Storage, codec
from mfbo.storage.replay import ODD, replayed
from mfbo.study.starting import AIMS, read_risk
from mfbo.validation import known_name, positive, standard_deviation, whole_number

FORMAT = 1
ALLOCATIONS = ("quota", "sampled")


@dataclass(frozen=True, eq=False)
class Description:
    """What a study was created with; settings: the keywords of ``create_study``."""

    population: Population
    strategy: str
    settings: dict[str, Any]


def read_description(name: str, text: str) -> Description:
    """Read a description; refuse one that ``create_study`` does not write."""
    record = codec.from_text(text)
    if record.get("format") != FORMAT:
        raise StorageError(f"study {name!r} has format {record.get('format')!r}: a newer mfbo wrote it")
    try:
        return _read(record)
    except (*ODD, InvalidInputError) as error:
        raise DamageError(
            f"the description of study {name!r} is not what mfbo writes: {type(error).__name__}, {error};"
            " `mfbo study doctor` says more"
        ) from error


def stored_rounds(name: str, store: Storage) -> tuple[Round, ...]:
    """Return the rounds of a stored study, without its strategy: what `doctor` can say of any study."""
    described = read_description(name, store.description(name))
    return replayed(History(described.population), store.events(name)).rounds


def _read(record: dict[str, Any]) -> Description:
    population = codec.population_of(record["population"])
    if not isinstance(record["strategy"], str):
        raise TypeError("the strategy is no text")
    noise, lease = record["noise"], record["lease_seconds"]
    settings = {
        "seed": whole_number(record["seed"], "seed", least=0),
        "noise": None if noise is None else standard_deviation(positive(noise, "noise"), "noise"),
        "allocation": known_name(record["allocation"], "allocation", ALLOCATIONS),
        "contexts": known_name(record["contexts"], "context allocation", ALLOCATIONS),
        "lease_seconds": None if lease is None else positive(lease, "lease_seconds"),
        "placed": _placed(record["placed"], population),
        **_earning(record, population),
    }
    return Description(population, record["strategy"], settings)


def _earning(record: dict[str, Any], population: Population) -> dict[str, Any]:
    """Read aim, status quo and risk; studies that know of no aim are there to find."""
    start, risk = codec.array_of(record.get("status_quo")), record.get("risk", RISK)
    return {
        "aim": known_name(record.get("aim", "find"), "aim", AIMS),
        "status_quo": None if start is None else read_only(read_distribution(start, population, "status quo")),
        "risk": None if risk is None else read_risk(risk),
        "planned": bool(record.get("planned", False)),
    }


def _placed(record: Any, population: Population) -> IntArray | None:
    placed = codec.array_of(record)
    if placed is not None and (placed.shape != population.shape or placed.dtype.kind != "i" or (placed < 0).any()):
        raise ValueError("the current placement does not fit the population")
    return None if placed is None else np.asarray(placed)
