"""What people have: lists, mappings, arrays, pandas and polars frames; what is refused, with the bad value named."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mfbo import Population
from mfbo.errors import InvalidInputError
from mfbo.population.named import Named, read_named

COLUMNS = {"name": ["main st", "2nd av", "park"], "lon": [1.0, 2.0, 3.0], "lat": [4, 5, 6]}


def assert_is_the_table(population: Population) -> None:
    assert population.actions == ("main st", "2nd av", "park")
    assert population.feature_names == ("lon", "lat")
    assert population.features.tolist() == [[1, 4], [2, 5], [3, 6]]


@pytest.mark.parametrize("values", [["a", "b"], ("a", "b"), np.array(["a", "b"]), iter("ab"), {"a": 0, "b": 1}.keys()])
def test_names_come_from_any_sequence(values):
    found = Population(values)
    assert found.actions == ("a", "b")
    assert found.features is None


def test_numbers_in_a_list_are_names():
    assert Population([10, 20]).actions == ("10", "20")


@pytest.mark.parametrize("table", [dict, pd.DataFrame, pl.DataFrame])
def test_columns_with_a_name_column_give_names_and_features(table):
    assert_is_the_table(Population(table(COLUMNS)))


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame])
def test_a_frame_without_a_name_column_uses_its_text_column(table):
    assert_is_the_table(Population(table({"lon": [1, 2, 3], "station": COLUMNS["name"], "lat": [4, 5, 6]})))


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame])
def test_a_frame_with_names_alone_has_no_features(table):
    assert Population(table({"name": ["a", "b"]})).features is None


def test_a_frame_with_its_own_index_is_read_in_row_order():
    frame = pd.DataFrame(COLUMNS, index=[7, 3, 5])
    assert_is_the_table(Population(frame))


def test_a_mapping_of_names_to_numbers_gives_one_feature():
    found = Population({"a": 1.0, "b": 2.5})
    assert found.actions == ("a", "b")
    assert found.features.tolist() == [[1.0], [2.5]]


def test_a_mapping_of_names_to_lists_gives_several_features():
    found = Population({"a": [1, 2], "b": (3, 4)})
    assert found.features.tolist() == [[1, 2], [3, 4]]
    assert found.feature_names == ("x0", "x1")


def test_an_array_gives_features_and_positions_as_names():
    found = Population(np.array([[0.0, 1.0], [2.0, 3.0]]))
    assert found.actions == ("0", "1")
    assert found.features.tolist() == [[0, 1], [2, 3]]


def test_a_flat_array_gives_one_feature():
    assert Population(np.linspace(0, 1, 5)).features.shape == (5, 1)


@pytest.mark.parametrize("table", [pd.Series, pl.Series])
def test_a_column_of_a_frame_is_a_list_of_names(table):
    assert Population(table(["a", "b"])).actions == ("a", "b")


BAD = {
    "single text": ("north", "'north'"),
    "bytes": (b"north", "north"),
    "number": (3, "int"),
    "nothing": (None, "NoneType"),
    "empty list": ([], "empty"),
    "empty mapping": ({}, "empty"),
    "empty array": (np.array([]), r"\(0,\)"),
    "empty frame": (pd.DataFrame({"name": []}, dtype=str), "empty"),
    "repeated name": (["a", "b", "a"], "'a'"),
    "repeated after text": ([1, "1"], "'1'"),
    "blank name": (["a", "  "], "position 1"),
    "missing name": (["a", None], "None|position 1"),
    "missing name in a frame": (pd.DataFrame({"name": ["a", None], "x": [1, 2]}), "None|nan|position 1"),
    "repeated in columns": ({"name": ["a", "a"], "x": [1, 2]}, "'a'"),
    "nan feature": ({"a": 1.0, "b": float("nan")}, "nan"),
    "infinite feature": (np.array([[1.0], [np.inf]]), "inf"),
    "nan in a column": (pd.DataFrame({"name": ["a", "b"], "x": [1.0, None]}), "'x'.*nan"),
    "null in a column": (pl.DataFrame({"name": ["a", "b"], "x": [1.0, None]}), "'x'.*nan"),
    "text feature": ({"a": "warm", "b": 1.0}, "warm"),
    "text column": ({"name": ["a", "b"], "x": ["u", "v"]}, "'x'.*'u'"),
    "ragged features": ({"a": [1, 2], "b": [3]}, "one length"),
    "no features after all": ({"a": [], "b": []}, "feature"),
    "short column": ({"name": ["a", "b"], "x": [1]}, "'x' has 1 entries for 2"),
    "name maps to a number": ({"name": 1.0, "other": 2.0}, "name"),
    "three axes": (np.zeros((2, 2, 2)), r"\(2, 2, 2\)"),
    "no axis": (np.array(3.0), r"\(\)"),
    "frame without names": (pd.DataFrame({"x": [1, 2]}), "'name'.*x"),
}


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.replace(" ", "-"))
def test_bad_actions_are_refused_and_named(case):
    values, named = BAD[case]
    with pytest.raises(InvalidInputError, match=named):
        Population(values)


@pytest.mark.filterwarnings("ignore::polars.exceptions.PerformanceWarning")
def test_a_lazy_frame_is_refused_by_its_type():
    with pytest.raises(InvalidInputError, match="LazyFrame"):
        Population(pl.DataFrame({"name": ["a"]}).lazy())


def test_errors_name_what_was_being_read():
    with pytest.raises(InvalidInputError, match="ports"):
        read_named([], "ports")


def test_a_split_off_column_leaves_the_other_features_in_place():
    named = Named(("a", "b"), ("x", "weight", "y"), np.array([[1.0, 0.5, 2.0], [3.0, 0.5, 4.0]]))
    rest, column = named.without("weight")
    assert rest.feature_names == ("x", "y")
    assert rest.features.tolist() == [[1, 2], [3, 4]]
    assert column.tolist() == [0.5, 0.5]


def test_splitting_off_an_absent_column_changes_nothing():
    named = Named(("a",), ("x",), np.array([[1.0]]))
    assert named.without("weight") == (named, None)
