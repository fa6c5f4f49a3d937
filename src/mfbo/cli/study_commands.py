"""`mfbo study …`: options of the operator's commands; the work is done in modules of their own, imported when run."""

from pathlib import Path
from typing import Annotated

import typer

from mfbo.cli.options import Json, Quiet, Seed

DEFAULT_STORAGE = "sqlite:///mfbo.db"

app = typer.Typer(
    help="Run a study over days: create it, ask every morning, tell every evening.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

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
Worker = Annotated[str, typer.Option(help="Who carries out the plan; asking again gives the same open plan.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
YesCounted = Annotated[
    bool, typer.Option("--yes", "-y", help="Take --placed as counted, though it does not fit the fleet or the docks.")
]


@app.command()
def create(
    name: Name,
    actions: Annotated[
        Path | None, typer.Option(help="CSV: a row for each station; columns name, longitude, latitude …")
    ] = None,
    agents: Annotated[
        str | None, typer.Option(help="Number of agents to place, or inf for shares only; of a feed: its bikes.")
    ] = None,
    gbfs: Annotated[
        str | None, typer.Option(help="Instead of --actions: a GBFS feed (folder, file or address) with the stations.")
    ] = None,
    contexts: Annotated[Path | None, typer.Option(help="CSV: types of agents; columns name, weight.")] = None,
    name_column: Annotated[str | None, typer.Option(help="Column with the names, if it is called otherwise.")] = None,
    features: Annotated[
        str | None, typer.Option(help="Columns that make stations alike, such as x,y; default: coordinates.")
    ] = None,
    capacity: Annotated[str | None, typer.Option(help="Column with the most agents a station can hold.")] = None,
    move_budget: Annotated[int | None, typer.Option(help="Most agents that may be moved in a round.")] = None,
    placed: Annotated[Path | None, typer.Option(help="CSV: where the agents are now; columns station, agents.")] = None,
    strategy: Annotated[str, typer.Option(help="A name from `mfbo strategies`, settings in parentheses.")] = "default",
    noise: Annotated[float | None, typer.Option(help="Known standard deviation of one told payoff.")] = None,
    lease_hours: Annotated[float, typer.Option(help="After this time an untold plan is offered to others.")] = 48.0,
    seed: Seed = 0,
    yes: YesCounted = False,
    storage: StorageUrl = DEFAULT_STORAGE,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Start a study from a list of stations."""
    from mfbo.cli.study_create import create as command

    command(
        name, actions, contexts, agents, features, capacity, move_budget, placed, strategy, noise, lease_hours, seed,
        storage, name_column=name_column, gbfs=gbfs, yes=yes, quiet=quiet, json=json,
    )  # fmt: skip


@app.command()
def ask(
    name: Name,
    out: Annotated[Path | None, typer.Option(help="Write the plan there, or to standard output for -.")] = None,
    placed: Annotated[
        Path | None, typer.Option(help="CSV: where the agents are now, if riders moved them; station, agents.")
    ] = None,
    gbfs: Annotated[
        str | None, typer.Option(help="Instead of --placed: a GBFS feed that says where the bikes are now.")
    ] = None,
    worker: Worker = "operator",
    yes: YesCounted = False,
    storage: StorageUrl = DEFAULT_STORAGE,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Print the plan to try next, and the moves that lead to it."""
    from mfbo.cli.study_ask import ask as command

    command(name, out, placed, worker, storage, gbfs=gbfs, yes=yes, quiet=quiet, json=json)


@app.command()
def tell(
    name: Name,
    plan: Annotated[int, typer.Option(help="The plan's number, as `ask` printed it.")],
    payoff: Annotated[float | None, typer.Option(help="The population payoff.")] = None,
    cells: Annotated[Path | None, typer.Option(help="CSV: mean payoff by station; station, payoff, agents.")] = None,
    agents_file: Annotated[Path | None, typer.Option(help="CSV: a row for each agent seen; station, payoff.")] = None,
    placed: Annotated[Path | None, typer.Option(help="CSV: what was really placed; station, agents.")] = None,
    trips: Annotated[
        Path | None, typer.Option(help="Instead of a payoff: the day's trip file; its rides are the payoff.")
    ] = None,
    day: Annotated[
        str | None, typer.Option(help="With --trips of several days: which one, such as 2020-11-30.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="With --trips of an unknown layout: start=…,station=…,end=…,to=….")
    ] = None,
    failed: Annotated[str | None, typer.Option(help="Instead of a payoff: why the plan brought no result.")] = None,
    worker: Annotated[str | None, typer.Option(help="Who tells.")] = None,
    yes: YesCounted = False,
    storage: StorageUrl = DEFAULT_STORAGE,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Record what a plan brought."""
    from mfbo.cli.study_tell import tell as command

    command(
        name, plan, payoff, cells, agents_file, placed, failed, worker, storage, trips=trips, day=day,
        columns=columns, yes=yes, quiet=quiet, json=json,
    )  # fmt: skip


@app.command()
def show(
    name: Name,
    rounds: Annotated[int, typer.Option(help="How many of the latest rounds to list.")] = 10,
    storage: StorageUrl = DEFAULT_STORAGE,
    json: Json = False,
) -> None:
    """Show rounds, the best plan, the model's health, and what to try."""
    from mfbo.cli.study_show import show as command

    command(name, rounds, storage, json=json)


@app.command()
def plot(
    name: Name,
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("mfbo-study"),
    storage: StorageUrl = DEFAULT_STORAGE,
    json: Json = False,
) -> None:
    """Draw the payoffs told and expected, and a map of the recommended placement."""
    from mfbo.cli.study_plot import plot as command

    command(name, out, storage, json=json)


@app.command()
def export(
    name: Name,
    out: Annotated[Path, typer.Option(help="A file that ends in .csv, .json or .parquet, or - for standard output.")],
    storage: StorageUrl = DEFAULT_STORAGE,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write all rounds to a file: CSV, JSON or Parquet."""
    from mfbo.cli.study_export import export as command

    command(name, out, storage, quiet=quiet, json=json)


@app.command("import")
def import_days(
    name: Name,
    file: Annotated[Path, typer.Argument(help="CSV: past days; columns day, station, agents, payoff.")],
    storage: StorageUrl = DEFAULT_STORAGE,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Bring along days that were played before the study."""
    from mfbo.cli.study_import import import_days as command

    command(name, file, storage, quiet=quiet, json=json)


@app.command("list")
def list_studies(storage: StorageUrl = DEFAULT_STORAGE, json: Json = False) -> None:
    """List the studies of a storage."""
    from mfbo.cli.study_store import list_studies as command

    command(storage, json=json)


@app.command()
def delete(
    name: Name, yes: Yes = False, storage: StorageUrl = DEFAULT_STORAGE, quiet: Quiet = False, json: Json = False
) -> None:
    """Remove a study with all its rounds; asks first."""
    from mfbo.cli.study_store import delete as command

    command(name, storage, yes=yes, quiet=quiet, json=json)


@app.command()
def doctor(yes: Yes = False, storage: StorageUrl = DEFAULT_STORAGE, json: Json = False) -> None:
    """Check a storage, say what is wrong, and repair what can be repaired after a backup; asks first.

    Exit code 1 if damage is left.
    """
    from mfbo.cli.study_store import doctor as command

    command(storage, yes=yes, json=json)


@app.command()
def upgrade(storage: StorageUrl = DEFAULT_STORAGE, quiet: Quiet = False, json: Json = False) -> None:
    """Bring a storage that an older mfbo made up to date, after a backup."""
    from mfbo.cli.study_store import upgrade as command

    command(storage, quiet=quiet, json=json)
