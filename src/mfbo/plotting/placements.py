"""Pictures of a study: payoffs over rounds, and the recommended placement beside the latest one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.plotting.bars import share_bars
from mfbo.plotting.figures import Figure, drawn, words
from mfbo.plotting.panels import DEMAND_COLOR, PLAN_COLOR, Panel
from mfbo.plotting.station_maps import station_maps
from mfbo.plotting.study_marks import StudyMarks
from mfbo.population import Population
from mfbo.records import History, Plan, told_payoff

LONGEST_CHANGE = 40  # letters of a change beside its line


@dataclass(frozen=True, eq=False)
class StudyPicture:
    """What a picture needs to know of a study; see ``panels.Pictured``."""

    name: str
    summary: str
    population: Population
    places: FloatArray | None


def payoff_curve(
    name: str,
    history: History,
    expected: tuple[FloatArray, FloatArray] | None,
    levels: FloatArray | None = None,
    marks: StudyMarks | None = None,
    ax: Any = None,
) -> Figure:
    """Draw every told payoff as a point and, with a model, what it expects of the plans.

    expected: mean and standard deviation of the payoff of every told round's plan, (n,) each; None without a model.
    levels: what one and the same plan is expected to bring on each of the days, (n,), in a study with situations; then
    days are drawn as if all were alike. Told payoffs of agents are their mean. Amended and withdrawn days are marked;
    dotted lines say where the study changed. The rising line is the expectation's best so far, never a lucky day.
    """
    values = np.array([told_payoff(told) for told in history.told])
    if levels is not None:
        above_usual = levels - levels.mean()
        values = values - above_usual
        expected = None if expected is None else (expected[0] - above_usual, expected[1])
    rounds = np.arange(1, len(values) + 1)
    with drawn((6.4, 4.0), ax) as (axes, figure):
        if expected is not None:
            _draw_expected(axes, rounds, *expected)
        axes.plot(rounds, values, "o", markersize=3.5, color="#888888", label="told")
        late = np.array([told.late for told in history.told])
        if late.any():
            axes.plot(rounds[late], values[late], "o", markersize=5, color=PLAN_COLOR, label="told late")
        _mark_corrections(axes, rounds, values, history)
        _mark_changes(axes, () if marks is None else marks.changes)
        axes.set_title(f"{words(name)}: population payoff")
        axes.set_xlabel("told round")
        payoff = payoff_label(history)
        axes.set_ylabel(payoff if levels is None else f"{payoff}, as if all days were alike")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.margins(x=0.02, y=0.08)
        axes.legend(frameon=False, loc="best", fontsize=8)
    return figure


def payoff_label(history: History) -> str:
    """Return what payoffs are called on an axis: those of a study that is told totals are drawn per agent."""
    return "payoff per agent" if any(done.as_told != done.payoff for done in history.told) else "payoff"


def _draw_expected(axes: Any, rounds: IntArray, mean: FloatArray, sd: FloatArray) -> None:
    """Draw what the model expects of the plans, with its band, and the best of that so far."""
    band = {"color": DEMAND_COLOR, "alpha": 0.18, "linewidth": 0, "label": "± 2 sd"}
    axes.fill_between(rounds, mean - 2 * sd, mean + 2 * sd, **band)
    axes.plot(rounds, mean, color=DEMAND_COLOR, linewidth=0.9, label="expected of the plan played")
    best = np.maximum.accumulate(mean)
    axes.plot(rounds, best, color="black", linewidth=1.8, drawstyle="steps-post", label="best so far, as expected")


def _mark_changes(axes: Any, changes: Sequence[tuple[int, str]]) -> None:
    """Draw a line where the study changed, and what changed beside it; see ``StudyMarks``."""
    for place, change in changes:
        axes.axvline(place + 0.5, color="#bbbbbb", linewidth=0.8, linestyle=":")
        note = {"fontsize": 6, "color": "#777777", "rotation": 90, "va": "top", "ha": "right"}
        axes.text(place + 0.5, 0.99, words(change[:LONGEST_CHANGE]), transform=axes.get_xaxis_transform(), **note)


def _mark_corrections(axes: Any, rounds: IntArray, values: FloatArray, history: History) -> None:
    """Mark days that were amended, and between the others those that are now believed never to have happened."""
    amended = np.array([bool(told.correction) for told in history.told])
    if amended.any():
        style = {"markersize": 5, "fillstyle": "none", "color": "black", "label": "amended"}
        axes.plot(rounds[amended], values[amended], "D", **style)
    withdrawn = [told for told in history.rounds if told.state == "withdrawn" and told.feedback is not None]
    if withdrawn:
        order = [told.told or 0 for told in history.told]
        places = [float(np.searchsorted(order, told.told or 0)) + 0.5 for told in withdrawn]
        payoffs = [told_payoff(told) for told in withdrawn]
        axes.plot(places, payoffs, "x", markersize=5, color="#888888", label="withdrawn")


def placement_map(name: str, history: History, recommended: Plan, marks: StudyMarks | None = None) -> Figure:
    """Draw the latest placement and the recommended one: a map if the stations have coordinates, bars otherwise.

    Stations that opened or closed since the study began are marked.
    """
    population, marks = history.population, marks or StudyMarks()
    last = next((told for told in reversed(history.told) if not told.added), history.told[-1])
    played = last.played
    panels = [
        Panel(f"as last played (plan {last.number})", played, occupied(population, played)),
        Panel("recommended", recommended.realized, occupied(population, recommended.realized), is_plan=True),
    ]
    agents = "shares" if population.size is None else f"{population.size} agents"
    stations = population.shape[1] - len(population.closed)
    closed = f", {len(population.closed)} closed" * bool(population.closed)
    summary = f"{agents} at {stations} stations{closed}"
    picture = StudyPicture(name, summary, marks.labeled(population), population.labels.places)
    if picture.places is None:
        return share_bars(picture, panels)
    return station_maps(picture, panels, ring="as last played", marked=marks.places(population))


def occupied(population: Population, distribution: FloatArray) -> FloatArray:
    """Return the share of all agents at each action, (A,)."""
    return np.asarray(population.joint_shares(distribution).sum(axis=0))
