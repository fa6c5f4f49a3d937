"""`mfbo study …`: the operator's commands and their options."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from mfbo.cli.declaring import command_group, declared
from mfbo.cli.options import Json, Quiet, Seed, StrategyName

DEFAULT_STORAGE = "sqlite:///mfbo.db"

app = command_group("Run a study over days: create it, ask every morning, tell every evening.")

Name = Annotated[str, typer.Argument(help="The study's name.")]
StorageUrl = Annotated[
    str,
    typer.Option(
        "--storage",
        envvar="MFBO_STORAGE",
        help="Where studies are kept: sqlite:///file.db or postgresql+psycopg://user@host/database; "
        "by default mfbo.db in the current folder.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
SituationText = Annotated[
    str | None, typer.Option("--situation", help="What is known of the round, as day=weekend,rain=0.3.")
]
NewCategories = Annotated[
    bool, typer.Option("--new-category", help="Take a category that was never heard of, such as day=holiday.")
]
YesCounted = Annotated[
    bool, typer.Option("--yes", "-y", help="Take --placed as counted, though it does not fit the fleet or the docks.")
]


@declared(app, "create", "study_create:create")
@dataclass(frozen=True)
class Create:
    """Start a study from a list of stations."""

    name: Name
    actions: Annotated[
        Path | None, typer.Option(help="CSV: a row for each station; columns name, longitude, latitude …")
    ] = None
    agents: Annotated[
        str | None, typer.Option(help="Number of agents to place, or inf for shares only; of a feed: its bikes.")
    ] = None
    gbfs: Annotated[
        str | None, typer.Option(help="Instead of --actions: a GBFS feed (folder, file or address) with the stations.")
    ] = None
    contexts: Annotated[Path | None, typer.Option(help="CSV: types of agents; columns name, weight.")] = None
    name_column: Annotated[str | None, typer.Option(help="Column with the names, if it is called otherwise.")] = None
    features: Annotated[
        str | None, typer.Option(help="Columns that make stations alike, such as x,y; default: coordinates.")
    ] = None
    capacity: Annotated[str | None, typer.Option(help="Column with the most agents a station can hold.")] = None
    move_budget: Annotated[int | None, typer.Option(help="Most agents that may be moved in a round.")] = None
    placed: Annotated[Path | None, typer.Option(help="CSV: where the agents are now; columns station, agents.")] = None
    aim: Annotated[
        str | None,
        typer.Option(
            help="earn: every round counts; find: only the last plan. By default earn with --placed or --start."
        ),
    ] = None
    start: Annotated[
        Path | None, typer.Option(help="CSV: the plan to begin with, if not --placed; columns station, agents.")
    ] = None
    risk: Annotated[
        str | None, typer.Option(help="What a round may cost, as 5% of what the start earns; none: anything.")
    ] = None
    situations: Annotated[
        str | None,
        typer.Option(
            help="What differs between rounds: day=weekday|weekend,rain=number,date=time,requests=number:after."
        ),
    ] = None
    strategy: StrategyName = "default"
    noise: Annotated[float | None, typer.Option(help="Known standard deviation of one told payoff.")] = None
    lease_hours: Annotated[float, typer.Option(help="After this time an untold plan is offered to others.")] = 48.0
    seed: Seed = 0
    yes: YesCounted = False
    storage: StorageUrl = DEFAULT_STORAGE
    quiet: Quiet = False
    json: Json = False


@declared(app, "ask", "study_ask:ask")
@dataclass(frozen=True)
class Ask:
    """Print the plan to try next, and the moves that lead to it."""

    name: Name
    out: Annotated[Path | None, typer.Option(help="Write the plan there, or to standard output for -.")] = None
    placed: Annotated[
        Path | None, typer.Option(help="CSV: where the agents are now, if riders moved them; station, agents.")
    ] = None
    gbfs: Annotated[
        str | None, typer.Option(help="Instead of --placed: a GBFS feed that says where the bikes are now.")
    ] = None
    best: Annotated[bool, typer.Option("--best", help="The best plan believed in, or a step towards it.")] = False
    plan: Annotated[Path | None, typer.Option(help="CSV: a plan of your own to play; station, agents.")] = None
    worker: Annotated[str, typer.Option(help="Who carries out the plan; asking again gives the same open plan.")] = (
        "operator"
    )
    situation: SituationText = None
    new_categories: NewCategories = False
    yes: YesCounted = False
    storage: StorageUrl = DEFAULT_STORAGE
    quiet: Quiet = False
    json: Json = False


@declared(app, "recommend", "study_recommend:recommend")
@dataclass(frozen=True)
class Recommend:
    """Print the plan to keep, and how many rounds it takes to get there."""

    name: Name
    out: Annotated[Path | None, typer.Option(help="Write the plan there, or to standard output for -.")] = None
    situation: SituationText = None
    storage: StorageUrl = DEFAULT_STORAGE
    json: Json = False


@declared(app, "outlook", "study_outlook:outlook")
@dataclass(frozen=True)
class LookAhead:
    """Say what further rounds are expected to bring."""

    name: Name
    rounds: Annotated[int, typer.Option(help="How many rounds to look ahead.")] = 30
    feedback: Annotated[str, typer.Option(help="What will be told: payoff, or cells (payoffs by station).")] = "payoff"
    simulations: Annotated[int, typer.Option(help="How many futures to play.")] = 8
    situation: SituationText = None
    storage: StorageUrl = DEFAULT_STORAGE
    quiet: Quiet = False
    json: Json = False


@declared(app, "tell", "study_tell:tell")
@dataclass(frozen=True)
class Tell:
    """Record what a plan brought."""

    name: Name
    plan: Annotated[int, typer.Option(help="The plan's number, as `ask` printed it.")]
    payoff: Annotated[float | None, typer.Option(help="The population payoff.")] = None
    cells: Annotated[Path | None, typer.Option(help="CSV: mean payoff by station; station, payoff, agents.")] = None
    agents_file: Annotated[Path | None, typer.Option(help="CSV: a row for each agent seen; station, payoff.")] = None
    placed: Annotated[Path | None, typer.Option(help="CSV: what was really placed; station, agents.")] = None
    trips: Annotated[
        Path | None, typer.Option(help="Instead of a payoff: the day's trip file; its rides are the payoff.")
    ] = None
    day: Annotated[str | None, typer.Option(help="With --trips of several days: which one, such as 2020-11-30.")] = None
    columns: Annotated[
        str | None, typer.Option(help="With --trips of an unknown layout: start=…,station=…,end=…,to=….")
    ] = None
    failed: Annotated[str | None, typer.Option(help="Instead of a payoff: why the plan brought no result.")] = None
    worker: Annotated[str | None, typer.Option(help="Who tells.")] = None
    situation: SituationText = None
    new_categories: NewCategories = False
    yes: YesCounted = False
    storage: StorageUrl = DEFAULT_STORAGE
    quiet: Quiet = False
    json: Json = False


@declared(app, "show", "study_show:show")
@dataclass(frozen=True)
class ShowStudy:
    """Show rounds, the best plan, the model's health, and what to try."""

    name: Name
    rounds: Annotated[int, typer.Option(help="How many of the latest rounds to list.")] = 10
    storage: StorageUrl = DEFAULT_STORAGE
    json: Json = False


