"""Which function draws which kind of picture: heat maps, a station map, the world, the pitch, or bars."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mfbo.arrays import FloatArray
from mfbo.plotting.arena_histogram import arena_histogram
from mfbo.plotting.bars import share_bars
from mfbo.plotting.figures import Figure
from mfbo.plotting.grids import fits_a_grid, grid_heat_maps
from mfbo.plotting.panels import Panel, panels_of
from mfbo.plotting.ports import port_maps
from mfbo.plotting.station_maps import station_maps
from mfbo.plotting.swarm_bars import swarm_bars
from mfbo.problems import Problem
from mfbo.problems.pictures import PitchPicture, PlacesPicture, PortsPicture, RewardPicture
from mfbo.validation import distribution_array


def problem_figures(problem: Problem, plan: FloatArray | None = None) -> dict[str, Figure]:
    """Draw the demand or optimum of a problem, and a plan (C, A) beside it; return figures by the names of their files.

    They are called NAME, or NAME-plan when there is a plan; the arena gets one of each. An optimum that is not known
    gives way to the uniform distribution.
    """
    if plan is not None:
        plan = distribution_array(plan, "plan", *problem.population.shape)
    name = problem.name if plan is None else f"{problem.name}-plan"
    panels = panels_of(problem, plan)
    if isinstance(problem.picture, PitchPicture):
        return {name if panel.is_plan else problem.name: _draw_pitch(problem, panel) for panel in panels}
    return {name: DRAWERS[type(problem.picture)](problem, problem.picture, panels)}


def _draw_places(problem: Problem, picture: PlacesPicture, panels: Sequence[Panel]) -> Figure:
    if fits_a_grid(problem):
        return grid_heat_maps(problem, panels)
    if problem.places is not None:
        return station_maps(problem, panels)
    return share_bars(problem, panels)


def _draw_pitch(problem: Problem, panel: Panel) -> Figure:
    return arena_histogram(problem.population, panel.distribution.tolist(), panel.title.split(",")[0])


DRAWERS: Mapping[type, Callable[[Problem, Any, Sequence[Panel]], Figure]] = {
    PlacesPicture: _draw_places,
    RewardPicture: swarm_bars,
    PortsPicture: port_maps,
}
