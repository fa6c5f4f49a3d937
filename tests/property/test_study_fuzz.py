"""A machine that does to a study whatever can be done, in any order: no error but our own, and exact resumption.

To drive a new call, add it to a rule (or add a rule) and pass it to ``self.attempt``.
"""

import shutil
import tempfile
from collections import Counter
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from odd_values import ODD

from mfbo import Feedback, Population, create_study, load_study
from mfbo.errors import MfboError, NumericalError
from mfbo.storage import open_storage

DONE = Counter()

POPULATIONS = {
    "plain": lambda: Population(["a", "b", "c"], size=12),
    "odd names": lambda: Population(["=1+1", "b\x1b[31m", "c|<d>", "e\x00f"], size=9),
    "on a map": lambda: Population({"name": ["a", "b", "c"], "x": [0.0, 1.0, 3.0], "y": [0.0, 1e-300, 0.0]}, size=7),
    "two contexts": lambda: Population(["a", "b", "c"], {"u": 0.7, "v": 0.3}, 10, context_features=[[0.0], [1.0]]),
    "shares only": lambda: Population(["a", "b", "c"]),
    "one place": lambda: Population(["a"], size=3),
    "one agent": lambda: Population(["a", "b"], size=1),
    "very many": lambda: Population(["a", "b", "c"], size=10**15),
    "capacity": lambda: Population(["a", "b", "c"], size=12, capacity={"a": 5, "b": 4}, minimum={"c": 2}),
    "closed": lambda: Population(
        ["a", "b", "c"], {"u": 0.5, "v": 0.5}, 12, forbidden=[("u", "a")], fixed={("v", "b"): 2}
    ),
    "few moves": lambda: Population(["a", "b", "c"], size=12, move_budget=3, placed=[4, 4, 4], capacity=[8, 8, 8]),
    "no moves": lambda: Population(["a", "b", "c"], size=12, move_budget=0, placed=[6, 6, 0]),
}
STRATEGIES = ("random", "random", "random", "default", "mf-gp-ucb", "genetic", "annealing")
WHO = tuple(name for name in Population.__init__.__annotations__ if name != "return")
WORKERS = st.sampled_from([None, None, "ann", "bob"])
PAYOFFS = st.one_of(
    st.floats(-100, 100), st.sampled_from([0.0, 1.0, -1e150, 1e150, 5e-324, 1e-300]), st.integers(-5, 5)
)
ODDITIES = st.sampled_from(sorted(ODD))
CHOICE = st.integers(0, 10**6)


def state_of(study):
    """All that is known of the rounds, as values that can be compared."""
    return [
        (
            each.number,
            each.state,
            each.told,
            each.late,
            each.added,
            each.error,
            each.lease,
            each.played.tobytes(),
            plan_of(each.plan),
            each.payoff,
            () if each.feedback is None else each.feedback.agents,
            None if each.feedback is None or each.feedback.cells is None else each.feedback.cells.tobytes(),
            sorted((key, tuple(values)) for key, values in each.notes.items()),
            *(None if counts is None else np.asarray(counts).tobytes() for counts in (each.start, each.placed)),
            each.seen,
        )
        for each in study.rounds
    ]


def plan_of(plan):
    arrays = (plan.distribution, plan.allocation, plan.assignment)
    return (plan.number, *(None if each is None else np.asarray(each).tobytes() for each in arrays))


def copied(storage, name):
    """The same study in another storage, event by event."""
    copy = open_storage("memory")
    copy.create(name, storage.description(name))
    for event in storage.events(name):
        copy.append(name, event.kind, event.number, event.body, event.at)
    return copy


class StudyMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.now = 1.7e9
        self.folder = tempfile.mkdtemp(prefix="mfbo-fuzz-")
        self.clock = mock.patch("time.time", new=self.time)  # a clock that jumps cannot be had for real
        self.clock.start()
        self.study = None

    def time(self):
        return self.now

    def teardown(self):
        self.clock.stop()
        shutil.rmtree(self.folder)

    @initialize(
        population=st.sampled_from(sorted(POPULATIONS)),
        strategy=st.sampled_from(STRATEGIES),
        kept=st.sampled_from(["memory", "memory", "memory", "file", None]),
        draws=st.sampled_from(["quota", "quota", "sampled"]),
        noise=st.sampled_from([None, None, 0.1, 1e150]),
        lease=st.sampled_from([10.0, 172_800.0, None, 5e-324]),
        seed=st.integers(0, 10**15),
    )
    def create(self, population, strategy, kept, draws, noise, lease, seed):
        made = POPULATIONS[population]()
        single = strategy in ("genetic", "annealing")
        if made.limits is not None or single:
            draws = "quota"
        if single and (made.limits is not None or made.size is None or made.size > 1000):
            strategy = "random"
        address = f"sqlite:///{self.folder}/studies.db" if kept == "file" else kept
        self.storage = None if kept is None else open_storage(address)
        named = {} if kept is None else {"storage": self.storage, "name": "s\x1b's ✓"}
        options = {"allocation": draws, "context_allocation": draws, "noise": noise, "lease_seconds": lease}
        self.study = create_study(made, strategy, seed=seed, **options, **named)
        self.others = []

    def attempt(self, call, study=None):
        """Do something; an error of our own is an answer, and then the study is as it was."""
        study = study or self.study
        study.refresh()
        before = state_of(study)
        DONE["operations"] += 1
        try:
            return call()
        except NumericalError:
            raise  # what was told was legal: the study must be able to go on
        except MfboError:
            assert state_of(study) == before
            DONE["refused"] += 1
            return None

    def plan(self, choice):
        """An open plan mostly, or any there is, or one that is not there."""
        waiting = [each.number for each in self.study.history.open]
        return waiting[choice % len(waiting)] if waiting and choice % 5 else choice % (len(self.study.rounds) + 1)

    def shares(self, choice):
        random = np.random.default_rng(choice)
        table = random.dirichlet(np.full(self.study.population.shape[1], 0.5), self.study.population.shape[0])
        return table if choice % 3 else np.eye(table.shape[1])[random.integers(table.shape[1], size=len(table))]

    def counts(self, choice):
        """Agents as somebody may have counted them: all of them mostly, or one too few, or one too many."""
        population = self.study.population
        size = 5 if population.size is None else population.size
        random = np.random.default_rng(choice)
        counted = np.stack(
            [
                random.multinomial(size * weight, row)
                for row, weight in zip(self.shares(choice), population.weights, strict=True)
            ]
        )
        counted[0, 0] += size - counted.sum() + (choice % 4 == 0) - (choice % 7 == 0)
        return np.maximum(counted, 0)

    def cells(self, choice, payoff):
        random = np.random.default_rng(choice)
        return np.where(random.random(self.study.population.shape) < 0.3, np.nan, float(payoff) * random.random())

    def compared_ask(self, study, worker):
        """Ask, and see that a study that is loaded anew gives the same plan to the bit."""
        study.refresh()
        resumed = None if self.storage is None else load_study(study.name, copied(self.storage, study.name))
        assert resumed is None or state_of(resumed) == state_of(study)
        plan = self.checked_ask(study, worker)
        if resumed is not None:
            assert plan_of(resumed.ask(worker)) == plan_of(plan)
            assert state_of(resumed) == state_of(study)
            DONE["resumed"] += 1
            DONE["told before"] += len(study.history.told)
        return plan

    def checked_ask(self, study, worker):
        study.refresh()
        placed, region, before = study.placed, study.history.region, len(study.rounds)
        plan = self.attempt(lambda: study.ask(worker), study)
        if plan is None or plan.allocation is None or region is None or region.budget is None or placed is None:
            return plan
        if plan.number == before and region.contains(placed):  # a worker's open plan is the one that was asked for
            assert np.abs(plan.allocation - placed).sum() // 2 <= study.population.limits.move_budget
        return plan

    @rule(worker=WORKERS)
    def ask(self, worker):
        self.compared_ask(self.study, worker)

    @rule(worker=WORKERS)
    def ask_once_more(self, worker):
        self.ask(worker)

    @rule(choice=CHOICE, payoff=PAYOFFS, kind=st.integers(0, 7), worker=WORKERS)
    def tell(self, choice, payoff, kind, worker):
        last = len(self.study.population.actions) - 1
        forms = [
            {"payoff": payoff},
            {"payoff": payoff},
            {"agents": [(0, 0, payoff), (0, last, 1.0)]},
            {"cells": self.cells(choice, payoff)},
            {"cells": np.zeros(self.study.population.shape), "counts": np.full(self.study.population.shape, 1e-6)},
            {"payoff": Feedback(float(payoff), ((0, last, 2.0),))},
            {"payoff": payoff, "distribution": self.shares(choice)},
            {"payoff": payoff, "placed": self.counts(choice), "allow_misfit": bool(choice % 3)},
        ]
        plan = self.plan(choice)
        given = self.study.rounds[plan].plan if choice % 2 and plan < len(self.study.rounds) else plan
        self.attempt(lambda: self.study.tell(given, worker=worker, **forms[kind]))

    @rule(
        choice=CHOICE,
        odd=ODDITIES,
        which=st.sampled_from(["plan", "payoff", "agents", "cells", "counts", "distribution", "worker", "placed"]),
    )
    def tell_something_odd(self, choice, odd, which):
        told = {"plan": self.plan(choice), "payoff": 1.0, which: ODD[odd]()}
        if which == "counts":
            told["cells"] = np.ones(self.study.population.shape)
        self.attempt(lambda: self.study.tell(**told))

    @rule(choice=CHOICE, odd=ODDITIES, good=st.booleans())
    def fail(self, choice, odd, good):
        self.attempt(lambda: self.study.fail(self.plan(choice), "rain" if good else ODD[odd]()))

    @rule(choice=CHOICE, odd=ODDITIES, good=st.booleans())
    def fail_and_count(self, choice, odd, good):
        placed = self.counts(choice) if good else ODD[odd]()
        self.attempt(lambda: self.study.fail(self.plan(choice), "rain", placed=placed, allow_misfit=True))

    @rule(choice=CHOICE, odd=ODDITIES, good=st.booleans(), worker=WORKERS)
    def count_and_ask(self, choice, odd, good, worker):
        """Ask from where agents were counted: the sheet leads from there to the plan, and takes nobody away twice."""
        placed = self.counts(choice) if good else ODD[odd]()
        plan = self.attempt(lambda: self.study.ask(worker, placed=placed, allow_misfit=bool(choice % 3)))
        if plan is not None and good and plan.allocation is not None:
            assert np.array_equal(self.study.placed, placed)
            moves = self.study.moves(plan)
            taken = np.maximum(placed - plan.allocation, 0)
            assert moves.moved <= taken.sum() <= placed.sum()

    @rule(choice=CHOICE, odd=ODDITIES, good=st.booleans())
    def abandon(self, choice, odd, good):
        self.attempt(lambda: self.study.abandon(self.plan(choice) if good else ODD[odd]()))

    @rule(choice=CHOICE, payoff=PAYOFFS, odd=ODDITIES, good=st.booleans())
    def add(self, choice, payoff, odd, good):
        self.attempt(lambda: self.study.add(self.shares(choice) if good else ODD[odd](), payoff))

    @rule(choice=CHOICE, odd=ODDITIES, which=st.integers(0, 9))
    def look(self, choice, odd, which):
        study = self.study
        looks = [
            study.recommend,
            study.explain,
            lambda: study.best,
            lambda: study.predict(self.shares(choice)),
            lambda: study.explain(self.shares(choice)),
            lambda: study.predict(ODD[odd]()),
            lambda: study.placed,
            lambda: study.misfit(ODD[odd]()),
            study.expected,
            lambda: study.best_expected,
        ]
        self.attempt(looks[which])

    @rule(odd=ODDITIES)
    def ask_as_someone_odd(self, odd):
        self.attempt(lambda: self.study.ask(ODD[odd]()))

    @rule(
        odd=ODDITIES,
        which=st.sampled_from((*WHO, "strategy", "seed", "noise", "allocation", "lease_seconds", "name", "storage")),
    )
    def create_something_odd(self, odd, which):
        who = {"actions": ["a", "b", "c"], "contexts": ["u", "v"], "size": 12}
        what = {"strategy": "random"}
        (who if which in WHO else what)[which] = ODD[odd]()
        self.attempt(lambda: create_study(Population(**who), **what).ask())

    @rule(odd=ODDITIES, by_name=st.booleans())
    def load_something_odd(self, odd, by_name):
        self.attempt(lambda: load_study(ODD[odd](), "memory") if by_name else load_study("x", ODD[odd]()))

    @rule(jump=st.sampled_from([1.0, 11.0, 200_000.0, -30.0, -1e9, 1e12]))
    def jump_in_time(self, jump):
        self.now += jump

    @precondition(lambda self: self.study is not None and self.storage is not None)
    @rule()
    def reload(self):
        self.study.refresh()
        known = state_of(self.study)
        self.study = load_study(self.study.name, self.storage)
        assert state_of(self.study) == known
        DONE["operations"] += 1

    @precondition(lambda self: self.study is not None and self.storage is not None)
    @rule(worker=WORKERS, payoff=PAYOFFS)
    def let_another_process_play(self, worker, payoff):
        if not self.others:
            self.others.append(load_study(self.study.name, self.storage))
        other = self.others[0]
        plan = self.compared_ask(other, worker)
        if plan is not None:
            self.attempt(lambda: other.tell(plan, payoff, worker=worker), other)
        self.study.refresh()
        assert state_of(self.study) == state_of(other)

    @rule(payoff=PAYOFFS, odd=ODDITIES, good=st.booleans(), rounds=st.integers(1, 2))
    def run_some_rounds(self, payoff, odd, good, rounds):
        self.attempt(lambda: self.study.run(lambda plan: payoff if good else ODD[odd](), rounds, workers=2))

    @invariant()
    def rounds_are_as_they_must_be(self):
        if self.study is None:
            return
        rounds, population = self.study.rounds, self.study.population
        assert [each.number for each in rounds] == list(range(len(rounds)))
        told = [each for each in rounds if each.state == "done"]
        assert sorted(each.told for each in told) == list(range(len(told)))
        for each in rounds:
            assert each.state in ("open", "done", "failed", "abandoned")
            assert (each.feedback is not None) == (each.state == "done")
            assert (each.played >= 0).all()
            assert np.abs(each.played.sum(axis=1) - 1).max() < 1e-6
            if each.plan.allocation is not None:
                self.allocation_keeps_all_limits(each.plan.allocation, population)

    def allocation_keeps_all_limits(self, allocation, population):
        assert allocation.sum() == population.size
        assert (allocation >= 0).all()
        limits = population.limits
        if limits is not None:
            assert (allocation.sum(axis=1) == population.context_totals).all()
            assert (allocation.sum(axis=0) <= limits.most).all()
            assert (allocation.sum(axis=0) >= limits.least).all()
            assert (allocation <= limits.upper).all()
            assert (allocation >= limits.lower).all()


def driven(machines, steps):
    """Let so many machines take so many steps each, and return what was done."""
    DONE.clear()
    run_state_machine_as_test(
        StudyMachine,
        settings=settings(
            max_examples=machines,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
    return DONE


def test_a_study_stands_whatever_is_done_to_it_for_a_while():
    done = driven(machines=8, steps=20)
    assert done["operations"] >= 100
    assert done["resumed"] >= 5


@pytest.mark.slow
def test_a_study_stands_three_thousand_operations_and_three_hundred_resumptions():
    done = Counter()
    while done["operations"] < 3000 or done["resumed"] < 300:
        done += driven(machines=100, steps=60)
    print(dict(done))  # noqa: T201
    assert done["told before"] > 0
