"""What `mfbo data build` may be asked: which options fit which table, and the command as the sidecar records it."""

import shlex
from pathlib import Path
from typing import Literal

from mfbo.cli.data_commands import Build
from mfbo.errors import InvalidInputError
from mfbo.problems.tables import RECIPES, Box, parse_grid
from mfbo.problems.tables.recipes import NYC_GRIDS
from mfbo.validation import known_name, said

Family = Literal["taxi", "bikes", "ports"]

ALL = "all"
MOST_DIGITS = 9
_DAYS = ("weekdays", "first_day", "weeks", "method")
_FITTING: dict[Family, tuple[str, ...]] = {
    "taxi": ("box", "grid", "hours", *_DAYS),
    "bikes": ("stations", "city", "hours", "columns", *_DAYS),
    "ports": ("count", "seed"),
}
_REASONS: dict[Family, str] = {
    "taxi": "a taxi table is made of pickups on a grid",
    "bikes": "a bike table has one row for each station",
    "ports": "a port table is made of harbors, not of trips",
}


def family_of(name: str) -> Family:
    """Return what kind of raw file a table is built from."""
    known_name(name, "table", tuple(RECIPES))
    return "taxi" if name.startswith("nyc") else "ports" if name.startswith("ports") else "bikes"


def check_fit(options: Build) -> None:
    """Refuse options that the table cannot follow, with the reason."""
    name = options.name
    family = family_of(name)
    for option in options.chosen:
        if option not in _FITTING[family]:
            fitting = ", ".join(_flag(name) for name in _FITTING[family])
            raise InvalidInputError(
                f"{_flag(option)} does not fit {name}: {_REASONS[family]}; its options are {fitting}"
            )
    if options.grid is not None and name != "nyc":
        raise InvalidInputError(f"{name} names its grid itself; for another one: mfbo data build nyc --grid …")
    if options.count is not None and name != "ports":
        raise InvalidInputError(
            f"{name} names its number of ports itself; for another: mfbo data build ports --count …"
        )
    if options.seed is not None and name == "ports" and options.count is None:
        raise InvalidInputError("--seed chooses among the ports, so it needs --count; ports alone keeps them all")


def table_names(options: Build) -> tuple[str, ...]:
    """Return the names of the tables that will be built: three for nyc, one otherwise."""
    if options.grid is not None:
        columns, rows = parse_grid(options.grid)
        return (f"nyc-{columns}x{rows}",)
    if options.count is not None:
        return (f"ports-{options.count}",)
    return tuple(NYC_GRIDS) if options.name == "nyc" else (options.name,)


def recorded_command(options: Build, name: str | None = None) -> str:
    """Return the command for the sidecar: all options, files without their folders, quoted for a shell.

    name: that of one of the tables, if the command builds several.
    """
    words = ["mfbo", "data", "build", name or options.name, *(path.name for path in options.raw)]
    for option, value in options.chosen.items():
        text = Path(value).name if option == "stations" else value
        words.append(f"{_flag(option)}={text}" if text.startswith("-") else _flag(option))
        words += [] if text.startswith("-") else [text]
    return shlex.join(words)


def parse_box(text: str) -> Box:
    """Return the box of a text like '-74.02,40.70,-73.95,40.79': west, south, east, north."""
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError:
        raise InvalidInputError(
            f"--box must be west,south,east,north in degrees, such as -74.02,40.70,-73.95,40.79, not {text!r}"
        ) from None
    return Box(west, south, east, north)


def parse_weeks(text: str) -> int | None:
    """Return a number of weeks; None for 'all'."""
    if text == ALL:
        return None
    if not text.isdecimal() or len(text) > MOST_DIGITS or int(text) < 1:
        raise InvalidInputError(f"--weeks must be a whole number of at least 1, or all, not {said(text)}")
    return int(text)


def _flag(option: str) -> str:
    return "--" + option.replace("_", "-")
