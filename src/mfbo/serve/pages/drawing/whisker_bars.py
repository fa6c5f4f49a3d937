"""Horizontal bars from a zero line, each with its uncertainty as a whisker."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from mfbo.serve.pages.drawing.axes import Scale, bounds, round_ticks, tick_text
from mfbo.serve.pages.drawing.charts import Chart, canvas, mark
from mfbo.serve.pages.drawing.svg import tag
from mfbo.serve.pages.wording import number

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 640.0, 210.0, 14.0, 8.0, 46.0
ROW, THICK = 24.0, 11.0
LONGEST_NAME = 26  # letters


@dataclass(frozen=True)
class Bar:
    """A value with half the length of its whisker; note: what else is said of it."""

    name: str
    value: float
    half: float
    note: str = ""


def bar_chart(title: str, bars: Sequence[Bar], *, label: str, shown: int, columns: tuple[str, str, str, str]) -> Chart:
    """Draw the first ``shown`` bars; the table has all of them."""
    drawn = list(bars[:shown])
    height = TOP + BOTTOM + ROW * max(len(drawn), 1)
    ends = [end for bar in drawn for end in (bar.value - bar.half, bar.value + bar.half)]
    low, high = bounds([0.0, *ends])
    scale = Scale(low, high, LEFT, WIDTH - RIGHT)
    parts = [_grid(scale, height, label)]
    parts += [_bar(bar, place, scale, first=place == 0) for place, bar in enumerate(drawn)]
    highest = f"{drawn[0].name} first with {number(drawn[0].value)}" if drawn else "nothing to draw yet"
    svg = canvas(WIDTH, height, title, f"{len(drawn)} bars, {highest}", parts, "bars")
    rows = tuple((bar.name, bar.value, bar.half, bar.note) for bar in bars)
    return Chart(title, svg, columns, rows)


def _grid(scale: Scale, height: float, label: str) -> Markup:
    ticks = round_ticks(scale.low, scale.high, 4)
    bottom = height - BOTTOM
    lines = [
        tag("line", class_="zero" if tick == 0 else "grid", x1=scale(tick), x2=scale(tick), y1=TOP, y2=bottom)
        for tick in ticks
    ]
    texts = [
        tag("text", tick_text(tick, ticks), class_="tick below", x=scale(tick), y=bottom, dy="1.3em") for tick in ticks
    ]
    name = tag("text", label, class_="axis below", x=WIDTH - RIGHT, y=bottom, dy="2.6em")
    return tag("g", *lines, *texts, name, aria_hidden="true")


def _bar(bar: Bar, place: int, scale: Scale, *, first: bool) -> Markup:
    middle = TOP + ROW * (place + 0.5)
    zero, end = scale(0.0), scale(bar.value)
    low, high = scale(bar.value - bar.half), scale(bar.value + bar.half)
    tone = "up" if bar.value >= 0 else "down"
    shapes = tag(
        "g",
        tag("rect", class_="reach", x=0, y=middle - ROW / 2, width=WIDTH, height=ROW),
        tag("text", _short(bar.name), class_="name", x=LEFT - 10, y=middle, dy=".35em"),
        tag(
            "rect",
            class_=f"bar {tone}",
            x=min(zero, end),
            y=middle - THICK / 2,
            width=max(abs(end - zero), 0.5),
            height=THICK,
            rx="2",
        ),
        tag("line", class_="whisker", x1=low, x2=high, y1=middle, y2=middle),
        tag("line", class_="whisker", x1=low, x2=low, y1=middle - 3, y2=middle + 3),
        tag("line", class_="whisker", x1=high, x2=high, y1=middle - 3, y2=middle + 3),
    )
    words = f"{bar.name}: {number(bar.value)} ± {number(bar.half)}" + (f", {bar.note}" if bar.note else "")
    return mark(shapes, words, first=first)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
