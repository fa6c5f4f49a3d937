"""Option types that several commands share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from mfbo.errors import InvalidInputError

DEFAULT_STORAGE = "sqlite:///mfbo.db"


def typed_number(text: str) -> float:
    """Read a number as people type it, 12.5 or 12,5; refuse what may mean two things."""
    from mfbo.csv_reader import has_decimal_comma, parsed_number

    value, reason = parsed_number(text.strip(), decimal_commas=has_decimal_comma(text.strip()))
    if value is None:
        raise typer.BadParameter(str(reason))
    return value


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output and nothing else.")]
Payoff = Annotated[float | None, typer.Option(parser=typed_number, metavar="NUMBER", help="The population payoff.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Seed = Annotated[int, typer.Option(help="Seed of every random draw.")]
StrategyName = Annotated[str, typer.Option(help="A name from `mfbo strategies`, settings in parentheses.")]
StorageUrl = Annotated[
    str,
    typer.Option(
        "--storage",
        envvar="MFBO_STORAGE",
        help="Where studies are kept: sqlite:///file.db or postgresql+psycopg://user@host/database; "
        "by default mfbo.db in the current folder.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """The options of a command that builds a table from raw files; they stand last in its help."""

    box: Annotated[str | None, typer.Option(help="Taxi: west,south,east,north in degrees.")] = None
    grid: Annotated[str | None, typer.Option(help="Taxi: one grid of columns x rows, such as 12x20.")] = None
    weekdays: Annotated[str | None, typer.Option(help="Taxi, bikes: such as mon-fri or sat,sun.")] = None
    hours: Annotated[str | None, typer.Option(help="Taxi, bikes: 15-18 is 15:00 up to 18:00.")] = None
    first_day: Annotated[str | None, typer.Option(help="Taxi, bikes: the first day, such as 2014-05-03.")] = None
    weeks: Annotated[str | None, typer.Option(help="Taxi, bikes: number of consecutive weeks, or all.")] = None
    method: Annotated[
        str | None, typer.Option(help="Taxi, bikes: pooled (share of all pickups) or daily (mean of the daily shares).")
    ] = None
    stations: Annotated[Path | None, typer.Option(help="Bikes: the station file (it may also stand among RAW).")] = None
    city: Annotated[str | None, typer.Option(help="Bikes: only the stations of this city, or all.")] = None
    columns: Annotated[
        str | None, typer.Option(help="Bikes: the columns of a layout that is not known: start=…,station=…,end=…,to=….")
    ] = None
    quiet: Quiet = False
    json: Json = False


@dataclass(frozen=True, kw_only=True)
class StorageOptions:
    """The options of every command about stored studies; they stand last in its help."""

    storage: StorageUrl = DEFAULT_STORAGE
    json: Json = False


@dataclass(frozen=True, kw_only=True)
class TalkingStorageOptions(StorageOptions):
    """The same for a command that says more than its answer."""

    quiet: Quiet = False


def parse_agents(text: str | None) -> "int | str | None":
    """Read "inf" or a whole number of at least 1."""
    if text is None or text == "inf":
        return text
    try:
        number = int(text)
    except ValueError:
        raise InvalidInputError(f"agents must be a whole number or inf, not {text!r}") from None
    if number < 1:
        raise InvalidInputError(f"agents must be at least 1 or inf, not {number}")
    return number
