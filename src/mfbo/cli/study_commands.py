"""`mfbo study …`: the operator's commands and their options."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from mfbo.cli.declaring import command_group, declared
from mfbo.cli.options import Payoff, Seed, StorageOptions, StrategyName, TalkingStorageOptions

app = command_group("Run a study over days: create it, ask every morning, tell every evening.")

Name = Annotated[str, typer.Argument(help="The study's name.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
YesTold = Annotated[
    bool,
    typer.Option(
        "--yes",
        "-y",
        help="Take a payoff far outside what was seen, and counts in --placed or --cells that do not fit, as they are.",
    ),
]
SituationText = Annotated[
    str | None, typer.Option("--situation", help="What is known of the round, as day=weekend,rain=0.3.")
]
NewCategories = Annotated[
    bool, typer.Option("--new-category", help="Take a category that was never heard of, such as day=holiday.")
]
YesCounted = Annotated[
    bool, typer.Option("--yes", "-y", help="Take --placed as counted, though it does not fit the fleet or the docks.")
]

By = Annotated[str, typer.Option("--by", help="Who says so; kept in the log.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept in the log.")]
PlanNumber = Annotated[int, typer.Option("--plan", help="The plan's number, as `ask` printed it.")]


@declared(app, "create", "study_create:create")
@dataclass(frozen=True)
class Create(TalkingStorageOptions):
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
    start_from: Annotated[
        list[Path] | None,
        typer.Option(help="Instead of --start: past trips, of which a rule makes the plan; repeatable."),
    ] = None
    rule: Annotated[
        str | None, typer.Option(help="With --start-from: deficit (where bikes ran out) or shares (of the starts).")
    ] = None
    risk: Annotated[
        str | None, typer.Option(help="What a round may cost, as 5% of what the start earns; none: anything.")
    ] = None
    payoff_is: Annotated[
        str, typer.Option(help="mean: payoffs are told per agent; total: for all agents together, such as rides a day.")
    ] = "mean"
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


@declared(app, "ask", "study_ask:ask")
@dataclass(frozen=True)
class Ask(TalkingStorageOptions):
    """Print the plan to try next, and the moves that lead to it."""

    name: Name
    out: Annotated[Path | None, typer.Option(help="Write the plan there, or to standard output for -.")] = None
    placed: Annotated[
        Path | None, typer.Option(help="CSV: where the agents are now, if riders moved them; station, agents.")
    ] = None
    gbfs: Annotated[
        str | None, typer.Option(help="Instead of --placed: a GBFS feed that says where the bikes are now.")
    ] = None
    size: Annotated[int | None, typer.Option(help="How many agents there are today, if not as many as usual.")] = None
    closed: Annotated[list[str] | None, typer.Option(help="A station that is closed today; may be repeated.")] = None
    capacity: Annotated[
        list[str] | None, typer.Option(help="STATION=NUMBER: what a station holds today; may be repeated.")
    ] = None
    best: Annotated[bool, typer.Option("--best", help="The best plan believed in, or a step towards it.")] = False
    plan: Annotated[Path | None, typer.Option(help="CSV: a plan of your own to play; station, agents.")] = None
    worker: Annotated[str, typer.Option(help="Who carries out the plan; asking again gives the same open plan.")] = (
        "operator"
    )
    situation: SituationText = None
    situations: Annotated[
        Path | None,
        typer.Option(
            help="CSV: a row for each day to come, columns as the situations are called; a plan for each. --out is"
            " then a folder, or one .csv."
        ),
    ] = None
    new_categories: NewCategories = False
    yes: YesCounted = False


@declared(app, "recommend", "study_recommend:recommend")
@dataclass(frozen=True)
class Recommend(StorageOptions):
    """Print the plan to keep, and how many rounds it takes to get there."""

    name: Name
    out: Annotated[Path | None, typer.Option(help="Write the plan there, or to standard output for -.")] = None
    situation: SituationText = None


@declared(app, "outlook", "study_outlook:outlook")
@dataclass(frozen=True)
class LookAhead(TalkingStorageOptions):
    """Say what further rounds are expected to bring."""

    name: Name
    rounds: Annotated[int, typer.Option(help="How many rounds to look ahead.")] = 30
    feedback: Annotated[str, typer.Option(help="What will be told: payoff, or cells (payoffs by station).")] = "payoff"
    simulations: Annotated[int, typer.Option(help="How many futures to play.")] = 8
    situation: SituationText = None


@declared(app, "tell", "study_tell:tell")
@dataclass(frozen=True)
class Tell(TalkingStorageOptions):
    """Record what a plan brought."""

    name: Name
    plan: Annotated[int | None, typer.Option(help="The plan's number; not needed while only one is open.")] = None
    payoff: Payoff = None
    cells: Annotated[Path | None, typer.Option(help="CSV: mean payoff by station; station, payoff, agents.")] = None
    agents_file: Annotated[Path | None, typer.Option(help="CSV: a row for each agent seen; station, payoff.")] = None
    placed: Annotated[Path | None, typer.Option(help="CSV: what was really placed; station, agents.")] = None
    trips: Annotated[
        Path | None, typer.Option(help="Instead of a payoff: the day's trip file; its rides are the payoff.")
    ] = None
    measure: Annotated[str, typer.Option(help="With --trips: rides (started) or minutes (ridden).")] = "rides"
    day: Annotated[str | None, typer.Option(help="With --trips of several days: which one, such as 2020-11-30.")] = None
    columns: Annotated[
        str | None, typer.Option(help="With --trips of an unknown layout: start=…,station=…,end=…,to=….")
    ] = None
    failed: Annotated[str | None, typer.Option(help="Instead of a payoff: why the plan brought no result.")] = None
    situation: SituationText = None
    new_categories: NewCategories = False
    yes: YesTold = False
    worker: Annotated[str | None, typer.Option(help="Who tells.")] = None


@declared(app, "abandon", "study_tell:abandon")
@dataclass(frozen=True)
class Abandon(TalkingStorageOptions):
    """Say that an open plan will not be tried: no agent was moved for it."""

    name: Name
    plan: PlanNumber


@declared(app, "edit", "study_edit:edit")
@dataclass(frozen=True)
class Edit(TalkingStorageOptions):
    """Change the study from now on: stations, fleet, limits; rounds so far stay."""

    name: Name
    open: Annotated[Path | None, typer.Option(help="CSV: new stations; column name and the study's features.")] = None
    reopen: Annotated[list[str] | None, typer.Option(help="A closed station that opens again; repeatable.")] = None
    close: Annotated[list[str] | None, typer.Option(help="A station that closes for good; repeatable.")] = None
    rename: Annotated[list[str] | None, typer.Option(help="OLD=NEW: a station's new name; repeatable.")] = None
    size: Annotated[int | None, typer.Option(help="Number of agents.")] = None
    capacity: Annotated[
        list[str] | None,
        typer.Option(
            help="STATION=NUMBER: the most it holds, none for no limit; repeatable. Or the column of --open's file."
        ),
    ] = None
    minimum: Annotated[list[str] | None, typer.Option(help="STATION=NUMBER: the least it needs; repeatable.")] = None
    move_budget: Annotated[str | None, typer.Option(help="Most agents moved in a round; none for no limit.")] = None
    add_context: Annotated[
        list[str] | None, typer.Option(help="A type of agents that joins, with --weights of all; repeatable.")
    ] = None
    weights: Annotated[
        list[str] | None, typer.Option(help="CONTEXT=SHARE: of all contexts, which add up to 1; repeatable.")
    ] = None
    by: By = ""
    reason: Reason = ""


@declared(app, "amend", "study_correct:amend")
@dataclass(frozen=True)
class Amend(TalkingStorageOptions):
    """Say what a told plan really brought; what was told first stays in the log."""

    name: Name
    plan: PlanNumber
    payoff: Payoff = None
    cells: Annotated[Path | None, typer.Option(help="CSV: mean payoff by station; station, payoff, agents.")] = None
    agents_file: Annotated[Path | None, typer.Option(help="CSV: a row for each agent seen; station, payoff.")] = None
    placed: Annotated[Path | None, typer.Option(help="CSV: what was really placed; station, agents.")] = None
    situation: SituationText = None
    new_categories: NewCategories = False
    by: By = ""
    reason: Reason = ""
    yes: YesTold = False


@dataclass(frozen=True)
class _Correction(TalkingStorageOptions):
    """What is said of a plan as a whole."""

    name: Name
    plan: PlanNumber
    by: By = ""
    reason: Reason = ""


@declared(app, "withdraw", "study_correct:withdraw")
@dataclass(frozen=True)
class Withdraw(_Correction):
    """Say that a told or failed plan never happened."""


@declared(app, "reinstate", "study_correct:reinstate")
@dataclass(frozen=True)
class Reinstate(_Correction):
    """Say that a withdrawn plan did happen."""


@declared(app, "log", "study_correct:log")
@dataclass(frozen=True)
class Log(StorageOptions):
    """List all that was ever said of a study, as it was said."""

    name: Name
    entries: Annotated[int, typer.Option(help="How many of the latest entries to list; 0: all.")] = 0


@declared(app, "show", "study_show:show")
@dataclass(frozen=True)
class ShowStudy(StorageOptions):
    """Show rounds, the best plan, the model's health, and what to try."""

    name: Name
    rounds: Annotated[int, typer.Option(help="How many of the latest rounds to list.")] = 10


