"""Scales of a chart: round ticks, and where a value lies."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from mfbo.serve.pages.drawing.svg import tag

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
TICKS = 5


@dataclass(frozen=True)
class Scale:
    """A straight way from values to units of the drawing."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return where a value lies."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


@dataclass(frozen=True)
class Frame:
    """The part of a chart inside its axes."""

    x: Scale
    y: Scale

    def grid(self, x_ticks: Iterable[float], y_ticks: Iterable[float], x_label: str, y_label: str) -> Markup:
        """Return lines at the ticks, their numbers, and what the axes are."""
        x_ticks, y_ticks = list(x_ticks), list(y_ticks)
        left, right, bottom, top = self.x.start, self.x.end, self.y.start, self.y.end
        lines = [tag("line", class_="grid", x1=left, x2=right, y1=self.y(value), y2=self.y(value)) for value in y_ticks]
        numbers = [
            tag("text", tick_text(value, y_ticks), class_="tick", x=left - 8, y=self.y(value), dy=".35em")
            for value in y_ticks
        ]
        below = [
            tag("text", tick_text(value, x_ticks), class_="tick below", x=self.x(value), y=bottom, dy="1.4em")
            for value in x_ticks
        ]
        names = [
            tag("text", x_label, class_="axis below", x=right, y=bottom, dy="2.8em"),
            tag("text", y_label, class_="axis", x=left, y=top, dy="-1em"),
        ]
        return tag("g", *lines, *numbers, *below, *names, aria_hidden="true")


def bounds(values: Iterable[float], margin: float = 0.06) -> tuple[float, float]:
    """Return the lowest and the highest value with some room; never equal, never infinite."""
    finite = [float(value) for value in values if math.isfinite(value)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    room = margin * (high - low)
    if not room > 1e-9 * max(abs(low), abs(high)):
        room = abs(low) * 0.1 or 1.0
    return low - room, high + room


def round_ticks(low: float, high: float, most: int = TICKS, *, whole: bool = False) -> list[float]:
    """Return round values from low to high, at most so many."""
    rough = (high - low) / most
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in STEPS if size * factor >= rough * (1 - 1e-9))
    step = max(math.ceil(step), 1.0) if whole else step
    first = math.ceil(low / step - 1e-9)
    count = math.floor(high / step + 1e-9) - first + 1
    return [(first + place) * step for place in range(max(count, 0))]


def tick_text(value: float, ticks: list[float]) -> str:
    """Return a tick with as many digits as its neighbors need."""
    step = min((b - a for a, b in pairwise(ticks)), default=abs(value) or 1.0)
    if max(map(abs, ticks)) >= 1e6 or step < 1e-5:
        return f"{value:.3g}"
    digits = next((digits for digits in range(6) if abs(round(step, digits) - step) < 1e-6 * step), 6)
    return f"{value + 0.0:,.{digits}f}".replace("-", "−")
