"""Whole agents are kept as they were counted, in order of who spoke last, with and without a storage."""

import numpy as np
import pytest

from mfbo import InvalidInputError, Population, create_study, load_study
from mfbo.storage import codec

NOW = [[6, 4, 0]]


def population(**options):
    return Population(["a", "b", "c"], size=10, **options)


@pytest.fixture(params=["kept", "stored"])
def study(request):
    options = {"storage": "memory", "name": "s"} if request.param == "stored" else {}
    return create_study(population(), placed=NOW, **options)


def reloaded(study):
    return study if study.storage is None else load_study("s", study.storage)


def test_counts_are_kept_as_told_and_played_as_shares(study):
    done = study.tell(study.ask(), 1.0, placed={"a": 3, "c": 5}, allow_misfit=True)
    np.testing.assert_array_equal(done.placed, [[3, 0, 5]])
    np.testing.assert_allclose(done.played, [[3 / 8, 0, 5 / 8]])
    np.testing.assert_array_equal(reloaded(study).placed, [[3, 0, 5]])
    np.testing.assert_array_equal(reloaded(study).rounds[0].placed, [[3, 0, 5]])


def test_counts_equal_to_the_plan_change_no_bit(study):
    plan = study.ask()
    done = study.tell(plan, 1.0, placed=plan.allocation)
    assert done.played.tobytes() == plan.realized.tobytes()


@pytest.mark.parametrize("call", ["tell", "fail", "ask"])
@pytest.mark.parametrize("counts", [[3, 3, 3], [5, 5, 5]])
def test_a_count_of_another_fleet_is_refused_unless_said_to_be_meant(study, call, counts):
    plan = study.ask("w")
    calls = {
        "tell": lambda **options: study.tell(plan, 1.0, placed=counts, **options),
        "fail": lambda **options: study.fail(plan, "rain", placed=counts, **options),
        "ask": lambda **options: study.ask("w", placed=counts, **options),
    }
    with pytest.raises(InvalidInputError, match=r"placed must have 10 agents, not .*allow_misfit=True"):
        calls[call]()
    assert study.rounds[0].state == "open"
    np.testing.assert_array_equal(study.placed, NOW)
    calls[call](allow_misfit=True)
    np.testing.assert_array_equal(reloaded(study).placed, [counts])


def test_what_was_played_is_told_once(study):
    with pytest.raises(InvalidInputError, match="not both"):
        study.tell(study.ask(), 1.0, placed=NOW, distribution=[0.6, 0.4, 0.0])


def test_the_last_word_counts_whoever_speaks(study):
    one, other = study.ask("one"), study.ask("other", placed=[4, 4, 2])
    np.testing.assert_array_equal(reloaded(study).placed, [[4, 4, 2]])
    study.fail(one, "rain")
    np.testing.assert_array_equal(reloaded(study).placed, one.allocation)
    study.abandon(other)
    np.testing.assert_array_equal(reloaded(study).placed, one.allocation)
    last = study.ask("one", placed=[1, 1, 8])
    study.abandon(last)
    np.testing.assert_array_equal(reloaded(study).placed, [[1, 1, 8]])
    study.add([0.0, 0.0, 1.0], payoff=1.0)
    np.testing.assert_array_equal(reloaded(study).placed, [[1, 1, 8]])


def test_a_withdrawn_plan_leaves_the_words_after_its_own_count(study):
    one, other = study.ask("one", placed=[4, 4, 2]), study.ask("other")
    study.tell(other, 1.0, placed=[8, 1, 1])
    study.tell(one, 1.0, placed=[0, 5, 5])
    study.withdraw(one)
    np.testing.assert_array_equal(reloaded(study).placed, [[8, 1, 1]])
    study.withdraw(other)
    np.testing.assert_array_equal(reloaded(study).placed, [[4, 4, 2]])
    study.reinstate(one)
    np.testing.assert_array_equal(reloaded(study).placed, [[0, 5, 5]])


def test_an_open_plan_that_takes_too_many_moves_from_the_new_count_is_abandoned():
    study = create_study(population(move_budget=2), placed=NOW)
    plan = study.ask("w")
    assert study.ask("w") is plan
    new = study.ask("w", placed=[0, 0, 10])
    assert new.number == 1
    assert study.rounds[0].state == "abandoned"
    assert "2 may be moved" in study.rounds[0].error
    assert study.moves(new).moved <= 2
    assert study.ask("w", placed=[0, 0, 10]) is new


def test_the_mean_field_limit_counts_nobody():
    study = create_study(Population(["a", "b"]))
    with pytest.raises(InvalidInputError, match="size"):
        study.tell(study.ask(), 1.0, placed=[1, 1])
    assert study.moves(study.ask()) is None


def test_drawn_contexts_have_no_fixed_numbers_of_agents():
    people = Population(["a", "b"], {"x": 0.5, "y": 0.5}, size=10)
    study = create_study(people, "random", context_allocation="sampled")
    done = study.tell(study.ask(), 1.0, placed=[[1, 2], [3, 4]])
    assert done.placed.sum() == 10
    moves = study.moves(study.ask())
    assert (moves.missing, moves.surplus) == (0, 0)


def test_records_without_counts_are_those_of_older_programs():
    study = create_study(population(), storage="memory", name="s")
    study.tell(study.ask(), 1.0)
    study.fail(study.ask(), "rain")
    study.ask()
    for event in study.storage.events("s"):
        assert not {"placed", "start"} & set(codec.from_text(event.body))
