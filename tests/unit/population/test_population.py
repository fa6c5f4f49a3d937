"""The population itself: contexts, weights, size, indices, and that nobody can change it."""

import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mfbo import Population
from mfbo.errors import InvalidInputError, UnknownNameError

ACTIONS = ["north", "south", "west"]


@pytest.fixture
def population() -> Population:
    return Population(ACTIONS, {"weekday": 0.7, "weekend": 0.3}, size=300)


def test_one_context_called_all_unless_given():
    assert Population(ACTIONS).contexts == ("all",)


def test_size_is_the_mean_field_limit_unless_given():
    assert Population(ACTIONS).size is None


def test_shape_is_contexts_by_actions(population):
    assert population.shape == (2, 3)


def test_listed_contexts_have_equal_weights():
    assert Population(ACTIONS, ["a", "b", "c", "d"]).weights.tolist() == [0.25] * 4


def test_listed_contexts_take_given_weights():
    assert Population(ACTIONS, ["a", "b"], weights=[0.9, 0.1]).weights.tolist() == [0.9, 0.1]


def test_mapped_contexts_carry_their_weights(population):
    assert population.contexts == ("weekday", "weekend")
    assert population.weights.tolist() == [0.7, 0.3]


@pytest.mark.parametrize("table", [dict, pd.DataFrame, pl.DataFrame])
def test_a_context_table_gives_names_weights_and_features(table):
    columns = {"name": ["day", "night"], "weight": [0.8, 0.2], "temperature": [21.0, 9.0]}
    found = Population(ACTIONS, table(columns))
    assert found.contexts == ("day", "night")
    assert found.weights.tolist() == [0.8, 0.2]
    assert found.context_features.tolist() == [[21.0], [9.0]]


def test_a_context_table_without_weights_has_equal_ones():
    assert Population(ACTIONS, {"name": ["day", "night"], "temperature": [21, 9]}).weights.tolist() == [0.5, 0.5]


def test_a_context_table_with_weights_alone_has_no_features():
    assert Population(ACTIONS, {"name": ["day", "night"], "weight": [0.8, 0.2]}).context_features is None


def test_context_features_may_be_given_flat():
    assert Population(ACTIONS, ["a", "b"], context_features=[-1, 1]).context_features.tolist() == [[-1.0], [1.0]]


def test_weights_that_sum_to_one_but_for_rounding_are_made_exact():
    weights = Population(ACTIONS, {"a": 1 / 3, "b": 0.3333333, "c": 0.3333334}).weights
    assert weights.sum() == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("size", [1, 50, np.int32(7), 10**15])
def test_whole_sizes_are_accepted(size):
    assert Population(ACTIONS, size=size).size == int(size)


@pytest.mark.parametrize("size", [0, -3, 1.5, True, np.True_, "50", float("nan"), 10**16])
def test_other_sizes_are_refused_and_named(size):
    with pytest.raises(InvalidInputError, match="size") as caught:
        Population(ACTIONS, size=size)
    assert str(size) in str(caught.value)


@pytest.mark.parametrize(
    ("weights", "named"),
    [
        ({"a": 0.5, "b": 0.4}, "0.9"),
        ({"a": 1.5, "b": -0.5}, "-0.5"),
        ({"a": 1.0, "b": 0.0}, "0"),
        ({"a": float("nan"), "b": 0.5}, "nan"),
        ({"a": float("inf"), "b": 0.5}, "inf"),
        ({}, "empty"),
    ],
)
def test_bad_context_weights_are_refused_and_named(weights, named):
    with pytest.raises(InvalidInputError, match="context") as caught:
        Population(ACTIONS, weights)
    assert named in str(caught.value)


def test_too_few_weights_are_refused():
    with pytest.raises(InvalidInputError, match=r"\(3,\).*\(2,\)"):
        Population(ACTIONS, ["a", "b", "c"], weights=[0.5, 0.5])


def test_weights_without_contexts_are_refused():
    with pytest.raises(InvalidInputError, match="contexts"):
        Population(ACTIONS, weights=[1.0])


