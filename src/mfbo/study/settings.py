"""What a study is created with: its population, its strategy's name, its settings; from keyword to storage and back."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from mfbo.arrays import FloatArray, IntArray, read_only
from mfbo.errors import DamageError, InvalidInputError, StorageError
from mfbo.population import Population
from mfbo.records import RISK, Aim, History, Round, read_distribution
from mfbo.simplex import AllocationMethod
from mfbo.situations import Situations
from mfbo.storage import Storage, codec
from mfbo.storage.replay import ODD, replayed
from mfbo.validation import finite_number, known_name, positive, said, standard_deviation, whole_number

AIMS: tuple[Aim, ...] = get_args(Aim)
ALLOCATIONS: tuple[AllocationMethod, ...] = get_args(AllocationMethod)
PayoffUnit = Literal["mean", "total"]
PAYOFF_UNITS: tuple[PayoffUnit, ...] = get_args(PayoffUnit)
FORMAT, WITH_SITUATIONS = 1, 2  # a program that knows no situations must not go on with a study that has them
LEASE_SECONDS = 172_800.0  # two days: a plan is played on one day and told on the next


@dataclass(frozen=True, eq=False)
class StudySettings:
    """The settings of a study, as ``create_study`` explains them.

    placed: where agents stand before the first plan, (C, A); status_quo: the distribution (C, A) that would be played
    otherwise; None where nobody said. planned: whether somebody chose it, instead of finding agents there.
    """

    seed: int = 0
    noise: float | None = None
    allocation: AllocationMethod = "quota"
    context_allocation: AllocationMethod = "quota"
    lease_seconds: float | None = LEASE_SECONDS
    placed: IntArray | None = None
    aim: Aim = "find"
    status_quo: FloatArray | None = None
    risk: float | None = RISK
    situations: Situations | None = None
    payoff_is: PayoffUnit = "mean"
    planned: bool = False

    @classmethod
    def checked(cls, settings: Mapping[str, Any]) -> "StudySettings":
        """Check what users or a storage say; ``placed`` and ``status_quo`` have been read."""
        noise, lease, risk = settings["noise"], settings["lease_seconds"], settings["risk"]
        return cls(
            seed=whole_number(settings["seed"], "seed", least=0),
            noise=None if noise is None else standard_deviation(positive(noise, "noise"), "noise"),
            allocation=known_name(settings["allocation"], "allocation", ALLOCATIONS),
            context_allocation=known_name(settings["context_allocation"], "context allocation", ALLOCATIONS),
            lease_seconds=None if lease is None else positive(lease, "lease_seconds"),
            placed=settings["placed"],
            aim=known_name(settings["aim"], "aim", AIMS),
            status_quo=settings["status_quo"],
            risk=None if risk is None else read_risk(risk),
            situations=None if settings["situations"] is None else Situations.read(settings["situations"]),
            payoff_is=known_name(settings["payoff_is"], "payoff_is", PAYOFF_UNITS),
            planned=bool(settings["planned"]),
        )

    def per_agent(self, population: Population) -> "StudySettings":
        """Return the settings of a new study in payoffs per agent: what is said of totals is divided by the fleet."""
        if self.payoff_is == "mean":
            return self
        if population.size is None:
            raise InvalidInputError("payoff_is='total' needs agents to divide by: give the population a size")
        return replace(self, noise=None if self.noise is None else self.noise / population.size)

    def to_record(self) -> dict[str, Any]:
        """Return the settings as a description keeps them."""
        record = {field.name: getattr(self, field.name) for field in fields(self)}
        record["contexts"] = record.pop("context_allocation")  # so it was called when the format was made
        if record["payoff_is"] == "mean":  # older programs know no other, and need not be told
            del record["payoff_is"]
        if record.pop("situations") is not None:
            record["situations"] = codec.situations_record(self.situations)
        arrays = {"placed": codec.array_record(self.placed, "i8"), "status_quo": codec.array_record(self.status_quo)}
        return record | arrays

    @classmethod
    def from_record(cls, record: Mapping[str, Any], population: Population) -> "StudySettings":
        """Read and check what ``to_record`` made; studies that know of no aim are there to find."""
        start, situations = codec.array_of(record.get("status_quo")), record.get("situations")
        placed = codec.array_of(record["placed"])
        if placed is not None and (placed.shape != population.shape or placed.dtype.kind != "i" or (placed < 0).any()):
            raise ValueError("the current placement does not fit the population")
        later = {
            "context_allocation": record["contexts"],
            "placed": placed,
            "aim": record.get("aim", "find"),
            "status_quo": None if start is None else read_only(read_distribution(start, population, "status quo")),
            "risk": record.get("risk", RISK),
            "situations": None if situations is None else Situations.from_records(situations),
            "payoff_is": record.get("payoff_is", "mean"),
            "planned": record.get("planned", False),
        }
        return cls.checked({**record, **later})

    def history(self, population: Population) -> History:
        """Return the history of a study that begins."""
        steers: Literal["planned", "realized"] = "planned" if self.allocation == "sampled" else "realized"
        aims: dict[str, Any] = {
            "aim": self.aim,
            "status_quo": self.status_quo,
            "risk": self.risk,
            "planned": self.planned,
        }
        return History(population, (), self.noise, steers, **aims, situations=self.situations)


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


def read_risk(risk: Any) -> float:
    """Check a share of what the status quo earns."""
    value = finite_number(risk, "risk")
    if not 0.0 <= value <= 1.0:
        raise InvalidInputError(
            f"risk must be a share from 0 to 1 of what the status quo earns, not {said(risk)}; None allows anything"
        )
    return value
