"""A picture of payoffs by situation: one panel for each variable, what was told and what one plan would bring."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
from matplotlib import dates

from mfbo.arrays import FloatArray
from mfbo.plotting.figures import Figure, drawn, words
from mfbo.plotting.panels import DEMAND_COLOR
from mfbo.plotting.placements import payoff_label
from mfbo.records import History, told_payoff
from mfbo.situations import SECONDS_A_DAY, SituationVariable

MOST_PANELS = 6
MOST_DATES = 5  # written below a panel
PANEL = (3.4, 3.2)  # inches
SPREAD = 0.18  # how far points of a category lie beside it


def payoff_by_situation(name: str, history: History, levels: FloatArray) -> Figure | None:
    """Draw told payoffs over each variable, beside what one and the same plan is expected to bring on those days.

    levels: that expectation for every told round, (n,). The first six variables that any round knows are drawn; None if
    no round knows any.
    """
    told = history.told
    known = {value for done in told for value in done.situation}
    variables = () if history.situations is None else history.situations.variables
    shown = [variable for variable in variables if variable.name in known][:MOST_PANELS]
    if not shown:
        return None
    payoffs = np.array([told_payoff(done) for done in told])
    size = (PANEL[0] * len(shown), PANEL[1])
    with drawn(size, ncols=len(shown), sharey=True, squeeze=False) as (axes, figure):
        for panel, variable in zip(axes[0], shown, strict=True):
            rows = [place for place, done in enumerate(told) if variable.name in done.situation]
            where = _positions(panel, variable, [told[place].situation[variable.name] for place in rows])
            panel.plot(where, payoffs[rows], "o", markersize=3, color="#999999", label="told")
            panel.plot(where, levels[rows], "o", markersize=3, color=DEMAND_COLOR, label="expected of one plan")
            panel.set_xlabel(words(variable.name))
            panel.margins(x=0.06, y=0.08)
        axes[0][0].set_title(f"{words(name)}: payoff by situation")
        axes[0][0].set_ylabel(payoff_label(history))
        axes[0][-1].legend(frameon=False, loc="best", fontsize=8)
    return figure


def _positions(panel: Any, variable: SituationVariable, values: list[Any]) -> Any:
    """Return where values lie on the axis, and write there what they are."""
    if variable.kind == "time":
        untyped: Any = dates
        locator = untyped.AutoDateLocator(minticks=3, maxticks=MOST_DATES)
        panel.xaxis.set_major_locator(locator)
        panel.xaxis.set_major_formatter(untyped.ConciseDateFormatter(locator))
        return [datetime.fromtimestamp(float(value) * SECONDS_A_DAY, UTC) for value in values]
    if variable.kind == "number":
        return np.array(values, dtype=np.float64)
    panel.set_xticks(range(len(variable.categories)), [words(category) for category in variable.categories])
    beside = SPREAD * np.linspace(-1.0, 1.0, len(values)) if len(values) > 1 else np.zeros(1)
    return np.array([variable.categories.index(value) for value in values]) + beside
