"""Columns of raw tables: how their names are compared, which are needed, and the contract of a stream of them."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from mfbo.errors import InvalidInputError

Rows = list[tuple[Any, ...]]


class Source(Protocol):
    """One table inside a raw file: a CSV, a CSV inside an archive, or a parquet file."""

    label: str
    columns: tuple[str, ...]

    def chunks(self, wanted: Sequence[str]) -> Iterator[tuple[Rows, int]]:
        """Yield (rows, number of rows too short); each row holds the ``wanted`` columns, in that order."""
        ...


def plain(column: str) -> str:
    """Return a column name as we compare it: no spaces around, lower case, '_' for a space inside."""
    return column.strip().lower().replace(" ", "_")


def find_column(source: Source, names: Sequence[str]) -> str | None:
    """Return the first of ``names`` that the source has."""
    return next((name for name in names if name in source.columns), None)


def needed_columns(source: Source, wanted: dict[str, tuple[str, ...]], what: str) -> list[str]:
    """Return one column for each entry of ``wanted`` (purpose → known names), or say what is missing."""
    found = {purpose: find_column(source, names) for purpose, names in wanted.items()}
    missing = [f"{purpose} ({' or '.join(wanted[purpose])})" for purpose, name in found.items() if name is None]
    if missing:
        shown = ", ".join(name[:40] for name in source.columns[:12])
        raise InvalidInputError(
            f"{source.label} is not {what}: no column for {' and '.join(missing)}; it starts with the columns {shown}"
        )
    return [name for name in found.values() if name is not None]


def rows_of(source: Source, wanted: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a small source one by one; rows that are too short are left out."""
    for rows, _ in source.chunks(wanted):
        yield from rows
