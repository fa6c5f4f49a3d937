"""What is known of the days to come: a sheet with a row for each day and a column for each situation."""

from os import PathLike
from pathlib import Path
from typing import Any

from mfbo.csv_reader import Faults, Sheet, collected, plain_name, read_sheet
from mfbo.errors import MfboError
from mfbo.situations import Situations, SituationValue
from mfbo.written_situations import value_of_text


def read_coming_days(
    path: str | PathLike[str],
    situations: Situations,
    faults: Faults | None = None,
    *,
    new_categories: bool = False,
) -> list[dict[str, SituationValue]]:
    """Read the situations of days to come, in their order; an empty field is unknown.

    Columns are called by the situations' names, or `situation_rain` as in an export. faults: where to note what is
    wrong; without it, it is raised. new_categories: whether a category may be new. ``study.ask`` takes each of them.
    """
    with collected(faults) as found:
        sheet = read_sheet(Path(path), found)
        columns = _columns(sheet, situations)
        if found.lacks(sheet.label):
            return []
        if not sheet.rows:
            found.add(sheet.label, None, None, "holds no day")
        places = range(len(sheet.rows))
        return [_day(sheet, columns, situations, place, new_categories=new_categories) for place in places]


def _columns(sheet: Sheet, situations: Situations) -> dict[str, str]:
    """Return the situation that each column is about; a column that is about none is a fault, and so is a second."""
    listed = ", ".join(situations.by_name)
    by_column = {}
    for name in situations.by_name:
        column = sheet.find(f"situation_{name}", name)
        if column is not None:
            by_column[column] = name
    for column in sheet.columns:
        if column not in by_column and plain_name(column):
            sheet.faults.add(sheet.label, 1, column, f"is not a situation of this study; it knows {listed}")
    if not by_column:
        sheet.faults.lack(sheet.label, f"no column is called like a situation of this study: {listed}")
    return by_column


def _day(
    sheet: Sheet, columns: dict[str, str], situations: Situations, place: int, *, new_categories: bool
) -> dict[str, SituationValue]:
    """Return what a row says of its day; what cannot be read is noted."""
    day: dict[str, SituationValue] = {}
    for column, name in columns.items():
        text: Any = sheet.fields(column)[place]
        variable = situations.by_name[name]
        value = value_of_text(text, variable, decimal_commas=sheet.decimal_commas) if text else None
        try:
            day |= situations.values({name: value}, when="before", new_categories=new_categories)
        except MfboError as error:
            sheet.faults.add(sheet.label, sheet.lines[place], column, str(error))
    return day
