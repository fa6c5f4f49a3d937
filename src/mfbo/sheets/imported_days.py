"""Days that were played before a study, from a sheet of an operator's own or from an export."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.csv_reader import Faults, Sheet, SheetSource, at_least, collected, read_sheet, whole
from mfbo.population import Population
from mfbo.sheets.cells_of_rows import COUNT, PAYOFF, Cell, cells_of_rows, every_cell, need_rows, table_of
from mfbo.situations import Situations
from mfbo.written_situations import value_of_text

EXPORTED = ("round", "state", "told", "past_day", "payoff")  # columns of `mfbo study export`


@dataclass(frozen=True, eq=False)
class PastDay:
    """A day that was played before: what was played, (C, A), the population payoff, and what is known of the day.

    size: how many agents there were; None if the sheet has shares alone.
    """

    label: str
    distribution: FloatArray
    payoff: float
    situation: dict[str, str | float] = field(default_factory=dict)
    size: int | None = None


@dataclass(frozen=True)
class _DayRow:
    """A row of a day; None where it says nothing that can be read."""

    line: int
    cell: Cell | None
    amount: float | None
    payoff: float | None
    fleet: float | None


def read_past_days(
    path: SheetSource,
    population: Population,
    faults: Faults | None = None,
    *,
    situations: Situations | None = None,
) -> list[PastDay]:
    """Read past days: a row for each day and station with agents (or share), the day's payoff in at least one row.

    Of an export, the column `fleet` says how many agents there were.

    faults: where to note what is wrong; without it, it is raised. situations: read from columns `situation_rain`, or
    `rain`. A column that days are called by says a situation of that name only if it is a time, such as `date`.
    ``study.add_missing`` takes the days.
    """
    with collected(faults) as found:
        sheet = _without_untold(read_sheet(path, found))
        label_column = sheet.need(*_called(situations))
        labels = sheet.texts(label_column)
        column = sheet.find("share") or sheet.need(*COUNT, "share")
        amounts = sheet.numbers(column, at_least(0.0))
        fleets = sheet.numbers("fleet" if _has_fleets(sheet) else None, at_least(1.0), whole, gaps=True)
        payoffs = sheet.numbers(sheet.need(*PAYOFF), gaps=True)
        cells = cells_of_rows(sheet, population, unique=False)
        keys = [None if cell is None else (label, *cell) for label, cell in zip(labels, cells, strict=True)]
        sheet.once(keys, None, lambda index: f"this station of day {labels[index]!r}")
        rows = map(_DayRow, sheet.lines, cells, amounts, payoffs, fleets)
        if found.lacks(sheet.label):
            return []
        days = _days(sheet, population, labels, list(rows), column)
        return days if situations is None else _in_situations(sheet, days, labels, label_column, situations)


def _called(situations: Situations | None) -> tuple[str, ...]:
    """Return the columns by which days may be called, the likeliest first: `day` last if it is a situation."""
    is_kind_of_day = situations is not None and "day" in situations.by_name
    return ("date", "round", "day") if is_kind_of_day else ("day", "date", "round")


def _days(
    sheet: Sheet, population: Population, labels: Sequence[str | None], rows: Sequence[_DayRow], column: str | None
) -> list[PastDay]:
    """Return the days that are whole, and note what the others lack."""
    by_day: dict[str, list[_DayRow]] = {}
    for label, row in zip(labels, rows, strict=True):
        by_day.setdefault(label or "", []).append(row)
    days = []
    for label, of_day in by_day.items():
        played = _played(sheet, population, label, of_day, column)
        payoff = _payoff(sheet, label, of_day)
        if played is not None and payoff is not None:
            days.append(PastDay(label, played, payoff, size=_size(sheet, label, of_day, column)))
    return days


def _played(
    sheet: Sheet, population: Population, label: str, rows: Sequence[_DayRow], column: str | None
) -> FloatArray | None:
    """Return the shares (C, A) of a day whose rows are all readable and there; note what is wrong with others."""
    amounts = {row.cell: row.amount for row in rows if row.cell is not None and row.amount is not None}
    if any(row.cell is None or row.amount is None for row in rows):
        return None
    cells = every_cell(population)
    need_rows(sheet, population, cells, amounts, f"on day {label!r}")
    if len(amounts) < len(cells):
        return None
    with np.errstate(over="ignore"):
        totals = (table := table_of(amounts, population)).sum(axis=1, keepdims=True)
    if (totals > 0).all() and np.isfinite(totals).all():
        return np.asarray(table / totals)
    wrong = "has nobody placed" if np.isfinite(totals).all() else "has more agents than can be added up"
    sheet.faults.add(sheet.label, rows[0].line, column, f"day {label!r} {wrong}")
    return None


def _payoff(sheet: Sheet, label: str, rows: Sequence[_DayRow]) -> float | None:
    """Return the one payoff of a day, or note that it has none or several."""
    told = {row.payoff for row in rows if row.payoff is not None}
    if len(told) == 1:
        return told.pop()
    wrong = "has no payoff" if not told else f"has {len(told)} different payoffs"
    sheet.faults.add(sheet.label, rows[0].line, "payoff", f"day {label!r} {wrong}")
    return None


def _size(sheet: Sheet, label: str, rows: Sequence[_DayRow], column: str | None) -> int | None:
    """Return how many agents there were on a day: all that were placed, or as an export says beside shares."""
    if column != "share":
        return max(round(sum(row.amount or 0.0 for row in rows)), 1)
    told = {row.fleet for row in rows if row.fleet is not None}
    if len(told) > 1:
        sheet.faults.add(sheet.label, rows[0].line, "fleet", f"day {label!r} has {len(told)} different fleets")
    return int(told.pop()) if told else None


def _in_situations(
    sheet: Sheet, days: list[PastDay], labels: Sequence[str | None], label_column: str | None, situations: Situations
) -> list[PastDay]:
    """Return the days with what their rows say of them; rows of a day that contradict one another are noted."""
    found: dict[str, dict[str, str | float]] = {day.label: {} for day in days}
    for variable in situations.variables:
        column = sheet.find(f"situation_{variable.name}") or sheet.find(variable.name)
        if column is None or (column == label_column and variable.kind != "time"):
            continue
        for label, text, line in zip(labels, sheet.fields(column), sheet.lines, strict=True):
            situation = found.get(label or "")
            if not text or situation is None:
                continue
            value = value_of_text(text, variable, decimal_commas=sheet.decimal_commas)
            if situation.setdefault(variable.name, value) != value:
                sheet.faults.add(sheet.label, line, column, f"day {label!r} has another {variable.name} before")
    return [replace(day, situation=found[day.label]) for day in days]


def _has_fleets(sheet: Sheet) -> bool:
    """Say whether a sheet is an export that says how many agents there were; those of earlier versions do not."""
    return {*EXPORTED, "fleet"} <= set(sheet.columns)


def _without_untold(sheet: Sheet) -> Sheet:
    """Return of an export what was played and told as one payoff; any other sheet as it is."""
    if not set(EXPORTED) <= set(sheet.columns):
        return sheet
    rows = zip(sheet.fields("state"), sheet.fields("payoff"), strict=True)
    told = sheet.only([state == "done" and payoff != "" for state, payoff in rows])
    if not told.rows:
        sheet.faults.add(sheet.label, None, None, "holds no round that was told as one payoff")
    return told
