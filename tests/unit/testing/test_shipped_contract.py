"""The shipped suite itself: it passes a good strategy and catches each way of breaking the contract."""

from dataclasses import dataclass

import numpy as np
import pytest

from mfbo.records import History, Proposal
from mfbo.simplex import softmax
from mfbo.strategies import RandomSearch
from mfbo.testing import StrategyContract


@dataclass(frozen=True)
class Broken(RandomSearch):
    """Random search with one fault."""

    fault: str = "none"
    calls: list[int] = None  # type: ignore[assignment]

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        plan = softmax(rng.uniform(size=history.population.shape))
        notes: dict[str, object] = {}
        if self.fault == "global randomness":
            plan = softmax(np.random.uniform(size=plan.shape))  # noqa: NPY002
        elif self.fault == "memory":
            self.calls.append(1)
            plan = softmax(rng.uniform(size=plan.shape) * len(self.calls))
        elif self.fault == "no seed":
            plan = np.full(plan.shape, 1.0 / plan.shape[1])
        elif self.fault == "object in the notes":
            notes = {"kept": (np.float64(1.0),)}
        elif self.fault == "wrong agents":
            return Proposal(plan, {}, np.zeros(history.population.size, dtype=np.int64))
        return Proposal(plan, notes)  # type: ignore[arg-type]

    def recommend(self, history: History) -> np.ndarray:
        if self.fault == "recommends the last":
            return history.rounds[-1].plan.distribution.copy()
        if self.fault == "hands out the history":
            history.rounds[0].plan.distribution.setflags(write=True)
            return history.rounds[0].plan.distribution
        return super().recommend(history)


def suite(fault: str) -> StrategyContract:
    class Suite(StrategyContract):
        def make(self):
            return Broken(fault=fault, calls=[])

    return Suite()


TESTS = [name for name in dir(StrategyContract) if name.startswith("test_")]


@pytest.mark.parametrize("test", TESTS)
def test_a_good_strategy_passes(test):
    getattr(suite("none"), test)()


@pytest.mark.parametrize(
    ("fault", "test"),
    [
        ("global randomness", "test_equal_history_and_equal_generator_give_equal_plans"),
        ("memory", "test_what_was_asked_before_changes_no_answer"),
        ("memory", "test_a_restart_from_plain_records_equals_an_unbroken_study"),
        ("no seed", "test_other_seeds_give_other_plans"),
        ("object in the notes", "test_notes_are_plain_numbers_and_words"),
        ("wrong agents", "test_every_plan_is_valid"),
        ("recommends the last", "test_failed_and_abandoned_rounds_do_no_harm"),
        ("recommends the last", "test_open_rounds_do_no_harm"),
        ("hands out the history", "test_the_history_is_left_alone"),
    ],
)
def test_a_broken_strategy_is_caught(fault, test):
    with pytest.raises(AssertionError):
        getattr(suite(fault), test)()


def test_a_suite_without_a_strategy_says_what_to_give():
    with pytest.raises(NotImplementedError, match="how to make its strategy"):
        StrategyContract().make()
