"""Shares of places that lie on no map: bars for the largest of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mfbo.plotting.figures import Figure, drawn, words
from mfbo.plotting.panels import DEMAND_COLOR, PLAN_COLOR, Panel, Pictured, headline

MOST_BARS = 30
LONGEST_NAME = 28


def share_bars(problem: Pictured, panels: Sequence[Panel], ax: Any = None) -> Figure:
    """Draw the places with the largest shares, all panels side by side in each."""
    actions = problem.population.actions
    order = np.argsort(-np.max([panel.shares for panel in panels], axis=0), kind="stable")[:MOST_BARS]
    rows = np.arange(len(order))
    height = 0.8 / len(panels)
    with drawn((6.4, 1.2 + (0.14 + 0.08 * len(panels)) * len(order)), ax) as (axes, figure):
        for position, panel in enumerate(panels):
            color = PLAN_COLOR if panel.is_plan else DEMAND_COLOR
            shift = (position - (len(panels) - 1) / 2) * height
            axes.barh(rows + shift, panel.shares[order], height=height, color=color, label=panel.title, linewidth=0)
        axes.set_yticks(rows, [words(_short(actions[place])) for place in order], fontsize=8)
        axes.invert_yaxis()
        axes.margins(y=0.01)
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%")
        few = len(order) < len(actions)
        axes.set_xlabel(f"share ({len(order)} largest of {len(actions)} places)" if few else "share")
        axes.legend(frameon=False, loc="lower right")
        if ax is None:
            headline(figure, problem)
    return figure


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
