"""Threads may share one study: nothing is lost or doubled, and the log replays to the same study."""

import copy
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mfbo import Population, create_study, load_study
from mfbo.health import health
from mfbo.storage import open_storage

POPULATION = Population({"name": ["a", "b", "c"], "x": [0.1, 0.5, 0.7]}, size=20)
THREADS = 8


def value(plan):
    return float(-((plan.realized[0] - [0.5, 0.3, 0.2]) ** 2).sum())


def at_once(actions):
    """Run actions in threads that start together; raise what any of them raised."""
    gate = threading.Barrier(len(actions))

    def run(action):
        gate.wait()
        return action()

    with ThreadPoolExecutor(len(actions)) as pool:
        return [each.result() for each in [pool.submit(run, action) for action in actions]]


def assert_same(study, other):
    for ours, theirs in zip(study.rounds, other.rounds, strict=True):
        np.testing.assert_array_equal(ours.plan.distribution, theirs.plan.distribution)
        assert dict(ours.notes) == dict(theirs.notes)
        assert (ours.number, ours.state, ours.told, ours.payoff) == (
            theirs.number,
            theirs.state,
            theirs.told,
            theirs.payoff,
        )


@pytest.mark.parametrize("strategy", ["random", "default"])
@pytest.mark.parametrize("kind", ["none", "memory", "sqlite"])
def test_eight_threads_lose_and_double_nothing(strategy, kind, tmp_path):
    storage = {"none": None, "memory": "memory", "sqlite": f"sqlite:///{tmp_path / 'x.db'}"}[kind]
    rounds = 3 if strategy == "default" else 4 if kind == "sqlite" else 12
    study = create_study(POPULATION, strategy, storage=storage, name=None if storage is None else "one")

    def play(thread):
        for number in range(rounds):
            plan = study.ask(worker=f"thread-{thread}")
            if number % 5 == 3:
                study.fail(plan, "rain")
            else:
                assert study.tell(plan, value(plan), worker=f"thread-{thread}").payoff == value(plan)
            if number % 4 == 1:
                study.add([0.2, 0.3, 0.5], float(thread))
                study.recommend()
            if strategy == "default" and number == 1:
                study.predict([0.2, 0.3, 0.5])
                study.explain()
                assert study.best.payoff is not None
                health(study)
            study.refresh()

    at_once([lambda thread=thread: play(thread) for thread in range(THREADS)])
    added = [each for each in study.rounds if each.added]
    assert len(study.rounds) - len(added) == THREADS * rounds
    assert len(added) == THREADS * sum(number % 4 == 1 for number in range(rounds))
    assert [each.number for each in study.rounds] == list(range(len(study.rounds)))
    assert sorted(each.told for each in study.history.told) == list(range(len(study.history.told)))
    assert not study.history.open
    if kind == "sqlite":
        assert_same(study, load_study("one", storage))
        assert open_storage(storage).check() == []
    elif kind == "memory":
        assert_same(study, load_study("one", study.storage))


def test_threads_may_run_one_study_at_once():
    """Each run has workers of its own, so no two of them get one plan; payoffs may call the study."""
    study = create_study(POPULATION, "random", storage="memory", name="one")

    def payoff(plan):
        assert study.placed is None or study.history.population is POPULATION
        study.refresh()
        return value(plan)

    finished = at_once([lambda: study.run(payoff, 6, workers=2) for _ in range(4)])
    numbers = sorted(each.number for rounds in finished for each in rounds)
    assert numbers == list(range(24))
    assert_same(study, load_study("one", study.storage))


def test_a_copy_of_a_study_has_a_lock_of_its_own():
    study = create_study(POPULATION, "random")
    study.tell(study.ask(), 0.5)
    other = copy.deepcopy(study)
    with study.lock:
        assert at_once([other.ask])[0].number == 1
    assert len(study.rounds) == 1
