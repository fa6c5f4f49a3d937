"""The report of a benchmark, read back from what `mfbo report` writes."""

import pytest

from mfbo.experiments.store import SUITE
from mfbo.experiments.tables import Table, in_markdown
from mfbo.serve.pages.views import benchmarks
from mfbo.serve.refusals import MissingError

NAME = "a|b <i>*x*</i> & 1_2"
TABLE = Table("t", f"Title {NAME}", ("problem", "value"), ((NAME, 0.25), ("other", None)), "how to read it")
REPORT = f"""# Benchmark: {in_markdown(NAME)}

A summary.

## Best value so far

![one](figures/one.svg)

{in_markdown(NAME)}: a caption.

## Tables

{TABLE.to_markdown().strip()}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = tmp_path / "mfbo-benchmark-quick"
    (made / "report" / "figures").mkdir(parents=True)
    (made / SUITE).write_text("{}")
    return made


def test_a_report_is_read_as_it_was_written(folder):
    (folder / "report" / "report.md").write_text(REPORT)
    head, best, tables, table = benchmarks.report(folder.name)
    assert (head.title, head.texts) == (f"Benchmark: {NAME}", ["A summary."])
    assert [(one.name, one.caption) for one in best.figures] == [("one.svg", f"{NAME}: a caption.")]
    assert tables.columns == []
    assert table.title == TABLE.title
    assert table.columns == ["problem", "value"]
    assert table.rows == [[NAME, "0.25"], ["other", "–"]]
    assert table.texts == ["how to read it"]


def test_only_figures_of_a_report_are_handed_out(folder):
    (folder / "report" / "report.md").write_text(REPORT)
    (folder / "report" / "figures" / "one.svg").write_bytes(b"<svg/>")
    (folder / "report" / "figures" / "two.svg").write_bytes(b"secret")
    assert benchmarks.figure(folder.name, "one.svg") == b"<svg/>"
    for name in ("two.svg", "../report.md", str(folder / "suite.json")):
        with pytest.raises(MissingError):
            benchmarks.figure(folder.name, name)
    with pytest.raises(MissingError):
        benchmarks.figure("../quick", "one.svg")


def test_a_benchmark_without_a_report_is_listed_and_has_none(folder):
    assert benchmarks.folders() == [folder.name]
    assert benchmarks.report(folder.name) is None
    assert benchmarks.report("elsewhere") is None
