"""Records come back from text to the bit, whatever their numbers are."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mfbo import Feedback, Plan, Population, Round
from mfbo.errors import InvalidInputError, StorageError
from mfbo.records import Lease
from mfbo.storage import codec
from mfbo.storage.replay import ODD

any_float = st.floats(allow_nan=True, allow_infinity=True)
tables = hnp.arrays(np.float64, (2, 3), elements=any_float)


def through_text(record):
    return codec.from_text(codec.to_text(record))


def same_bits(one, other):
    return (one is None and other is None) or (one.dtype == other.dtype and one.tobytes() == other.tobytes())


@settings(max_examples=60)
@given(tables, st.dictionaries(st.text(), st.lists(st.one_of(any_float, st.integers(), st.text())), max_size=4))
def test_plans_and_notes(table, notes):
    plan = Plan(3, table, np.arange(6).reshape(2, 3), np.arange(5, dtype=np.int32))
    stored = through_text(codec.plan_record(plan, {key: tuple(each) for key, each in notes.items()}, Lease("w", 1.5)))
    found = codec.plan_of(3, stored)
    for name in ("distribution", "allocation", "assignment"):
        assert same_bits(getattr(found.plan, name), getattr(plan, name))
        assert not getattr(found.plan, name).flags.writeable
    assert {key: list(map(repr, each)) for key, each in found.notes.items()} == {
        key: list(map(repr, each)) for key, each in notes.items()
    }
    assert found.lease == Lease("w", 1.5)


@settings(max_examples=60)
@given(
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 99), st.floats(allow_nan=False))),
    st.none() | tables,
)
def test_feedback(payoff, agents, cells):
    feedback = Feedback(payoff, tuple(agents), cells, cells)
    found = codec.feedback_of(through_text(codec.feedback_record(feedback)))
    assert found.payoff == payoff
    assert found.agents == tuple(agents)
    assert same_bits(found.cells, cells)
    assert same_bits(found.counts, cells)


@pytest.mark.parametrize(
    "population",
    [
        Population(["ä", "b"]),
        Population({"name": ["a", "b", "c"], "x": [0.1, 1 / 3, 1e-300], "y": [1, 2, 3]}, {"u": 0.1, "v": 0.9}, size=7),
        Population(["a", "b"], ["u", "v", "w"], 10, weights=[0.1, 0.2, 0.7], context_features=[[1, 2], [3, 4], [5, 6]]),
        Population(np.arange(6.0).reshape(3, 2), size=10**15),
    ],
)
def test_populations(population):
    found = codec.population_of(through_text(codec.population_record(population)))
    for name in ("actions", "feature_names", "contexts", "size"):
        assert getattr(found, name) == getattr(population, name)
    for name in ("features", "weights", "context_features"):
        assert same_bits(getattr(found, name), getattr(population, name))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("actions", "ab"),
        ("actions", ["a", 2]),
        ("actions", ["a", "a"]),
        ("actions", ["a", "b", "c"]),
        ("contexts", {"u": 0.5, "v": 0.5}),
        ("contexts", [["u"], ["v"]]),
        ("feature_names", ["x", "y"]),
        ("features", codec.array_record([[0.1], [np.nan]])),
        ("features", codec.array_record([[0.1], [1e200]])),
        ("weights", codec.array_record([0.5, 0.4])),
        ("weights", codec.array_record([1.0, 0.0])),
        ("weights", None),
        ("context_features", codec.array_record([1.0, 2.0])),
        ("context_features", codec.array_record([[np.inf], [2.0]])),
        ("size", 0),
        ("size", 2.5),
    ],
)
def test_a_population_that_none_can_be_is_refused(key, value):
    population = Population({"name": ["a", "b"], "x": [0.1, 0.2]}, ["u", "v"], 10, context_features=[[1.0], [2.0]])
    record = codec.population_record(population)
    assert codec.population_of(record).actions == population.actions
    with pytest.raises((InvalidInputError, *ODD)):
        codec.population_of({**record, key: value})


@given(st.lists(st.floats(0.001, 1), min_size=2, max_size=9))
def test_weights_keep_their_last_bit(raw):
    population = Population(["a"], [str(n) for n in range(len(raw))], weights=np.array(raw) / math.fsum(raw))
    assert same_bits(codec.population_of(codec.population_record(population)).weights, population.weights)


@pytest.mark.parametrize("note", [b"text", None, True, 1j])
def test_notes_that_are_neither_numbers_nor_words_are_refused(note):
    with pytest.raises(StorageError, match="numbers"):
        codec.plan_record(Plan(0, np.ones((1, 1))), {"level": (note,)}, Lease())


@pytest.mark.parametrize("text", ["", "[]", "{", "null", "[" * 100_000])
def test_text_that_is_no_record_is_refused(text):
    with pytest.raises(StorageError):
        codec.from_text(text)


def test_a_result_with_everything():
    done = Round(Plan(0, np.ones((1, 2)) / 2)).done(Feedback(1 / 3), np.array([[0.1, 0.9]]), 0, late=True)
    record = through_text(codec.result_record(done))
    assert record["late"] is True
    assert same_bits(codec.array_of(record["realized"]), done.realized)
