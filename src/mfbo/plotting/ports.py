"""Ports on a map of the world that is drawn from coordinates alone: the faint ports of all coasts show the land."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from scipy.sparse.csgraph import minimum_spanning_tree

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError
from mfbo.plotting.circles import areas, draw_area_key, radii
from mfbo.plotting.degrees import set_map_axes
from mfbo.plotting.figures import Figure, drawn
from mfbo.plotting.labels import freeze_layout, place_labels
from mfbo.plotting.panels import Panel, headline
from mfbo.problems import Problem
from mfbo.problems.pictures import PortsPicture
from mfbo.problems.tables import embedded_ports

REGION_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")  # Okabe–Ito
LARGEST_AREA = 320.0  # of a circle, in square points
LABELS = 12
WIDTH = 9.0
PANEL = 4.35  # height in inches
LAND = "#efefef"
BAND = 12.0  # width of the coasts, in points
EARTH_RADIUS = 6371.0  # km
LONGEST_LINK = 2200.0  # km; longer ones cross an ocean
SOUTH, NORTH = -58.0, 78.0  # no port lies beyond
STANDARD_PARALLEL = 35.0  # where east–west and north–south distances look alike


def port_maps(problem: Problem, picture: PortsPicture, panels: Sequence[Panel]) -> Figure:
    """Draw the panels on top of each other, ports colored by region."""
    if problem.places is None:
        raise InvalidInputError(f"{problem.name} cannot be drawn on a map: its ports have no coordinates")
    places, regions = problem.places, picture.home.argmax(axis=0)
    top = max(float(panel.shares.max()) for panel in panels)
    with drawn((WIDTH, PANEL * len(panels) + 1.0), nrows=len(panels), squeeze=False) as (table, figure):
        for axes, panel in zip(table.flat, panels, strict=True):
            _draw_world(axes)
            _draw_loads(axes, places, regions, areas(panel.shares, LARGEST_AREA, top))
            axes.set_title(f"{panel.title}; {_at_home(problem, picture, panel):.0%} of vessels in their own region",
                           fontsize=10, fontweight="normal")  # fmt: skip
        headline(figure, problem)
        _draw_region_key(table.flat[0], problem, regions)
        draw_area_key(figure, LARGEST_AREA, top, {})
        freeze_layout(figure)
        for axes, panel in zip(table.flat, panels, strict=True):
            order = np.argsort(-panel.shares, kind="stable").tolist()
            size = radii(areas(panel.shares, LARGEST_AREA, top))
            place_labels(axes, places, size, problem.population.actions, order, LABELS)
    return figure


def _draw_world(axes: Any) -> None:
    """Draw a net of degrees and all ports of the embedded World Port Index, joined by a faint band along the coasts."""
    coasts = embedded_ports("ports").coordinates
    pairs = coasts[coast_links(coasts)]
    axes.add_collection(LineCollection(pairs, colors=LAND, linewidths=BAND, capstyle="round", zorder=1))
    axes.scatter(*coasts.T, s=BAND**2, color=LAND, linewidths=0, zorder=1)
    axes.scatter(*coasts.T, s=3, color="#a0a0a0", linewidths=0, zorder=1.5)
    set_map_axes(axes, coasts, geographic=True)
    axes.set_aspect(1.0 / np.cos(np.radians(STANDARD_PARALLEL)))
    axes.set_xlim(-180, 180)
    axes.set_ylim(SOUTH, NORTH)
    axes.set_xticks(range(-120, 180, 60))
    axes.set_yticks(range(-30, 90, 30))
    axes.grid(color="#f0f0f0", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=8, labelcolor="#666666")
    for spine in axes.spines.values():
        spine.set_visible(False)


def coast_links(coordinates: FloatArray) -> Any:
    """Return the pairs of ports (n, 2) that a shortest net joins, none longer than ``LONGEST_LINK`` or over the edge.

    The nearest port usually lies on the same coast, so the net (a minimum spanning tree) runs along the coasts.
    """
    longitude, latitude = np.radians(coordinates).T
    level = np.cos(latitude)
    globe = np.stack([level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude)], axis=1)
    chord = np.sqrt(np.maximum(2.0 - 2.0 * globe @ globe.T, 0.0))
    net = minimum_spanning_tree(EARTH_RADIUS * 2.0 * np.arcsin(np.minimum(chord / 2.0, 1.0))).tocoo()
    pairs = np.stack([net.row, net.col], axis=1)[net.data <= LONGEST_LINK]
    return pairs[np.abs(np.diff(coordinates[pairs, 0], axis=1)[:, 0]) < 180.0]


def _draw_loads(axes: Any, places: FloatArray, regions: Any, area: FloatArray) -> None:
    order = np.argsort(-area, kind="stable")  # small circles over large ones
    colors = [REGION_COLORS[region % len(REGION_COLORS)] for region in regions[order]]
    axes.scatter(
        *places[order].T,
        s=area[order],
        c=colors,
        alpha=0.8,
        edgecolors="white",
        linewidths=0.5,
        zorder=3,
        clip_on=False,
    )
    axes.scatter(*places[order].T, s=3, c=colors, linewidths=0, zorder=4)


def _at_home(problem: Problem, picture: PortsPicture, panel: Panel) -> float:
    """Return the share of all vessels that go to a port of their own region."""
    return float((problem.population.joint_shares(panel.distribution) * picture.home).sum())


def _draw_region_key(axes: Any, problem: Problem, regions: Any) -> None:
    """Name the regions in the empty south-west of the map."""
    for region, name in enumerate(problem.population.contexts):
        color = REGION_COLORS[region % len(REGION_COLORS)]
        label = f"{name}, {(regions == region).sum()} ports"
        axes.scatter([], [], s=50, color=color, label=label)
    axes.scatter([], [], s=4, color="#a0a0a0", label="other ports, joined\nalong the coasts")
    axes.legend(loc="lower left", frameon=False, fontsize=8, handletextpad=0.3)
