"""Random lives of a study: changes, corrections, odd days, asks and tells in any order keep all that was promised."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mfbo import Population, create_study, load_study
from mfbo.errors import InvalidInputError, RoundStateError, UnknownNameError
from mfbo.storage import open_storage

NAMES = ("a", "b", "c", "d", "e", "f")
REFUSED = (InvalidInputError, RoundStateError, UnknownNameError)
COMMANDS = ("ask", "ask", "today", "tell", "tell", "fail", "change", "amend", "withdraw", "reinstate")
STEPS = st.lists(st.tuples(st.sampled_from(COMMANDS), st.integers(0, 10**6)), min_size=4, max_size=14)


def drawn_change(population, rng):
    """A change that makes sense mostly; some are refused."""
    change = {}
    if rng.random() < 0.4:
        change["size"] = int(rng.integers(1, 40))
    if rng.random() < 0.3:
        new = str(rng.choice(NAMES))
        change["open"] = {new: None if new in population.actions else [float(rng.random())]}
    if rng.random() < 0.3:
        change["close"] = [str(rng.choice(population.actions))]
    if rng.random() < 0.2:
        change["capacity"] = {str(rng.choice(population.actions)): int(rng.integers(0, 20))}
    if rng.random() < 0.2:
        change["minimum"] = {str(rng.choice(population.actions)): int(rng.integers(0, 4))}
    if rng.random() < 0.2:
        change["move_budget"] = int(rng.integers(0, 9)) if rng.random() < 0.8 else float("inf")
    if rng.random() < 0.2:
        change["rename"] = {str(rng.choice(population.actions)): str(rng.choice(NAMES)).upper()}
    return change


def step(study, command, rng):
    """Do one thing; whatever is refused leaves everything as it was."""
    number = int(rng.integers(0, len(study.rounds) + 1))
    payoff = float(rng.normal())
    try:
        if command in ("ask", "today"):
            change = drawn_change(study.population, rng) if command == "today" else {}
            today = {"size": change.get("size"), "closed": change.get("close"), "capacity": change.get("capacity")}
            check_plan(study, study.ask(**today))
        elif command == "tell":
            told = {"cells": np.full(study.population.shape, payoff)} if rng.random() < 0.2 else {"payoff": payoff}
            study.tell(number, **told)
        elif command == "fail":
            study.fail(number, "rain")
        elif command == "change":
            study.change(**drawn_change(study.population, rng))
        elif command == "amend":
            study.amend(number, payoff)
        else:
            getattr(study, command)(number)
    except REFUSED:
        return "refused"
    return command


def check_plan(study, plan):
    """Right to the agent, inside the limits of the day, nobody where it is closed."""
    asked, population = study.rounds[plan.number], study.population
    size = population.size if asked.size is None else asked.size
    assert plan.allocation.sum() == size
    for name in (*population.closed, *asked.today.get("close", ())):
        assert plan.allocation[0, population.actions.index(name)] == 0
    if population.limits is not None:
        most = population.limits.most.copy()
        for name, bound in asked.today.get("capacity", {}).items():
            most[population.actions.index(name)] = bound
        most = np.where(most == population.size, size, most)
        assert (plan.allocation[0] <= most).all()


def state_of(study):
    rounds = [
        (
            one.state,
            one.told,
            one.seen,
            one.size,
            dict(one.today),
            one.correction,
            one.payoff,
            one.plan.allocation.tobytes(),
            one.played.tobytes(),
            sorted((key, tuple(values)) for key, values in one.notes.items()),
        )
        for one in study.rounds
    ]
    population = study.population
    limits = None if population.limits is None else population.limits.to_record()
    return rounds, population.actions, population.size, population.closed, limits, study.history.corrections


def live(strategy, steps, seed):
    population = Population({"name": ["a", "b", "c"], "x": [0.0, 0.5, 1.0]}, size=12)
    study = create_study(population, strategy, seed=seed, storage="memory", name="one", lease_seconds=None)
    for command, choice in steps:
        before, events = state_of(study), len(study.log())
        if step(study, command, np.random.default_rng(choice)) == "refused":
            assert state_of(study) == before
            assert len(study.log()) == events
        told = [done.told for done in study.history.told]
        assert told == sorted(set(told))
        assert {one.plan.allocation.shape for one in study.rounds} <= {study.population.shape}
    copy = open_storage("memory")
    copy.create("one", study.storage.description("one"))
    for event in study.storage.events("one"):
        copy.append("one", event.kind, event.number, event.body, event.at)
    again = load_study("one", copy)
    assert state_of(again) == state_of(study)
    plan = study.ask()
    check_plan(study, plan)
    assert again.ask().distribution.tobytes() == plan.distribution.tobytes()
    assert state_of(again) == state_of(study)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS, seed=st.integers(0, 99))
def test_a_random_life_keeps_every_promise(steps, seed):
    live("random", steps, seed)


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS, seed=st.integers(0, 99))
def test_a_random_life_keeps_every_promise_of_the_default(steps, seed):
    live("default", steps, seed)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS, seed=st.integers(0, 99))
def test_a_thousand_random_lives(steps, seed):
    """With a strategy that takes no time; `default` lives a few in the everyday tests."""
    live("random", steps, seed)
