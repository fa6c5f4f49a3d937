"""The options of `mfbo data …`; the work is in `data.py`, imported only when a command runs."""

from pathlib import Path
from typing import Annotated

import typer

from mfbo.cli.options import Json, Quiet

app = typer.Typer(
    help="The tables behind the problems: list them, look at them, build them from official raw files.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Raw = Annotated[list[Path], typer.Argument(help="Official raw files: .csv, .csv.gz, .zip or .parquet.")]
Out = Annotated[
    Path | None, typer.Option(help="The CSV to write; the sidecar .json goes beside it. Default: NAME.csv here.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")]
BoxText = Annotated[str | None, typer.Option("--box", help="Taxi: west,south,east,north in degrees.")]
GridText = Annotated[str | None, typer.Option("--grid", help="nyc: one grid of columns x rows, such as 12x20.")]
Weekdays = Annotated[str | None, typer.Option(help="Taxi, bikes: such as mon-fri or sat,sun.")]
Hours = Annotated[str | None, typer.Option(help="Taxi, bikes: 15-18 is 15:00 up to 18:00.")]
FirstDay = Annotated[str | None, typer.Option(help="Taxi, bikes: the first day, such as 2014-05-03.")]
WeeksText = Annotated[str | None, typer.Option("--weeks", help="Taxi, bikes: number of consecutive weeks, or all.")]
MethodText = Annotated[
    str | None,
    typer.Option("--method", help="Taxi, bikes: pooled (share of all pickups) or daily (mean of the daily shares)."),
]
Stations = Annotated[Path | None, typer.Option(help="Bikes: the station file (it may also stand among RAW).")]
City = Annotated[str | None, typer.Option(help="Bikes: only the stations of this city, or all.")]
Columns = Annotated[
    str | None,
    typer.Option(help="Bikes: the columns of a layout that is not known: start=…,station=…,end=…,to=…."),
]
Count = Annotated[int | None, typer.Option(help="ports: choose this many at random, two or more in each region.")]
PortSeed = Annotated[int | None, typer.Option("--seed", help="ports, ports-30: seed of that choice.")]


@app.command("list")
def list_tables(json: Json = False) -> None:
    """List the tables that come with mfbo."""
    from mfbo.cli.data import list_tables as command

    command(json=json)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A name from `mfbo data list`, or a table of your own (.csv).")],
    rows: Annotated[int, typer.Option(help="How many rows to print.")] = 10,
    json: Json = False,
) -> None:
    """Show where a table comes from, and its first rows."""
    from mfbo.cli.data import show as command

    command(name, rows, json=json)


@app.command()
def build(
    name: Annotated[
        str, typer.Argument(help="nyc (three grids), one of its grids, bikes (any trip file), taxi-zones, ports …")
    ],
    raw: Raw,
    out: Out = None,
    force: Force = False,
    box: BoxText = None,
    grid: GridText = None,
    weekdays: Weekdays = None,
    hours: Hours = None,
    first_day: FirstDay = None,
    weeks: WeeksText = None,
    method: MethodText = None,
    stations: Stations = None,
    city: City = None,
    columns: Columns = None,
    count: Count = None,
    seed: PortSeed = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Build a table from official raw files: NAME.csv and NAME.json."""
    from mfbo.cli.data import build as command
    from mfbo.cli.data_options import BuildOptions

    options = BuildOptions(
        box, grid, weekdays, hours, first_day, weeks, method, None if stations is None else str(stations),
        city, count, seed, columns,
    )  # fmt: skip
    command(name, raw, out, options, force=force, quiet=quiet, json=json)
