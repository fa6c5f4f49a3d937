"""Studies, plans and explanations as data frames of whichever library is there."""

import subprocess
import sys

import pandas as pd
import polars as pl
import pytest

import mfbo
from mfbo import frames


@pytest.fixture(scope="module")
def study():
    situations = {"day": ["weekday", "weekend"], "rain": "number"}
    study = mfbo.create_study(mfbo.Population(["a", "b"], size=4), strategy="random", situations=situations)
    study.tell(study.ask("Ann", situation={"day": "weekend"}), payoff=1.5)
    study.tell(study.ask(), cells={"a": 2.0})
    study.fail(study.ask(), "rain")
    study.ask()
    return study


def test_rounds_are_rows(study):
    table = study.to_frame()
    assert isinstance(table, pd.DataFrame)
    assert table["state"].tolist() == ["done", "done", "failed", "open"]
    assert table["payoff"].tolist()[0] == 1.5
    assert table["payoff"].isna().tolist() == [False, True, True, True]
    assert table["worker"].tolist()[0] == "Ann"
    assert table["situation_day"].tolist()[0] == "weekend"


def test_cells_are_rows(study):
    table = study.to_frame("polars", cells=True)
    assert isinstance(table, pl.DataFrame)
    assert table.shape[0] == 8
    assert table["planned_agents"].to_list()[:2] == study.rounds[0].plan.allocation[0].tolist()
    assert table["cell_payoff"].to_list() == [None, None, 2.0, None, None, None, None, None]
    assert table["share"].to_list()[:2] == study.rounds[0].played[0].tolist()


def test_a_plan_goes_through_a_frame(study):
    for library in ("pandas", "polars", "pyarrow"):
        table = study.rounds[0].plan.to_frame(library)
        assert type(table).__module__.startswith(library)
    plan = study.rounds[0].plan
    told = mfbo.create_study(study.population, placed=plan.to_frame())
    assert told.placed.tolist() == plan.allocation.tolist()
    assert told.add(plan.to_frame("polars"), 1.0).played.tolist() == plan.realized.tolist()
    assert mfbo.Plan(0, plan.distribution).to_frame()["action"].tolist() == ["0", "1"]


def test_an_explanation_is_a_frame():
    study = mfbo.create_study(mfbo.Population(["a", "b"], size=4))
    study.add([0.5, 0.5], 1.0)
    table = study.explain().to_frame()
    assert list(table.columns)[:3] == ["context", "action", "share"]
    assert len(table) == 2


def test_a_study_without_rounds_has_the_same_columns():
    empty = mfbo.create_study(mfbo.Population(["a", "b"]))
    assert list(empty.to_frame().columns)[:4] == ["round", "state", "told", "payoff"]
    assert len(empty.to_frame("polars")) == 0


def test_no_library_is_an_error_with_the_way_out(study, monkeypatch):
    with pytest.raises(mfbo.InvalidInputError, match="pandas, polars, pyarrow, not by 'excel'"):
        study.to_frame("excel")
    monkeypatch.setattr(frames, "find_spec", lambda name: None)
    with pytest.raises(mfbo.MfboError, match="a data frame needs pandas or polars: pip install pandas"):
        study.to_frame()
    with pytest.raises(ImportError, match="polars is not installed: pip install polars"):
        study.to_frame("polars")


def test_mfbo_itself_imports_no_data_frame_library():
    code = "import mfbo, sys; mfbo.create_study(mfbo.Population(['a', 'b'])); print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
