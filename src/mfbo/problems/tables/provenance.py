"""What a table's sidecar says of its making: the files, the days, and the call that repeats it."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from mfbo.problems.tables.days import iso
from mfbo.problems.tables.rawfiles import PathsLike, checked_paths


@dataclass(frozen=True)
class Origin:
    """Whose data a table is made of, and under which terms."""

    source: str
    license: str


USER_FILES = Origin("trip files given by the user", "that of the files")


def described_files(paths: PathsLike) -> list[dict[str, Any]]:
    """Return name and size of each raw file; no folder and no date, so that two builds give the same bytes."""
    return [{"name": path.name, "bytes": path.stat().st_size} for path in checked_paths(paths)]


def origin_details(origin: Origin, paths: PathsLike, stations: str | PathLike[str] | None) -> dict[str, Any]:
    """Return the details that say where a table comes from: whose data it is, and the files, that of stations last."""
    read = paths if stations is None else [*checked_paths(paths), stations]
    return {"source": origin.source, "license": origin.license, "files": described_files(read)}


def file_names(paths: PathsLike) -> str:
    """Return the names of the raw files in one line."""
    return " ".join(path.name for path in checked_paths(paths))


def period(wanted: Sequence[int], with_pickups: Sequence[int]) -> dict[str, Any]:
    """Return the first and last day with pickups, their number, and the wanted days (ordinals) that had none."""
    empty = sorted(set(wanted) - set(with_pickups))
    return {
        "first_day": iso(min(with_pickups)),
        "last_day": iso(max(with_pickups)),
        "days": len(with_pickups),
        "days_without_pickups": [iso(day) for day in empty],
    }


def call(function: str, paths: PathsLike, **options: Any) -> str:
    """Return the Python call that builds the table, for the sidecar of a table that no command built.

    Files stand there without their folders, and options that are None are left out.
    """
    files = [path.name for path in checked_paths(paths)]
    shown = {name: value.name if isinstance(value, Path) else value for name, value in options.items()}
    options_shown = [f"{name}={value!r}" for name, value in shown.items() if value is not None]
    return f"mfbo.problems.tables.{function}({', '.join([repr(files), *options_shown])})"
