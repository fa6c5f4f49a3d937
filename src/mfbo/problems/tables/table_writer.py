"""Demand and port tables written as a small CSV and a JSON sidecar: equal tables give equal bytes."""

import csv
import io
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path

from mfbo.errors import InvalidInputError
from mfbo.problems.tables.demand_table import DemandTable
from mfbo.problems.tables.port_table import PortTable
from mfbo.problems.tables.table_reader import PORT_COLUMNS
from mfbo.shown_text import defused, json_text
from mfbo.whole_files import write_whole_files

Table = DemandTable | PortTable


def write_table(table: Table, path: str | PathLike[str]) -> tuple[Path, Path]:
    """Write ``NAME.csv`` and ``NAME.json`` and return both paths; ``path`` is that of the CSV."""
    csv_path = Path(path)
    if csv_path.suffix != ".csv":
        raise InvalidInputError(f"a table is written to a .csv file, not to {str(path)!r}")
    sidecar = csv_path.with_suffix(".json")
    write_whole_files({csv_path: table_csv(table).encode(), sidecar: sidecar_json(table).encode()})
    return csv_path, sidecar


def table_csv(table: Table) -> str:
    """Return the CSV text of a table: numbers in their shortest exact form, lines ended by a line feed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = _demand_columns(table) if isinstance(table, DemandTable) else _port_columns(table)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def sidecar_json(table: Table) -> str:
    """Return the JSON text of a table's details, keys sorted."""
    return json_text(dict(table.details), indent=1, sort_keys=True) + "\n"


def _demand_columns(table: DemandTable) -> dict[str, Sequence[str]]:
    columns: dict[str, Sequence[str]] = {"name": _texts(table.names)}
    for position, name in enumerate(table.feature_names):
        columns[name] = _numbers(table.features[:, position])
    for name, values in table.extras.items():
        columns[name] = [str(int(value)) for value in values]
    columns["demand"] = _numbers(table.demand)
    return columns


def _port_columns(table: PortTable) -> dict[str, Sequence[str]]:
    longitude, latitude = (_numbers(values) for values in table.coordinates.T)
    names, regions, sizes = (_texts(values) for values in (table.names, table.regions, table.sizes))
    columns = (names, longitude, latitude, regions, sizes, _numbers(table.capacity))
    return dict(zip(PORT_COLUMNS, columns, strict=True))


def _texts(values: Iterable[str]) -> list[str]:
    return [defused(value) for value in values]


def _numbers(values: Iterable[float]) -> list[str]:
    texts = (repr(float(value) + 0.0) for value in values)  # + 0.0 takes the sign off a zero
    return [text.removesuffix(".0") for text in texts]
