"""Names, labeled columns and data frames wherever a distribution is taken."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mfbo
from mfbo.client.saying import said
from mfbo.records import read_distribution

ONE = mfbo.Population(["Market", "Harbor", "2"], size=10)
TWO = mfbo.Population(["Market", "Harbor"], {"day": 0.5, "night": 0.5}, size=10)
HALVES = [[0.5, 0.5, 0.0]]


@pytest.mark.parametrize(
    "given",
    [
        {"Market": 0.5, "Harbor": 0.5},
        {"Harbor": 0.5, 0: 0.5},  # a whole number is a position
        {"all": {"Market": 0.5, "Harbor": 0.5}},
        {("all", "Market"): 0.5, ("all", "Harbor"): 0.5},
        pd.Series({"Harbor": 0.5, "Market": 0.5}),
        pd.DataFrame({"action": ["Harbor", "Market", "2"], "share": [0.5, 0.5, None]}),
        pl.DataFrame({"share": [0.5, 0.5], "action": ["Harbor", "Market"], "agents": [5, 5]}),
        mfbo.Plan(0, np.array([[0.4, 0.6, 0.0]]), np.array([[5, 5, 0]])),
    ],
    ids=lambda given: type(given).__name__,
)
def test_shares_by_name_are_those_of_the_array(given):
    assert read_distribution(given, ONE).tolist() == HALVES


@pytest.mark.parametrize(
    "given",
    [
        {("day", "Market"): 1.0, ("night", "Harbor"): 1.0},
        {"day": {"Market": 1.0}, "night": {"Harbor": 1.0}},
        pd.DataFrame({"context": ["day", "night"], "action": ["Market", "Harbor"], "share": [1, 1]}),
        pd.Series([1.0, 1.0], index=pd.MultiIndex.from_tuples([("day", "Market"), ("night", "Harbor")])),
        {"day": pd.Series({"Market": 1.0}), "night": {"Harbor": 1.0}},
    ],
    ids=["pairs", "nested", "frame", "index", "columns"],
)
def test_several_contexts_are_named_too(given):
    assert read_distribution(given, TWO).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("given", "population", "message"),
    [
        ({"Harbour": 1.0}, ONE, "unknown action 'Harbour'; did you mean 'Harbor'"),
        ({2: 0.5, "2": 0.5}, ONE, "2 and '2' are the same place"),
        ({"Market": 0.5, "Harbor": 0.4}, ONE, "sum to 0.9, not to 1; actions that are not named have the share 0"),
        ({"Market": 6, "Harbor": 4}, ONE, "sum to 10, not to 1; whole agents are given with placed="),
        ({"Market": -0.5, "Harbor": 1.5}, ONE, "the share of 'Market' must be at least 0, not -0.5"),
        ({"Market": "half"}, ONE, "share of 'Market' must be a number, not 'half'"),
        ({"Market": 1.0}, TWO, r"'Market' must be \(context, action\)"),
        ({"day": {"Market": 1.0}}, TWO, "the shares of context 'night' sum to 0, not to 1"),
        ({"noon": {"Market": 1.0}}, TWO, "unknown context 'noon'"),
        (pd.DataFrame([[0.5, 0.5, 0.0]], columns=ONE.actions), ONE, "needs a column 'action' and a column 'share'"),
        (pd.DataFrame({"action": ["2", "2"], "share": [0.5, 0.5]}), ONE, "'2' and '2' are the same place"),
    ],
)
def test_what_cannot_be_right_is_refused_by_name(given, population, message):
    with pytest.raises(mfbo.MfboError, match=message):
        read_distribution(given, population)


def test_names_are_taken_wherever_a_distribution_is():
    study = mfbo.create_study(ONE, seed=0)
    study.add({"Market": 0.5, "Harbor": 0.5}, payoff=1.0)
    plan = study.ask()
    done = study.tell(plan, payoff=2.0, distribution={"Market": 1.0})
    assert done.played.tolist() == [[1.0, 0.0, 0.0]]
    assert study.predict({"Market": 1.0}).mean == study.predict(done.played).mean
    assert study.explain({"Market": 1.0}).distribution.tolist() == [[1.0, 0.0, 0.0]]
    assert study.attach({"Harbor": 0.5, "2": 0.5}).allocation.tolist() == [[0, 5, 5]]
    assert study.attach({"Harbor": 4, "2": 6}).allocation.tolist() == [[0, 4, 6]]


@pytest.mark.parametrize("start", [{"Market": 0.5, "Harbor": 0.5}, {"Market": 5, "Harbor": 5}])
def test_a_start_is_named_in_shares_or_in_whole_agents(start):
    assert mfbo.create_study(ONE, start=start).history.status_quo.tolist() == HALVES
    column = "share" if start["Market"] < 1 else "agents"
    frame = pd.DataFrame({"action": list(start), column: list(start.values())})
    assert mfbo.create_study(ONE, start=frame).history.status_quo.tolist() == HALVES


def test_placed_and_cells_are_taken_from_a_frame():
    study = mfbo.create_study(ONE, placed=pl.DataFrame({"action": ["Harbor", "2"], "agents": [4, 6]}))
    assert study.placed.tolist() == [[0, 4, 6]]
    seen = pd.DataFrame({"action": ["Harbor", "2"], "payoff": [1.5, None], "count": [3, 0]})
    done = study.tell(study.ask(), cells=seen, counts=seen)
    assert np.nan_to_num(done.feedback.cells).tolist() == [[0.0, 1.5, 0.0]]
    assert done.feedback.counts.tolist() == [[0.0, 3.0, 0.0]]


def test_a_service_is_told_the_same_names():
    frame = pd.DataFrame({"action": ["Harbor", "2"], "share": [0.5, 0.5], "agents": [5, 5]})
    words = said(ONE, distribution=frame, placed=frame, cells={2: 1.0}, capacity={0: 3})
    assert words == {
        "distribution": {"all": {"Harbor": 0.5, "2": 0.5}},
        "placed": {"all": {"Harbor": 5, "2": 5}},
        "cells": {"all": {"2": 1.0}},
        "capacity": {"Market": 3},
    }
