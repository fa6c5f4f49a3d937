"""The reports of `mfbo report` as pages: those of the benchmarks in the folder in which the service runs."""

import html
import re
from dataclasses import dataclass, field
from pathlib import Path

from mfbo.experiments.store import SUITE
from mfbo.given_files import given_bytes, given_text
from mfbo.serve.refusals import MissingError

PREFIX = "mfbo-benchmark-"  # what `mfbo benchmark` calls its folder
REPORT = Path("report")  # and `mfbo report` the folder in it
MOST = 100
LARGEST_FIGURE = 5_000_000

_FIGURE = re.compile(r"!\[(?P<alt>.*)\]\(figures/(?P<name>[\w.-]+\.svg)\)")
_ESCAPED = re.compile(r"\\(.)")
_BETWEEN_FIELDS = re.compile(r"(?<!\\)\|")


@dataclass
class Figure:
    """A picture by the name of its file, and what is said of it."""

    name: str
    caption: str = ""


@dataclass
class Section:
    """A heading and what stands below it: texts, figures, or a table with its columns first."""

    title: str
    level: int
    texts: list[str] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)


def folders() -> list[str]:
    """Return the benchmarks in the folder in which the service runs."""
    return sorted(path.name for path in Path().glob(f"{PREFIX}*") if (path / SUITE).is_file())[:MOST]


def report(folder: str) -> list[Section] | None:
    """Return the report of one of ``folders()``; None if nobody has made it yet."""
    path = Path(folder) / REPORT / "report.md"
    return sections(given_text(path)) if folder in folders() and path.is_file() else None


def figure(folder: str, name: str) -> bytes:
    """Return a figure that the report of one of ``folders()`` shows."""
    shown = {one.name for section in report(folder) or () for one in section.figures}
    if name not in shown:
        raise MissingError(f"there is no figure {name!r} in the report of {folder!r}")
    return given_bytes(Path(folder) / REPORT / "figures" / name, LARGEST_FIGURE)


def sections(markdown: str) -> list[Section]:
    """Read what ``report_markdown`` writes: headings, paragraphs, figures with their captions, tables."""
    found: list[Section] = []
    captioned: Figure | None = None
    for line in markdown.splitlines():
        mark, _, words = line.partition(" ")
        pictured = _FIGURE.fullmatch(line)
        if mark and set(mark) == {"#"}:
            found.append(Section(_plain(words), len(mark)))
            captioned = None
        elif not line.strip() or not found:
            continue
        elif pictured:
            captioned = Figure(pictured["name"])
            found[-1].figures.append(captioned)
        elif line.startswith("|"):
            _add_row(found[-1], line)
        elif captioned is not None:
            captioned.caption, captioned = _plain(line), None
        else:
            found[-1].texts.append(_plain(line))
    return found


def _add_row(section: Section, line: str) -> None:
    fields = [part.strip() for part in _BETWEEN_FIELDS.split(line)[1:-1]]
    if not section.columns:
        section.columns = [_plain(part) for part in fields]
    elif not all(part.strip(":-") == "" and part for part in fields):  # the line below the head
        section.rows.append([_plain(part) for part in fields])


def _plain(text: str) -> str:
    return html.unescape(_ESCAPED.sub(r"\1", text))
