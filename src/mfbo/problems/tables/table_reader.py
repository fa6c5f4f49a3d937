"""Demand and port tables read from a CSV and its JSON sidecar; every refusal names the file, line and column."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mfbo.errors import InvalidInputError
from mfbo.given_files import delimiter_of, given_text
from mfbo.problems.tables.columns import plain
from mfbo.problems.tables.demand_table import DemandTable
from mfbo.problems.tables.port_table import PortTable
from mfbo.shown_text import as_written
from mfbo.validation import LARGEST_POPULATION

EXTRA_COLUMNS = ("row", "column", "station_id", "docks", "pickups")  # whole numbers, never features
PORT_COLUMNS = ("name", "longitude", "latitude", "region", "size", "capacity")

_SAME = {"lat": "latitude", "lon": "longitude", "lng": "longitude", "long": "longitude"}
_LIMITS = {"latitude": 90.0, "longitude": 180.0}


def read_demand(path: str | PathLike[str]) -> DemandTable:
    """Read a demand table: columns ``name`` and ``demand`` (shares or counts), and any numeric feature columns.

    ``latitude, longitude`` (or ``x, y``) make it a map; row, column, station_id, docks and pickups are whole-number
    extras; every other column is a feature. The sidecar ``NAME.json`` is read if it is there.
    """
    return parse_demand(*_texts_of(path))


def read_ports(path: str | PathLike[str]) -> PortTable:
    """Read a port table: columns name, longitude, latitude, region, size and capacity; sidecar as above."""
    return parse_ports(*_texts_of(path))


def parse_demand(text: str, sidecar: str | None, label: str) -> DemandTable:
    """Make a demand table of the texts of its two files; ``label`` is what errors call it."""
    cells = Cells.of(text, label)
    cells.need(("name", "demand"))
    extras = [name for name in cells.columns if name in EXTRA_COLUMNS]
    features = [name for name in cells.columns if name not in ("name", "demand", *extras)]
    names = cells.names()
    values = [cells.numbers(name) for name in features]
    demand = cells.numbers("demand", least=0.0)
    if not any(demand):
        raise InvalidInputError(f"{label}, column 'demand': all {len(demand)} are 0; at least one place needs demand")
    return DemandTable(
        names=names,
        feature_names=tuple(features),
        features=np.array(values, dtype=np.float64).reshape(len(features), len(names)).T,
        demand=np.array(demand),
        extras={name: np.array(cells.whole_numbers(name), dtype=np.int64) for name in extras},
        details=_details(sidecar, label),
    )


def parse_ports(text: str, sidecar: str | None, label: str) -> PortTable:
    """Make a port table of the texts of its two files; ``label`` is what errors call it."""
    cells = Cells.of(text, label)
    cells.need(PORT_COLUMNS)
    return PortTable(
        names=cells.names(),
        coordinates=np.column_stack([cells.numbers("longitude"), cells.numbers("latitude")]),
        regions=tuple(cells.texts("region")),
        sizes=tuple(cells.texts("size")),
        capacity=np.array(cells.numbers("capacity", above=0.0)),
        details=_details(sidecar, label),
    )


@dataclass(frozen=True)
class Cells:
    """The cells of a CSV as text, with the line each row stands on."""

    label: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    decimal_commas: bool = False

    @classmethod
    def of(cls, text: str, label: str) -> "Cells":
        """Split a CSV text; blank lines are nothing, and every row must be as long as the header.

        Where semicolons or tabs stand between the cells, a comma in a number is a decimal one.
        """
        delimiter = delimiter_of(text)
        reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True, strict=True)
        try:
            numbered = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
        except csv.Error as error:
            raise InvalidInputError(f"{label}, line {reader.line_num}: not readable as CSV ({error})") from error
        if not numbered:
            raise InvalidInputError(f"{label} is empty; its first line must name the columns")
        header = numbered[0][1]
        columns = tuple(_SAME.get(plain(name), plain(name)) for name in header)
        for position, name in enumerate(columns):
            if not name or name in columns[:position]:
                raise InvalidInputError(f"{label}: the column {name!r} (number {position + 1}) has no name of its own")
        for line, row in numbered[1:]:
            if len(row) != len(columns):
                raise InvalidInputError(f"{label}, line {line}: {len(row)} cells, but the header has {len(columns)}")
        if len(numbered) == 1:
            raise InvalidInputError(f"{label} has a header but no rows")
        rows = tuple(tuple(as_written(cell).strip() for cell in row) for _, row in numbered[1:])
        return cls(label, columns, rows, tuple(line for line, _ in numbered[1:]), decimal_commas=delimiter != ",")

    def need(self, names: Sequence[str]) -> None:
        """Refuse a table that lacks one of these columns."""
        missing = [name for name in names if name not in self.columns]
        if missing:
            raise InvalidInputError(
                f"{self.label}: the column {missing[0]!r} is missing; the file has {', '.join(self.columns)}"
            )

    def texts(self, column: str) -> list[str]:
        """Return the cells of a column, none of them empty."""
        position = self.columns.index(column)
        texts = [row[position] for row in self.rows]
        if "" in texts:
            raise self._refusal(texts.index(""), column, "is empty")
        return texts

    def names(self) -> tuple[str, ...]:
        """Return the names, each of them once."""
        seen: dict[str, int] = {}
        for index, name in enumerate(self.texts("name")):
            if name in seen:
                raise self._refusal(index, "name", f"{name!r} is already on line {self.lines[seen[name]]}")
            seen[name] = index
        return tuple(seen)

    def numbers(self, column: str, *, least: float | None = None, above: float | None = None) -> list[float]:
        """Return the finite numbers of a column within its limits."""
        limit = _LIMITS.get(column)
        values = []
        for index, text in enumerate(self.texts(column)):
            try:
                value = float(text.replace(",", ".") if self.decimal_commas else text)
            except ValueError as error:
                raise self._refusal(index, column, f"{text!r} is not a number") from error
            if not isfinite(value):
                raise self._refusal(index, column, f"{text!r} is not finite")
            if limit is not None and abs(value) > limit:
                raise self._refusal(index, column, f"{text} is not between -{limit:g} and {limit:g} degrees")
            if least is not None and value < least:
                raise self._refusal(index, column, f"{text} is below {least:g}")
            if above is not None and value <= above:
                raise self._refusal(index, column, f"{text} is not above {above:g}")
            values.append(value)
        return values

    def whole_numbers(self, column: str) -> list[int]:
        """Return the whole numbers of a column."""
        values = self.numbers(column)
        for index, value in enumerate(values):
            if value != int(value) or abs(value) > LARGEST_POPULATION:
                raise self._refusal(index, column, f"{value:g} is not a whole number of usual size")
        return [int(value) for value in values]

    def _refusal(self, index: int, column: str, reason: str) -> InvalidInputError:
        return InvalidInputError(f"{self.label}, line {self.lines[index]}, column {column!r}: {reason}")


def _texts_of(path: str | PathLike[str]) -> tuple[str, str | None, str]:
    table = Path(path)
    sidecar = table.with_suffix(".json")
    details = given_text(sidecar) if sidecar != table and sidecar.is_file() else None
    return given_text(table), details, str(table)


def _details(sidecar: str | None, label: str) -> Mapping[str, Any]:
    if sidecar is None:
        return {}
    try:
        details = json.loads(sidecar)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"the sidecar of {label} is not JSON: {error}; mend or remove it") from error
    if not isinstance(details, dict):
        raise InvalidInputError(f"the sidecar of {label} must hold a JSON object, not {type(details).__name__}")
    return details
