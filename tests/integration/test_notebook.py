"""The committed notebook: its cells run in order, and its outputs are kept with it."""

import ast
import base64
import json
import sys
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook.ipynb"


def run_cells(cells):
    """Run code cells in one namespace and return what the last expression of each shows."""
    space, shown = {"__name__": "notebook"}, []
    for cell in cells:
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "notebook", "exec"), space)
        shown.append(None if last is None else eval(compile(ast.Expression(last.value), "notebook", "eval"), space))
    return shown


@pytest.fixture(scope="module")
def cells():
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_the_notebook_is_small_and_has_its_outputs(cells):
    assert NOTEBOOK.stat().st_size < 500_000
    kinds = {kind for cell in cells for output in cell["outputs"] for kind in output.get("data", ())}
    assert {"text/html", "image/png"} <= kinds
    for cell in cells:
        assert not any(output["output_type"] in ("error", "stream") for output in cell["outputs"])
        for output in cell["outputs"]:
            if "image/png" in output["data"]:
                assert base64.b64decode(output["data"]["image/png"]).startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_cells_run_in_order(cells, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    shown = run_cells(cells)
    drawn = [value for value in shown if hasattr(value, "_repr_png_")]
    assert len(drawn) == 4
    table = next(value for value in shown if "best payoff" in getattr(value, "columns", ()))
    assert {"my_parts:HillClimb", "default(kernel=my_parts:smooth)"} <= set(table["strategy"])
    assert table["best payoff"].idxmax() == table["strategy"].tolist().index("default")
    monkeypatch.delitem(sys.modules, "my_parts", raising=False)
