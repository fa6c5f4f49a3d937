"""What the sheets of an operator say: stations, types of agents, placements, a day's payoffs, trips, past days."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.cli.sheets import Faults, Sheet, read_sheet
from mfbo.population import Population

STATION = ("station", "action", "name", "place")
CONTEXT = ("context", "type")
COUNT = ("agents", "count")
EXPORTED = ("round", "state", "told", "past_day", "payoff")  # columns of `mfbo study export`
COORDINATES = (("longitude", "lon", "lng", "long"), ("latitude", "lat"), ("x",), ("y",))
STANDARD = ("longitude", "latitude", "x", "y")


@dataclass(frozen=True, eq=False)
class Day:
    """A day that was played before: what was played, (C, A), and the population payoff."""

    label: str
    distribution: FloatArray
    payoff: float


def read_population(
    actions: Path,
    contexts: Path | None,
    size: int | None,
    *,
    features: str | None,
    capacity: str | None,
    move_budget: int | None,
    name_column: str | None = None,
) -> Population:
    """Read stations, and types of agents; refuse with all faults of both files at once.

    name_column: where the stations' names stand, and those of the types if their file has that column too.
    """
    faults = Faults()
    sheet = read_sheet(actions, faults)
    names = _names(sheet, ("name", *STATION) if name_column is None else (name_column.casefold(),))
    columns: dict[str, Any] = {"name": names}
    for label, column in _feature_columns(sheet, features):
        columns[label] = sheet.numbers(column)
    limits: dict[str, Any] = {}
    if capacity is not None:
        limits["capacity"] = sheet.numbers(sheet.need(capacity.casefold()), least=0.0, whole=True, gaps=True)
    weights = None if contexts is None else _read_contexts(read_sheet(contexts, faults), name_column)
    faults.report()
    if move_budget is not None:
        limits["move_budget"] = move_budget
    return Population(columns if len(columns) > 1 else names, weights, size, **limits)


def _feature_columns(sheet: Sheet, features: str | None) -> list[tuple[str, str]]:
    """Return (name, column) of the features: those asked for, or coordinates if the file has them."""
    if features is not None:
        wanted = [each.strip().casefold() for each in features.split(",") if each.strip()]
        return [(each, each) for each in wanted if sheet.need(each) is not None]
    found = [(label, sheet.find(*names)) for label, names in zip(STANDARD, COORDINATES, strict=True)]
    return [(label, column) for label, column in found if column is not None]


def _names(sheet: Sheet, columns: Sequence[str]) -> list[str]:
    """Return the names in the first of these columns, each once."""
    column = sheet.need(*columns, way_out="; --name-column COLUMN says which holds the names")
    names = sheet.texts(column)
    sheet.once(names, column, lambda index: repr(names[index]))
    return names


def _read_contexts(sheet: Sheet, name_column: str | None) -> dict[str, float]:
    names = _names(sheet, (*(() if name_column is None else (name_column.casefold(),)), "name", *CONTEXT))
    weights = sheet.numbers(sheet.need("weight", "share", *COUNT), least=0.0)
    total = sum(weight for weight in weights if not isnan(weight))
    for line, weight in zip(sheet.lines, weights, strict=True):
        if weight == 0:
            sheet.faults.add(sheet.label, line, "weight", "is 0: leave out a type that nobody has")
    return dict(zip(names, [weight / total if total else weight for weight in weights], strict=True))


def read_placement(path: Path, population: Population, faults: Faults) -> FloatArray:
    """Read whole agents (C, A); every station must have its row, with 0 where nobody is."""
    sheet = read_sheet(path, faults)
    cells = _cells(sheet, population)
    counts = sheet.numbers(sheet.need(*COUNT), least=0.0, whole=True)
    table = _table(sheet, cells, counts, population)
    _need_all(sheet, table, population)
    _need_agents(sheet, table, population)
    return table


def read_day(path: Path, population: Population, planned: Any, faults: Faults) -> tuple[FloatArray, FloatArray | None]:
    """Read mean payoffs per cell (C, A), NaN where nobody was seen, and how many agents are behind each, or None.

    planned: the plan's agents (C, A): where it has some, a row must be there, if only with an empty payoff.
    """
    sheet = read_sheet(path, faults)
    cells = _cells(sheet, population)
    payoffs = _table(sheet, cells, sheet.numbers(sheet.need("payoff", "value"), gaps=True), population, listed=True)
    count_column = sheet.find(*COUNT)
    counts = None
    if count_column is not None:
        counts = _table(sheet, cells, sheet.numbers(count_column, least=0.0, gaps=True), population, listed=True)
        counts = np.where(np.isnan(counts) | np.isinf(counts), 0.0, counts)
        for (context, action), line in zip(cells, sheet.lines, strict=True):
            if min(context, action) >= 0 and counts[context, action] <= 0 and np.isfinite(payoffs[context, action]):
                sheet.faults.add(sheet.label, line, count_column, "is 0, though a payoff was seen")
    if planned is not None and sheet.rows:
        _need_all(sheet, np.where(planned > 0, payoffs, 0.0), population, "where the plan has agents")
    payoffs = np.where(np.isinf(payoffs), np.nan, payoffs)
    if sheet.rows and not np.isfinite(payoffs).any() and not faults.found:
        faults.add(sheet.label, 0, "payoff", "no payoff at all")
    return payoffs, counts


def read_trips(path: Path, population: Population, faults: Faults) -> list[tuple[int, int, float]]:
    """Read (context, action, payoff) of single agents, one a row."""
    sheet = read_sheet(path, faults)
    cells = _cells(sheet, population, unique=False)
    payoffs = sheet.numbers(sheet.need("payoff", "value"))
    return [(context, action, payoff) for (context, action), payoff in zip(cells, payoffs, strict=True)]


def read_past_days(path: Path, population: Population, faults: Faults) -> list[Day]:
    """Read past days: a row for each day and station with agents (or share), the day's payoff in at least one row."""
    sheet = _without_untold(read_sheet(path, faults))
    labels = sheet.texts(sheet.need("day", "date", "round"))
    column = sheet.find("share") or sheet.need(*COUNT, "share")
    amounts = sheet.numbers(column, least=0.0)
    payoffs = sheet.numbers(sheet.need("payoff", "value"), gaps=True)
    cells = _cells(sheet, population, unique=False)
    sheet.once(
        [(label, *cell) if min(cell) >= 0 else object() for label, cell in zip(labels, cells, strict=True)],
        None,
        lambda index: f"this station of day {labels[index]!r}",
    )
    if faults.lacks(sheet.label):
        return []
    by_day: dict[str, list[int]] = {}
    for index, label in enumerate(labels):
        by_day.setdefault(label, []).append(index)
    days: list[Day] = []
    for label, rows in by_day.items():
        table = np.full(population.shape, np.nan)
        for index in rows:
            if min(cells[index]) >= 0 and not isnan(amounts[index]):
                table[cells[index]] = amounts[index]
        complete = all(min(cells[index]) >= 0 and not isnan(amounts[index]) for index in rows)
        if complete:
            _need_all(sheet, table, population, f"on day {label!r}")
        told = {payoffs[index] for index in rows if not isnan(payoffs[index])}
        first = sheet.lines[rows[0]]
        if len(told) != 1:
            wrong = "has no payoff" if not told else f"has {len(told)} different payoffs"
            faults.add(sheet.label, first, "payoff", f"day {label!r} {wrong}")
        elif complete and not np.isnan(table).any():
            _add_day(days, Day(label, table, told.pop()), sheet, first, column)
    return days


