"""A card: what is said of an object, and the two ways of saying it. Names of others are harmless in both."""

import html
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mfbo.shown_text import visible

ROWS = 10  # of a table in a notebook
LONGEST_NAME = 40
LONGEST_FACT = 200
_CELL = 'style="padding:2px 10px 2px 0;text-align:{side};vertical-align:top;white-space:nowrap"'


@dataclass(frozen=True)
class CardTable:
    """A few rows; left_off: how many more there are."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    left_off: int = 0


@dataclass(frozen=True)
class Card:
    """What is said of an object. facts: words and what they are. drawings: each returns an SVG, made when shown."""

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    drawings: tuple[Callable[[], str], ...] = ()
    table: CardTable | None = None

    def to_text(self) -> str:
        """Return one line."""
        facts = [f"{word} {in_short(value, LONGEST_FACT)}" for word, value in self.facts]
        return f"<{'; '.join([visible(self.title), *facts])}>"

    def to_html(self) -> str:
        """Return a piece of a page that loads nothing, runs nothing, and takes its colors from the page around it."""
        parts = [f"<div><strong>{_text(self.title, LONGEST_FACT)}</strong></div>"]
        if self.facts:
            rows = [(word, value) for word, value in self.facts]
            parts.append(_table((), rows, longest=LONGEST_FACT))
        parts += [drawing() for drawing in self.drawings]
        if self.table is not None:
            parts.append(_table(self.table.columns, self.table.rows))
            if self.table.left_off:
                parts.append(f"<div>… and {self.table.left_off:,} more</div>")
        return f'<div style="overflow-x:auto">{"".join(part for part in parts if part)}</div>'


class Shown:
    """Something that says what it is. It never asks a model or a storage: showing costs nothing."""

    def _card(self) -> Card:
        raise NotImplementedError

    def __repr__(self) -> str:
        return self._card().to_text()

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return self._card().to_html()


def in_short(text: Any, longest: int = LONGEST_NAME) -> str:
    """Return a text in one line, its beginning if it is long."""
    line = visible(str(text))
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def amount(value: Any) -> str:
    """Return a number as a card shows it, with a real minus sign; a dash for nothing."""
    if value is None or value != value:
        return "–"
    if isinstance(value, bool | str):
        return str(value)
    shown = f"{value:,}" if isinstance(value, int) else f"{value + 0.0:.5g}"  # −0.0 + 0.0 is 0
    return shown.replace("-", "−")


def _table(columns: Iterable[str], rows: Iterable[Sequence[Any]], longest: int = LONGEST_NAME) -> str:
    rows = list(rows)
    sides = [_side(value) for value in rows[0]] if rows else ["left" for _ in columns]
    head = "".join(
        f"<th {_CELL.format(side=side)}>{_text(column)}</th>" for column, side in zip(columns, sides, strict=False)
    )
    body = "".join(f"<tr>{''.join(_cell(value, longest) for value in row)}</tr>" for row in rows)
    return f'<table style="border-collapse:collapse">{f"<tr>{head}</tr>" if head else ""}{body}</table>'


def _cell(value: Any, longest: int) -> str:
    text = value if isinstance(value, str) else amount(value)
    return f"<td {_CELL.format(side=_side(value))}>{_text(text, longest)}</td>"


def _side(value: Any) -> str:
    return "left" if isinstance(value, str) or value is None else "right"


def _text(text: str, longest: int = LONGEST_NAME) -> str:
    return html.escape(in_short(text, longest))
