"""Places on a map as circles whose area is their share: the demand beside the plan, with the demand as rings."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.lines import Line2D

from mfbo.arrays import FloatArray
from mfbo.plotting.circles import areas, draw_area_key, radii
from mfbo.plotting.degrees import degree_ratio, is_geographic, map_limits, set_map_axes
from mfbo.plotting.figures import Figure, drawn
from mfbo.plotting.labels import freeze_layout, place_labels
from mfbo.plotting.panels import DEMAND_COLOR, PLAN_COLOR, Panel, Pictured, headline

LARGEST_AREA = 1100.0  # of a circle, in square points
LABELS = 8
PANEL = 5.0  # width in inches
MARGIN = 0.13  # around the places, for circles and names


def station_maps(
    problem: Pictured,
    panels: Sequence[Panel],
    ring: str = "demand",
    marked: Mapping[str, Sequence[int]] | None = None,
    ax: Any = None,
) -> Figure:
    """Draw the panels beside each other on one scale of areas.

    ring: what the circle around each place of a plan stands for. marked: positions of places by the mark they get.
    ax: axes to draw one panel on.
    """
    if problem.places is None:
        raise AssertionError("asked for only if the problem has places")  # maps.draw_problem
    places, geographic = problem.places, is_geographic(problem)
    top = max(float(panel.shares.max()) for panel in panels)
    reference = next(panel for panel in reversed(panels) if not panel.is_plan)
    window = map_limits(places, MARGIN, geographic=geographic)
    size = (PANEL * len(panels) + 0.9, _height(window, degree_ratio(places) if geographic else 1.0))
    with drawn(size, ax, ncols=len(panels), sharex=True, sharey=True, squeeze=False) as (found, figure):
        table = np.atleast_2d(found)
        for axes, panel in zip(table.flat, panels, strict=True):
            _draw_circles(axes, places, panel, areas(panel.shares, LARGEST_AREA, top))
            if panel.is_plan:
                _draw_rings(axes, places, areas(reference.shares, LARGEST_AREA, top))
            for mark, found in (marked or {}).items():
                axes.scatter(*places[list(found)].T, s=28, marker=mark, color="black", linewidths=0.8, zorder=5)
            axes.set_title(panel.title, fontsize=10, fontweight="normal")
            set_map_axes(axes, places, geographic=geographic)
            axes.set(xlim=window[0], ylim=window[1])
            axes.label_outer()
        if ax is None:
            headline(figure, problem)
            _draw_key(figure, top, f"ring: {ring}" if any(panel.is_plan for panel in panels) else None)
            freeze_layout(figure)
        for axes, panel in zip(table.flat, panels, strict=True):
            size_of = radii(areas(np.maximum(panel.shares, reference.shares), LARGEST_AREA, top))
            order = np.argsort(-panel.shares, kind="stable").tolist()
            place_labels(axes, places, size_of, problem.population.actions, order, LABELS)
    return figure


def _height(window: FloatArray, stretch: float) -> float:
    wide, high = np.diff(window, axis=1)[:, 0]
    return float(np.clip(PANEL * stretch * high / wide, 2.5, 7.0) + 1.2)


def _draw_circles(axes: Any, places: FloatArray, panel: Panel, area: FloatArray) -> None:
    """Draw filled circles, the large ones first, and a dot for every place nobody is at."""
    order = np.argsort(-panel.shares, kind="stable")
    color = PLAN_COLOR if panel.is_plan else DEMAND_COLOR
    axes.scatter(*places.T, s=2, color="#666666", linewidths=0, zorder=4)
    axes.scatter(*places[order].T, s=area[order], color=color, alpha=0.7, linewidths=0.5, edgecolors="white", zorder=2)


def _draw_rings(axes: Any, places: FloatArray, area: FloatArray) -> None:
    axes.scatter(*places.T, s=area, facecolors="none", edgecolors="black", linewidths=0.9, zorder=3)


def _draw_key(figure: Any, top: float, ring: str | None) -> None:
    handle = Line2D([], [], linestyle="none", marker="o", markersize=11, markerfacecolor="none", color="black")
    draw_area_key(figure, LARGEST_AREA, top, {} if ring is None else {ring: handle})
