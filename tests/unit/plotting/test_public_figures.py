"""Figures for notebooks: they return a figure, draw on axes that are given, and write nothing."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import mfbo
from mfbo import plotting
from mfbo.experiments import RunSettings, run

STATIONS = {"name": ["Market $1", "Harbor", "Campus"], "x": [0.0, 2.0, 1.0], "y": [0.0, 0.5, 2.0]}


@pytest.fixture(scope="module")
def study():
    study = mfbo.create_study(mfbo.Population(STATIONS, size=30), seed=0, situations={"day": ["weekday", "weekend"]})
    days = [{"day": "weekday"}, {"day": "weekend"}, {"day": "weekday"}]
    for place, day in enumerate(days):
        study.add(np.roll([0.6, 0.3, 0.1], place), payoff=float(place), situation=day)
    return study


def drawings(study):
    return {
        "progress": lambda **words: plotting.progress(study, **words),
        "placement": lambda **words: plotting.placement(study, {"Harbor": 1.0}, **words),
        "comparison": lambda **words: plotting.comparison({"default": [[1.0, 2.0]], "random": [[0.5, 1.0]]}, **words),
        "explanation": lambda **words: plotting.explanation(study.explain(), **words),
        "slices": lambda **words: plotting.slices(study, ["Harbor"], **words),
    }


@pytest.mark.parametrize("name", ["progress", "placement", "comparison", "explanation", "slices"])
def test_a_figure_is_returned_and_given_axes_are_drawn_on(study, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = drawings(study)[name]
    own = draw()
    assert isinstance(own, Figure)
    assert own._repr_png_().startswith(b"\x89PNG")
    given = Figure()
    axes = given.subplots(1, 2)
    assert draw(ax=axes[1]) is given
    assert axes[1].has_data()
    assert not axes[0].has_data()
    assert list(tmp_path.iterdir()) == []
    assert [file.suffix for file in plotting.save_figure(own, tmp_path / "own")] == [".png", ".svg"]


def test_pictures_of_several_panels(study):
    assert len(plotting.placements(study).axes) == 2
    assert plotting.by_situation(study).axes
    assert len(plotting.slices(study).axes) == 3
    grid = mfbo.make_problem("nyc-12x20")
    best = grid.known_optimum.distribution
    assert len(plotting.heat_maps(grid, {"mine": best}).axes) == 3  # two maps and the color scale
    assert set(plotting.problem_figures(mfbo.make_problem("arena"), np.full((2, 30), 1 / 30))) == {
        "arena",
        "arena-plan",
    }


def test_runs_are_compared():
    runs = [run(RunSettings("swarm", "random", rounds=3, seed=seed)) for seed in (0, 1)]
    axes = plotting.comparison(runs).axes[0]
    assert axes.get_title(loc="left") == "swarm: best payoff so far"
    with pytest.raises(mfbo.InvalidInputError, match="runs of one problem"):
        plotting.comparison([])


def test_what_cannot_be_drawn_says_why():
    empty = mfbo.create_study(mfbo.Population(["a", "b"], size=3))
    with pytest.raises(mfbo.InvalidInputError, match="nothing to draw"):
        plotting.progress(empty)
    with pytest.raises(mfbo.InvalidInputError, match="declares them"):
        plotting.by_situation(empty)
    with pytest.raises(mfbo.InvalidInputError, match="lies on no grid"):
        plotting.heat_maps(mfbo.make_problem("swarm"))
