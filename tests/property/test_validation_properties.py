"""Properties of the one module that checks users' input."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfbo.errors import InvalidInputError
from mfbo.validation import distribution_array, finite_number, share_array, unique_names, whole_number

TEXTS = st.text(alphabet="ab1 √-", max_size=5)
NAMES = st.text(alphabet="ab1 √-", min_size=1, max_size=5).filter(str.strip)


@st.composite
def distributions(draw: st.DrawFn) -> np.ndarray:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.dirichlet(
        np.full(draw(st.integers(2, 8)), draw(st.sampled_from([0.05, 1.0]))), size=draw(st.integers(1, 4))
    )


@given(st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**18), 10**18)))
def test_every_finite_number_passes_unchanged(value):
    assert finite_number(value, "payoff") == float(value)


@given(
    st.one_of(st.sampled_from([math.nan, math.inf, -math.inf]), st.booleans(), TEXTS, st.none(), st.lists(st.floats()))
)
def test_nothing_else_passes_as_a_number(value):
    with pytest.raises(InvalidInputError, match="payoff"):
        finite_number(value, "payoff")


@given(st.integers(1, 10**15))
def test_every_population_size_passes(value):
    assert whole_number(value, "size", least=1) == value


@given(
    st.one_of(st.integers(max_value=0), st.integers(min_value=10**15 + 1), st.floats(), st.booleans(), TEXTS, st.none())
)
def test_no_other_population_size_passes(value):
    with pytest.raises(InvalidInputError, match="size"):
        whole_number(value, "size", least=1)


@given(distributions())
def test_a_distribution_passes_with_rows_that_sum_to_one_exactly_enough(rows):
    checked = distribution_array(rows.tolist(), "distribution", *rows.shape)
    np.testing.assert_allclose(checked, rows, atol=1e-12)
    np.testing.assert_allclose(checked.sum(axis=1), 1.0, rtol=0, atol=1e-14)


@given(distributions(), st.floats(1e-5, 10))
def test_a_row_with_too_much_mass_is_refused(rows, extra):
    rows = rows.copy()
    rows[-1, 0] += extra
    with pytest.raises(InvalidInputError, match=f"row {len(rows) - 1}"):
        distribution_array(rows, "distribution", *rows.shape)


@given(distributions(), st.sampled_from([math.nan, math.inf, -math.inf]))
def test_a_distribution_that_is_not_finite_is_refused(rows, value):
    rows = rows.copy()
    rows[0, 1] = value
    with pytest.raises(InvalidInputError, match=r"\(0, 1\)"):
        distribution_array(rows, "distribution", *rows.shape)


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=20))
def test_shares_are_returned_summing_to_one(values):
    shares = np.array(values) / sum(values)
    assert share_array(shares, "weights", len(values)).sum() == pytest.approx(1.0, abs=1e-14)


@given(st.lists(NAMES, min_size=1, unique=True))
def test_distinct_names_pass_in_their_order(names):
    assert unique_names(names, "actions") == tuple(names)


@given(st.lists(NAMES, min_size=1, unique=True), st.data())
def test_a_repeated_name_is_refused_and_named(names, data):
    twice = data.draw(st.sampled_from(names))
    with pytest.raises(InvalidInputError) as caught:
        unique_names([*names, twice], "actions")
    assert repr(twice) in str(caught.value)
