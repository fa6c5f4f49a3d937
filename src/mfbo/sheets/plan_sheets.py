"""Plans as sheets: where agents go and what to move, written for people; plans read back from CSV or JSON."""

import csv
import io
import json
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.csv_reader import Sheet, at_least, collected, parse_sheet
from mfbo.errors import InvalidInputError
from mfbo.given_files import given_text
from mfbo.population import Population
from mfbo.records import Plan
from mfbo.sheets.cells_of_rows import by_cell, cells_of_rows, table_of, with_values
from mfbo.shown_text import defused
from mfbo.simplex import Moves
from mfbo.study import Study
from mfbo.validation import distribution_array
from mfbo.whole_files import write_whole_file

KEYS = ("distribution", "best_distribution")
ROUNDED = 1e-3  # shares in a CSV are often rounded; a sum this close to 1 is meant to be 1


def plan_rows(plan: Plan, population: Population, moves: Moves | None = None) -> list[dict[str, Any]]:
    """Return a record for each cell: station, context, agents (or share), change against where the agents stand now.

    A closed station is listed only while agents are to be taken away from it.
    """
    rows: list[dict[str, Any]] = []
    for c, context in enumerate(population.contexts):
        for a, action in enumerate(population.actions):
            left = moves is None or not moves.change[:, a].any()
            if action in population.closed and left and not plan.realized[:, a].any():
                continue
            row: dict[str, Any] = {"station": action, "context": context}
            if plan.allocation is None:
                rows.append({**row, "share": float(plan.distribution[c, a]), "change": None})
                continue
            count = int(plan.allocation[c, a])
            rows.append({**row, "agents": count, "change": None if moves is None else int(moves.change[c, a])})
    return rows


def rows_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Return records as CSV; None is an empty field, and no text is a formula."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({column: defused(value) for column, value in row.items()} for row in rows)
    return text.getvalue()


def write_plan(path: str | PathLike[str], study: Study, plan: Plan) -> None:
    """Write a plan of a study as CSV: station, context, agents (or share), change; whole or not at all."""
    write_whole_file(Path(path), rows_csv(plan_rows(plan, study.population, study.moves(plan))).encode())


def read_plan(path: str | PathLike[str], population: Population, *, problem: str | None = None) -> FloatArray:
    """Return the plan (C, A) of a file.

    JSON: a list of lists, an object with ``distribution``, or the output of `mfbo run --json` (best_distribution); one
    that names another problem than ``problem`` is refused. CSV: columns action (or station), share or agents, and
    context if there are several; cells without a row are empty.
    """
    text = given_text(Path(path))
    if text.lstrip()[:1] in ("[", "{"):
        return _from_json(text, str(path), population, problem)
    with collected(None) as faults:
        return _from_sheet(parse_sheet(text, str(path), faults), population)


def _from_json(text: str, label: str, population: Population, problem: str | None) -> FloatArray:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{label} is not readable as JSON: {error}") from error
    if isinstance(record, dict):
        named = record.get("problem", problem)
        if problem is not None and named != problem:
            raise InvalidInputError(f"{label} holds a plan for the problem {named!r}, not for {problem!r}")
        key = next((key for key in KEYS if key in record), None)
        if key is None:
            held = ", ".join(list(record)[:8]) or "nothing"
            raise InvalidInputError(f"{label} needs the key {' or '.join(KEYS)}; it has {held}")
        record = record[key]
    contexts, actions = population.shape
    try:
        values = np.array(record, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(
            f"{label} must hold {contexts} rows of {actions} numbers, one row for each context"
        ) from None
    return distribution_array(values, label, contexts, actions)


def _from_sheet(sheet: Sheet, population: Population) -> FloatArray:
    """Return the plan of a sheet; what is wrong with it is noted."""
    column = sheet.need("share", "agents", called="'share' or 'agents'")
    values = sheet.numbers(column, at_least(0.0))
    cells = cells_of_rows(sheet, population, columns=("action", "station"), kind="action")
    table = table_of(with_values(by_cell(cells, values)), population)
    with np.errstate(over="ignore"):  # an overflow is refused below
        sums = table.sum(axis=1)
    for context, total in zip(population.contexts, sums.tolist(), strict=True):
        if sheet.faults.found:
            break
        of_context = f" of context {context!r}" if len(sums) > 1 else ""
        wrong = _wrong_sum(column, total)
        if wrong is not None:
            sheet.faults.add(sheet.label, None, None, f"the column {column!r}{of_context} {wrong}")
    with np.errstate(invalid="ignore", divide="ignore"):  # then a fault is noted
        return np.asarray(table / sums[:, None])


def _wrong_sum(column: str | None, total: float) -> str | None:
    """Say why the plan of a context cannot be scaled to sum to 1; shares must do so already, up to rounding."""
    if total <= 0 or not np.isfinite(total):
        return f"sums to {total:g}; somebody must be somewhere"
    if column == "share" and abs(total - 1) > ROUNDED:
        return f"sums to {total:.6g}, not to 1; name the column agents if it holds counts"
    return None
