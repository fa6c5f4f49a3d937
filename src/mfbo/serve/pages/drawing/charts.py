"""A drawn chart: its SVG, its key, and the table that says the same to those who do not see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from mfbo.serve.pages.drawing.svg import tag


@dataclass(frozen=True)
class Chart:
    """What a page shows. key: (tone, words) of everything drawn; a tone is a class that the style sheet colors."""

    title: str
    svg: Markup
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    key: tuple[tuple[str, str], ...] = ()


def canvas(width: float, height: float, title: str, summary: str, children: Sequence[Markup], kind: str) -> Markup:
    """Return a whole SVG that names itself; its marks are walked through by arrow keys (charts.js)."""
    return tag(
        "svg",
        tag("title", title),
        tag("desc", summary),
        *children,
        class_=f"chart {kind}",
        viewBox=f"0 0 {width:g} {height:g}",
        role="group",
        aria_label=f"{title}. {summary}",
    )


def mark(shape: Markup, words: str, *, first: bool, class_: str = "mark", **attributes: Any) -> Markup:
    """Return something that can be pointed at or reached by keys, and says what it is."""
    return tag(
        "g",
        tag("title", words),
        shape,
        class_=class_,
        tabindex="0" if first else None,  # the script lets arrows reach the others
        role="img",
        **attributes,
    )
