"""CSV files as people have them; all their faults are found before any is reported.

Columns in any order, found by name; in UTF-8, UTF-16 or a Windows code page; commas, semicolons or tabs between cells;
decimal commas where they cannot be thousands.
"""

import csv
import difflib
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite, nan
from pathlib import Path

from mfbo.errors import FaultyFileError, InvalidInputError
from mfbo.given_files import delimiter_of, given_text
from mfbo.shown_text import as_written

MOST_FAULTS = 40
LONGEST_SHOWN = 80  # letters of a cell in an error
COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+")
PERHAPS_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
HEADER = -1  # the line of faults that stand before all others

Reason = str | Callable[[], str]


@dataclass
class Faults:
    """What is wrong with some files, until somebody asks."""

    found: list[tuple[str, int, str | None, Reason]] = field(default_factory=list)
    _without_column: set[str] = field(default_factory=set)

    def add(self, file: str, line: int, column: str | None, reason: Reason) -> None:
        """Note a fault; line 0 stands for the file as a whole. A reason that takes time is found when it is shown."""
        self.found.append((file, line, column, reason))

    def lack(self, file: str, reason: str) -> None:
        """Note that a file lacks a column it needs: the cause, said first, of much that could be said of its rows."""
        self._without_column.add(file)
        self.found.append((file, HEADER, None, reason))

    def lacks(self, file: str) -> bool:
        """Say whether a column is missing, so that what the rows lack is no fault of its own."""
        return file in self._without_column

    def report(self) -> None:
        """Raise one error with all faults, if there are any, in the order of the lines."""
        if not self.found:
            return
        ordered = sorted(self.found, key=lambda fault: (fault[0], fault[1] or 10**9))
        lines = [_said(*fault) for fault in ordered[:MOST_FAULTS]]
        more = [f"… and {len(ordered) - MOST_FAULTS} more faults"] if len(ordered) > MOST_FAULTS else []
        raise FaultyFileError((*lines, *more))


def _said(file: str, line: int, column: str | None, reason: Reason) -> str:
    place = f", line {line}" if line > 0 else ""
    place += f", column {column!r}" if column else ""
    return f"{file}{place}: {reason if isinstance(reason, str) else reason()}"


@dataclass(frozen=True)
class Sheet:
    """The cells of a file as text, with the line each row stands on. Faults are noted, not raised."""

    label: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    faults: Faults
    decimal_commas: bool

    def find(self, *names: str) -> str | None:
        """Return the first of these columns that the file has."""
        return next((name for name in names if name in self.columns), None)

    def need(self, *names: str, way_out: str = "") -> str | None:
        """Return the first of these columns that the file has, or note that it has none of them, and the way out."""
        found = self.find(*names)
        if found is None and self.columns:
            has = ", ".join(self.columns)
            self.faults.lack(self.label, f"the column {names[0]!r} is missing; the file has {has}{way_out}")
        return found

    def only(self, kept: list[bool]) -> "Sheet":
        """Return the sheet with these rows alone."""
        rows = tuple(row for row, keep in zip(self.rows, kept, strict=True) if keep)
        lines = tuple(line for line, keep in zip(self.lines, kept, strict=True) if keep)
        return replace(self, rows=rows, lines=lines)

    def texts(self, column: str | None) -> list[str]:
        """Return the cells of a column; empty ones are faults."""
        cells = self.cells(column)
        for line, cell in zip(self.lines, cells, strict=True):
            if not cell and column is not None:
                self.faults.add(self.label, line, column, "is empty")
        return cells

    def cells(self, column: str | None) -> list[str]:
        """Return the cells of a column; "" everywhere for a column that is missing."""
        if column is None:
            return [""] * len(self.rows)
        position = self.columns.index(column)
        return [row[position] for row in self.rows]

    def numbers(
        self, column: str | None, *, least: float | None = None, whole: bool = False, gaps: bool = False
    ) -> list[float]:
        """Return the numbers of a column, NaN where there is none; gaps: whether empty cells are fine."""
        return [
            self._number(line, column, cell, least, whole, gaps)
            for line, cell in zip(self.lines, self.cells(column), strict=True)
        ]

    def _number(self, line: int, column: str | None, cell: str, least: float | None, whole: bool, gaps: bool) -> float:
        if column is None or (gaps and not cell):
            return nan
        reason = ""
        value = nan
        try:
            value = float(self._plain(cell))
        except ValueError as error:
            said = str(error) if "thousands" in str(error) else f"{_short(cell)!r} is no number"
            reason = said if cell else "is empty"
        if not reason and not isfinite(value):
            reason = f"{_short(cell)!r} is not finite"
        elif not reason and least is not None and value < least:
            reason = f"{_short(cell)} is below {least:g}"
        elif not reason and whole and value != round(value):
            reason = f"{_short(cell)} is not a whole number"
        if reason:
            self.faults.add(self.label, line, column, reason)
            return nan
        return value

    def _plain(self, cell: str) -> str:
        if "_" in cell:
            raise ValueError("no number")  # Python would read 1_000
        if COMMA_NUMBER.fullmatch(cell) is None:
            return cell
        if not self.decimal_commas:
            raise ValueError(f"{_short(cell)!r} may mean thousands or a decimal comma: write a point, or no separator")
        return cell.replace(",", ".")

    def places(self, column: str | None, names: Sequence[str], kind: str) -> list[int]:
        """Return the position of each cell among known names, −1 where it is unknown or may mean several.

        A cell is the name that is written exactly so; if there is none, the only one that differs by case or blanks.
        """
        exact = {name: position for position, name in enumerate(names)}
        alike = [_alike(names, str.strip), _alike(names, lambda name: name.strip().casefold())]
        found = []
        unclear: dict[str, Reason] = {}
        for line, cell in zip(self.lines, self.texts(column), strict=True):
            meant = _meant(cell, exact, alike)
            if len(meant) != 1 and cell:
                if cell not in unclear:
                    unclear[cell] = partial(_unclear, cell, meant, names, kind)
                self.faults.add(self.label, line, column, unclear[cell])
            found.append(meant[0] if len(meant) == 1 else -1)
        return found

    def once(self, keys: Sequence[object], column: str | None, said: Callable[[int], str]) -> None:
        """Note rows whose key stands on an earlier line; said: how to call the key of a row."""
        if self.faults.lacks(self.label):
            return
        seen: dict[object, int] = {}
        for index, key in enumerate(keys):
            if key in seen:
                self.faults.add(
                    self.label, self.lines[index], column, f"{said(index)} is already on line {self.lines[seen[key]]}"
                )
            else:
                seen[key] = index


