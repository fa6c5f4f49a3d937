"""Pictures that a notebook asks for: each takes what the library gives and returns a figure; nothing is written."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError
from mfbo.experiments.results import Case
from mfbo.plotting.bars import share_bars
from mfbo.plotting.curves import best_so_far, strategy_color
from mfbo.plotting.figures import Figure, drawn, words
from mfbo.plotting.grids import fits_a_grid, grid_heat_maps
from mfbo.plotting.panels import DEMAND_COLOR, PLAN_COLOR, Panel, occupancy, panels_of
from mfbo.plotting.placements import StudyPicture, occupied, payoff_curve, placement_map
from mfbo.plotting.situation_panels import payoff_by_situation
from mfbo.plotting.station_maps import station_maps
from mfbo.problems import Problem
from mfbo.records import read_distribution
from mfbo.simplex import with_share
from mfbo.study import Explanation, Study

MOST_MOVES = 15
SLICES = 4
STEPS = 24
OTHERS = ("#009e73", "#cc79a7", "#e69f00", "#d55e00", "#56b4e9")  # of strategies without a color of their own
PANEL = (3.2, 2.8)  # inches


def progress(study: Study, ax: Any = None) -> Figure:
    """Draw every told payoff, what the model expects of the plans played, and its best so far.

    ax: axes to draw on; without them a figure is made. It is returned in both cases.
    """
    _require_told(study)
    return payoff_curve(_name(study), study.history, expectations(study), day_levels(study), ax=ax)


def placement(study: Study, plan: Any = None, ax: Any = None) -> Figure:
    """Draw one plan, the recommended one by default: a map if actions have coordinates, bars otherwise.

    plan: a plan, or a distribution as ``study.predict`` takes it.
    """
    population = study.population
    shares = study.recommend().realized if plan is None else read_distribution(plan, population, "plan")
    panel = Panel("recommended" if plan is None else "plan", shares, occupied(population, shares))
    picture = StudyPicture(_name(study), population.spoken, population, population.labels.places)
    return share_bars(picture, [panel], ax) if picture.places is None else station_maps(picture, [panel], ax=ax)


def placements(study: Study) -> Figure:
    """Draw the latest placement beside the recommended one."""
    _require_told(study)
    return placement_map(_name(study), study.history, study.recommend())


def by_situation(study: Study) -> Figure:
    """Draw told payoffs over each situation, beside what one and the same plan would bring on those days."""
    levels = day_levels(study)
    figure = None if levels is None else payoff_by_situation(_name(study), study.history, levels)
    if figure is None:
        raise InvalidInputError("no told round knows its situation: create_study(…, situations=…) declares them")
    return figure


def comparison(runs: Any, optimum: float | None = None, title: str = "", ax: Any = None) -> Figure:
    """Draw the best payoff so far of several strategies, with the standard error over seeds if there are several.

    runs: a case of a suite's results; the runs of one problem, as ``mfbo.experiments.run`` returns them; or a mapping
    from strategies to traces, one (T,) for each seed.
    """
    if isinstance(runs, Case):
        curves: Mapping[str, Any] = {group.name: group.traces.tolist() for group in runs.groups}
        title, optimum = title or runs.label, runs.optimum if optimum is None else optimum
    elif isinstance(runs, Mapping):
        title, curves = title or "comparison", runs
    else:
        found = list(runs)
        problems = sorted({run.problem for run in found})
        if len(problems) != 1:
            raise InvalidInputError(f"a comparison is of runs of one problem, not of {', '.join(problems) or 'none'}")
        title, optimum = title or problems[0], found[0].optimum if optimum is None else optimum
        names = dict.fromkeys(run.strategy for run in found)
        curves = {name: [run.trace for run in found if run.strategy == name] for name in names}
    free = [color for color in OTHERS if not any(strategy_color(name) == color for name in curves)]
    others = [name for name in curves if strategy_color(name) is None]
    colors = dict(zip(others, free * len(others), strict=False))
    return best_so_far(title, curves, optimum, ax=ax, colors=colors)


def explanation(explained: Explanation, ax: Any = None) -> Figure:
    """Draw what moving one agent to each action would change, ± 2 standard deviations, most gainful first."""
    several = len(explained.population.contexts) > 1
    moves = [row for row in explained.rows() if row["gain"] is not None][:MOST_MOVES]
    names = [words(f"{row['action']} ({row['context']})" if several else row["action"]) for row in moves]
    rows = np.arange(len(moves))
    with drawn((6.4, 1.2 + 0.26 * max(len(moves), 1)), ax) as (axes, figure):
        halves = [2 * row["gain_sd"] for row in moves]
        axes.barh(rows, [row["gain"] for row in moves], xerr=halves, height=0.7, color=DEMAND_COLOR, ecolor="#555555")
        axes.axvline(0.0, color="#888888", linewidth=0.8)
        axes.set_yticks(rows, names, fontsize=8)
        axes.invert_yaxis()
        axes.set_xlabel(f"gain, {explained.unit}, ± 2 sd")
        axes.set_title("What a move would change")
    return figure


def slices(study: Study, actions: Iterable[Any] | None = None, *, situation: Any = None, ax: Any = None) -> Figure:
    """Draw the expected payoff, ± 2 standard deviations, over the share at single actions, the others in proportion.

    actions: names or positions; by default four where the recommended plan puts most. ax: for one action alone.
    """
    population, plan = study.population, study.recommend(situation).realized
    totals = occupied(population, plan)
    fullest = np.argsort(-totals, kind="stable")[:SLICES].tolist()
    chosen = fullest if actions is None else [population.action_index(action) for action in actions]
    if ax is not None and len(chosen) != 1:
        raise InvalidInputError("ax= takes one slice: name one action, slices(study, ['Harbor'], ax=ax)")
    size = (PANEL[0] * max(len(chosen), 1), PANEL[1])
    with drawn(size, ax, ncols=max(len(chosen), 1), sharey=True, squeeze=False) as (found, figure):
        for axes, place in zip(np.atleast_1d(found).flat, chosen, strict=True):
            _draw_slice(axes, study, plan, place, situation)
        np.atleast_1d(found).flat[0].set_ylabel("expected payoff")
    return figure


def _draw_slice(axes: Any, study: Study, plan: FloatArray, place: int, situation: Any) -> None:
    population = study.population
    here = float(occupied(population, plan)[place])
    shares = np.linspace(0.0, min(max(3.0 * here, 3.0 / population.shape[1]), 1.0), STEPS + 1)
    found = [study.predict(with_share(plan, population.weights, place, share), situation) for share in shares]
    mean, sd = np.array([one.mean for one in found]), np.array([one.sd for one in found])
    axes.fill_between(shares, mean - 2 * sd, mean + 2 * sd, color=DEMAND_COLOR, alpha=0.18, linewidth=0)
    axes.plot(shares, mean, color=DEMAND_COLOR)
    axes.axvline(here, color=PLAN_COLOR, linewidth=0.9, linestyle="--")
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%")
    axes.set_xlabel("share here")
    axes.set_title(words(population.actions[place]), fontsize=10)


def heat_maps(problem: Problem, plans: Mapping[str, Any] | None = None) -> Figure:
    """Draw the demand or optimum of a problem on a grid, and plans by their titles beside it, on one color scale."""
    if not fits_a_grid(problem):
        raise InvalidInputError(f"{problem.name} lies on no grid: problem_figures draws it")
    panels = panels_of(problem, None)
    for title, plan in (plans or {}).items():
        shares = read_distribution(plan, problem.population, title)
        panels.append(Panel(title, shares, occupancy(problem, shares), is_plan=True))
    return grid_heat_maps(problem, panels)


def expectations(study: Study) -> tuple[FloatArray, FloatArray] | None:
    """Return what the model expects of every told round's plan; None of a strategy without a model."""
    try:
        return study.expected()
    except InvalidInputError:
        return None


def day_levels(study: Study) -> FloatArray | None:
    """Return what one plan would bring on the day of every told round; None without situations or a model."""
    try:
        return study.day_levels()
    except InvalidInputError:
        return None


def _require_told(study: Study) -> None:
    if not study.history.told:
        raise InvalidInputError("the study has no told round yet: there is nothing to draw")


def _name(study: Study) -> str:
    return study.name or "study"
