"""The parts of maps: names that do not overlap, areas that are shares, degrees, coasts, and the panels drawn."""

import numpy as np
import pytest

from mfbo.catalogue import make_problem
from mfbo.population import Population
from mfbo.problems import custom_problem, demand_problem
from mfbo.problems.tables import embedded_ports

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure
from matplotlib.text import Text

from mfbo.plotting.circles import areas, draw_area_key, radii
from mfbo.plotting.degrees import degree_ratio, map_limits, set_map_axes
from mfbo.plotting.labels import freeze_layout, place_labels
from mfbo.plotting.panels import number, panels_of
from mfbo.plotting.ports import LONGEST_LINK, coast_links


def labeled(points, sizes, names, most):
    """Return the axes with circles and names on them, and how many names were written."""
    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    axes.scatter(*points.T, s=sizes)
    axes.set_xlim(-0.2, 1.2)
    axes.set_ylim(-0.2, 1.2)
    freeze_layout(figure)
    order = np.argsort(-sizes, kind="stable").tolist()
    return axes, place_labels(axes, points, radii(sizes), names, order, most)


def boxes(axes):
    axes.figure.draw_without_rendering()  # tells the names where they are
    return [Text.get_window_extent(each) for each in axes.texts]


@pytest.mark.parametrize("seed", range(2))
def test_names_overlap_neither_each_other_nor_a_circle_and_stay_inside(seed):
    rng = np.random.default_rng(seed)
    points, sizes = rng.random((40, 2)), rng.random(40) * 300
    axes, written = labeled(points, sizes, [f"Some long station {k}" for k in range(40)], 12)
    found = boxes(axes)
    assert 4 <= written == len(found) <= 12
    for position, box in enumerate(found):
        assert not any(box.overlaps(other) for other in found[:position])
        assert axes.get_window_extent().contains(box.x0, box.y0)
        assert axes.get_window_extent().contains(box.x1, box.y1)
    centers, pixel = axes.transData.transform(points), axes.figure.dpi / 72
    for center, radius in zip(centers, radii(sizes) * pixel, strict=True):
        for box in found:
            nearest = np.clip(center, (box.x0, box.y0), (box.x1, box.y1))
            assert np.linalg.norm(nearest - center) >= radius


def test_the_largest_circle_is_named_first_and_a_far_name_gets_a_line():
    points = np.array([[0.5, 0.5], [0.9, 0.9], [0.505, 0.5]])
    axes, written = labeled(points, np.array([400.0, 50.0, 390.0]), ["large", "small", "twin"], 2)
    assert written == 2
    assert [each.get_text() for each in axes.texts] == ["large", "twin"]
    assert all(each.arrow_patch.get_visible() for each in axes.texts)  # without a line, which of the twins is meant?


def test_a_name_without_room_is_left_out():
    points = np.array([[0.5, 0.5]])
    axes, written = labeled(points, np.array([10.0]), ["x" * 400], 3)
    assert written == 1  # shortened
    axes, written = labeled(points, np.array([80_000.0]), ["name"], 3)
    assert written == 0
    assert len(axes.texts) == 0


def test_the_area_of_a_circle_is_its_share():
    shares = np.array([0.1, 0.2, 0.4])
    found = areas(shares, largest=500.0, top=0.4)
    np.testing.assert_allclose(found, [125, 250, 500])
    circle = np.pi * radii(found) ** 2
    np.testing.assert_allclose(circle / circle.sum(), shares / shares.sum())


def test_the_key_shows_round_shares_in_the_size_of_the_map():
    figure = Figure(layout="constrained")
    draw_area_key(figure, largest=500.0, top=0.104, others={})
    (legend,) = figure.legends
    assert [each.get_text() for each in legend.get_texts()] == ["share 2%", "5%", "10%"]
    sizes = [handle.get_markersize() for handle in legend.legend_handles]
    np.testing.assert_allclose(np.array(sizes) ** 2, areas(np.array([0.02, 0.05, 0.1]), 500.0, 0.104))


def test_a_degree_of_longitude_is_half_as_long_at_sixty_degrees():
    assert degree_ratio(np.array([[10.0, 59.0], [12.0, 61.0]])) == pytest.approx(2.0)


@pytest.mark.parametrize(
    "places",
    [[[13.4, 52.5]], [[13.4, 52.5], [13.5, 52.5]], [[13.4, 52.4], [13.4, 52.5]], [[13.4, 52.4], [13.7, 52.6]]],
)
def test_a_map_holds_its_places_and_is_never_a_strip(places):
    places = np.array(places)
    window = map_limits(places, 0.1, geographic=True)
    assert (window[:, 0] < places.min(axis=0)).all()
    assert (window[:, 1] > places.max(axis=0)).all()
    wide, high = np.diff(window, axis=1)[:, 0] / [degree_ratio(places), 1.0]
    assert 1 / 3 < wide / high < 3


def test_ticks_are_degrees_with_as_many_digits_as_they_need():
    figure = Figure(layout="constrained")
    axes = figure.subplots()
    places = np.array([[-122.42, 37.77], [-122.39, 37.80]])
    set_map_axes(axes, places, geographic=True)
    axes.set_xlim(-122.425, -122.385)
    axes.set_ylim(-0.5, 1.5)
    figure.draw_without_rendering()
    assert "122.40° W" in [each.get_text() for each in axes.get_xticklabels()]
    latitudes = [each.get_text() for each in axes.get_yticklabels()]
    assert "0°" in latitudes
    assert len(set(latitudes)) == len(latitudes)


def test_coasts_join_near_ports_and_cross_no_edge_of_the_map():
    coordinates = embedded_ports("ports").coordinates
    pairs = coast_links(coordinates)
    assert 450 < len(pairs) < len(coordinates)
    first, second = np.radians(coordinates[pairs[:, 0]]), np.radians(coordinates[pairs[:, 1]])
    cosine = np.sin(first[:, 1]) * np.sin(second[:, 1]) + np.cos(first[:, 1]) * np.cos(second[:, 1]) * np.cos(
        first[:, 0] - second[:, 0]
    )
    assert (6371 * np.arccos(np.clip(cosine, -1, 1))).max() <= LONGEST_LINK
    assert np.abs(np.diff(coordinates[pairs, 0], axis=1)).max() < 180


def test_panels_of_a_demand_are_the_demand_and_the_plan():
    problem = demand_problem(["a", "b"], [3, 1])
    demand, plan = panels_of(problem, np.array([[0.5, 0.5]]))
    assert demand.title == "demand, which is the optimum"
    np.testing.assert_allclose(demand.shares, [0.75, 0.25])
    assert plan.is_plan
    assert plan.title == f"plan, payoff {number(problem.mean_field_value(np.array([[0.5, 0.5]])))}"
    assert number(-0.5) == "−0.5"


def test_panels_of_a_dispatch_tell_demand_from_optimum():
    demand, optimum = panels_of(make_problem("taxi-dispatch"), None)
    assert (demand.title, optimum.title) == ("demand", "optimum, payoff 0.80343")
    assert np.abs(demand.shares - optimum.shares).sum() > 0.05
    assert optimum.shares.sum() == pytest.approx(1)


def test_an_unknown_optimum_gives_way_to_the_uniform_distribution():
    population = Population(["a", "b", "c"], contexts={"x": 0.25, "y": 0.75})
    (panel,) = panels_of(custom_problem("mine", population, lambda distribution: distribution[1, 2]), None)
    assert panel.title == "uniform (optimum unknown), payoff 0.33333"
    np.testing.assert_allclose(panel.shares, np.full(3, 1 / 3))
    assert panel.distribution.shape == (2, 3)
