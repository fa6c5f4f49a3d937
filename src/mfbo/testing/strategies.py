"""What every strategy keeps, as a class of tests that third parties inherit.

from mfbo.testing import StrategyContract

class TestMine(StrategyContract):
    def make(self):
        return Mine()
"""

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import Strategy
from mfbo.population import Population
from mfbo.records import Feedback, History, Plan
from mfbo.seeding import derived_generator
from mfbo.study import Study, create_study
from mfbo.study.settings import StudySettings
from mfbo.testing.plain_rounds import plain_round, round_from_plain

PAYOFFS: dict[str, Callable[[int, float], float]] = {
    "identical": lambda number, payoff: 3.0,
    "zero": lambda number, payoff: 0.0,
    "huge": lambda number, payoff: 1e9 * payoff,
    "enormous": lambda number, payoff: 1e148 * payoff,
    "tiny": lambda number, payoff: 1e-9 * payoff,
    "far from zero": lambda number, payoff: 1e9 + payoff,
    "one outlier": lambda number, payoff: 1e9 if number == 2 else payoff,
    "equal but for rounding": lambda number, payoff: 0.1 + number * 1e-17,
}


class StrategyContract:
    """Valid plans, seeded, resumable from records, unharmed by rounds without a result. Give ``make``.

    rounds: how many are played; enough that the strategy leaves its first, random phase.
    """

    rounds = 14

    def make(self) -> Strategy:
        """Return a fresh strategy."""
        raise NotImplementedError("a subclass of StrategyContract must say how to make its strategy")

    def population(self) -> Population:
        """Return whom to place; small, so that the suite is quick."""
        return Population(np.linspace(0.0, 1.0, 4), {"x": 0.4, "y": 0.6}, size=10)

    def payoff(self, plan: Plan) -> float:
        """Return what a plan brings; it must depend on the distribution."""
        return float(np.sin(7.0 * plan.realized + np.arange(plan.realized.shape[1])).sum())

    # Valid plans

    def test_every_plan_is_valid(self) -> None:
        """From the first to the last plan."""
        study = self._played(self.rounds)
        for played in study.rounds:
            _assert_valid_plan(played.plan, study.population)
        _assert_valid_plan(study.recommend(), study.population)

    def test_notes_are_plain_numbers_and_words(self) -> None:
        """Anything else could not be stored and found again."""
        for played in self._played(self.rounds).rounds:
            for key, values in played.notes.items():
                assert isinstance(key, str), f"round {played.number}: the note {key!r} must have a string as its name"
                plain = all(type(value) is str or (type(value) is float and np.isfinite(value)) for value in values)
                assert isinstance(values, tuple) and plain, f"round {played.number}: note {key!r} holds {values!r}"  # noqa: PT018

    def test_plans_after_every_kind_of_feedback_are_valid(self) -> None:
        """System payoffs, agents' payoffs, cell means, and all of them in one study."""
        contexts, actions = self.population().shape
        shape = (contexts, actions)
        kinds: list[Callable[[float], Feedback]] = [
            lambda payoff: Feedback(payoff),
            lambda payoff: Feedback(agents=tuple((c, 0, payoff + c) for c in range(contexts))),
            lambda payoff: Feedback(cells=np.full(shape, payoff), counts=np.ones(shape)),
        ]
        for first in range(len(kinds)):
            chosen = [kinds[first], *kinds] if first == 0 else [kinds[first]]
            study = self._brought(lambda number, payoff, use=chosen: use[number % len(use)](payoff))  # type: ignore[misc]
            _assert_valid_plan(study.ask(), study.population)
            _assert_valid_plan(study.recommend(), study.population)

    def test_degenerate_payoffs_are_answered(self) -> None:
        """Equal ones, huge ones, tiny ones, an outlier."""
        for case, changed in PAYOFFS.items():
            study = self._brought(changed)
            plan = study.ask()
            try:
                _assert_valid_plan(plan, study.population)
                _assert_valid_plan(study.recommend(), study.population)
            except AssertionError as error:
                raise AssertionError(f"{case} payoffs: {error}") from error

    # Seeded

    def test_equal_history_and_equal_generator_give_equal_plans(self) -> None:
        """Whatever the global generator does, and without touching it."""
        history = self._played(self.rounds).history
        number = len(history.rounds)
        first = self.make().propose(history, derived_generator(1, "propose", number))
        np.random.seed(99)  # noqa: NPY002
        before = str(np.random.get_state(legacy=False))  # noqa: NPY002
        second = self.make().propose(history, derived_generator(1, "propose", number))
        np.testing.assert_array_equal(first.distribution, second.distribution)
        assert dict(first.notes) == dict(second.notes), "equal histories must give equal notes"
        after = str(np.random.get_state(legacy=False))  # noqa: NPY002
        assert before == after, "the strategy draws from NumPy's global generator"

    def test_other_seeds_give_other_plans(self) -> None:
        """At least one early plan must depend on the seed."""
        one, other = self._played(4, seed=0), self._played(4, seed=1)
        pairs = zip(one.rounds, other.rounds, strict=True)
        differ = [not np.array_equal(ours.plan.distribution, theirs.plan.distribution) for ours, theirs in pairs]
        assert any(differ), "four plans are the same under two seeds: is the generator used?"

    def test_what_was_asked_before_changes_no_answer(self) -> None:
        """What a strategy remembers is a cache."""
        history = self._played(self.rounds).history
        other = self._played(3, seed=5).history
        number = len(history.rounds)
        fresh = self.make().propose(history, derived_generator(2, "propose", number))
        used = self.make()
        for asked in (other, history):
            used.propose(asked, derived_generator(3, "propose", 0))
            used.recommend(asked)
        again = used.propose(history, derived_generator(2, "propose", number))
        np.testing.assert_array_equal(again.distribution, fresh.distribution)

    # Resumable

    def test_a_restart_from_plain_records_equals_an_unbroken_study(self) -> None:
        """Bit for bit, with one failed round and one told out of order."""
        whole = self._played(self.rounds, width=2)
        for rounds in (2, self.rounds - 3):
            partial = self._played(rounds, width=2)
            stored = json.loads(json.dumps([plain_round(played) for played in partial.rounds]))
            history = History(self.population(), tuple(map(round_from_plain, stored)))
            resumed = self._play(Study(history, self.make(), StudySettings()), self.rounds, width=2)
            for ours, theirs in zip(resumed.rounds, whole.rounds, strict=True):
                where = f"resumed after {rounds} rounds, round {ours.number}"
                np.testing.assert_array_equal(ours.plan.distribution, theirs.plan.distribution, err_msg=where)
                np.testing.assert_array_equal(ours.plan.allocation, theirs.plan.allocation, err_msg=where)
                np.testing.assert_array_equal(ours.plan.assignment, theirs.plan.assignment, err_msg=where)
                assert dict(ours.notes) == dict(theirs.notes), where

    # Rounds without a result, and open ones

    def test_failed_and_abandoned_rounds_do_no_harm(self) -> None:
        """Alone, and after told ones; the recommendation stays."""
        study = self._study()
        for number in range(4):
            study.fail(study.ask(), "no power") if number % 2 else study.abandon(study.ask())
        _assert_valid_plan(study.ask(), study.population)
        told = self._played(5)
        before = told.recommend().distribution
        told.fail(told.ask(), "no power")
        told.abandon(told.ask())
        np.testing.assert_array_equal(told.recommend().distribution, before)
        _assert_valid_plan(told.ask(), told.population)

    def test_open_rounds_do_no_harm(self) -> None:
        """Several plans may be out at once, told in any order."""
        study = self._played(self.rounds, width=4)
        for played in study.rounds:
            _assert_valid_plan(played.plan, study.population)
        before = study.recommend().distribution
        study.ask()
        np.testing.assert_array_equal(study.recommend().distribution, before)

    def test_the_history_is_left_alone(self) -> None:
        """Neither by proposing, recommending or predicting, nor through what is handed back."""
        history = self._played(self.rounds).history
        before = json.dumps([plain_round(played) for played in history.rounds])
        strategy = self.make()
        answers = [strategy.propose(history, np.random.default_rng(0)).distribution, strategy.recommend(history)]
        strategy.posterior(history)
        for answer in answers:
            if answer.flags.writeable:
                answer[:] = 0.5
        assert json.dumps([plain_round(played) for played in history.rounds]) == before

    # How histories come about

    def _study(self, seed: int = 0) -> Study:
        return create_study(self.population(), self.make(), seed=seed)

    def _played(self, rounds: int, seed: int = 0, width: int = 1) -> Study:
        return self._play(self._study(seed), rounds, width)

    def _play(self, study: Study, rounds: int, width: int = 1) -> Study:
        """Ask until ``rounds`` plans were asked, ``width`` open at a time; if several, one fails, some come early."""
        while len(study.rounds) < rounds:
            study.ask()
            while len(study.history.open) >= width:
                waiting = study.history.open[-1 if len(study.rounds) % 3 == 0 else 0]
                if width > 1 and waiting.number == 1:
                    study.fail(waiting.plan, "no power")
                else:
                    study.tell(waiting.plan, self.payoff(waiting.plan))
        return study

    def _brought(self, told: Callable[[int, float], Any]) -> Study:
        """Start a study with past days of random plans."""
        study = self._study()
        rng = np.random.default_rng(2)
        contexts, actions = study.population.shape
        for number in range(self.rounds):
            day = rng.dirichlet(np.ones(actions), size=contexts)
            study.add(day, told(number, self.payoff(Plan(number, day))))
        return study


def _assert_valid_plan(plan: Plan, population: Population) -> None:
    """Rows sum to 1, whole agents sum to M, and single agents are where the counts say."""
    _assert_distribution(plan.distribution, population)
    if population.size is None:
        assert plan.allocation is None, "whole agents in the mean-field limit"
        return
    assert plan.allocation is not None, "the population has a size and the plan no whole agents"
    counts = plan.allocation
    assert (counts >= 0).all() and counts.sum() == population.size, f"{counts} are not {population.size} agents"  # noqa: PT018
    if plan.assignment is not None:
        np.testing.assert_array_equal(population.counted(plan.assignment.astype(np.int64)), counts)
        np.testing.assert_allclose(plan.distribution, plan.realized, rtol=0.0, atol=1e-9)


def _assert_distribution(distribution: FloatArray, population: Population) -> None:
    assert distribution.shape == population.shape, f"shape {distribution.shape}, not {population.shape}"
    assert np.isfinite(distribution).all(), "not finite"
    assert (distribution >= 0).all(), "negative shares"
    np.testing.assert_allclose(distribution.sum(axis=1), 1.0, rtol=0.0, atol=1e-9)
