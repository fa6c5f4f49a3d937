"""Line charts: points, lines, steps and bands over rounds or over a share."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from markupsafe import Markup

from mfbo.serve.pages.drawing.axes import Frame, Scale, bounds, round_ticks
from mfbo.serve.pages.drawing.charts import Chart, canvas, mark
from mfbo.serve.pages.drawing.svg import path_of, tag
from mfbo.serve.pages.wording import number

WIDTH, HEIGHT = 640.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 66.0, 14.0, 34.0, 44.0
RADIUS = 3.6


@dataclass(frozen=True)
class Series:
    """One thing drawn. x, y: the same length, NaN where nothing is known. half: half the height of its band.

    notes: what else is said of a point, beside its numbers. tone: a class that the style sheet colors.
    """

    name: str
    tone: str
    x: Sequence[float]
    y: Sequence[float]
    half: Sequence[float] | None = None
    kind: Literal["line", "steps", "points"] = "line"
    notes: Sequence[str] = field(default=())


def line_chart(
    title: str,
    series: Sequence[Series],
    *,
    x_label: str,
    y_label: str,
    marked_x: float | None = None,
    whole_x: bool = True,
    height: float = HEIGHT,
) -> Chart:
    """Draw series over one pair of axes; marked_x: a place of note on the x axis."""
    drawn = [one for one in series if any(math.isfinite(value) for value in one.y)]
    frame = _frame(drawn, height)
    ticks = (round_ticks(frame.x.low, frame.x.high, whole=whole_x), round_ticks(frame.y.low, frame.y.high))
    parts = [frame.grid(*ticks, x_label, y_label)]
    parts += [_band(one, frame) for one in drawn if one.half is not None]
    if marked_x is not None:
        place = frame.x(marked_x)
        parts.append(tag("line", class_="here", x1=place, x2=place, y1=frame.y.start, y2=frame.y.end))
    parts += [_line(one, frame) for one in drawn if one.kind != "points"]
    parts += _points(drawn, frame, x_label)
    svg = canvas(WIDTH, height, title, _summary(drawn), parts, "lines")
    key = tuple((one.tone, one.name) for one in drawn)
    return Chart(title, svg, *_table(drawn, x_label), key)


def _frame(series: Sequence[Series], height: float) -> Frame:
    xs = [value for one in series for value in one.x]
    ys = [value for one in series for value in _extent(one)]
    low, high = (min(xs, default=0.0), max(xs, default=1.0))
    low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
    return Frame(Scale(low, high, LEFT, WIDTH - RIGHT), Scale(*bounds(ys), height - BOTTOM, TOP))


def _extent(one: Series) -> list[float]:
    if one.half is None:
        return list(one.y)
    both = list(zip(one.y, one.half, strict=True))
    return [y - half for y, half in both] + [y + half for y, half in both]


def _band(one: Series, frame: Frame) -> Markup:
    known = [
        (x, y, half)
        for x, y, half in zip(one.x, one.y, one.half or (), strict=True)
        if math.isfinite(y) and math.isfinite(half)
    ]
    upper = [(frame.x(x), frame.y(y + half)) for x, y, half in known]
    lower = [(frame.x(x), frame.y(y - half)) for x, y, half in reversed(known)]
    return tag("path", class_=f"band {one.tone}", d=path_of(upper + lower, closed=True))


def _line(one: Series, frame: Frame) -> Markup:
    """Draw a line, broken where nothing is known."""
    pieces: list[list[tuple[float, float]]] = [[]]
    for x, y in zip(one.x, one.y, strict=True):
        if not math.isfinite(y):
            pieces.append([])
            continue
        here = (frame.x(x), frame.y(y))
        if one.kind == "steps" and pieces[-1]:
            pieces[-1].append((here[0], pieces[-1][-1][1]))
        pieces[-1].append(here)
    return tag("path", class_=f"line {one.tone}", d="".join(path_of(piece) for piece in pieces))


def _points(series: Sequence[Series], frame: Frame, x_label: str) -> list[Markup]:
    """Draw the points; a chart without any gets hollow ones on its first line, for keys and pointers to find."""
    pointed = [one for one in series if one.kind == "points"] or list(series[:1])
    parts, first = [], True
    for one in pointed:
        for place, (x, y) in enumerate(zip(one.x, one.y, strict=True)):
            if not math.isfinite(y):
                continue
            note = one.notes[place] if place < len(one.notes) else ""
            words = f"{x_label} {number(x)}: {one.name} {number(y)}" + (f", {note}" if note else "")
            shape = tag("circle", cx=frame.x(x), cy=frame.y(y), r=RADIUS)
            kind = "mark" if one.kind == "points" else "mark hollow"
            parts.append(mark(shape, words, first=first, class_=f"{kind} {one.tone}"))
            first = False
    return parts


def _summary(series: Sequence[Series]) -> str:
    """Say what is drawn, from where to where."""
    said = []
    for one in series:
        known = [value for value in one.y if math.isfinite(value)]
        said.append(f"{one.name}: {len(known)} values from {number(min(known))} to {number(max(known))}")
    return "; ".join(said) or "nothing to draw yet"


def _table(series: Sequence[Series], x_label: str) -> tuple[tuple[str, ...], tuple[tuple[object, ...], ...]]:
    columns, found = [x_label], [dict[float, float | None]() for _ in range(0)]
    for one in series:
        columns.append(one.name)
        found.append({x: y if math.isfinite(y) else None for x, y in zip(one.x, one.y, strict=True)})
        if one.half is not None:
            columns.append("±")
            found.append(dict(zip(one.x, one.half, strict=True)))
    places = sorted({x for one in series for x in one.x})
    return tuple(columns), tuple((place, *(column.get(place) for column in found)) for place in places)
