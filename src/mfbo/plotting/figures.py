"""The one place that knows matplotlib's setup: a figure without global state, saved as PNG and SVG."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mfbo.errors import MissingExtraError
from mfbo.shown_text import visible
from mfbo.whole_files import make_folder, write_whole_file

try:
    import matplotlib as mpl
    from matplotlib.figure import Figure
except ImportError as error:
    raise MissingExtraError('pictures need matplotlib: pip install "mfbo[plot]"') from error

COLORS = {  # Okabe–Ito: safe for the color-blind
    "default": "#0072b2",
    "mf-gp-ucb": "#d55e00",
    "turbo": "#009e73",
    "annealing": "#e69f00",
    "genetic": "#cc79a7",
    "random": "#888888",
}
STYLE: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "figure.dpi": 120,
    "savefig.dpi": 150,
    "svg.hashsalt": "mfbo",  # identical runs write identical files
}

_PATH = re.compile(r' d="[^"]*"')
_DECIMALS = re.compile(r"-?\d+\.\d{2,}")


@contextmanager
def drawn(path: Path, size: tuple[float, float], **subplots: Any) -> Iterator[tuple[Any, list[Path]]]:
    """Give axes to draw on and a list of the files that are written on leaving: path.png and path.svg."""
    files: list[Path] = []
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        yield figure.subplots(**subplots), files
        make_folder(path.parent)
        for kind in ("png", "svg"):
            target = path.with_name(f"{path.name}.{kind}")
            picture = io.BytesIO()
            figure.savefig(picture, format=kind, metadata={"Date": None} if kind == "svg" else None)
            content = picture.getvalue()
            write_whole_file(target, compact_svg(content.decode()).encode() if kind == "svg" else content)
            files.append(target)


def words(name: str) -> str:
    """Return a name as matplotlib writes it as it is: dollars do not begin formulas, control characters are visible."""
    return visible(name).replace("$", r"\$")


@contextmanager
def letters_as_text() -> Iterator[None]:
    """Write letters in SVG as text and not as paths: searchable, half the size, in whatever font the reader has."""
    with mpl.rc_context({"svg.fonttype": "none"}):
        yield


def compact_svg(text: str) -> str:
    """Return an SVG with paths on one line and to a tenth of a point, which no eye can tell; half the size."""
    return _PATH.sub(lambda found: " " + _DECIMALS.sub(_rounded, " ".join(found[0].split())), text)


def _rounded(found: re.Match[str]) -> str:
    return f"{float(found[0]):.1f}".rstrip("0").rstrip(".")
