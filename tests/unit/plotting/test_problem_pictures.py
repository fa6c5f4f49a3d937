"""Which picture a problem gets, and what is in it; the SVG tells, for it keeps every text as a comment."""

import re
from pathlib import Path

import numpy as np
import pytest

from mfbo.catalogue import make_problem
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.problems import custom_problem, demand_problem, problem_of_table
from mfbo.problems.tables import DemandTable

pytest.importorskip("matplotlib")

from mfbo.plotting import grids, problem_figures, save_figure, station_maps
from mfbo.plotting.panels import panels_of


def draw_problem(folder, problem, plan=None):
    """Draw a problem, write its figures as the command line does, and return the files."""
    figures = problem_figures(problem, plan)
    return [file for name, figure in figures.items() for file in save_figure(figure, folder / name)]


def texts(files: list[Path]) -> list[str]:
    png, svg = files
    assert png.read_bytes().startswith(b"\x89PNG")
    return re.findall(r"<!-- (.*?) -->", svg.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.fixture
def names_written(monkeypatch):
    """How many names each station map got; names have a halo, and the SVG keeps no comment of those."""
    written = []
    place = station_maps.place_labels
    monkeypatch.setattr(station_maps, "place_labels", lambda *arguments: written.append(place(*arguments)))
    return written


def table_problem(rows, columns, places=None):
    """Return a problem on a grid with demand 1, 2, 3 …"""
    count = len(rows)
    return problem_of_table(
        DemandTable(
            names=tuple(f"c{k}" for k in range(count)),
            feature_names=() if places is None else ("longitude", "latitude"),
            features=np.empty((count, 0)) if places is None else np.array(places),
            demand=np.arange(1.0, count + 1),
            extras={"row": np.array(rows), "column": np.array(columns)},
        ),
        "city",
        None,
    )


def test_places_without_a_map_become_bars(tmp_path):
    problem = demand_problem([f"place {k}" for k in range(40)], np.arange(1, 41))
    found = texts(draw_problem(tmp_path, problem))
    assert "place 39" in found
    assert "share (30 largest of 40 places)" in found
    assert "place 0" not in found


def test_places_of_a_plane_have_axes_x_and_y(tmp_path):
    problem = demand_problem(["a", "b", "c"], [1, 2, 3], [[0, 0], [1, 2], [3, 1]])
    found = texts(draw_problem(tmp_path, problem))
    assert {"x", "y"} <= set(found)
    assert not any("°" in text for text in found)


def test_stations_have_names_degrees_and_rings(tmp_path, names_written):
    problem = make_problem("bay-area-bike")
    found = texts(draw_problem(tmp_path, problem, problem.optimum.distribution[:, ::-1]))
    assert names_written == [station_maps.LABELS, station_maps.LABELS]
    assert {"122.40° W", "37.80° N", "ring: demand", "demand, which is the optimum"} <= set(found)


def test_a_grid_is_drawn_in_degrees_with_one_color_bar(tmp_path):
    files = draw_problem(tmp_path, make_problem("nyc-12x20"), np.full((1, 158), 1 / 158))
    found = texts(files)
    assert found.count("share in each of 158 squares") == 1
    assert {"74.00° W", "40.76° N"} <= set(found)
    assert [file.name for file in files] == ["nyc-12x20-plan.png", "nyc-12x20-plan.svg"]


def test_a_grid_without_places_is_drawn_by_row_and_column(tmp_path):
    found = texts(draw_problem(tmp_path, table_problem([0, 0, 4], [2, 7, 5])))
    assert {"row", "column"} <= set(found)


@pytest.mark.parametrize(
    ("rows", "columns", "places"),
    [
        ([0], [0], [[13.4, 52.5]]),
        ([0, 0], [0, 1], [[13.4, 52.5], [13.5, 52.5]]),
        ([2, 1], [0, 0], [[13.4, 52.4], [13.4, 52.5]]),  # rows counted from the north
    ],
)
def test_a_grid_of_one_row_or_column_has_square_cells(rows, columns, places, tmp_path):
    problem = table_problem(rows, columns, places)
    grid = (problem.grid - problem.grid.min(axis=0)).astype(int)
    stretch = 1 / np.cos(np.radians(np.mean([latitude for _, latitude in places])))
    wide, high = (np.abs(np.diff(edges)) for edges in grids._edges(grid, problem.places, stretch))
    np.testing.assert_allclose(wide[0] / stretch, high[0], rtol=0.01)
    assert draw_problem(tmp_path, problem)


def test_cells_lie_where_the_table_says():
    problem = make_problem("nyc-20x36")
    columns, rows = grids._edges(problem.grid.astype(int), problem.places, 1.32)
    np.testing.assert_allclose(columns[[0, -1]], [-74.015, -73.955], atol=2e-6)
    np.testing.assert_allclose(rows[[0, -1]], [40.705, 40.785], atol=2e-6)


def test_cells_without_an_action_stay_blank_and_empty_ones_do_not():
    grid = np.array([[0, 0], [1, 1]])
    image = grids._image(grid, np.array([1.0, 0.0]))
    assert image.mask.tolist() == [[False, True], [True, False]]
    assert image[1, 1] == 0


def test_a_spike_in_a_plan_is_clipped_at_twice_the_reference():
    problem = table_problem([0, 0, 1], [0, 1, 0])
    assert grids._top(panels_of(problem, np.array([[0.0, 0.4, 0.6]]))) == (0.6, False)
    wide = table_problem([0] * 20, range(20))
    top, clipped = grids._top(panels_of(wide, np.eye(20)[:1]))
    assert clipped
    assert top == pytest.approx(2 * 20 / 210)


def test_a_grid_that_no_memory_could_hold_is_drawn_as_places(tmp_path, names_written):
    problem = table_problem([0, 10**9], [0, 10**9], [[13.4, 52.5], [13.5, 52.6]])
    assert not grids.fits_a_grid(problem)
    assert "13.45° E" in texts(draw_problem(tmp_path, problem))
    assert names_written == [2]


def test_the_world_has_regions_and_says_who_is_at_home(tmp_path):
    problem = make_problem("maritime")
    found = texts(draw_problem(tmp_path, problem, problem.optimum.distribution))
    assert "North Atlantic, 21 ports" in found
    assert sum("59% of vessels in their own region" in text for text in found) == 2


def test_the_swarm_has_its_reward(tmp_path):
    found = texts(draw_problem(tmp_path, make_problem("swarm")))
    assert {"reward φ", "share of agents", "angle", "optimum, payoff 18.013"} <= set(found)


def test_the_arena_gets_a_picture_of_the_optimum_and_one_of_the_plan(tmp_path):
    files = draw_problem(tmp_path, make_problem("arena"), np.full((2, 30), 1 / 30))
    assert [file.name for file in files] == ["arena.png", "arena.svg", "arena-plan.png", "arena-plan.svg"]


def test_several_contexts_are_drawn_as_the_share_of_all_agents(tmp_path):
    population = Population({"name": ["a", "b"], "longitude": [1.0, 2.0], "latitude": [0.0, 1.0]}, contexts=["x", "y"])
    problem = custom_problem("mine", population, lambda distribution: float(distribution[0, 0]))
    assert "uniform (optimum unknown), payoff 0.5" in texts(draw_problem(tmp_path, problem))


def test_a_plan_of_the_wrong_shape_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match=r"plan must have shape \(1, 158\), not \(1, 3\)"):
        draw_problem(tmp_path, make_problem("nyc-12x20"), np.full((1, 3), 1 / 3))
    assert list(tmp_path.iterdir()) == []
