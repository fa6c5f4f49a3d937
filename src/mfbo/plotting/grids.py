"""Heat maps of shares on a grid, one color scale for all of them, as in the paper's figure of Manhattan."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.plotting.degrees import degree_ratio, is_geographic, set_map_axes
from mfbo.plotting.figures import Figure, drawn
from mfbo.plotting.panels import Panel, headline
from mfbo.problems import Problem

COLORS = "viridis"
BLANK = "#f2f2f2"
HEIGHT = 5.4  # of a tall panel, in inches
MOST_SQUARES = 1_000_000
SMALLEST_SQUARE = 0.01  # side of a grid of one square, in degrees
CLIP = 2.0  # a plan's peak above this multiple of the reference's peak is clipped, so that it does not hide the rest


def fits_a_grid(problem: Problem) -> bool:
    """Say whether a problem has a grid that can be drawn."""
    return problem.grid is not None and bool(np.prod(np.ptp(problem.grid, axis=0) + 1) <= MOST_SQUARES)


def grid_heat_maps(problem: Problem, panels: Sequence[Panel]) -> Figure:
    """Draw the panels beside each other; squares without an action stay blank."""
    if problem.grid is None:
        raise AssertionError("asked for only if the problem has a grid")  # fits_a_grid
    grid = (problem.grid - problem.grid.min(axis=0)).astype(np.int64)
    geographic = problem.places is not None and is_geographic(problem)
    stretch = degree_ratio(problem.places) if geographic and problem.places is not None else 1.0
    columns, rows = _edges(grid, problem.places, stretch)
    ratio = float(np.ptp(columns) / np.ptp(rows) / stretch)  # width of a panel over its height
    size, layout = _layout(ratio, len(panels))
    top, clipped = _top(panels)
    with drawn(size, **layout, sharex=True, sharey=True, squeeze=False) as (table, figure):
        for axes, panel in zip(table.flat, panels, strict=True):
            image = _image(grid, panel.shares)  # drawn as an image: as paths, four fine grids take 600 kB of SVG
            mesh = axes.pcolormesh(columns, rows, image, cmap=COLORS, vmin=0, vmax=top, rasterized=True)
            axes.set_title(panel.title, fontsize=10, fontweight="normal")
            axes.set_facecolor(BLANK)
            _set_axes(axes, problem.places, columns, rows, geographic)
            axes.label_outer()
        bar = figure.colorbar(
            mesh, ax=table, label=f"share in each of {len(grid)} squares", extend="max" if clipped else "neither"
        )
        bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:.1%}")
        bar.outline.set_visible(False)
        headline(figure, problem)
    return figure


def _edges(grid: Any, places: FloatArray | None, stretch: float) -> tuple[FloatArray, FloatArray]:
    """Return the edges of the columns and of the rows, on the map if the places (A, 2) are known.

    stretch: units of longitude that are as long on the ground as one of latitude.
    """
    columns, rows = (np.arange(index.max() + 2) - 0.5 for index in (grid[:, 1], grid[:, 0]))
    if places is None:
        return columns, rows
    wide, high = _step(grid[:, 1], places[:, 0]), _step(grid[:, 0], places[:, 1])
    width = wide or (high or SMALLEST_SQUARE) * stretch  # a single column is as wide as its rows are high
    height = high or width / stretch
    west = float((places[:, 0] - width * grid[:, 1]).mean())
    south = float((places[:, 1] - height * grid[:, 0]).mean())
    return west + width * columns, south + height * rows


def _step(index: Any, values: FloatArray) -> float:
    """Return how far apart neighboring rows (or columns) are; 0 if there is only one."""
    return float(np.polyfit(index, values, 1)[0]) if np.ptp(index) > 0 else 0.0


def _layout(ratio: float, count: int) -> tuple[tuple[float, float], dict[str, int]]:
    """Return the size of the figure and the arrangement: tall panels side by side, wide ones on top of each other."""
    if ratio > 1.4:
        width = 7.0
        return (width + 1.2, count * min(width / ratio, 5.0) + 0.9), {"nrows": count}
    width = min(max(HEIGHT * ratio, 1.6), 6.0)
    return (count * (width + 0.25) + 1.9, HEIGHT + 0.8), {"ncols": count}


def _image(grid: Any, shares: FloatArray) -> Any:
    """Return shares (A,) as a masked image (rows, columns); masked where there is no action."""
    shape = tuple(grid.max(axis=0) + 1)
    total, count = np.zeros(shape), np.zeros(shape)
    np.add.at(total, (grid[:, 0], grid[:, 1]), shares)
    np.add.at(count, (grid[:, 0], grid[:, 1]), 1)
    return np.ma.masked_where(count == 0, total)


def _top(panels: Sequence[Panel]) -> tuple[float, bool]:
    """Return the top of the color scale, and whether a plan goes beyond it."""
    reference = max(float(panel.shares.max()) for panel in panels if not panel.is_plan)
    highest = max(float(panel.shares.max()) for panel in panels)
    return min(highest, CLIP * reference), highest > CLIP * reference


def _set_axes(axes: Any, places: FloatArray | None, columns: FloatArray, rows: FloatArray, geographic: bool) -> None:
    for spine in axes.spines.values():
        spine.set_visible(False)
    if places is not None:
        set_map_axes(axes, places, geographic=geographic)
    else:
        axes.set_aspect("equal")
        axes.set_xlabel("column")
        axes.set_ylabel("row")
    axes.set_xlim(columns.min(), columns.max())  # rows may be numbered from the north
    axes.set_ylim(rows.min(), rows.max())
