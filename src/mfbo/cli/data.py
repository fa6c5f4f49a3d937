"""`mfbo data`: the embedded tables listed and shown, and tables built from official raw files."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mfbo.cli.data_build import build_tables
from mfbo.cli.data_commands import Build, ListTables, ShowTable
from mfbo.cli.data_files import check_targets, table_targets, write_whole
from mfbo.cli.data_options import check_fit, family_of, table_names
from mfbo.cli.output import bytes_progress, print_json, print_table
from mfbo.errors import InvalidInputError
from mfbo.problems.tables import (
    EMBEDDED,
    Table,
    embedded,
    file_kind,
    read_demand,
    read_ports,
    sidecar_json,
    table_csv,
)
from mfbo.problems.tables.rawfiles import checked_paths
from mfbo.validation import whole_number

_ORDER = ("source", "license", "period", "filter", "counts", "files", "command")
_LONGEST_LIST = 12
_COUNTED = {"taxi": "pickups kept", "bikes": "pickups kept", "ports": "ports kept"}


def list_tables(options: ListTables) -> None:
    """List the embedded tables; bytes are those of the CSV and its sidecar."""
    records = []
    for name in EMBEDDED:
        table = embedded(name)
        size = len(table_csv(table).encode()) + len(sidecar_json(table).encode())
        facts = {key: str(table.details.get(key, "")) for key in ("source", "license")}
        records.append({"name": name, "places": len(table), "period": _period(table.details), **facts, "bytes": size})
    if options.json:
        print_json(records)
        return
    rows = [[*record.values()] for record in records]
    for row in rows:
        row[3] = str(row[3]).split(", https://")[0]  # the address is in `mfbo data show`
    print_table("Tables that come with mfbo", list(records[0]), rows)


def show(options: ShowTable) -> None:
    """Print the details and the first rows of an embedded table or of a user's own."""
    name, rows = options.name, whole_number(options.rows, "rows", least=0)
    table = _table(name)
    header, *lines = csv.reader(io.StringIO(table_csv(table)))
    shown = [[place, *(_value(text) for text in others)] for place, *others in lines[:rows]]
    if options.json:
        records = [dict(zip(header, line, strict=True)) for line in shown]
        print_json({"name": name, "places": len(table), "details": dict(table.details), "rows": records})
        return
    ordered = {key: table.details[key] for key in _ORDER if key in table.details} | dict(table.details)
    print_table(name, ["", "value"], [["places", len(table)], *_detail_rows(ordered)])
    if shown:
        print_table(f"First {len(shown)} of {len(table)} rows", header, shown)


def build(options: Build) -> None:
    """Check everything that can be checked first; then read, write and say what was done."""
    check_fit(options)
    files = checked_paths(options.raw)
    targets = table_targets(options.name, table_names(options), options.out)
    stations = () if options.stations is None else (options.stations,)
    check_targets(list(targets.values()), [*files, *stations], force=options.force)
    with bytes_progress(options.name, silent=options.quiet or options.json) as advance:
        tables = build_tables(options, advance)
    written = write_whole(tables, targets)
    if options.json:
        print_json({"tables": [_record(name, table, written[name]) for name, table in tables.items()]})
    else:
        _print_summary(options.name, tables, written)


def _table(name: str) -> Table:
    if name in EMBEDDED or not name.lower().endswith(".csv"):
        return embedded(name)
    kind = file_kind(name)
    if kind == "port table":
        return read_ports(name)
    if kind == "demand table":
        return read_demand(name)
    raise InvalidInputError(f"{name} holds {kind}, not a table; make one of it by mfbo data build")


def _record(name: str, table: Table, files: tuple[Path, Path]) -> dict[str, Any]:
    details = table.details
    return {
        "name": name,
        "places": len(table),
        "files": [str(path) for path in files],
        "period": details["period"],
        "command": details["command"],
        **details["counts"],
    }


def _print_summary(name: str, tables: Mapping[str, Table], written: Mapping[str, tuple[Path, Path]]) -> None:
    columns = ["table", "places", "period", "files"]
    rows = [[built, len(table), _period(table.details), _joined(written[built])] for built, table in tables.items()]
    print_table("Built", columns, rows)
    counts = next(iter(tables.values())).details["counts"]  # the same rows were read for all
    skipped = [[f"skipped: {reason}", count] for reason, count in counts["skipped"].items() if count]
    counted = [_COUNTED[family_of(name)], counts["kept"]]
    print_table("Rows", ["", "count"], [["rows read", counts["rows"]], *skipped, counted])


def _joined(files: tuple[Path, Path]) -> str:
    return f"{files[0]}, {files[1].name}"


def _period(details: Mapping[str, Any]) -> str:
    period = details.get("period", {})
    if "first_day" not in period:
        return "release of the file" if "release" in period else "not said"
    empty = len(period.get("days_without_pickups", ()))
    text = f"{period['first_day']} to {period['last_day']}, {period['days']} days"
    return f"{text} ({empty} more without pickups)" if empty else text


def _detail_rows(details: Mapping[str, Any], prefix: str = "") -> list[list[str]]:
    """Return a sidecar as lines of (key, value): 'counts: skipped: at other hours', '44755'."""
    lines = []
    for key, value in details.items():
        label = f"{prefix}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            lines += _detail_rows(value, f"{label}: ")
        elif isinstance(value, list) and value:
            shown = [
                f"{entry['name']} ({entry['bytes']:,} bytes)" if _is_file(entry) else str(entry) for entry in value
            ]
            lines.append([label, ", ".join(shown[:_LONGEST_LIST]) + (", …" if len(shown) > _LONGEST_LIST else "")])
        elif value or value is False:  # no row skipped for this reason, no first day asked for: nothing to say
            lines.append([label, f"{value:,}" if isinstance(value, int) else str(value)])
    return lines


def _is_file(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("bytes"), int) and "name" in value


def _value(text: str) -> str | int | float:
    """Return a field of a table as what it is: a whole number, a number or a text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
