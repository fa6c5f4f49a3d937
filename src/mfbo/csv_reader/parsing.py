"""From the text of a CSV file to a sheet: fields split, lines numbered, columns named, decimal commas recognized."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from pathlib import Path

from mfbo.csv_reader.faults import Faults
from mfbo.csv_reader.numbers import COMMA_NUMBER, has_decimal_comma
from mfbo.csv_reader.sheet import ANGLES, Row, Sheet, misfit, plain_name
from mfbo.errors import UnreadableFileError
from mfbo.given_files import delimiter_of, given_text
from mfbo.shown_text import as_written

Line = tuple[int, tuple[str, ...]]


@dataclass(frozen=True)
class SheetText:
    """The text of a CSV file that was handed over as it is; label: what faults call it."""

    label: str
    text: str


SheetSource = str | PathLike[str] | SheetText
"""A file by its name, or its text."""


def read_sheet(source: SheetSource, faults: Faults) -> Sheet:
    """Read a file; one that cannot be read at all is reported at once, with what was found in others."""
    if isinstance(source, SheetText):
        return parse_sheet(source.text.removeprefix("\ufeff"), source.label, faults)
    path = Path(source)
    try:
        text = given_text(path)
    except UnreadableFileError as error:
        faults.add(str(path), None, None, error.reason)
        raise faults.error() from error
    return parse_sheet(text, str(path), faults)


def parse_sheet(text: str, label: str, faults: Faults) -> Sheet:
    """Make a sheet of the text of a file; label: what faults call it."""
    lines = _lines(text.replace("\0", "�"), label, faults)
    if not lines:
        faults.add(label, None, None, "is empty; its first line must name the columns")
        return Sheet(label, (), (), faults, decimal_commas=False)
    columns = _columns(label, _header(lines), faults)
    rows = tuple(_row(label, line, texts, len(columns), faults) for line, texts in lines[1:])
    if not rows:
        faults.add(label, None, None, "has a header but no rows")
    return Sheet(label, columns, rows, faults, _has_decimal_commas(columns, rows))


def _lines(text: str, label: str, faults: Faults) -> list[Line]:
    """Return the lines with anything in them, split into fields, by the number of the line that each begins on."""
    after_the_end = [""]  # a line of its own, unless a quote is still open
    reader = csv.reader(chain(io.StringIO(text), after_the_end), delimiter=delimiter_of(text), skipinitialspace=True)
    lines: list[Line] = []
    shared: dict[str, str] = {}  # a station's name stands there for every day: stored once
    last, start, fields = 1, 1, [""]
    try:
        for fields in reader:
            texts = [as_written(field.strip()).strip() for field in fields]
            if any(texts):
                lines.append((start, tuple([shared.setdefault(text, text) for text in texts])))
            last, start = start, reader.line_num + 1
    except csv.Error as error:
        faults.add(label, reader.line_num, None, f"not readable as CSV ({error})")
    else:
        if fields:
            faults.add(label, last, None, "not readable as CSV (a quote is never closed)")
    return lines


def _header(lines: Sequence[Line]) -> tuple[str, ...]:
    """Return the names of the columns; those at the end without name and fields, as spreadsheets save, are none."""
    header = lines[0][1]
    if header[-1]:
        return header
    return header[: max(position for _, texts in lines for position, text in enumerate(texts, 1) if text)]


def _columns(label: str, header: Sequence[str], faults: Faults) -> tuple[str, ...]:
    columns: list[str] = []
    for position, name in enumerate(header):
        folded = name.casefold()
        if not folded or folded in columns:
            wrong = f"the column {folded!r} (number {position + 1}) is there twice"
            faults.add(label, 1, None, wrong if folded else f"the column number {position + 1} has no name")
            folded = f"column {position + 1}"
        columns.append(folded)
    return tuple(columns)


def _row(label: str, line: int, texts: tuple[str, ...], columns: int, faults: Faults) -> Row:
    """Return a line as a row: empty fields beyond the last column are nothing, others are a fault."""
    if any(texts[columns:]):
        faults.add_once(label, line, misfit(len(texts), columns))
    missing = [""] * (columns - len(texts))
    return Row(line, (*texts[:columns], *missing), min(len(texts), columns))


def _has_decimal_commas(columns: Sequence[str], rows: Sequence[Row]) -> bool:
    """Say whether a number shows that commas are decimal ones: "2,5" does; "1,250" does only if it is in degrees."""
    in_degrees = [plain_name(column) in ANGLES for column in columns]
    return any(
        "," in text and (has_decimal_comma(text) or (is_angle and COMMA_NUMBER.fullmatch(text)))
        for row in rows
        for text, is_angle in zip(row.texts, in_degrees, strict=True)
    )
