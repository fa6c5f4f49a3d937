"""Which function draws which kind of picture: heat maps, a station map, the world, the pitch, or bars."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mfbo.arrays import FloatArray
from mfbo.plotting.arena_histogram import arena_histogram
from mfbo.plotting.bars import share_bars
from mfbo.plotting.grids import fits_a_grid, grid_heat_maps
from mfbo.plotting.panels import Panel, panels_of
from mfbo.plotting.ports import port_maps
from mfbo.plotting.station_maps import station_maps
from mfbo.plotting.swarm_bars import swarm_bars
from mfbo.problems import Problem
from mfbo.problems.pictures import PitchPicture, PlacesPicture, PortsPicture, RewardPicture
from mfbo.validation import distribution_array


def draw_problem(folder: Path, problem: Problem, plan: FloatArray | None = None) -> list[Path]:
    """Draw the demand or optimum of a problem, and a plan (C, A) beside it; return the files written.

    They are called NAME.png and NAME.svg, or NAME-plan.… when there is a plan; the arena gets one of each. An optimum
    that is not known gives way to the uniform distribution.
    """
    if plan is not None:
        plan = distribution_array(plan, "plan", *problem.population.shape)
    path = folder / (problem.name if plan is None else f"{problem.name}-plan")
    return DRAWERS[type(problem.picture)](path, problem, problem.picture, panels_of(problem, plan))


def _draw_places(path: Path, problem: Problem, picture: PlacesPicture, panels: Sequence[Panel]) -> list[Path]:
    if fits_a_grid(problem):
        return grid_heat_maps(path, problem, panels)
    if problem.places is not None:
        return station_maps(path, problem, panels)
    return share_bars(path, problem, panels)


def _draw_pitch(path: Path, problem: Problem, picture: PitchPicture, panels: Sequence[Panel]) -> list[Path]:
    """Draw every panel on a pitch of its own; only the plan's file is called a plan."""
    files: list[Path] = []
    for panel in panels:
        target = path if panel.is_plan else path.parent / problem.name
        what = panel.title.split(",")[0]
        files += arena_histogram(target, problem.population, panel.distribution.tolist(), what)
    return files


DRAWERS: Mapping[type, Callable[[Path, Problem, Any, Sequence[Panel]], list[Path]]] = {
    PlacesPicture: _draw_places,
    PitchPicture: _draw_pitch,
    RewardPicture: swarm_bars,
    PortsPicture: port_maps,
}
