"""One HTML page of a backtest: what each way gained day by day, a map of the plans, and all tables."""

import html
from datetime import date
from typing import Any

import numpy as np

from mfbo.experiments.backtest import Backtest, Way
from mfbo.experiments.backtest_tables import notes, tables
from mfbo.plotting.bars import share_bars
from mfbo.plotting.curves import legend_beside
from mfbo.plotting.figures import drawn
from mfbo.plotting.page import embedded_figure, whole_page
from mfbo.plotting.panels import Panel
from mfbo.plotting.placements import StudyPicture
from mfbo.plotting.report_figures import ReportFigure
from mfbo.plotting.station_maps import station_maps

COLORS = ("#888888", "#e69f00", "#009e73", "#56b4e9", "#0072b2")  # Okabe–Ito: safe for the color-blind
TICKS = 8


def backtest_page(found: Backtest) -> str:
    """Return the whole page; pictures are embedded as SVG."""
    figures = [_curve(found), _map(found)]
    sums = tables(found)
    count = len(found.parts)
    stations = len(found.trips.stations)
    title = html.escape(
        f"Backtest: {found.population.size:,} bikes at {stations} stations, {len(found.trips):,} recorded trips"
    )
    parts = [f"<h1>{title}</h1>", *(table.to_html() for table in sums[:count])]
    parts += ['<div class="figures">', *(embedded_figure(figure) for figure in figures), "</div>"]
    parts += ["<h2>How to read this</h2>", *(f"<p>{html.escape(note)}</p>" for note in notes(found))]
    return whole_page(title, [*parts, "<h2>Day by day</h2>", *(table.to_html() for table in sums[count:])])


def _curve(found: Backtest) -> ReportFigure:
    """Draw the sum of rides gained against the status quo, one curve for each other way."""
    days = _days(found.ways[0], found)
    with drawn((7.6, 4.0)) as (axes, figure):
        axes.axhline(0, color=COLORS[0], linewidth=1.2, label=found.ways[0].name)
        for way, color in zip(found.ways[1:], COLORS[1:], strict=True):
            gained = _rides(way, found) - _rides(found.ways[0], found)
            style = "--" if not way.name.startswith("mfbo") else "-"
            axes.plot(np.arange(len(days)), np.cumsum(gained), style, color=color, linewidth=1.8, label=way.name)
        if len(found.parts) > 1:
            cut = len(found.ways[0].learned.dates) - 0.5
            axes.axvline(cut, color="black", linewidth=0.8, linestyle=":")
            axes.annotate("held out", (cut, 1), xycoords=("data", "axes fraction"), xytext=(3, -9),
                          textcoords="offset points", fontsize=8)  # fmt: skip
        places = np.unique(np.linspace(0, len(days) - 1, min(TICKS, len(days))).round().astype(int))
        axes.set_xticks(places, [f"{date.fromordinal(days[place]):%d %b}" for place in places], fontsize=8)
        axes.set_title("Rides gained against the status quo, in sum")
        axes.set_ylabel("rides")
        axes.margins(x=0.01)
        legend_beside(axes)
    caption = "Sum of the rides served since the first day, less those of the status quo on the same days."
    return ReportFigure("", caption, "gained", figure, whole_width=True)


def _map(found: Backtest) -> ReportFigure:
    """Draw the status quo and the final plan: a map if the trips say where stations are, bars otherwise."""
    first, last = found.ways[0].learned.bikes[-1], found.ways[-1]
    panels = [_panel(found.ways[0].name, first), _panel(f"final plan, {last.name}", found.final, is_plan=True)]
    places = found.trips.coordinates
    agents = f"{found.population.size:,} bikes"
    picture = StudyPicture("In the morning", agents, found.population, places)
    figure = share_bars(picture, panels) if places is None else station_maps(picture, panels, ring="status quo")
    return ReportFigure("", "Where the bikes stand in the morning.", "plans", figure, whole_width=True)


def _panel(title: str, bikes: Any, *, is_plan: bool = False) -> Panel:
    shares = bikes / bikes.sum()
    return Panel(title, shares[None], shares, is_plan=is_plan)


def _days(way: Way, found: Backtest) -> list[int]:
    return [day for part in found.parts for day in getattr(way, part).dates]


def _rides(way: Way, found: Backtest) -> Any:
    return np.concatenate([getattr(way, part).rides for part in found.parts])
