"""A plan read from a user's file, JSON or CSV, and checked against the population it is for."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError, MfboError
from mfbo.given_files import given_text
from mfbo.problems import Problem
from mfbo.problems.tables.table_reader import Cells
from mfbo.validation import distribution_array

KEYS = ("distribution", "best_distribution")
ROUNDED = 1e-3  # shares in a CSV are often rounded; a sum this close to 1 is meant to be 1


def read_plan(path: Path, problem: Problem) -> FloatArray:
    """Return the plan (C, A) of a file.

    JSON: a list of lists, an object with ``distribution``, or the output of `mfbo run --json` (best_distribution).
    CSV: columns action, share or agents, and context if the problem has several; cells left out are empty.
    """
    text = given_text(path)
    if text.lstrip()[:1] in ("[", "{"):
        return _from_json(text, path, problem)
    return _from_csv(Cells.of(text, str(path)), problem)


def _from_json(text: str, path: Path, problem: Problem) -> FloatArray:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path} is not readable as JSON: {error}") from error
    if isinstance(record, dict):
        named = record.get("problem", problem.name)
        if named != problem.name:
            raise InvalidInputError(f"{path} holds a plan for the problem {named!r}, not for {problem.name!r}")
        key = next((key for key in KEYS if key in record), None)
        if key is None:
            held = ", ".join(list(record)[:8]) or "nothing"
            raise InvalidInputError(f"{path} needs the key {' or '.join(KEYS)}; it has {held}")
        record = record[key]
    contexts, actions = problem.population.shape
    try:
        values = np.array(record, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(
            f"{path} must hold {contexts} rows of {actions} numbers, one row for each context"
        ) from None
    return distribution_array(values, str(path), contexts, actions)


def _from_csv(cells: Cells, problem: Problem) -> FloatArray:
    cells.need(("action",))
    column = next((name for name in ("share", "agents") if name in cells.columns), None)
    if column is None:
        raise InvalidInputError(
            f"{cells.label}: the column 'share' or 'agents' is missing; the file has {', '.join(cells.columns)}"
        )
    values = cells.numbers(column, least=0.0)
    plan = np.zeros(problem.population.shape)
    seen: dict[tuple[int, int], int] = {}
    for line, place, value in zip(cells.lines, _places(cells, problem), values, strict=True):
        if place in seen:
            raise InvalidInputError(f"{cells.label}, line {line}: this place is already on line {seen[place]}")
        seen[place] = line
        plan[place] = value
    return _normalized(plan, cells.label, column, problem)


def _places(cells: Cells, problem: Problem) -> list[tuple[int, int]]:
    """Return (context, action) of every row, as positions."""
    population = problem.population
    contexts: list[Any] = [0] * len(cells.rows)
    if "context" in cells.columns:
        contexts = list(cells.texts("context"))
    elif len(population.contexts) > 1:
        raise InvalidInputError(
            f"{cells.label}: the column 'context' is missing; {problem.name} has {', '.join(population.contexts)}"
        )
    places = []
    for line, context, action in zip(cells.lines, contexts, cells.texts("action"), strict=True):
        try:
            places.append((population.context_index(context), population.action_index(action)))
        except MfboError as error:
            raise InvalidInputError(f"{cells.label}, line {line}: {error}") from error
    return places


def _normalized(plan: FloatArray, label: str, column: str, problem: Problem) -> FloatArray:
    """Return the rows of a plan (C, A) scaled to sum to 1; shares must do so already, up to rounding."""
    with np.errstate(over="ignore"):  # an overflow is refused below
        sums = plan.sum(axis=1)
    for name, total in zip(problem.population.contexts, sums.tolist(), strict=True):
        where = f"{label}: the column {column!r}" + (f" of context {name!r}" if len(sums) > 1 else "")
        if total <= 0 or not np.isfinite(total):
            raise InvalidInputError(f"{where} sums to {total:g}; somebody must be somewhere")
        if column == "share" and abs(total - 1) > ROUNDED:
            raise InvalidInputError(f"{where} sums to {total:.6g}, not to 1; name the column agents if it holds counts")
    return np.asarray(plan / sums[:, None])
