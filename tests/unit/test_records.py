"""The records: plans, feedback as users tell it, rounds and histories."""

import dataclasses

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round
from mfbo.errors import InvalidInputError, UnknownNameError
from mfbo.records import read_distribution

NAN = float("nan")


@pytest.fixture
def population() -> Population:
    return Population(["a", "b", "c"], {"x": 0.5, "y": 0.5}, size=10)


@pytest.fixture
def one() -> Population:
    return Population(["a", "b", "c"])


def played(number: int, told: int | None, state: str = "done") -> Round:
    plan = Plan(number, np.full((1, 3), 1 / 3))
    return Round(plan, state=state, realized=plan.distribution, feedback=Feedback(float(number)), told=told)


# Plans


def test_a_plan_of_the_limit_realizes_its_distribution():
    distribution = np.array([[0.3, 0.7]])
    assert Plan(0, distribution).realized is distribution


def test_a_plan_of_whole_agents_realizes_its_allocation():
    plan = Plan(0, np.array([[0.3, 0.7], [0.5, 0.5]]), np.array([[1, 3], [0, 0]]))
    assert plan.realized.tolist() == [[0.25, 0.75], [0.5, 0.5]]


@pytest.mark.parametrize("record", [Plan(0, np.ones((1, 1))), Feedback(1.0), Round(Plan(0, np.ones((1, 1))))])
def test_records_are_frozen(record):
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(record, dataclasses.fields(record)[0].name, None)


# Feedback: what is taken


def test_a_payoff_is_taken_as_a_float(one):
    found = Feedback.read(one, np.int64(3))
    assert (type(found.payoff), found.payoff) == (float, 3.0)


@pytest.mark.parametrize("agents", [[("x", "b", 1.5)], [(0, 1, 1.5)], [["x", 1, 1.5]], (a for a in [("x", "b", 1.5)])])
def test_agents_are_taken_by_name_or_position(population, agents):
    assert Feedback.read(population, agents=agents).agents == ((0, 1, 1.5),)


def test_agents_of_a_single_context_need_not_name_it(one):
    assert Feedback.read(one, agents=[("b", 1.5), (2, -1)]).agents == ((0, 1, 1.5), (0, 2, -1.0))


def test_cells_are_taken_as_a_table(population):
    found = Feedback.read(population, cells=[[1, NAN, 3], [4, 5, 6]])
    np.testing.assert_array_equal(found.cells, [[1, NAN, 3], [4, 5, 6]])


def test_cells_of_a_single_context_may_be_flat(one):
    assert Feedback.read(one, cells=[1, 2, 3]).cells.tolist() == [[1, 2, 3]]


def test_cells_are_taken_as_a_mapping_by_name_or_position(population):
    found = Feedback.read(population, cells={("x", "a"): 1.0, (1, 2): 6.0})
    np.testing.assert_array_equal(found.cells, [[1, NAN, NAN], [NAN, NAN, 6]])


def test_cells_of_a_single_context_are_mapped_by_action(one):
    np.testing.assert_array_equal(Feedback.read(one, cells={"c": 2.0}).cells, [[NAN, NAN, 2]])


def test_counts_are_one_for_every_seen_cell_unless_given(population):
    assert Feedback.read(population, cells=[[1, NAN, 3], [4, 5, 6]]).counts.tolist() == [[1, 0, 1], [1, 1, 1]]


def test_counts_are_taken_as_a_mapping(population):
    found = Feedback.read(population, cells={("x", "a"): 1.0}, counts={("x", "a"): 12})
    assert found.counts.tolist() == [[12, 0, 0], [0, 0, 0]]


def test_counts_of_cells_nobody_saw_are_zero(one):
    assert Feedback.read(one, cells=[1, NAN, 3], counts=[5, 9, 2]).counts.tolist() == [[5, 0, 2]]


def test_several_kinds_may_be_told_together(one):
    found = Feedback.read(one, 2.0, agents=[("a", 1.0)], cells={"b": 3.0})
    assert found.payoff == 2.0
    assert found.agents == ((0, 0, 1.0),)
    assert found.cells[0, 1] == 3.0


@pytest.mark.parametrize("field", ["cells", "counts"])
def test_told_tables_cannot_be_written_to(one, field):
    with pytest.raises(ValueError, match="read-only"):
        getattr(Feedback.read(one, cells=[1, 2, 3]), field)[0, 0] = 9.0


# Feedback: what is refused

