"""Names beside points of a map: the first ones in the given order that find room, none over another or over a point."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib import patheffects
from matplotlib.text import Text

from mfbo.arrays import FloatArray
from mfbo.plotting.figures import words

WRAP = 19  # letters in a line
LAYOUT_PASSES = 3  # the arrangement of panels with a fixed aspect settles after two
GAPS = (2.0, 11.0, 20.0, 32.0, 46.0)  # from the rim of the circle to the name, in points; far names get a line
LEADER_FROM = 10.0
POINTS_OF_A_LINE = 25
# Where the middle of a name lies: a step away from the circle, and a shift by half of its width and height.
POSITIONS = (
    ((1, 0), (1, 0)), ((-1, 0), (-1, 0)), ((0, 1), (0, 1)), ((0, -1), (0, -1)),
    ((0.8, 0.8), (1, 1)), ((-0.8, 0.8), (-1, 1)), ((0.8, -0.8), (1, -1)), ((-0.8, -0.8), (-1, -1)),
    ((0, 1), (0.6, 1)), ((0, 1), (-0.6, 1)), ((0, -1), (0.6, -1)), ((0, -1), (-0.6, -1)),
)  # fmt: skip


Rectangle = tuple[float, float, float, float]  # left, bottom, right, top, in pixels


@dataclass
class _Room:
    """What is taken on a pair of axes: the circles, the names written so far, and the lines to them, as points."""

    frame: Rectangle
    circles: list[Rectangle]
    names: list[Rectangle] = field(default_factory=list)
    lines: list[Rectangle] = field(default_factory=list)

    def is_free(self, box: Rectangle) -> bool:
        """Say whether a name fits here."""
        left, bottom, right, top = self.frame
        inside = left <= box[0] and bottom <= box[1] and box[2] <= right and box[3] <= top
        return inside and not any(_meet(box, other) for other in (*self.circles, *self.names, *self.lines))

    def is_alone(self, box: Rectangle, index: int, margin: float) -> bool:
        """Say whether no other circle is so near that the name could be taken for its own."""
        left, bottom, right, top = box
        wide = (left - margin, bottom - margin, right + margin, top + margin)
        return not any(_meet(wide, other) for number, other in enumerate(self.circles) if number != index)

    def line(self, index: int, end: FloatArray) -> list[Rectangle]:
        """Return the points of a line from the rim of a circle to ``end`` (2,)."""
        left, bottom, right, top = self.circles[index]
        start = np.array([left + right, bottom + top]) / 2
        points = (start + (end - start) * np.linspace(0, 1, POINTS_OF_A_LINE)[:, None]).tolist()
        return [(x, y, x, y) for x, y in points if not _meet((x, y, x, y), self.circles[index])]

    def is_clear(self, line: list[Rectangle], index: int) -> bool:
        """Say whether a line from a circle crosses no other circle and no name."""
        others = [other for number, other in enumerate(self.circles) if number != index] + self.names
        return not any(_meet(point, other) for point in line for other in others)


def _meet(one: Rectangle, other: Rectangle) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def freeze_layout(figure: Any) -> None:
    """Arrange all panels, keys and titles for good, so that pixels mean something; call it before the labels."""
    for _ in range(LAYOUT_PASSES):
        figure.draw_without_rendering()
    figure.set_layout_engine("none")


def place_labels(
    axes: Any, points: FloatArray, radii: FloatArray, names: Sequence[str], order: Sequence[int], most: int
) -> int:
    """Write up to ``most`` names and return how many; points (n, 2) in data units, radii (n,) of circles in points.

    order: which points deserve a name, the first most. The layout must be frozen already.
    """
    pixel = axes.figure.dpi / 72
    centers = axes.transData.transform(points)
    window = axes.get_window_extent()
    circles = [(x - r, y - r, x + r, y + r) for (x, y), r in zip(centers, radii * pixel, strict=True)]
    room = _Room((window.x0, window.y0, window.x1, window.y1), circles)
    written = 0
    for index in order:
        if written == most:
            break
        note = _note(axes, names[index], points[index], float(radii[index]))
        written += _place(note, room, index, pixel)
    return written


def _note(axes: Any, name: str, point: FloatArray, radius: float) -> Any:
    """Write a name over its point, with a line to the rim of its circle; it is moved away later."""
    return axes.annotate(
        textwrap.fill(words(name), WRAP, max_lines=2, placeholder=" …"),
        point,
        xytext=(0, 0),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=7.5,
        linespacing=0.95,
        arrowprops={"arrowstyle": "-", "color": "#666666", "linewidth": 0.6, "shrinkA": 0, "shrinkB": radius},
        path_effects=[patheffects.withStroke(linewidth=2.0, foreground="white")],
        zorder=5,
    )


def _place(note: Any, room: _Room, index: int, pixel: float) -> bool:
    """Move a name to where there is room for it, or take it away; say whether there was."""
    left, bottom, right, top = room.circles[index]
    center, radius = np.array([left + right, bottom + top]) / 2, (right - left) / 2
    extent = Text.get_window_extent(note)  # of the words alone, without the line
    half = np.array([extent.width, extent.height]) / 2 + pixel
    for gap in GAPS:
        for step, lean in np.array(POSITIONS):
            shift = step * (radius + gap * pixel) + lean * half
            low, high = (center + shift - half).tolist(), (center + shift + half).tolist()
            box = (low[0], low[1], high[0], high[1])
            line = room.line(index, center + shift) if gap >= LEADER_FROM else []
            clear = room.is_clear(line, index) if line else room.is_alone(box, index, (gap + 3) * pixel)
            if clear and room.is_free(box):
                note.set_position(tuple(shift / pixel))
                note.arrow_patch.set_visible(bool(line))
                room.names.append(box)
                room.lines += line
                return True
    note.remove()
    return False
