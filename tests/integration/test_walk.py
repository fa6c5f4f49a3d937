"""The way of an ask through the code: nothing that the strategy calls asks the strategy back."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "walk.py"
spec = importlib.util.spec_from_file_location("walk", PATH)
walk = importlib.util.module_from_spec(spec)
spec.loader.exec_module(walk)


@pytest.fixture(scope="module")
def walks() -> dict:
    return walk.in_python("swarm", "agents:2", "default", rounds=7)


def test_neither_the_surrogate_nor_a_rule_asks_the_strategy_back(walks):
    back = walks["ask"].hops_back
    assert not [led_to for _, led_to in back if led_to.startswith("strategies/")]


def test_the_walk_of_an_ask_goes_through_the_rules_and_the_model(walks):
    files = walks["ask"].files
    assert {"strategies/default/strategy.py", "strategies/modeled.py", "models/gaussian_process.py"} <= files
    assert "strategies/default/information_floor.py" not in files  # a rule for noise


def test_a_tell_does_not_touch_the_model(walks):
    assert not [file for file in walks["tell"].files if file.startswith(("models/", "strategies/"))]


def test_a_plain_round_asks_no_rule_that_cannot_apply():
    files = walk.in_python("swarm", "system", "default", rounds=7)["ask"].files
    rules = ("first_plans", "hints", "shared_luck", "doubts", "wrong_days", "lookers", "stall", "information_floor")
    assert not files & {f"strategies/default/{rule}.py" for rule in rules}
    assert not files & {"models/separable.py", "models/situation_kernel.py", "study/changes.py", "study/correcting.py"}


def test_on_the_command_line_nothing_leads_back_into_a_file_that_waits():
    for found in walk.on_command_line("default", rounds=2).values():
        assert not found.hops_back


def test_a_hop_back_is_seen():
    found = walk.Walk()
    found.enter([], "a.py", "f")
    found.enter(["a.py"], "b.py", "g")
    found.enter(["a.py", "b.py"], "a.py", "h")
    assert found.hops == {("a.py", "b.py"), ("b.py", "a.py")}
    assert found.hops_back == {("b.py", "a.py")}
    assert found.depth == 3
