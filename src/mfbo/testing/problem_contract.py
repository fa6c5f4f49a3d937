"""What every problem keeps, as classes of tests that third parties inherit.

from mfbo.testing import MeanFieldProblemContract

class TestMine(MeanFieldProblemContract):
    def make(self):
        return my_problem()
"""

import json
from typing import cast

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.errors import InvalidInputError
from mfbo.problems import FeedbackKind, Observer, Problem
from mfbo.records import Plan
from mfbo.simplex import allocate, uniform
from mfbo.situations import Situations
from mfbo.storage.codec import population_of, population_record, situations_record
from mfbo.testing.agreement import assert_agree, slope_along

KINDS = {"system": "system", "agents": "agents:2", "cells": "cells"}
AGENTS = 60  # of populations that are resized


class ProblemContract:
    """Shapes, the same answer to the same plan, a feasible optimum, settings that can be stored. Give ``make``.

    Problems that are defined in the mean-field limit keep ``MeanFieldProblemContract`` as well; where rounds differ, a
    payoff is looked at on one day.
    """

    def make(self) -> Problem:
        """Return the problem, made anew."""
        raise NotImplementedError("a subclass of ProblemContract must say how to make its problem")

    def problem(self) -> Problem:
        """Return the problem; keep it here if making it takes long."""
        return self.make()

    # What it says of itself

    def test_it_says_what_it_is(self) -> None:
        """Name, summary, source, license, and which feedback it gives."""
        problem = self.problem()
        assert isinstance(problem, Problem), f"make returned {problem!r}, not an mfbo.Problem"
        for word in ("name", "summary", "source", "license"):
            assert getattr(problem, word), f"the problem has no {word}"
        assert problem.feedback, "the problem gives no feedback"
        assert set(problem.feedback) <= set(KINDS), f"feedback is {problem.feedback}; kinds: {', '.join(KINDS)}"

    def test_arrays_have_their_shapes(self) -> None:
        """Maps and demand are per action, payoffs per cell."""
        problem = self._of_one_day()
        actions = problem.population.shape[1]
        shapes = {"places": (actions, 2), "grid": (actions, 2), "demand": (actions,)}
        for word, shape in shapes.items():
            array = getattr(problem, word)
            assert array is None or np.shape(array) == shape, f"{word} has the shape {np.shape(array)}, not {shape}"
        plan = self._plan(problem)
        shares = problem.shares(plan)
        payoffs = problem.payoff.cells(shares, problem.population.size)
        assert np.shape(payoffs) == problem.population.shape, (
            f"payoff.cells has the shape {np.shape(payoffs)}, not {problem.population.shape}"
        )
        assert np.isfinite(payoffs).all(), "payoff.cells is not finite"
        assert np.isfinite(problem.value(plan)), "the population payoff is not finite"

    def test_made_again_it_is_the_same(self) -> None:
        """On another machine or in another process it must be: workers make it by its name."""
        first, second = self.make(), self.make()
        assert population_record(first.population) == population_record(second.population), "the populations differ"
        for number in (0, 3):
            values = [problem.value(self._plan(problem, number)) for problem in (first, second)]
            assert values[0] == values[1], f"made twice, one plan has the values {values[0]!r} and {values[1]!r}"

    def test_its_settings_can_be_stored(self) -> None:
        """A study keeps the population, and what is declared of situations, as JSON."""
        problem = self.problem()
        stored = json.loads(json.dumps(population_record(problem.population)))
        assert population_record(population_of(stored)) == stored, "the population is not the same after storing it"
        if problem.days is not None:
            situations = problem.days.situations
            records = json.loads(json.dumps(situations_record(situations)))
            assert Situations.from_records(records) == situations, "the situations are not the same after storing them"

    # What it answers

    def test_a_plan_has_one_value(self) -> None:
        """The same each time, whatever the global generator does, and without changing the plan."""
        problem = self._of_one_day()
        plan = self._plan(problem)
        before = plan.distribution.copy()
        state = str(np.random.get_state(legacy=False))  # noqa: NPY002
        first, second = problem.value(plan), problem.value(plan)
        assert first == second, f"one plan has the values {first!r} and {second!r}: noise belongs to the Observer"
        assert str(np.random.get_state(legacy=False)) == state, "the payoff draws from NumPy's global generator"  # noqa: NPY002
        np.testing.assert_array_equal(plan.distribution, before, err_msg="the payoff changes the plan")

    def test_counts_are_all_that_matters(self) -> None:
        """The value is a function of the whole agents, not of the plan behind them."""
        problem = self._of_one_day().with_size(AGENTS)
        contexts, actions = problem.population.shape
        counts = self._counts(problem, uniform(contexts, actions))
        skewed = np.eye(actions)[[0] * contexts]
        values = [problem.value(Plan(0, plan, counts)) for plan in (uniform(contexts, actions), skewed)]
        assert values[0] == values[1], f"the same {AGENTS} agents are worth {values[0]!r} and {values[1]!r}"

    def test_the_population_payoff_is_the_mean_of_its_agents_payoffs(self) -> None:
        """Of whole agents."""
        problem = self._of_one_day().with_size(AGENTS)
        plan = self._plan(problem)
        shares = problem.shares(plan)
        mean = float((shares * problem.payoff.cells(shares, AGENTS)).sum())
        assert_agree(problem.value(plan), mean, f"the population payoff of {AGENTS} agents", 1e-11)

    def test_feedback_without_noise_is_the_value(self) -> None:
        """The system payoff, the mean over cells by their counts, the payoff of each agent's cell."""
        problem = self._of_one_day().with_size(AGENTS)
        plan = self._plan(problem)
        payoffs = problem.payoff.cells(problem.shares(plan), AGENTS)
        for kind in problem.feedback:
            seen = Observer(problem, FeedbackKind.parse(KINDS[kind]))(plan)
            if kind == "system":
                assert_agree(seen.payoff, problem.value(plan), "system feedback without noise", 1e-11)
            elif kind == "cells":
                occupied = cast(FloatArray, seen.counts) > 0
                assert_agree(cast(FloatArray, seen.cells)[occupied], payoffs[occupied], "cells without noise", 1e-11)
            else:
                assert len(seen.agents) == 2, f"two agents were asked for, {len(seen.agents)} are told"
                told, own = zip(*((payoff, payoffs[c, a]) for c, a, payoff in seen.agents), strict=True)
                assert_agree(told, own, "agents' payoffs without noise", 1e-11)

    def test_noise_depends_on_seed_and_round_alone(self) -> None:
        """The same seed sees the same, another seed and another round something else."""
        problem = self._of_one_day()
        kind = FeedbackKind.parse(KINDS[problem.feedback[0]])
        seen = [repr(Observer(problem, kind, 0.1, seed)(self._plan(problem, number))) for seed, number in SEEDS]
        assert seen[0] == seen[1], "one seed and one round give two answers"
        assert len(set(seen)) == 3, "noise is the same under another seed or in another round"

    def test_feedback_that_is_not_offered_is_refused(self) -> None:
        """With an error of mfbo's."""
        problem = self._of_one_day()
        for kind in set(KINDS) - set(problem.feedback):
            try:
                Observer(problem, FeedbackKind.parse(KINDS[kind]))
            except InvalidInputError:
                continue
            raise AssertionError(f"{kind} feedback is not offered and not refused")

    def test_the_optimum_is_a_distribution(self) -> None:
        """One row per context, each summing to 1; finite."""
        problem = self._of_one_day()
        if problem.optimum is not None:
            best = problem.optimum.distribution
            assert best.shape == problem.population.shape, f"the optimum has the shape {best.shape}"
            assert (best >= 0).all(), "the optimum has negative shares"
            assert_agree(best.sum(axis=1), 1.0, "the shares of the optimum in a context", 1e-9)
            assert np.isfinite(problem.optimum.value), f"the optimum's value is {problem.optimum.value}"

    def test_days_keep_what_is_declared_of_situations(self) -> None:
        """What is known before a round and what is known after it, if rounds differ."""
        problem = self.problem()
        if problem.days is not None:
            for number in range(5):
                problem.days.situations.values(problem.situation(number), when="before")
                problem.days.situations.values(problem.afterwards(number) or {}, when="after")

    # How it is asked

    def _of_one_day(self) -> Problem:
        return self.problem().on_day(3)

    def _distribution(self, problem: Problem) -> FloatArray:
        contexts, actions = problem.population.shape
        return np.random.default_rng(5).dirichlet(np.ones(actions), size=contexts)

    def _counts(self, problem: Problem, distribution: FloatArray) -> IntArray | None:
        size, rng = problem.population.size, np.random.default_rng(0)
        return None if size is None else allocate(distribution, problem.population.weights, size, rng)

    def _plan(self, problem: Problem, number: int = 0) -> Plan:
        distribution = self._distribution(problem)
        return Plan(number, distribution, self._counts(problem, distribution))


