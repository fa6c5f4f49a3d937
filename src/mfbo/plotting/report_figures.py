"""The figures of a report: which ones the results can fill, drawn."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.experiments.report_tables import gaps_lost, regret_curves, round_seconds
from mfbo.experiments.results import Case, Group, Results
from mfbo.experiments.statistics import interval
from mfbo.experiments.sweeps import AXES, Sweep, axis_value, sweeps
from mfbo.plotting.arena_histogram import arena_histogram
from mfbo.plotting.curves import best_so_far
from mfbo.plotting.figures import Figure, letters_as_text, picture_bytes
from mfbo.plotting.grids import fits_a_grid, grid_heat_maps
from mfbo.plotting.panels import Panel, number, occupancy, panels_of
from mfbo.plotting.scaling_curves import Point, curves_along, sweep
from mfbo.problems import Problem
from mfbo.problems.pictures import PitchPicture

MAP_ORDER = ("random", "turbo", "mf-gp-ucb", "default")  # the paper's: demand, random, TuRBO, MF-GP-UCB; then ours
ON_THE_PITCH = ("mf-gp-ucb", "default")


@dataclass(frozen=True, eq=False)
class ReportFigure:
    """A figure of the report: its heading, what one sees, the name of its file, and the picture."""

    section: str
    caption: str
    name: str
    figure: Figure
    whole_width: bool = False

    @cached_property
    def svg(self) -> bytes:
        """The picture for a page; letters are text."""
        with letters_as_text():
            return picture_bytes(self.figure, "svg")


def report_figures(results: Results) -> list[ReportFigure]:
    """Draw every figure that the results can fill; nothing is written."""
    along = sweeps(results.cases)
    swept = {case.label for found in along if found.axis != "actions" for case in found.cases}
    plain = [case for case in results.cases if case.label not in swept]
    with_problem = [(case, case.problem_data) for case in plain if case.problem_data is not None]
    figures = [_curves(case) for case in plain]
    figures += [figure for case in plain if (figure := _regret(case)) is not None]
    for case, problem in with_problem:
        if isinstance(problem.picture, PitchPicture):
            shown = (case.group(name) for name in ON_THE_PITCH)
            figures += [_pitch(case, problem, group) for group in shown if group is not None]
    figures += [_heat_maps(case, problem) for case, problem in with_problem if fits_a_grid(problem)]
    figures += [figure for case in plain if (figure := _bound(case)) is not None]
    for found in along:
        figures.append(_sweep(found))
        if found.axis == "agents":
            figures += _regret_by_agents(found)
    return figures


def _curves(case: Case) -> ReportFigure:
    traces = {_legend(group): group.traces.tolist() for group in case.groups}
    ceiling = case.drawn_ceiling
    drawn = {} if ceiling is None else {"optimal plan, one draw": ceiling.one, "… best of all rounds": ceiling.best}
    name = f"best-so-far-{_slug(case)}"
    figure = best_so_far(_title(case), traces, case.optimum, drawn)
    there = "4" if case.problem.startswith("nyc") else "2"
    caption = f"{case.label}: mean over seeds, the band is the standard error. The paper's figure {there} shows this."
    if drawn:
        caption += " Dotted: what the optimal distribution is worth to agents who draw their actions from it."
    return ReportFigure("Best value so far", caption, name, figure)


def _pitch(case: Case, problem: Problem, group: Group) -> ReportFigure:
    best = group.best
    name = f"arena-histogram-{_slug(case)}-{group.strategy}"
    figure = arena_histogram(problem.population, best.best_distribution, group.strategy)
    caption = (
        f"Where the two teams sit in the best plan of {group.strategy} (seed {best.seed}): payoff "
        f"{number(best.best_value)}. The paper's figure 3 shows one worth about 0.9."
    )
    return ReportFigure("The arena's histogram", caption, name, figure)


def _heat_maps(case: Case, problem: Problem) -> ReportFigure:
    panels = panels_of(problem, None)
    for group in (case.group(name) for name in MAP_ORDER):
        if group is not None:
            plan = np.array(group.best.best_distribution)
            title = f"{group.strategy}, {number(group.best.best_value)}"
            panels.append(Panel(title, plan, occupancy(problem, plan), is_plan=True))
    name = f"heat-maps-{_slug(case)}"
    figure = grid_heat_maps(problem, panels)
    caption = (
        f"{case.label}: demand and the best plan of each method, with its payoff. The paper's figure 5 shows the 12×20 "
        "grid."
    )
    return ReportFigure("Heat maps of Manhattan", caption, name, figure, whole_width=True)


def _regret(case: Case) -> ReportFigure | None:
    lost = {_legend(group): gaps_lost(case, group) for group in case.groups}
    curves = {label: np.cumsum(gaps, axis=1) for label, gaps in lost.items() if gaps is not None}
    if not curves:
        return None
    title = f"{_title(case)}: regret, summed over rounds"
    name = f"regret-{_slug(case)}"
    figure = curves_along(title, "regret, in units of the gap", curves)
    caption = (
        f"{case.label}: regret as the paper defines it, the optimum minus the payoff played, summed over the rounds so "
        "far; a flat curve loses nothing any more."
    )
    return ReportFigure("Regret: the sum over rounds", caption, name, figure)


def _bound(case: Case) -> ReportFigure | None:
    group = case.group("mf-gp-ucb")
    found = None if group is None else regret_curves(case, group)
    if group is None or found is None:
        return None
    regret, bounds = found
    title = f"{_title(case)}: regret and its bound"
    name = f"regret-bound-{_slug(case)}"
    figure = curves_along(title, "regret, in units of the gap", {_legend(group): regret}, bounds.mean(axis=0))
    caption = (
        f"{case.label}: regret of {group.name}, and dashed the theorem's bound at the information gain of its plans, a "
        "yardstick in the kernel's own unit."
    )
    return ReportFigure("The theorem's bound", caption, name, figure)


def _sweep(swept: Sweep) -> ReportFigure:
    seconds: dict[str, list[Point]] = {}
    regrets: dict[str, list[Point]] = {}
    for case in swept.cases:
        for group in case.groups:
            seconds.setdefault(group.name, []).append(_point(case, swept.axis, round_seconds(group)))
            if case.optimum is not None:
                regrets.setdefault(group.name, []).append(_point(case, swept.axis, case.optimum - group.finals))
    panels: dict[str, Mapping[str, Sequence[Point]]] = {"strategy's seconds per round": seconds}
    if regrets:
        panels["regret of the best plan"] = regrets
    what = AXES[swept.axis]
    title = f"Time and regret against {what}"
    name = f"scaling-{swept.name}"
    figure = sweep(title, what.removeprefix("the "), panels)
    names = ", ".join(dict.fromkeys(case.problem for case in swept.cases))
    return ReportFigure("Scaling", f"{names}: mean over seeds with 95 % intervals.", name, figure, whole_width=True)


def _regret_by_agents(swept: Sweep) -> list[ReportFigure]:
    pictures = []
    for strategy in dict.fromkeys(group.name for case in swept.cases for group in case.groups):
        curves = {
            _agents(case): np.maximum(case.optimum - group.traces, 1e-12)
            for case in swept.cases
            for group in case.groups
            if group.name == strategy and case.optimum is not None
        }
        if not curves:
            continue
        title = f"{swept.cases[0].problem}, {strategy}: regret of the best plan so far"
        name = f"regret-by-{swept.name}-{_for_a_file(strategy)}"
        figure = curves_along(title, "regret", curves)
        caption = f"{strategy}: does the number of agents M matter? Mean over seeds, the band is the standard error."
        pictures.append(ReportFigure("Scaling", caption, name, figure))
    return pictures


def _point(case: Case, axis: str, values: FloatArray) -> Point:
    found = interval(values)
    return axis_value(case, axis), max(found.mean, 1e-12), found.half or 0.0


def _agents(case: Case) -> str:
    return f"M = {case.agents:,}" if isinstance(case.agents, int) else f"M = {case.agents}"


def _legend(group: Group) -> str:
    if not group.limited:
        return group.name
    return f"{group.name} (limit {group.time_limit:g} s)"


def _title(case: Case) -> str:
    return f"{case.label}, |A| = {case.actions}" if "M =" in case.label else f"{case.label}, {_agents(case)}"


def _slug(case: Case) -> str:
    return _for_a_file(case.label)


def _for_a_file(text: str) -> str:
    return re.sub(r"[^\w.]+", "-", text.replace(",", "")).strip("-")
