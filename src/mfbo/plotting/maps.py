"""Which picture shows a problem: heat maps, a station map, the world, the pitch, or bars."""

from pathlib import Path

from mfbo.arrays import FloatArray
from mfbo.plotting.arena import arena_histogram
from mfbo.plotting.bars import share_bars
from mfbo.plotting.grids import fits_a_grid, grid_heat_maps
from mfbo.plotting.panels import panels_of
from mfbo.plotting.ports import port_maps
from mfbo.plotting.stations import station_maps
from mfbo.plotting.swarm import swarm_bars
from mfbo.problems import Problem
from mfbo.problems.arena import ArenaPayoff
from mfbo.problems.maritime import MaritimePayoff
from mfbo.problems.swarm import SwarmPayoff
from mfbo.validation import distribution_array


def draw_problem(folder: Path, problem: Problem, plan: FloatArray | None = None) -> list[Path]:
    """Draw the demand or optimum of a problem, and a plan (C, A) beside it; return the files written.

    They are called NAME.png and NAME.svg, or NAME-plan.… when there is a plan; the arena gets one of each. An optimum
    that is not known gives way to the uniform distribution.
    """
    if plan is not None:
        plan = distribution_array(plan, "plan", *problem.population.shape)
    panels = panels_of(problem, plan)
    path = folder / (problem.name if plan is None else f"{problem.name}-plan")
    if isinstance(problem.payoff, ArenaPayoff):
        named = zip((folder / problem.name, path), panels, strict=False)
        pictures = [
            arena_histogram(each, problem.population, panel.distribution.tolist(), panel.title.split(",")[0])
            for each, panel in named
        ]
        return [picture for both in pictures for picture in both]
    if isinstance(problem.payoff, SwarmPayoff):
        return swarm_bars(path, problem, panels)
    if isinstance(problem.payoff, MaritimePayoff):
        return port_maps(path, problem, problem.payoff, panels)
    if fits_a_grid(problem):
        return grid_heat_maps(path, problem, panels)
    if problem.places is not None:
        return station_maps(path, problem, panels)
    return share_bars(path, problem, panels)