SEEDS = ((0, 0), (0, 0), (1, 0), (0, 1))  # seed and round


class MeanFieldProblemContract(ProblemContract):
    """What holds besides for a problem that is defined in the mean-field limit: its gradient, and its optimum there."""

    def test_the_mean_field_value_is_the_mean_of_the_agents_payoffs(self) -> None:
        """In every cell f, weighted by w."""
        problem = self._of_one_day()
        distribution = self._distribution(problem)
        shares = problem.population.joint_shares(distribution)
        mean = float((shares * problem.payoff.cells(shares)).sum())
        assert_agree(problem.mean_field_value(distribution), mean, "the mean-field value", 1e-11)

    def test_the_gradient_is_the_derivative(self) -> None:
        """Along random directions, against finite differences."""
        problem = self._of_one_day()
        distribution, rng = self._distribution(problem), np.random.default_rng(6)
        gradient = problem.gradient(distribution)
        assert gradient.shape == problem.population.shape, f"the gradient has the shape {gradient.shape}"
        for _ in range(5):
            direction = rng.normal(size=distribution.shape) * distribution
            slope = slope_along(problem.mean_field_value, distribution, direction, 1e-4)
            found = float((gradient * direction).sum())
            assert_agree(found, slope, "the gradient is not the derivative of the mean-field value", 1e-6)

    def test_the_optimum_has_its_value(self) -> None:
        """The value that is said is that of the distribution that is said."""
        problem = self._of_one_day()
        if problem.optimum is not None:
            found = problem.mean_field_value(problem.optimum.distribution)
            assert_agree(found, problem.optimum.value, "the value of the optimal distribution", 1e-9)

    def test_nothing_random_beats_the_optimum(self) -> None:
        """Neither random plans, sparse to flat, nor small changes of the optimum."""
        problem = self._of_one_day()
        if problem.optimum is not None:
            best, (contexts, actions) = problem.optimum, problem.population.shape
            rng = np.random.default_rng(7)
            draws = [rng.dirichlet(np.full(actions, spread), size=(50, contexts)) for spread in (0.05, 0.3, 1.0, 10.0)]
            for draw in np.concatenate(draws):
                for share in (1.0, 1e-3):
                    value = problem.mean_field_value((1.0 - share) * best.distribution + share * draw)
                    assert value <= best.value + 1e-9, (
                        f"a random plan is worth {value:.10g}, more than the optimum {best.value:.10g}"
                        if share == 1.0
                        else f"a plan near the optimum is worth {value:.10g}, more than its {best.value:.10g}"
                    )

    def test_many_agents_are_worth_what_the_limit_is(self) -> None:
        """The payoff of whole agents converges to the mean-field value."""
        problem = self._of_one_day()
        distribution = self._distribution(problem)
        limit = problem.mean_field_value(distribution)
        sized = (problem.with_size(size) for size in (10**4, 10**8))
        few, many = (
            abs(large.value(Plan(0, distribution, self._counts(large, distribution))) - limit) for large in sized
        )
        assert many < 1e-5 * max(1.0, abs(limit)), f"10⁸ agents are worth {many:.3g} more or less than the limit"
        assert many <= few, f"10⁸ agents are further from the limit, {many:.3g}, than 10⁴ are, {few:.3g}"
