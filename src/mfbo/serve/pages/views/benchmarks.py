"""The report of a benchmark as a page: the tables and figures of `mfbo report`, from the folder the service runs in."""

import base64
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

from mfbo.errors import MissingExtraError
from mfbo.experiments import ResultStore
from mfbo.experiments.report_tables import tables
from mfbo.experiments.results import Results, load_results
from mfbo.experiments.store import SUITE

PREFIX = "mfbo-benchmark-"  # what `mfbo benchmark` calls its folder
MOST = 50

_drawing = Lock()
_drawn: dict[tuple[str, int, int], list["Figure"]] = {}


@dataclass(frozen=True)
class Figure:
    """A picture as the address of its own content."""

    section: str
    name: str
    caption: str
    source: str
    wide: bool


def folders() -> list[str]:
    """Return the benchmarks in the folder in which the service runs."""
    found = sorted(path.name for path in Path().glob(f"{PREFIX}*") if (path / SUITE).is_file())
    return found[:MOST]


def report(folder: str) -> dict[str, Any]:
    """Return tables and figures of one of ``folders()``."""
    if folder not in folders():
        raise AssertionError("asked for only by a name that was listed")
    results = load_results(ResultStore(Path(folder)))
    done = len(results.records) - len(results.failed)
    return {
        "name": results.suite.name,
        "summary": results.suite.summary,
        "protocol": results.suite.protocol,
        "counted": f"{done} of {len(results.suite.runs)} runs finished, {len(results.failed)} failed",
        "tables": tables(results) if results.records else [],
        **_pictures(folder, results),
    }


def _pictures(folder: str, results: Results) -> dict[str, Any]:
    """Draw once for each state of the results; without matplotlib there are tables alone."""
    if not results.records:
        return {"figures": [], "missing": ""}
    key = (folder, len(results.records), len(results.failed))
    with _drawing:
        if key not in _drawn:
            try:
                _drawn[key] = _draw(results)
            except (ImportError, MissingExtraError):
                return {"figures": [], "missing": 'The figures need matplotlib: pip install "mfbo[plot]".'}
        return {"figures": _drawn[key], "missing": ""}


def _draw(results: Results) -> list[Figure]:
    from mfbo.plotting.report_figures import draw_all  # matplotlib takes a second

    with TemporaryDirectory(prefix="mfbo-") as folder:
        pictures = draw_all(Path(folder), results)
        return [
            Figure(picture.section, picture.svg.stem, picture.caption, _source(picture.svg), picture.whole_width)
            for picture in pictures
        ]


def _source(svg: Path) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.read_bytes()).decode()}"
