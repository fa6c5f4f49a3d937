"""A CSV file as columns of texts, numbers and names; what is wrong with them is noted, not raised."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from mfbo.csv_reader.faults import Faults
from mfbo.csv_reader.matching import NamedPositions
from mfbo.csv_reader.numbers import parsed_number
from mfbo.shown_text import shortened

Check = Callable[[float, str], str | None]
ANGLES = ("latitude", "lat", "longitude", "lon", "lng", "long")  # in degrees, which are never thousands


def at_least(bound: float) -> Check:
    """Return the check that a number is not below a bound."""
    return lambda value, text: f"{text} is below {bound:g}" if value < bound else None


def above(bound: float) -> Check:
    """Return the check that a number is above a bound."""
    return lambda value, text: None if value > bound else f"{text} is not above {bound:g}"


def within_degrees(most: float) -> Check:
    """Return the check that a number of degrees is on the map."""
    return lambda value, text: f"{text} is not between -{most:g} and {most:g} degrees" if abs(value) > most else None


def whole(value: float, text: str) -> str | None:
    """Check that a number is a whole one."""
    return None if value == round(value) else f"{text} is not a whole number"


def misfit(width: int, columns: int) -> str:
    """Say that a row does not fit its header."""
    return f"{width} field{'s' * (width != 1)}, but the header has {columns}"


def plain_name(column: str) -> str:
    """Return the name of a column as it is compared: lower case, no blanks around, '_' for a blank inside."""
    return column.strip().casefold().replace(" ", "_")


@dataclass(frozen=True, slots=True)
class Row:
    """The texts of a line, as many as there are columns, and how many of them the line has."""

    line: int
    texts: tuple[str, ...]
    width: int


@dataclass(frozen=True)
class Sheet:
    """A file as columns of text; what is not as it must be is noted in ``faults``, and None stands for it."""

    label: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    faults: Faults
    decimal_commas: bool

    @property
    def lines(self) -> list[int]:
        """The line on which each row begins."""
        return [row.line for row in self.rows]

    def find(self, *names: str) -> str | None:
        """Return the first of these columns that the file has; blanks inside may be written '_'."""
        alike = {plain_name(column): column for column in reversed(self.columns)}
        for name in names:
            if name in self.columns:
                return name
            if plain_name(name) in alike:
                return alike[plain_name(name)]
        return None

    def need(self, *names: str, called: str = "", way_out: str = "") -> str | None:
        """Return the first of these columns that the file has, or note that it has none of them, and the way out.

        called: how the columns are named together; the first of them if nothing is said.
        """
        found = self.find(*names)
        if found is None and self.columns:
            has = ", ".join(self.columns)
            self.faults.lack(
                self.label, f"the column {called or repr(names[0])} is missing; the file has {has}{way_out}"
            )
        return found

    def only(self, wanted: Iterable[bool]) -> "Sheet":
        """Return the sheet with these rows alone."""
        return replace(self, rows=tuple(row for row, is_wanted in zip(self.rows, wanted, strict=True) if is_wanted))

    def fields(self, column: str) -> list[str]:
        """Return the texts of a column; an empty field is an empty text."""
        position = self.columns.index(column)
        return [row.texts[position] for row in self.rows]

    def texts(self, column: str | None) -> list[str | None]:
        """Return the texts of a column; empty fields are faults."""
        if column is None:
            return [None] * len(self.rows)
        fields = self.fields(column)
        for row, text in zip(self.rows, fields, strict=True):
            if not text:
                self._note_empty(row, column)
        return [text or None for text in fields]

    def numbers(self, column: str | None, *checks: Check, gaps: bool = False) -> list[float | None]:
        """Return the numbers of a column; gaps: whether empty fields are fine."""
        if column is None:
            return [None] * len(self.rows)
        values: list[float | None] = []
        in_degrees = plain_name(column) in ANGLES
        for row, text in zip(self.rows, self.fields(column), strict=True):
            commas = self.decimal_commas and not (in_degrees and "." in text)
            value, reason = parsed_number(text, decimal_commas=commas) if text else (None, None)
            if value is not None:
                reason = next((said for check in checks if (said := check(value, shortened(text)))), None)
            if reason is not None:
                self.faults.add(self.label, row.line, column, reason)
            elif not text and not gaps:
                self._note_empty(row, column)
            values.append(value if reason is None else None)
        return values

    def holds_numbers(self, column: str) -> bool:
        """Say whether any field of a column is a number; if none is, it holds remarks."""
        parsed = (parsed_number(text, decimal_commas=self.decimal_commas) for text in self.fields(column))
        return any(value is not None for value, _ in parsed)

    def _note_empty(self, row: Row, column: str) -> None:
        """Note a field that is empty, or a line that ends before it, once."""
        if self.columns.index(column) < row.width:
            self.faults.add(self.label, row.line, column, "is empty")
        else:
            self.faults.add_once(self.label, row.line, misfit(row.width, len(self.columns)))

    def positions(self, column: str | None, names: Sequence[str], kind: str) -> list[int | None]:
        """Return the position of each text among names, None where it is unknown or may mean several."""
        among = NamedPositions(names, kind)
        found: list[int | None] = []
        for row, text in zip(self.rows, self.texts(column), strict=True):
            meant = () if text is None else among.meant(text)
            if text is not None and len(meant) != 1:
                self.faults.add(self.label, row.line, column, among.unclear(text))
            found.append(meant[0] if len(meant) == 1 else None)
        return found

    def once(self, keys: Sequence[object | None], column: str | None, said: Callable[[int], str]) -> None:
        """Note rows whose key stands on an earlier line; None is not a key; said: how to call the key of a row."""
        if self.faults.lacks(self.label):
            return
        seen: dict[object, int] = {}
        for index, key in enumerate(keys):
            if key is None:
                continue
            first = seen.setdefault(key, index)
            if first != index:
                reason = f"{said(index)} is already on line {self.rows[first].line}"
                self.faults.add(self.label, self.rows[index].line, column, reason)
