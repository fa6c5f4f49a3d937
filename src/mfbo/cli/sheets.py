"""CSV files as people have them; all their faults are found before any is reported.

Columns in any order, found by name; UTF-8 with or without BOM; commas, semicolons or tabs between cells; decimal
commas where they cannot be thousands.
"""

import csv
import difflib
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, nan
from pathlib import Path

from mfbo.errors import FaultyFileError

MOST_FAULTS = 40
MOST_BYTES = 200_000_000
DELIMITERS = (";", "\t", ",")
COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+")
PERHAPS_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")


@dataclass
class Faults:
    """What is wrong with some files, until somebody asks."""

    found: list[tuple[str, int, str]] = field(default_factory=list)

    def add(self, file: str, line: int, column: str | None, reason: str) -> None:
        """Note a fault; line 0 stands for the file as a whole."""
        place = f", line {line}" if line else ""
        place += f", column {column!r}" if column else ""
        self.found.append((file, line, f"{file}{place}: {reason}"))

    def report(self) -> None:
        """Raise one error with all faults, if there are any, in the order of the lines."""
        if not self.found:
            return
        lines = [text for _, _, text in sorted(self.found, key=lambda fault: (fault[0], fault[1] or 10**9))]
        more = [f"… and {len(lines) - MOST_FAULTS} more faults"] if len(lines) > MOST_FAULTS else []
        raise FaultyFileError((*lines[:MOST_FAULTS], *more))


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

    def need(self, *names: str) -> str | None:
        """Return the first of these columns that the file has, or note that it has none of them."""
        found = self.find(*names)
        if found is None and self.columns:
            has = ", ".join(self.columns)
            self.faults.add(self.label, 0, None, f"the column {names[0]!r} is missing; the file has {has}")
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
            reason = str(error) if "thousands" in str(error) else "is empty" if not cell else f"{cell!r} is no number"
        if not reason and not isfinite(value):
            reason = f"{cell!r} is not finite"
        elif not reason and least is not None and value < least:
            reason = f"{cell} is below {least:g}"
        elif not reason and whole and value != round(value):
            reason = f"{cell} is not a whole number"
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
            raise ValueError(f"{cell!r} may mean thousands or a decimal comma: write a point, or no separator")
        return cell.replace(",", ".")

    def places(self, column: str | None, names: Sequence[str], kind: str) -> list[int]:
        """Return the position of each cell among known names, −1 where it is unknown."""
        known = {name.strip(): position for position, name in enumerate(names)}
        folded = {name.casefold(): position for name, position in known.items()}
        found = []
        for line, cell in zip(self.lines, self.texts(column), strict=True):
            position = known.get(cell, folded.get(cell.casefold(), -1) if len(folded) == len(known) else -1)
            if position < 0 and cell:
                close = difflib.get_close_matches(cell, list(known), n=1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                self.faults.add(self.label, line, column, f"unknown {kind} {cell!r}{hint}")
            found.append(position)
        return found

    def once(self, keys: Sequence[object], column: str | None, said: Callable[[int], str]) -> None:
        """Note rows whose key stands on an earlier line; said: how to call the key of a row."""
        seen: dict[object, int] = {}
        for index, key in enumerate(keys):
            if key in seen:
                self.faults.add(
                    self.label, self.lines[index], column, f"{said(index)} is already on line {self.lines[seen[key]]}"
                )
            else:
                seen[key] = index


def read_sheet(path: Path, faults: Faults) -> Sheet:
    """Read a file; one that cannot be read at all is reported at once, with what was found in others."""
    label = str(path)
    text = _text(path, faults)
    header_line = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(DELIMITERS, key=lambda mark: (_outside_quotes(header_line).count(mark), -DELIMITERS.index(mark)))
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    numbered: list[tuple[int, tuple[str, ...]]] = []
    start = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                numbered.append((start, tuple(cell.strip() for cell in row)))
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
        COMMA_NUMBER.fullmatch(cell) and not PERHAPS_THOUSANDS.fullmatch(cell) for _, row in rows for cell in row
    )
    return Sheet(label, columns, tuple(row for _, row in rows), tuple(line for line, _ in rows), faults, decimal_commas)


def _outside_quotes(line: str) -> str:
    return re.sub(r'"[^"]*"', "", line)


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
    reason = ""
    try:
        if path.is_file() and path.stat().st_size > MOST_BYTES:
            reason = f"has more than {MOST_BYTES:,} bytes"
        else:
            return path.read_bytes().decode("utf-8-sig").replace("\0", "�")
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    except UnicodeDecodeError as error:
        reason = f"is not UTF-8 text (byte {error.start}); save it as CSV in UTF-8"
    faults.add(str(path), 0, None, reason)
    faults.report()
    raise AssertionError("report raises")
