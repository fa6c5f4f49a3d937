"""`mfbo data …`: the commands on tables and their options."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from mfbo.cli.declaring import command_group, declared
from mfbo.cli.options import Json, TableOptions

app = command_group("The tables behind the problems: list them, look at them, build them from official raw files.")

SHAPING = (
    "box", "grid", "weekdays", "hours", "first_day", "weeks", "method", "stations", "city", "columns", "count", "seed",
)  # fmt: skip


@declared(app, "list", "data:list_tables")
@dataclass(frozen=True)
class ListTables:
    """List the tables that come with mfbo."""

    json: Json = False


@declared(app, "show", "data:show")
@dataclass(frozen=True)
class ShowTable:
    """Show where a table comes from, and its first rows."""

    name: Annotated[str, typer.Argument(help="A name from `mfbo data list`, or a table of your own (.csv).")]
    rows: Annotated[int, typer.Option(help="How many rows to print.")] = 10
    json: Json = False


@declared(app, "build", "data:build")
@dataclass(frozen=True)
class Build(TableOptions):
    """Build a table from official raw files: NAME.csv and NAME.json."""

    name: Annotated[
        str, typer.Argument(help="nyc (three grids), one of its grids, bikes (any trip file), taxi-zones, ports …")
    ]
    raw: Annotated[list[Path], typer.Argument(help="Official raw files: .csv, .csv.gz, .zip or .parquet.")]
    out: Annotated[
        Path | None, typer.Option(help="The CSV to write; the sidecar .json goes beside it. Default: NAME.csv here.")
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False
    count: Annotated[
        int | None, typer.Option(help="ports: choose this many at random, two or more in each region.")
    ] = None
    seed: Annotated[int | None, typer.Option("--seed", help="ports, ports-30: seed of that choice.")] = None

    @property
    def chosen(self) -> dict[str, str]:
        """The options that shape the table and were chosen, as texts, in their order."""
        return {name: str(value) for name, value in asdict(self).items() if name in SHAPING and value is not None}
