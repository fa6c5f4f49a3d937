"""The checks of users' input: what passes, what is refused, and that the message names the value and the way out."""

import math
from fractions import Fraction

import numpy as np
import pytest

from mfbo.errors import InvalidInputError, MfboError, RoundStateError, UnknownNameError
from mfbo.validation import (
    distribution_array,
    finite_number,
    known_name,
    non_negative,
    number_array,
    positive,
    share_array,
    unique_names,
    whole_number,
)


@pytest.mark.parametrize("value", [3, 2.5, np.float32(1.5), np.int64(4), Fraction(1, 2), np.array(7.0)])
def test_numbers_of_any_type_pass(value):
    found = finite_number(value, "payoff")
    assert isinstance(found, float)
    assert found == float(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_numbers_that_are_not_finite_are_refused_with_the_way_out(value):
    with pytest.raises(InvalidInputError, match="payoff must be finite"):
        finite_number(value, "payoff")


@pytest.mark.parametrize("value", ["3", None, True, np.True_, [1.0], np.array([1.0]), 1j])
def test_what_is_no_number_is_refused_and_shown(value):
    with pytest.raises(InvalidInputError) as caught:
        finite_number(value, "payoff")
    assert repr(value) in str(caught.value)


def test_a_whole_number_too_large_for_a_float_is_refused():
    with pytest.raises(InvalidInputError, match="payoff"):
        finite_number(10**400, "payoff")


@pytest.mark.parametrize(("value", "least", "most"), [(0, 0, 5), (5, 0, 5), (np.int8(3), 1, 9)])
def test_whole_numbers_within_the_limits_pass(value, least, most):
    assert whole_number(value, "rounds", least, most) == int(value)


@pytest.mark.parametrize("value", [-1, 6])
def test_whole_numbers_outside_the_limits_are_refused_and_named(value):
    with pytest.raises(InvalidInputError, match=f"rounds must be between 0 and .*, not {value}"):
        whole_number(value, "rounds", 0, 5)


@pytest.mark.parametrize("value", [1.0, "1", True, None])
def test_what_is_not_whole_is_refused(value):
    with pytest.raises(InvalidInputError, match="whole number"):
        whole_number(value, "rounds", 0)


def test_zero_is_non_negative_but_not_positive():
    assert non_negative(0, "noise") == 0.0
    with pytest.raises(InvalidInputError, match=r"above 0, not 0\.0"):
        positive(0, "noise")


@pytest.mark.parametrize("check", [non_negative, positive])
@pytest.mark.parametrize("value", [-0.1, math.nan, "x"])
def test_negative_numbers_and_non_numbers_are_neither(check, value):
    with pytest.raises(InvalidInputError, match="noise"):
        check(value, "noise")


def test_a_number_array_is_a_copy():
    values = np.ones((2, 2))
    number_array(values, "table", (2, 2))[0, 0] = 5.0
    assert values[0, 0] == 1.0


def test_a_number_array_of_another_shape_is_refused_with_both_shapes():
    with pytest.raises(InvalidInputError, match=r"\(2, 3\), not \(3, 2\)"):
        number_array(np.ones((3, 2)), "table", (2, 3))


def test_a_number_array_names_the_first_entry_that_is_not_finite():
    with pytest.raises(InvalidInputError, match=r"\(1, 0\) is inf"):
        number_array([[1.0, 2.0], [math.inf, math.nan]], "table", (2, 2))


@pytest.mark.parametrize("values", [[["a", "b"]], [[1.0], [1.0, 2.0]]])
def test_a_number_array_of_text_or_ragged_rows_is_refused(values):
    with pytest.raises(InvalidInputError, match="numbers only"):
        number_array(values, "table", (2, 2))


def test_one_context_may_be_given_flat():
    assert distribution_array([0.25, 0.75], "distribution", 1, 2).tolist() == [[0.25, 0.75]]


def test_several_contexts_may_not_be_given_flat():
    with pytest.raises(InvalidInputError, match=r"\(2, 2\), not \(2,\)"):
        distribution_array([0.25, 0.75], "distribution", 2, 2)


def test_rows_within_the_tolerance_are_made_to_sum_to_one():
    checked = distribution_array([[0.5, 0.5 + 5e-7]], "distribution", 1, 2)
    assert checked.sum() == pytest.approx(1.0, abs=1e-15)


def test_rows_that_do_not_sum_to_one_are_refused_with_row_and_sum():
    with pytest.raises(InvalidInputError, match=r"row 1 sums to 0\.9"):
        distribution_array([[0.5, 0.5], [0.5, 0.4]], "distribution", 2, 2)


def test_a_negative_share_is_refused_with_its_place_and_value():
    with pytest.raises(InvalidInputError, match=r"\(0, 1\) is -0\.5"):
        distribution_array([[1.5, -0.5]], "distribution", 1, 2)


def test_a_ragged_distribution_is_refused():
    with pytest.raises(InvalidInputError, match="distribution"):
        distribution_array([[0.5, 0.5], [1.0]], "distribution", 2, 2)


def test_a_distribution_of_text_is_refused():
    with pytest.raises(InvalidInputError, match="distribution"):
        distribution_array("half half", "distribution", 1, 2)


def test_shares_must_be_above_zero():
    with pytest.raises(InvalidInputError, match="above 0, not 0"):
        share_array([1.0, 0.0], "weights", 2)


def test_names_keep_their_order_and_become_text():
    assert unique_names(["b", 7, "a"], "actions") == ("b", "7", "a")


@pytest.mark.parametrize(
    ("names", "message"), [([], "empty"), (["a", ""], "position 1"), (["a", "b", "a"], "'a' appears twice")]
)
def test_bad_names_are_refused(names, message):
    with pytest.raises(InvalidInputError, match=message):
        unique_names(names, "actions")


def test_a_known_name_passes():
    assert known_name("swarm", "problem", ["arena", "swarm"]) == "swarm"


def test_a_misspelt_name_is_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match="unknown problem 'swram'; did you mean 'swarm'"):
        known_name("swram", "problem", ["arena", "swarm"])


def test_a_strange_name_is_refused_with_all_known_ones():
    with pytest.raises(UnknownNameError, match="known: arena, swarm"):
        known_name("qqq", "problem", ["arena", "swarm"])


def test_a_long_list_of_known_names_is_shortened():
    with pytest.raises(UnknownNameError) as caught:
        known_name("qqq", "action", [f"station {i}" for i in range(500)])
    assert "500 in all" in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("error", "builtin"),
    [(InvalidInputError, ValueError), (UnknownNameError, KeyError), (RoundStateError, RuntimeError)],
)
def test_each_error_is_also_a_builtin_one(error, builtin):
    assert issubclass(error, MfboError)
    assert issubclass(error, builtin)


def test_the_message_of_an_unknown_name_is_not_quoted_like_a_key():
    assert str(UnknownNameError("unknown plan 3")) == "unknown plan 3"