def _alike(names: Sequence[str], folded: Callable[[str], str]) -> dict[str, list[int]]:
    """Return the positions of the names that look the same once folded."""
    positions: dict[str, list[int]] = {}
    for position, name in enumerate(names):
        positions.setdefault(folded(name), []).append(position)
    return positions


def _meant(cell: str, exact: dict[str, int], alike: list[dict[str, list[int]]]) -> list[int]:
    """Return the positions that a cell may mean.

    Cells come without blanks around them: names that differ by those alone cannot be told apart.
    """
    by_blanks, by_case = alike
    if len(by_blanks.get(cell, [])) > 1:
        return by_blanks[cell]
    if cell in exact:
        return [exact[cell]]
    return by_blanks.get(cell) or by_case.get(cell.casefold(), [])


def _unclear(cell: str, meant: list[int], names: Sequence[str], kind: str) -> str:
    if meant:
        return f"{kind} {_short(cell)!r} may be " + " or ".join(repr(names[position]) for position in meant)
    close = difflib.get_close_matches(cell[:LONGEST_SHOWN], names, n=1)
    return f"unknown {kind} {_short(cell)!r}" + (f"; did you mean {close[0].strip()!r}?" if close else "")


def read_sheet(path: Path, faults: Faults) -> Sheet:
    """Read a file; one that cannot be read at all is reported at once, with what was found in others."""
    label = str(path)
    text = _text(path, faults)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter_of(text), skipinitialspace=True)
    numbered: list[tuple[int, tuple[str, ...]]] = []
    shared: dict[str, str] = {}  # a station's name stands there for every day: kept once
    start = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                cells = (as_written(cell.strip()).strip() for cell in row)
                numbered.append((start, tuple(shared.setdefault(cell, cell) for cell in cells)))
            start = reader.line_num + 1
    except csv.Error as error:
        faults.add(label, reader.line_num, None, f"not readable as CSV ({error})")
    if not numbered:
        faults.add(label, 0, None, "is empty; its first line must name the columns")
        return Sheet(label, (), (), (), faults, decimal_commas=False)
    columns = _columns(label, numbered[0][1], faults)
    rows: list[tuple[int, tuple[str, ...]]] = []
    for line, given in numbered[1:]:
        used = given[: len(columns)] if not any(given[len(columns) :]) else given
        filled: tuple[str, ...] = (*used, *[""] * (len(columns) - len(used)))
        if len(filled) != len(columns):
            faults.add(label, line, None, f"{len(given)} cells, but the header has {len(columns)}")
        rows.append((line, filled[: len(columns)]))
    if not rows:
        faults.add(label, 0, None, "has a header but no rows")
    decimal_commas = any(
        "," in cell and COMMA_NUMBER.fullmatch(cell) and not PERHAPS_THOUSANDS.fullmatch(cell)
        for _, row in rows
        for cell in row
    )
    return Sheet(label, columns, tuple(row for _, row in rows), tuple(line for line, _ in rows), faults, decimal_commas)


def _short(cell: str) -> str:
    return cell if len(cell) <= LONGEST_SHOWN else f"{cell[:LONGEST_SHOWN]}…"


def _columns(label: str, header: Sequence[str], faults: Faults) -> tuple[str, ...]:
    columns: list[str] = []
    for position, name in enumerate(header):
        folded = name.casefold()
        if not folded or folded in columns:
            problem = f"is there twice: {folded!r}" if folded else "has no name"
            faults.add(label, 1, None, f"column number {position + 1} {problem}")
            folded = f"column {position + 1}"
        columns.append(folded)
    return tuple(columns)


def _text(path: Path, faults: Faults) -> str:
    try:
        return given_text(path).replace("\0", "�")
    except InvalidInputError as error:
        reason = str(error).removeprefix(f"{path} ")
    faults.add(str(path), 0, None, reason)
    faults.report()
    raise AssertionError("report raises")