@declared(app, "plot", "study_plot:plot")
@dataclass(frozen=True)
class Plot(StorageOptions):
    """Draw the payoffs told and expected, and a map of the recommended placement."""

    name: Name
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("mfbo-study")


@declared(app, "export", "study_export:export")
@dataclass(frozen=True)
class Export(TalkingStorageOptions):
    """Write all rounds to a file: CSV, JSON or Parquet; or the whole study, .mfbo, for `mfbo study import`."""

    name: Name
    out: Annotated[
        Path, typer.Option(help="A file that ends in .csv, .json, .parquet or .mfbo, or - for standard output.")
    ]


@declared(app, "import", "study_import:import_days")
@dataclass(frozen=True)
class ImportDays(TalkingStorageOptions):
    """Bring along days that were played before the study; or make a study from a whole one (.mfbo)."""

    name: Name
    file: Annotated[
        Path, typer.Argument(help="CSV: past days; columns day, station, agents, payoff. Or a file of `export`, .mfbo.")
    ]
    new_categories: NewCategories = False


@declared(app, "copy", "study_copy:copy")
@dataclass(frozen=True)
class Copy(TalkingStorageOptions):
    """Copy a study under a new name, as it is or as it was on a day."""

    name: Name
    new: Annotated[str, typer.Argument(help="The name of the copy.")]
    until: Annotated[
        str | None,
        typer.Option(help="The last day that is copied, such as 2026-11-03, or with a time, 2026-11-03T18:00."),
    ] = None


@declared(app, "list", "study_store:list_studies")
@dataclass(frozen=True)
class ListStudies(StorageOptions):
    """List the studies of a storage."""


@declared(app, "delete", "study_store:delete")
@dataclass(frozen=True)
class Delete(TalkingStorageOptions):
    """Remove a study with all its rounds; asks first."""

    name: Name
    yes: Yes = False


@declared(app, "doctor", "study_store:doctor")
@dataclass(frozen=True)
class Doctor(StorageOptions):
    """Check a storage, say what is wrong, and repair what can be repaired after a backup; asks first.

    Exit code 1 if damage is left.
    """

    yes: Yes = False


@declared(app, "upgrade", "study_store:upgrade")
@dataclass(frozen=True)
class Upgrade(TalkingStorageOptions):
    """Bring a storage that an older mfbo made up to date, after a backup."""