def test_weights_given_in_a_mapping_and_again_are_refused():
    with pytest.raises(InvalidInputError, match="twice"):
        Population(ACTIONS, {"a": 0.5, "b": 0.5}, weights=[0.5, 0.5])


def test_weights_given_in_a_table_and_again_are_refused():
    with pytest.raises(InvalidInputError, match="twice"):
        Population(ACTIONS, {"name": ["a", "b"], "weight": [0.5, 0.5]}, weights=[0.3, 0.7])


def test_repeated_context_names_are_refused_and_named():
    with pytest.raises(InvalidInputError, match="'day'"):
        Population(ACTIONS, ["day", "night", "day"])


def test_a_single_text_is_no_list_of_contexts():
    with pytest.raises(InvalidInputError, match="'weekday'"):
        Population(ACTIONS, "weekday")


def test_context_features_of_another_length_are_refused():
    with pytest.raises(InvalidInputError, match="context"):
        Population(ACTIONS, ["a", "b"], context_features=[1, 2, 3])


def test_context_features_that_are_not_finite_are_refused_and_named():
    with pytest.raises(InvalidInputError, match="nan"):
        Population(ACTIONS, ["a", "b"], context_features=[1.0, float("nan")])


def test_context_features_that_are_text_are_refused():
    with pytest.raises(InvalidInputError, match="warm"):
        Population(ACTIONS, ["a", "b"], context_features=["warm", "cold"])


@pytest.mark.parametrize(("given", "index"), [("south", 1), (1, 1), (np.int64(2), 2)])
def test_an_action_is_found_by_name_or_position(population, given, index):
    assert population.action_index(given) == index


@pytest.mark.parametrize(("given", "index"), [("weekend", 1), (0, 0)])
def test_a_context_is_found_by_name_or_position(population, given, index):
    assert population.context_index(given) == index


def test_a_misspelt_action_is_refused_with_the_right_spelling(population):
    with pytest.raises(UnknownNameError, match=r"'suoth'.*'south'"):
        population.action_index("suoth")


def test_an_unknown_context_is_refused_with_the_known_ones(population):
    with pytest.raises(UnknownNameError, match=r"'xyz'.*weekday, weekend"):
        population.context_index("xyz")


@pytest.mark.parametrize("index", [3, -1])
def test_a_position_out_of_range_is_refused_and_named(population, index):
    with pytest.raises(InvalidInputError, match=f"between 0 and 2, not {index}"):
        population.action_index(index)


@pytest.mark.parametrize("value", [True, 1.5, None])
def test_other_things_are_no_actions(population, value):
    with pytest.raises(UnknownNameError):
        population.action_index(value)


def test_joint_shares_are_weights_times_rows(population):
    shares = population.joint_shares(np.array([[1.0, 0, 0], [0, 0.5, 0.5]]))
    np.testing.assert_allclose(shares, [[0.7, 0, 0], [0, 0.15, 0.15]], rtol=1e-15)


def test_with_size_changes_the_size_alone(population):
    other = population.with_size(7)
    assert (other.size, population.size) == (7, 300)
    assert other.actions == population.actions
    assert other.weights is population.weights


@pytest.mark.parametrize("size", [0, 2.5, True])
def test_with_size_refuses_what_the_constructor_refuses(population, size):
    with pytest.raises(InvalidInputError):
        population.with_size(size)


def test_fields_cannot_be_assigned(population):
    with pytest.raises(dataclasses.FrozenInstanceError):
        population.size = 4


@pytest.mark.parametrize("field", ["features", "weights", "context_features"])
def test_arrays_cannot_be_written_to(field):
    found = Population({"a": 1.0, "b": 2.0}, ["x", "y"], context_features=[0, 1])
    with pytest.raises(ValueError, match="read-only"):
        getattr(found, field)[0] = 9.0


def test_changing_the_callers_array_later_changes_nothing():
    features = np.array([[1.0], [2.0]])
    found = Population(features)
    features[0] = 99.0
    assert found.features[0, 0] == 1.0
