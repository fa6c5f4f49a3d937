"""The description of a stored study, read and checked: who is placed, the strategy's name, the settings."""

from dataclasses import dataclass

from mfbo.errors import DamageError, InvalidInputError, StorageError
from mfbo.population import Population
from mfbo.records import History, Round
from mfbo.storage import Storage, codec
from mfbo.storage.replay import ODD, replayed
from mfbo.study.settings import StudySettings

FORMAT, WITH_SITUATIONS = 1, 2  # a program that knows no situations must not go on with a study that has them


@dataclass(frozen=True, eq=False)
class Description:
    """What a study was created with."""

    population: Population
    strategy: str
    settings: StudySettings


def description_text(described: Description) -> str:
    """Return a description as a storage keeps it."""
    record = {
        "format": FORMAT if described.settings.situations is None else WITH_SITUATIONS,
        "population": codec.population_record(described.population),
        "strategy": described.strategy,
        **described.settings.to_record(),
    }
    return codec.to_text(record)


def read_description(name: str, text: str) -> Description:
    """Read a description; refuse one that ``create_study`` does not write."""
    record = codec.from_text(text)
    if record.get("format") not in (FORMAT, WITH_SITUATIONS):
        raise StorageError(f"study {name!r} has format {record.get('format')!r}: a newer mfbo wrote it")
    try:
        population = codec.population_of(record["population"])
        if not isinstance(record["strategy"], str):
            raise TypeError("the strategy is not a text")
        return Description(population, record["strategy"], StudySettings.from_record(record, population))
    except (*ODD, InvalidInputError) as error:
        raise DamageError(
            f"the description of study {name!r} is not what mfbo writes: {type(error).__name__}, {error};"
            " `mfbo study doctor` says more"
        ) from error


def stored_rounds(name: str, store: Storage) -> tuple[Round, ...]:
    """Return the rounds of a stored study, without its strategy: what `doctor` can say of any study."""
    described = read_description(name, store.description(name))
    empty = History(described.population, situations=described.settings.situations)
    return replayed(empty, store.events(name)).rounds