@declared(app, "plot", "study_plot:plot")
@dataclass(frozen=True)
class Plot:
    """Draw the payoffs told and expected, and a map of the recommended placement."""

    name: Name
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("mfbo-study")
    storage: StorageUrl = DEFAULT_STORAGE
    json: Json = False


@declared(app, "export", "study_export:export")
@dataclass(frozen=True)
class Export:
    """Write all rounds to a file: CSV, JSON or Parquet."""

    name: Name
    out: Annotated[Path, typer.Option(help="A file that ends in .csv, .json or .parquet, or - for standard output.")]
    storage: StorageUrl = DEFAULT_STORAGE
    quiet: Quiet = False
    json: Json = False


@declared(app, "import", "study_import:import_days")
@dataclass(frozen=True)
class ImportDays:
    """Bring along days that were played before the study."""

    name: Name
    file: Annotated[Path, typer.Argument(help="CSV: past days; columns day, station, agents, payoff.")]
    new_categories: NewCategories = False
    storage: StorageUrl = DEFAULT_STORAGE
    quiet: Quiet = False
    json: Json = False


@declared(app, "list", "study_store:list_studies")
@dataclass(frozen=True)
class ListStudies:
    """List the studies of a storage."""

    storage: StorageUrl = DEFAULT_STORAGE
    json: Json = False


@declared(app, "delete", "study_store:delete")
@dataclass(frozen=True)
class Delete:
    """Remove a study with all its rounds; asks first."""

    name: Name
    yes: Yes = False
    storage: StorageUrl = DEFAULT_STORAGE
    quiet: Quiet = False
    json: Json = False


@declared(app, "doctor", "study_store:doctor")
@dataclass(frozen=True)
class Doctor:
    """Check a storage, say what is wrong, and repair what can be repaired after a backup; asks first.

    Exit code 1 if damage is left.
    """

    yes: Yes = False
    storage: StorageUrl = DEFAULT_STORAGE
    json: Json = False


@declared(app, "upgrade", "study_store:upgrade")
@dataclass(frozen=True)
class Upgrade:
    """Bring a storage that an older mfbo made up to date, after a backup."""

    storage: StorageUrl = DEFAULT_STORAGE
    quiet: Quiet = False
    json: Json = False
