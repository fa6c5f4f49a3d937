"""Charts and maps are well-formed, say everything in words too, and let no name act as HTML."""

import math
from xml.etree import ElementTree

import pytest

from mfbo.serve.pages.drawing import Bar, Series, Stop, bar_chart, line_chart, station_map
from mfbo.serve.pages.drawing.axes import Scale, bounds, round_ticks, tick_text
from mfbo.serve.pages.drawing.outline import hull

HOSTILE = "<script>alert('x')</script> & \"quotes\" ]]>"


def _parsed(chart):
    return ElementTree.fromstring(str(chart.svg))


def _marks(root):
    return [node for node in root.iter("g") if "mark" in (node.get("class") or "").split()]


def _charts(name):
    stops = [Stop(name, -122.4, 37.8, 3.0, 2), Stop("b", -122.3, 37.7, 1.0, -2), Stop("c", -122.2, 37.9, 0.0, 0)]
    return [
        station_map(name, stops, geographic=True),
        line_chart(name, [Series(name, "told", [1.0, 2.0], [0.5, 0.7], kind="points")], x_label="round", y_label=name),
        bar_chart(name, [Bar(name, 1.0, 0.5, name)], label=name, shown=5, columns=("a", "b", "c", "d")),
    ]


@pytest.mark.parametrize("place", range(3))
def test_names_are_texts_and_never_elements(place):
    chart = _charts(HOSTILE)[place]
    root = _parsed(chart)
    assert not list(root.iter("script"))
    assert any(HOSTILE in (text or "") for node in root.iter() for text in (node.text, node.get("aria-label")))


@pytest.mark.parametrize("place", range(3))
def test_every_chart_has_a_title_a_summary_words_for_each_mark_and_one_stop_for_the_tab_key(place):
    chart = _charts("a")[place]
    root = _parsed(chart)
    assert root.find("title").text
    assert root.find("desc").text
    marks = _marks(root)
    assert marks
    assert all(mark.find("title").text and mark.get("role") == "img" for mark in marks)
    assert [mark.get("tabindex") for mark in marks].count("0") == 1
    assert "style=" not in str(chart.svg)


@pytest.mark.parametrize("place", range(3))
def test_the_table_behind_a_chart_has_what_is_drawn(place):
    chart = _charts("a")[place]
    assert len(chart.rows) == (3, 2, 1)[place]
    assert all(len(row) == len(chart.columns) for row in chart.rows)


def test_circles_grow_with_agents_and_are_colored_by_change():
    chart = station_map(
        "m", [Stop("many", 0, 0, 9, 1), Stop("few", 1, 1, 1, -1), Stop("none", 2, 0, 0)], geographic=False
    )
    marks = {mark.find("title").text.split(":")[0]: mark for mark in _marks(_parsed(chart))}
    radii = {name: float(mark.find("circle").get("r")) for name, mark in marks.items()}
    assert radii["many"] > radii["few"] > radii["none"] > 0
    assert "bring" in marks["many"].get("class")
    assert "take" in marks["few"].get("class")
    assert marks["many"].find("title").text == "many: 9, +1"


@pytest.mark.parametrize(
    "spots",
    [[(0, 0)], [(0, 0), (0, 0)], [(0, 0), (1, 0)], [(0, 0), (0, 1)], [(-179, 89), (179, -89)], [(0, 0), (1e-9, 0)]],
)
@pytest.mark.parametrize("geographic", [True, False])
def test_maps_of_few_or_odd_places_stay_inside_their_frame(spots, geographic):
    stops = [Stop(str(place), x, y, 1.0) for place, (x, y) in enumerate(spots)]
    root = _parsed(station_map("m", stops, geographic=geographic))
    width, height = map(float, root.get("viewBox").split()[2:])
    for mark in _marks(root):
        circle = mark.find("circle")
        assert 0 <= float(circle.get("cx")) <= width
        assert 0 <= float(circle.get("cy")) <= height


def test_a_hull_holds_every_point_and_only_corners():
    points = [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0), (2.0, 2.0), (2.0, 0.0)]
    assert sorted(hull(points)) == [(0.0, 0.0), (0.0, 4.0), (4.0, 0.0), (4.0, 4.0)]


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3, 8), (0.001, 0.0013), (1e6, 3e6), (-1e-7, 1e-7)])
def test_ticks_are_few_round_and_inside(low, high):
    ticks = round_ticks(low, high)
    assert 2 <= len(ticks) <= 6
    assert all(low - 1e-9 * abs(high) <= tick <= high + 1e-9 * abs(high) for tick in ticks)
    assert len({tick_text(tick, ticks) for tick in ticks}) == len(ticks)


@pytest.mark.parametrize("values", [[], [math.nan], [0.0], [5.0, 5.0], [1e300], [-1e-300], [1.0, math.inf]])
def test_bounds_are_never_empty_or_infinite(values):
    low, high = bounds(values)
    assert math.isfinite(low)
    assert math.isfinite(high)
    assert low < high
    assert Scale(low, high, 0, 1)(low) == 0


def test_a_line_is_broken_where_nothing_is_known():
    chart = line_chart("l", [Series("a", "model", [1, 2, 3, 4], [1.0, math.nan, 3.0, 4.0])], x_label="x", y_label="y")
    path = next(node for node in _parsed(chart).iter("path") if "line" in node.get("class"))
    assert path.get("d").count("M") == 2
    assert chart.rows[1] == (2, None)
    assert len(_marks(_parsed(chart))) == 3  # a chart of lines alone can be walked through too


def test_a_chart_of_nothing_is_still_a_chart():
    chart = line_chart("nothing", [], x_label="x", y_label="y")
    assert _parsed(chart).find("desc").text == "nothing to draw yet"
    assert bar_chart("nothing", [], label="x", shown=3, columns=("a", "b", "c", "d")).rows == ()
