"""A table of results: raw values for programs (CSV), rounded ones for people (Markdown, HTML)."""

import csv
import html
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mfbo.shown_text import defused, visible

_MARKUP = re.compile(r"[\\`*_\[\]|#~$]")


@dataclass(frozen=True)
class Table:
    """Rows of raw values under named columns. name: of the CSV file. note: how to read it."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""

    def to_csv(self) -> str:
        """Return all digits; what is unknown is an empty field, and no text is a formula."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([["" if value is None else defused(value) for value in row] for row in self.rows])
        return text.getvalue()

    def to_markdown(self) -> str:
        """Return a title, the rows rounded for reading, and the note."""
        lines = [
            _line(map(in_markdown, self.columns)),
            _line("---:" if self._numeric(i) else "---" for i in range(len(self.columns))),
        ]
        lines += [_line(in_markdown(shown(value)) for value in row) for row in self.rows]
        note = f"\n{in_markdown(self.note)}\n" if self.note else ""
        return f"### {in_markdown(self.title)}\n\n" + "\n".join(lines) + f"\n{note}"

    def to_html(self) -> str:
        """Return the same as a fragment of a page."""
        head = self._fields("th", self.columns)
        body = "\n".join(f"<tr>{self._fields('td', row)}</tr>" for row in self.rows)
        note = f'<p class="note">{html.escape(self.note)}</p>' if self.note else ""
        title = f'<h3 id="table-{self.name}">{html.escape(self.title)}</h3>'
        return f'{title}\n<div class="wide"><table>\n<tr>{head}</tr>\n{body}\n</table></div>\n{note}\n'

    def _fields(self, tag: str, row: Sequence[Any]) -> str:
        kinds = [' class="number"' if self._numeric(index) else "" for index in range(len(row))]
        return "".join(f"<{tag}{kind}>{html.escape(shown(v))}</{tag}>" for kind, v in zip(kinds, row, strict=True))

    def _numeric(self, index: int) -> bool:
        values = [row[index] for row in self.rows if row[index] is not None]
        return bool(values) and all(isinstance(value, int | float) for value in values)


def shown(value: Any) -> str:
    """Return a value for people: four digits, thousands separated, a dash for what is unknown."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}".replace("e-0", "e-").replace("e+0", "e+")
    return str(value)


def ranges(numbers: Sequence[int]) -> str:
    """Return rising whole numbers as people write them: "1–3, 7", or "none"."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return ", ".join(f"{low}" if low == high else f"{low}–{high}" for low, high in runs) or "none"


def in_markdown(text: str) -> str:
    """Return a text that Markdown shows as it is: no mark-up, no link, no tag, no end of a table's field or row."""
    return _MARKUP.sub(r"\\\g<0>", visible(text)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _line(fields: Any) -> str:
    return f"| {' | '.join(fields)} |"
