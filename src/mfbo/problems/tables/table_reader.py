"""Demand and port tables read from a CSV and its JSON sidecar; all faults are named by file, line and column."""

import json
import re
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mfbo.csv_reader import Check, Sheet, above, at_least, collected, parse_sheet, plain_name, within_degrees
from mfbo.errors import InvalidInputError
from mfbo.given_files import given_text
from mfbo.problems.tables.demand_table import DemandTable
from mfbo.problems.tables.port_table import PortTable
from mfbo.validation import LARGEST_POPULATION

NAME_COLUMNS = ("name", "station", "action", "place")
EXTRA_COLUMNS = ("row", "column", "station_id", "docks", "pickups")  # whole numbers, never features
PORT_COLUMNS = ("name", "longitude", "latitude", "region", "size", "capacity")

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_SAME = {"lat": "latitude", "lon": "longitude", "lng": "longitude", "long": "longitude"}
_DEGREES: dict[str, Check] = {"latitude": within_degrees(90.0), "longitude": within_degrees(180.0)}


def read_demand(path: str | PathLike[str]) -> DemandTable:
    """Read a demand table: columns ``name`` and ``demand`` (shares or counts), and any numeric feature columns.

    ``latitude, longitude`` (or ``x, y``) make it a map; row, column, station_id, docks and pickups are whole-number
    extras; every other column that holds a number is a feature. The sidecar ``NAME.json`` is read if it is there.
    """
    return parse_demand(*_texts_of(path))


def read_ports(path: str | PathLike[str]) -> PortTable:
    """Read a port table: columns name, longitude, latitude, region, size and capacity; sidecar as above."""
    return parse_ports(*_texts_of(path))


def parse_demand(text: str, sidecar: str | None, label: str) -> DemandTable:
    """Make a demand table of the texts of its two files; ``label`` is what errors call it."""
    with collected(None) as faults:
        sheet = parse_sheet(text, label, faults)
        columns = _columns(sheet)
        name_column = sheet.need(*NAME_COLUMNS)
        names = _names(sheet, name_column)
        demand = sheet.numbers(sheet.need("demand"), at_least(0.0))
        extras = {name: sheet.numbers(columns[name], _usual_whole) for name in columns if _is_extra(name)}
        features = {
            name: sheet.numbers(column, *_checks(name))
            for name, column in columns.items()
            if column not in (name_column, "demand") and name not in extras and _is_feature(sheet, name, column)
        }
        if demand and not any(demand) and not faults.found:
            faults.add(label, None, "demand", f"all {len(demand)} are 0; at least one place needs demand")
    return DemandTable(
        names=names,
        feature_names=tuple(features),
        features=np.array([*features.values()], dtype=np.float64).reshape(len(features), len(names)).T,
        demand=np.array(demand),
        extras={name: np.array(values, dtype=np.int64) for name, values in extras.items()},
        details=_details(sidecar, label),
    )


def parse_ports(text: str, sidecar: str | None, label: str) -> PortTable:
    """Make a port table of the texts of its two files; ``label`` is what errors call it."""
    with collected(None) as faults:
        sheet = parse_sheet(text, label, faults)
        columns = _columns(sheet)
        found = {name: columns.get(name) or sheet.need(name) for name in PORT_COLUMNS}
        names = _names(sheet, found["name"])
        places = [sheet.numbers(found[angle], _DEGREES[angle]) for angle in ("longitude", "latitude")]
        regions, sizes = (sheet.texts(found[name]) for name in ("region", "size"))
        capacity = sheet.numbers(found["capacity"], above(0.0))
    return PortTable(
        names=names,
        coordinates=np.array(places, dtype=np.float64).T,
        regions=tuple(region for region in regions if region is not None),
        sizes=tuple(size for size in sizes if size is not None),
        capacity=np.array(capacity, dtype=np.float64),
        details=_details(sidecar, label),
    )


def _columns(sheet: Sheet) -> dict[str, str]:
    """Return the columns of a file by what we call them; note those that mean the same."""
    columns: dict[str, str] = {}
    for position, column in enumerate(sheet.columns):
        name = _SAME.get(plain_name(column), plain_name(column))
        if name in columns:
            sheet.faults.add(sheet.label, 1, None, f"the column {name!r} (number {position + 1}) is there twice")
        columns.setdefault(name, column)
    return columns


def _names(sheet: Sheet, column: str | None) -> tuple[str, ...]:
    """Return the names, and note those that are there twice."""
    names = sheet.texts(column)
    sheet.once(names, column, lambda index: repr(names[index]))
    return tuple(name for name in names if name is not None)


def _checks(name: str) -> Sequence[Check]:
    return (_DEGREES[name],) if name in _DEGREES else ()


def _is_extra(name: str) -> bool:
    """Tell whether a column holds whole numbers that are not a feature: a known one, or the pickups of a day."""
    return name in EXTRA_COLUMNS or _DATE.fullmatch(name) is not None


def _is_feature(sheet: Sheet, name: str, column: str) -> bool:
    """Say whether a column must hold numbers: coordinates must; others hold remarks if not one of them is a number."""
    return name in (*_DEGREES, "x", "y") or sheet.holds_numbers(column)


def _usual_whole(value: float, text: str) -> str | None:
    usual = abs(value) <= LARGEST_POPULATION and value == int(value)
    return None if usual else f"{text} is not a whole number of usual size"


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