REFUSED = {
    "nothing": ({}, "nothing was told"),
    "nan": ({"payoff": NAN}, "nan"),
    "infinite": ({"payoff": float("-inf")}, "inf"),
    "text": ({"payoff": "3.2"}, "'3.2'"),
    "boolean": ({"payoff": True}, "True"),
    "list": ({"payoff": [1.0]}, r"\[1.0\]"),
    "counts alone": ({"counts": [[1, 1, 1], [1, 1, 1]]}, "cells="),
    "no agents": ({"agents": []}, "at least one"),
    "agents a number": ({"agents": 3}, "3"),
    "agents a text": ({"agents": "abc"}, "'abc'"),
    "agent a text": ({"agents": ["abc"]}, r"agents\[0\].*'abc'"),
    "agent too short": ({"agents": [("x", "a", 1.0), ("x", 1.0)]}, r"agents\[1\]"),
    "agent too long": ({"agents": [("x", "a", 1.0, 2.0)]}, r"agents\[0\]"),
    "agent nan": ({"agents": [("x", "a", NAN)]}, r"agents\[0\] payoff.*nan"),
    "agent text payoff": ({"agents": [("x", "a", "much")]}, "'much'"),
    "agent position": ({"agents": [("x", 3, 1.0)]}, "between 0 and 2, not 3"),
    "cells shape": ({"cells": [[1, 2, 3]]}, r"\(2, 3\), not \(1, 3\)"),
    "cells transposed": ({"cells": np.ones((3, 2))}, r"\(2, 3\), not \(3, 2\)"),
    "cells infinite": ({"cells": [[1, 2, float("inf")], [1, 2, 3]]}, "finite"),
    "cells all nan": ({"cells": np.full((2, 3), NAN)}, "at least one"),
    "cells text": ({"cells": [["p", "q", "r"]] * 2}, "cells"),
    "cells ragged": ({"cells": [[1, 2, 3], [1]]}, "cells"),
    "cells key of an action alone": ({"cells": {"a": 1.0}}, "'a' must be"),
    "cells key too long": ({"cells": {("x", "a", "b"): 1.0}}, "cells"),
    "cells value nan": ({"cells": {("x", "a"): NAN}}, "nan"),
    "counts zero": ({"cells": [[1, 2, 3], [4, 5, 6]], "counts": [[0, 1, 1], [1, 1, 1]]}, "above 0"),
    "counts negative": ({"cells": [[1, 2, 3], [4, 5, 6]], "counts": [[-1, 1, 1], [1, 1, 1]]}, "above 0"),
    "counts nan": ({"cells": [[1, 2, 3], [4, 5, 6]], "counts": [[NAN, 1, 1], [1, 1, 1]]}, "counts"),
    "counts infinite": ({"cells": [[1, 2, 3], [4, 5, 6]], "counts": [[float("inf"), 1, 1], [1, 1, 1]]}, "counts"),
    "counts shape": ({"cells": [[1, 2, 3], [4, 5, 6]], "counts": [1, 1, 1]}, r"\(2, 3\)"),
    "counts text": ({"cells": [[1, 2, 3], [4, 5, 6]], "counts": [["p", "q", "r"]] * 2}, "counts"),
    "counts missing for a cell": ({"cells": {("x", "a"): 1.0}, "counts": {("x", "b"): 2}}, "above 0"),
}


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.replace(" ", "-"))
def test_bad_feedback_is_refused_and_named(population, case):
    told, named = REFUSED[case]
    with pytest.raises(InvalidInputError, match=named):
        Feedback.read(population, **told)


@pytest.mark.parametrize(
    "told",
    [
        {"agents": [("x", "d", 1.0)]},
        {"agents": [("z", "a", 1.0)]},
        {"cells": {("x", "d"): 1.0}},
        {"cells": {("z", "a"): 1.0}},
    ],
)
def test_unknown_names_in_feedback_are_refused(population, told):
    with pytest.raises(UnknownNameError, match=r"unknown (action|context) '[dz]'"):
        Feedback.read(population, **told)


# Rounds and histories


def test_a_finished_round_keeps_its_plan_and_notes():
    asked = Round(Plan(4, np.ones((1, 1))), {"level": (1.0,)})
    done = asked.done(Feedback(2.0), np.ones((1, 1)), told=3)
    assert (done.number, done.state, done.told, done.notes) == (4, "done", 3, {"level": (1.0,)})
    assert asked.state == "open"


def test_what_a_finished_round_played_cannot_be_written_to():
    done = Round(Plan(0, np.ones((1, 1)))).done(Feedback(2.0), np.ones((1, 1)), told=0)
    with pytest.raises(ValueError, match="read-only"):
        done.realized[0, 0] = 0.0


def test_a_failed_round_keeps_its_reason():
    failed = Round(Plan(0, np.ones((1, 1)))).ended("failed", "no power")
    assert (failed.state, failed.error, failed.feedback) == ("failed", "no power", None)


def test_told_rounds_come_in_the_order_of_tells(one):
    history = History(one, (played(0, 2), played(1, 0), played(2, None, "open"), played(3, 1)))
    assert [each.number for each in history.told] == [1, 3, 0]


@pytest.mark.parametrize("state", ["open", "failed", "abandoned"])
def test_only_finished_rounds_are_told(one, state):
    assert History(one, (played(0, None, state),)).told == ()


def test_open_rounds_come_in_the_order_of_asks(one):
    history = History(one, (played(0, None, "open"), played(1, 0), played(2, None, "failed"), played(3, None, "open")))
    assert [each.number for each in history.open] == [0, 3]


def test_last_notes_are_those_of_the_latest_ask(one):
    first, second = (Round(Plan(i, np.ones((1, 3)) / 3), {"level": (float(i),)}) for i in range(2))
    assert History(one, (first, second)).last_notes == {"level": (1.0,)}


def test_last_notes_of_an_empty_history_are_empty(one):
    assert History(one).last_notes == {}


def test_a_distribution_is_read_for_its_population(population):
    assert read_distribution([[1, 0, 0], [0, 0.5, 0.5]], population).tolist() == [[1, 0, 0], [0, 0.5, 0.5]]


def test_a_distribution_of_another_population_is_refused(population):
    with pytest.raises(InvalidInputError, match=r"distribution must have shape \(2, 3\)"):
        read_distribution([[1.0, 0.0]], population)
