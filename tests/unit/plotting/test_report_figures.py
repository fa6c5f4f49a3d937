"""Which figures a report has, and that the page needs nothing but itself."""

import base64
import re

import pytest

from mfbo.cli.report import _remove_older
from mfbo.experiments import Batch, ResultStore, Suite
from mfbo.experiments.report_tables import tables
from mfbo.experiments.results import load_results
from mfbo.experiments.suite_runs import play
from mfbo.plotting.figures import compact_svg, letters_as_text, picture_bytes
from mfbo.plotting.page import report_markdown, report_page
from mfbo.plotting.report_figures import report_figures
from mfbo.plotting.scaling_curves import sweep

SUITE = Suite(
    "figures",
    (
        Batch(("arena", "nyc-12x20"), ("default", "mf-gp-ucb", "random"), (0, 1), (2,)),
        Batch(("arena",), ("random",), (2,), (40,), time_limit=1e-9),
        Batch(("swarm",), ("random", "mf-gp-ucb"), (0, 1), (2,), (50, 500, "inf")),
    ),
    "A <b>summary</b>",
    "how it is played",
)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    store = ResultStore(tmp_path_factory.mktemp("results"))
    store.open_for(SUITE)
    for run in SUITE.runs:
        store.write(play(run))
    return load_results(store)


@pytest.fixture(scope="module")
def pictures(results):
    return report_figures(results)


def test_every_figure_of_the_paper_is_there(pictures):
    names = {picture.name for picture in pictures}
    assert {
        "best-so-far-nyc-12x20",
        "best-so-far-arena-T-2",
        "arena-histogram-arena-T-2-default",
        "arena-histogram-arena-T-2-mf-gp-ucb",
        "heat-maps-nyc-12x20",
        "regret-nyc-12x20",
        "regret-bound-nyc-12x20",
        "scaling-agents",
        "regret-by-agents-mf-gp-ucb",
    } <= names
    assert not any(name.startswith("best-so-far-swarm") for name in names)  # the sweep shows them together
    assert all(picture.caption for picture in pictures)


def test_heat_maps_show_demand_and_each_method(pictures):
    text = next(picture.svg for picture in pictures if picture.name == "heat-maps-nyc-12x20").decode()
    for panel in ("demand", "random", "mf-gp-ucb", "default"):
        assert f">{panel}" in text


def test_a_run_ended_by_its_limit_is_marked_in_the_curves(pictures):
    text = next(picture.svg for picture in pictures if picture.name == "best-so-far-arena-T-40").decode()
    assert "random (limit 1e-09 s)" in text


def test_the_page_holds_everything_and_asks_for_nothing(results, pictures):
    page = report_page(results, tables(results), pictures)
    assert page.count("<img") == len(pictures)
    assert "<b>summary" not in page
    assert "http" not in page
    for data in re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page):
        svg = base64.b64decode(data).decode()
        assert svg.rstrip().endswith("</svg>")
        assert not re.search(r'(href|src)="https?:', svg)
    assert len(page) < 2_000_000


def test_the_markdown_names_each_figure_and_table(results, pictures):
    text = report_markdown(results, tables(results), pictures, "figures")
    assert text.count("](figures/") == len(pictures)
    for table in tables(results):
        assert table.title in text
    assert "Do cost and regret depend" in text


def test_compact_paths_keep_their_points_and_everything_else():
    text = '<path d="M 1.23456 -0.00001 \nL 20 3.999999 \nz" style="stroke-width: 0.33333"/><use x="1.23456"/>'
    assert compact_svg(text) == '<path d="M 1.2 -0 L 20 4 z" style="stroke-width: 0.33333"/><use x="1.23456"/>'


def test_the_mean_field_limit_stands_right_of_all_numbers_of_agents():
    points = [(50.0, 1.0, 0.1), (500.0, 1.0, 0.1), (float("inf"), 1.0, 0.1)]
    figure = sweep("title", "number of agents", {"seconds": {"default": points}})
    with letters_as_text():
        text = picture_bytes(figure, "svg").decode()
    assert ">∞<" in text
    assert "nan" not in text.lower().replace("dominant", "")


def test_files_of_an_earlier_report_are_removed_and_nothing_else(tmp_path):
    for name in ("failed.csv", "kept.csv", "mine.csv"):
        (tmp_path / name).write_text("", encoding="utf-8")
    (tmp_path.parent / "outside.csv").write_text("", encoding="utf-8")
    (tmp_path / "files.json").write_text('["failed.csv", "kept.csv", "../outside.csv"]', encoding="utf-8")
    _remove_older(tmp_path, ["kept.csv"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["files.json", "kept.csv", "mine.csv"]
    assert (tmp_path.parent / "outside.csv").exists()