def _without_untold(sheet: Sheet) -> Sheet:
    """Return of an export what was played and told as one payoff; any other sheet as it is."""
    if not set(EXPORTED) <= set(sheet.columns):
        return sheet
    rows = zip(sheet.cells("state"), sheet.cells("payoff"), strict=True)
    kept = sheet.only([state == "done" and payoff != "" for state, payoff in rows])
    if not kept.rows:
        sheet.faults.add(sheet.label, 0, None, "holds no round that was told as one payoff")
    return kept


def _add_day(days: list[Day], counted: Day, sheet: Sheet, line: int, column: str | None) -> None:
    """Add a day whose agents are counted, as shares; note one on which they have none or too many to add up."""
    with np.errstate(over="ignore"):
        totals = counted.distribution.sum(axis=1, keepdims=True)
    if (totals > 0).all() and np.isfinite(totals).all():
        days.append(replace(counted, distribution=counted.distribution / totals))
    else:
        wrong = "has nobody placed" if np.isfinite(totals).all() else "has more agents than can be added up"
        sheet.faults.add(sheet.label, line, column, f"day {counted.label!r} {wrong}")


def _cells(sheet: Sheet, population: Population, *, unique: bool = True) -> list[tuple[int, int]]:
    """Return (context, action) of every row, −1 where unknown; unique: whether a cell may have one row only."""
    actions = sheet.places(sheet.need(*STATION), population.actions, "station")
    contexts = [0] * len(actions)
    column = sheet.find(*CONTEXT)
    if column is not None:
        contexts = sheet.places(column, population.contexts, "context")
    elif len(population.contexts) > 1:
        sheet.need(*CONTEXT)
    cells = list(zip(contexts, actions, strict=True))
    if unique:
        keys = [cell if min(cell) >= 0 else object() for cell in cells]
        sheet.once(keys, None, lambda index: _called(population, cells[index]))
    return cells


def _table(
    sheet: Sheet, cells: list[tuple[int, int]], values: list[float], population: Population, *, listed: bool = False
) -> FloatArray:
    """Return values by cell (C, A), NaN where there is no row; listed: ∞ where the row has no value."""
    table = np.full(population.shape, np.nan)
    for cell, value in zip(cells, values, strict=True):
        if min(cell) >= 0:
            table[cell] = np.inf if isnan(value) else value
    return table if listed else np.where(np.isinf(table), 0.0, table)


def _need_all(sheet: Sheet, table: FloatArray, population: Population, where: str = "") -> None:
    if not sheet.rows or sheet.faults.lacks(sheet.label):
        return
    for context, action in np.argwhere(np.isnan(table)).tolist():
        called = _called(population, (context, action))
        sheet.faults.add(sheet.label, 0, None, f"no row for {called}{' ' * bool(where)}{where}")


def _need_agents(sheet: Sheet, table: FloatArray, population: Population) -> None:
    for context, total in enumerate(np.nansum(table, axis=1)):
        if sheet.rows and total <= 0 and not sheet.faults.found:
            sheet.faults.add(sheet.label, 0, None, f"nobody is placed in context {population.contexts[context]!r}")


def _called(population: Population, cell: tuple[int, int]) -> str:
    station = f"station {population.actions[cell[1]]!r}"
    return station if len(population.contexts) == 1 else f"{station} in context {population.contexts[cell[0]]!r}"
