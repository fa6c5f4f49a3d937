"""The one place that knows matplotlib's setup: figures without global state, written as PNG and SVG if asked."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from mfbo.errors import MissingExtraError
from mfbo.shown_text import visible
from mfbo.whole_files import make_folder, write_whole_file

try:
    import matplotlib as mpl
    from matplotlib.figure import Figure as Figure  # the others take it from here
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

SHOWN_DPI = 96  # of a picture in a notebook

_PATH = re.compile(r' d="[^"]*"')
_DECIMALS = re.compile(r"-?\d+\.\d{2,}")


class Picture(Figure):
    """A figure of ours: a notebook shows it whether or not pyplot is there."""

    def _repr_png_(self) -> bytes:
        return picture_bytes(self, "png", dpi=SHOWN_DPI)


@contextmanager
def drawn(size: tuple[float, float], ax: Any = None, **subplots: Any) -> Iterator[tuple[Any, Figure]]:
    """Give axes to draw on and their figure: new ones of this size in inches, or those that a caller has (``ax``)."""
    with mpl.rc_context(STYLE):
        if ax is not None:
            yield ax, ax.figure
            return
        figure = Picture(figsize=size, layout="constrained")
        yield figure.subplots(**subplots), figure


def save_figure(figure: Any, path: str | PathLike[str]) -> list[Path]:
    """Write a figure as path.png and path.svg, each whole or not at all; return the two files."""
    files = []
    target = Path(path)
    make_folder(target.parent)
    for kind in ("png", "svg"):
        file = target.with_name(f"{target.name}.{kind}")
        write_whole_file(file, picture_bytes(figure, kind))
        files.append(file)
    return files


def picture_bytes(figure: Any, kind: str, dpi: float | None = None) -> bytes:
    """Return a figure as the content of a file, "png" or "svg"; equal figures give equal bytes."""
    picture = io.BytesIO()
    with mpl.rc_context(STYLE):
        options = {} if dpi is None else {"dpi": dpi}
        figure.savefig(picture, format=kind, metadata={"Date": None} if kind == "svg" else None, **options)
    content = picture.getvalue()
    return compact_svg(content.decode()).encode() if kind == "svg" else content


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
