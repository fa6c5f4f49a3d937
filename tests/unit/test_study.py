"""The study: ask and tell in all their forms, what is refused without harm, and the loop of maximize."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import mfbo
from mfbo import Feedback, History, InvalidInputError, Plan, Population, Proposal, Study
from mfbo.errors import MfboError, RoundStateError, UnknownNameError
from mfbo.problems import FeedbackKind, Observer, Problem, arena, swarm
from mfbo.simplex import total_variation, uniform
from mfbo.study import run_round

NAN, INF = float("nan"), float("inf")
TWO_ROWS = [[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]]


class Scripted:
    """A strategy that proposes given distributions in turn and recommends the one told highest."""

    name = "scripted"

    def __init__(self, *distributions: Any) -> None:
        self.distributions = [np.array(each, dtype=float) for each in distributions]

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        return Proposal(self.distributions[len(history.rounds) % len(self.distributions)], {"draw": (rng.random(),)})

    def recommend(self, history: History) -> np.ndarray:
        return max(history.told, key=lambda each: each.feedback.payoff).plan.distribution

    def posterior(self, history: History) -> None:
        return None


@pytest.fixture
def population() -> Population:
    return Population(["a", "b", "c"], {"x": 0.5, "y": 0.5}, size=20)


@pytest.fixture
def study(population) -> Study:
    return mfbo.create_study(population, "random", seed=1)


@pytest.fixture(scope="module")
def small() -> Problem:
    return arena(8, 40)


def played(
    problem: Problem, strategy: Any, rounds: int, kind: str = "system", noise: float = 0.0, **options: Any
) -> Study:
    made = mfbo.create_study(problem.population, strategy, **options)
    observer = Observer(problem, FeedbackKind.parse(kind), noise=noise)
    for _ in range(rounds):
        run_round(made, observer)
    return made


@cache
def finished(strategy: str, kind: str = "system", rounds: int = 6, seed: int = 2) -> Study:
    """A study of the small arena that several tests look at and none goes on with."""
    return played(arena(8, 40), strategy, rounds, kind=kind, seed=seed)


def plans_of(made: Study) -> np.ndarray:
    return np.stack([each.plan.distribution for each in made.rounds])


# Creating


def test_a_new_study_has_no_rounds(study):
    assert study.rounds == ()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"seed": True}, "seed"),
        ({"noise": 0.0}, "noise"),
        ({"noise": -1.0}, "noise"),
        ({"noise": NAN}, "noise"),
        ({"noise": "small"}, "noise"),
        ({"strategy": 3}, "strategy"),
        ({"strategy": "defualt"}, "default"),
        ({"allocation": "random"}, "allocation"),
        ({"context_allocation": "random"}, "context"),
    ],
)
def test_bad_options_are_refused_and_named(population, options, named):
    with pytest.raises(MfboError, match=named):
        mfbo.create_study(population, **options)


def test_a_misspelt_option_is_refused(population):
    with pytest.raises(TypeError, match="sead"):
        mfbo.create_study(population, sead=3)


@pytest.mark.parametrize("value", [["a", "b"], None, "swarm"])
def test_what_is_no_population_is_refused(value):
    with pytest.raises(InvalidInputError, match="Population"):
        mfbo.create_study(value)


# Asking


def test_a_plan_has_rows_that_sum_to_one_and_whole_agents(study):
    plan = study.ask()
    np.testing.assert_allclose(plan.distribution.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert plan.allocation.dtype == np.int64
    assert plan.allocation.sum() == 20


def test_a_plan_of_the_mean_field_limit_has_no_allocation(population):
    assert mfbo.create_study(population.with_size(None), "random").ask().allocation is None


def test_plans_are_numbered_in_the_order_of_asks(study):
    assert [study.ask().number for _ in range(4)] == [0, 1, 2, 3]


def test_an_asked_round_is_open_and_keeps_the_strategys_notes(population):
    made = mfbo.create_study(population, Scripted(TWO_ROWS))
    made.ask()
    assert made.rounds[0].state == "open"
    assert "draw" in made.rounds[0].notes


@pytest.mark.parametrize("field", ["distribution", "allocation"])
def test_a_plan_cannot_be_written_to(study, field):
    with pytest.raises(ValueError, match="read-only"):
        getattr(study.ask(), field)[0, 0] = 0


@pytest.mark.parametrize(
    "bad", [[[1.5, -0.5, 0], [1, 0, 0]], [[0.5, 0.4, 0], [1, 0, 0]], [[NAN, 0.5, 0.5], [1, 0, 0]], [[1.0, 0.0]]]
)
def test_an_invalid_plan_of_a_strategy_is_refused_and_leaves_no_round(population, bad):
    made = mfbo.create_study(population, Scripted(bad))
    with pytest.raises(InvalidInputError, match="strategy's plan"):
        made.ask()
    assert made.rounds == ()


def test_quota_contexts_have_fixed_numbers_of_agents(study):
    assert all(study.ask().allocation.sum(axis=1).tolist() == [10, 10] for _ in range(10))


def test_sampled_contexts_vary_from_round_to_round(population):
    made = mfbo.create_study(population, "random", context_allocation="sampled")
    totals = {tuple(made.ask().allocation.sum(axis=1).tolist()) for _ in range(20)}
    assert len(totals) > 3


def test_sampled_allocations_of_one_distribution_differ(population):
    made = mfbo.create_study(population, Scripted(TWO_ROWS), allocation="sampled")
    allocations = {tuple(made.ask().allocation.ravel().tolist()) for _ in range(20)}
    assert len(allocations) > 3


def test_quota_allocations_of_one_distribution_are_equal(population):
    made = mfbo.create_study(population, Scripted(TWO_ROWS))
    assert len({tuple(made.ask().allocation.ravel().tolist()) for _ in range(5)}) == 1


# Telling

TELLS: dict[str, Callable[[Study, Plan], Any]] = {
    "by plan": lambda s, p: s.tell(p, 3.5),
    "by number": lambda s, p: s.tell(p.number, payoff=3.5),
    "by numpy number": lambda s, p: s.tell(np.int64(p.number), 3.5),
    "agents by name": lambda s, p: s.tell(p, agents=[("x", "b", 3.5)]),
    "agents by index": lambda s, p: s.tell(p, agents=[(0, 1, 3.5)]),
    "cells as table": lambda s, p: s.tell(p, cells=[[NAN, 3.5, NAN], [NAN, NAN, NAN]]),
    "cells as mapping": lambda s, p: s.tell(p, cells={("x", "b"): 3.5}),
    "a whole feedback": lambda s, p: s.tell(p, Feedback(3.5, agents=((0, 1, 3.5),))),
    "cells with counts": lambda s, p: s.tell(p, cells={("x", "b"): 3.5}, counts={("x", "b"): 4}),
}


@pytest.mark.parametrize("form", TELLS)
def test_every_form_of_tell_finishes_the_round(study, form):
    plan = study.ask()
    done = TELLS[form](study, plan)
    assert study.rounds == (done,)
    assert done.state == "done"


@pytest.mark.parametrize("form", ["agents by name", "agents by index", "a whole feedback"])
def test_told_agents_are_kept_by_position(study, form):
    assert TELLS[form](study, study.ask()).feedback.agents == ((0, 1, 3.5),)


@pytest.mark.parametrize("form", ["cells as table", "cells as mapping"])
def test_told_cells_are_kept_as_a_table(study, form):
    np.testing.assert_array_equal(TELLS[form](study, study.ask()).feedback.cells, [[NAN, 3.5, NAN], [NAN] * 3])


def test_what_was_played_is_the_allocation_unless_told(study):
    plan = study.ask()
    np.testing.assert_array_equal(study.tell(plan, 1.0).realized, plan.allocation / 10)


def test_what_was_really_played_can_be_told(study):
    done = study.tell(study.ask(), 1.0, distribution=TWO_ROWS)
    np.testing.assert_allclose(done.realized, TWO_ROWS, rtol=1e-15)


def test_what_was_really_played_may_be_flat_for_one_context():
    made = mfbo.create_study(Population(["a", "b"]), "random")
    assert made.tell(made.ask(), 1.0, distribution=[0.25, 0.75]).realized.tolist() == [[0.25, 0.75]]


def test_plans_may_be_told_out_of_order(study):
    plans = [study.ask() for _ in range(3)]
    for number, payoff in ((2, 20.0), (0, 0.0), (1, 10.0)):
        study.tell(plans[number], payoff)
    assert [each.number for each in study.history.told] == [2, 0, 1]
    assert [each.feedback.payoff for each in study.rounds] == [0.0, 10.0, 20.0]


def test_a_copy_of_a_plan_that_holds_the_same_numbers_is_told(study):
    plan = study.ask()
    copy = Plan(plan.number, plan.distribution.copy(), plan.allocation.copy())
    assert study.tell(copy, 1.0).state == "done"


# What is refused, and leaves the study as it was

BAD_TELLS: dict[str, tuple[dict[str, Any], str]] = {
    "nan": ({"payoff": NAN}, "nan"),
    "infinite": ({"payoff": INF}, "inf"),
    "text": ({"payoff": "high"}, "'high'"),
    "none": ({"payoff": None}, "nothing was told"),
    "boolean": ({"payoff": True}, "True"),
    "array": ({"payoff": np.array([1.0, 2.0])}, "array"),
    "unknown action": ({"agents": [("x", "d", 1.0)]}, "'d'"),
    "unknown context": ({"agents": [("z", "a", 1.0)]}, "'z'"),
    "agent nan": ({"agents": [("x", "a", 1.0), ("x", "a", NAN)]}, r"agents\[1\]"),
    "cells shape": ({"cells": [1.0, 2.0, 3.0]}, r"\(2, 3\)"),
    "good payoff with bad cells": ({"payoff": 1.0, "cells": [1.0]}, "cells"),
    "feedback of another shape": ({"payoff": Feedback(cells=np.ones((1, 3)))}, r"\(2, 3\)"),
    "feedback with nan": ({"payoff": Feedback(NAN)}, "nan"),
    "empty feedback": ({"payoff": Feedback()}, "nothing was told"),
    "feedback and more beside it": ({"payoff": Feedback(1.0), "agents": [("x", "a", 2.0)]}, "agents"),
    "negative distribution": ({"payoff": 1.0, "distribution": [[1.5, -0.5, 0], [1, 0, 0]]}, "-0.5"),
    "sum not one": ({"payoff": 1.0, "distribution": [[0.5, 0.4, 0], [1, 0, 0]]}, "sums to 0.9"),
    "distribution nan": ({"payoff": 1.0, "distribution": [[NAN, 0.5, 0.5], [1, 0, 0]]}, "nan"),
    "distribution transposed": ({"payoff": 1.0, "distribution": np.full((3, 2), 0.5)}, r"\(3, 2\)"),
    "distribution ragged": ({"payoff": 1.0, "distribution": [[0.5, 0.5, 0.0], [1.0]]}, "distribution"),
}


@pytest.mark.parametrize("case", BAD_TELLS, ids=lambda case: case.replace(" ", "-"))
def test_a_bad_tell_is_refused_and_leaves_the_study_unchanged(study, case):
    told, named = BAD_TELLS[case]
    study.tell(study.ask(), 1.0)
    plan = study.ask()
    before = study.rounds
    with pytest.raises(MfboError, match=named):
        study.tell(plan, **told)
    assert study.rounds is before


def test_a_round_can_be_told_after_a_refused_tell(study):
    plan = study.ask()
    with pytest.raises(InvalidInputError):
        study.tell(plan, NAN)
    assert study.tell(plan, 2.0).feedback.payoff == 2.0


def test_a_repeated_tell_is_refused_and_the_first_kept(study):
    plan = study.ask()
    study.tell(plan, 1.0)
    before = study.rounds
    with pytest.raises(RoundStateError, match="plan 0 is already done"):
        study.tell(plan, 2.0)
    assert study.rounds is before


@pytest.mark.parametrize("number", [1, -1, 99])
def test_a_plan_that_was_never_asked_is_refused(study, number):
    study.ask()
    before = study.rounds
    with pytest.raises(UnknownNameError, match=f"plan {number} was never asked"):
        study.tell(number, 1.0)
    assert study.rounds is before


@pytest.mark.parametrize("plan", ["0", None, 0.0, True])
def test_what_is_no_plan_is_refused(study, plan):
    study.ask()
    with pytest.raises(InvalidInputError, match="plan must be"):
        study.tell(plan, 1.0)


def test_a_plan_of_another_study_is_refused(population, study):
    study.ask()
    before = study.rounds
    stranger = mfbo.create_study(population, "random", seed=2).ask()
    with pytest.raises(UnknownNameError, match="another study"):
        study.tell(stranger, 1.0)
    assert study.rounds is before


def test_a_plan_of_a_study_of_another_size_is_refused(population):
    """Same strategy, same seed, same distribution; but twice as many agents were sent out."""
    first, second = (mfbo.create_study(population.with_size(size), "default") for size in (20, 40))
    first.ask()
    with pytest.raises(UnknownNameError, match="another study"):
        first.tell(second.ask(), 1.0)


# Rounds without a result


def test_a_failed_round_keeps_its_reason(study):
    failed = study.fail(study.ask(), "no power")
    assert study.rounds[0] is failed
    assert (failed.state, failed.error) == ("failed", "no power")


def test_an_abandoned_round_is_no_longer_open(study):
    study.abandon(study.ask())
    assert study.rounds[0].state == "abandoned"
    assert study.history.open == ()


@pytest.mark.parametrize("end", [lambda s, p: s.fail(p, "x"), lambda s, p: s.abandon(p), lambda s, p: s.tell(p, 1.0)])
@pytest.mark.parametrize("again", [lambda s, p: s.fail(p, "y"), lambda s, p: s.abandon(p), lambda s, p: s.tell(p, 2.0)])
def test_a_round_ends_once(study, end, again):
    plan = study.ask()
    end(study, plan)
    before = study.rounds
    with pytest.raises(RoundStateError, match="already"):
        again(study, plan)
    assert study.rounds is before


def test_rounds_without_a_result_do_not_count_as_told(study):
    study.fail(study.ask(), "x")
    study.abandon(study.ask())
    study.tell(study.ask(), 1.0)
    assert [each.number for each in study.history.told] == [2]
    assert study.rounds[2].told == 0


# Past days


def test_an_added_day_is_a_told_round_that_was_never_asked(study):
    past = study.add(TWO_ROWS, 4.0)
    assert study.history.told == (past,)
    assert (past.state, past.added, past.feedback.payoff) == ("done", True, 4.0)
    np.testing.assert_allclose(past.realized, TWO_ROWS, rtol=1e-15)


def test_asked_rounds_are_not_added_ones(study):
    assert not study.tell(study.ask(), 1.0).added


def test_plans_are_numbered_on_after_an_added_day(study):
    study.ask()
    study.add(TWO_ROWS, 4.0)
    assert study.ask().number == 2
    assert study.tell(2, 1.0).told == 1


def test_an_added_day_takes_every_kind_of_feedback(study):
    study.add(TWO_ROWS, agents=[("x", "b", 1.0)])
    study.add(TWO_ROWS, cells={("x", "b"): 1.0}, counts={("x", "b"): 3})
    study.add(TWO_ROWS, Feedback(2.0))
    assert len(study.history.told) == 3


def test_an_added_day_cannot_be_told_again(study):
    study.add(TWO_ROWS, 4.0)
    with pytest.raises(RoundStateError, match="already done"):
        study.tell(0, 5.0)


def test_an_added_day_can_be_the_best(study):
    past = study.add(TWO_ROWS, 4.0)
    study.tell(study.ask(), 1.0)
    assert study.best is past


@pytest.mark.parametrize(
    ("distribution", "payoff"), [([[0.5, 0.4, 0.0]] * 2, 1.0), (uniform(1, 3), 1.0), (TWO_ROWS, NAN), (TWO_ROWS, None)]
)
def test_a_bad_day_is_refused_and_leaves_the_study_unchanged(study, distribution, payoff):
    before = study.rounds
    with pytest.raises(InvalidInputError):
        study.add(distribution, payoff)
    assert study.rounds is before


# Best, recommend, predict


@pytest.mark.parametrize("call", [lambda s: s.best, lambda s: s.recommend(), lambda s: s.predict(uniform(2, 3))])
def test_nothing_can_be_concluded_before_a_tell(population, call):
    made = mfbo.create_study(population)
    made.fail(made.ask(), "x")
    made.ask()
    with pytest.raises(RoundStateError, match="at least one told round"):
        call(made)


def test_best_is_the_round_with_the_highest_told_payoff(study):
    for payoff in (1.0, 5.0, -2.0):
        study.tell(study.ask(), payoff)
    assert study.best is study.rounds[1]


@pytest.mark.parametrize("strategy", ["random", "default", "mf-gp-ucb(steps=100)"])
def test_best_of_told_agents_is_the_round_whose_played_distribution_is_recommended(strategy):
    made = finished(strategy, "agents:3")
    np.testing.assert_array_equal(made.best.realized, made.recommend().distribution)


def test_best_of_sampled_agents_is_the_round_whose_plan_is_recommended(population):
    """Here the plan is what is steered: by chance another round may have played just what this one planned."""
    low, high = [[1.0, 0.0, 0.0]] * 2, [[0.0, 0.5, 0.5]] * 2
    scripted = Scripted(low, high)
    scripted.recommend = lambda history: history.rounds[1].plan.distribution
    made = mfbo.create_study(population, scripted, allocation="sampled")
    made.tell(made.ask(), agents=[("x", "a", 1.0)], distribution=high)
    made.tell(made.ask(), agents=[("x", "b", 2.0)], distribution=low)
    assert made.best is made.rounds[1]


def test_recommended_plan_is_in_whole_agents(small):
    plan = finished("default").recommend()
    assert plan.allocation.sum() == 40


def test_recommending_asks_for_no_round(small):
    made = finished("default")
    before = made.rounds
    made.recommend()
    assert made.rounds is before


def test_a_strategy_without_a_model_cannot_predict(study):
    study.tell(study.ask(), 1.0)
    with pytest.raises(InvalidInputError, match="'random' has no model"):
        study.predict(uniform(2, 3))


@pytest.mark.parametrize("bad", [[[0.5, 0.4, 0], [1, 0, 0]], uniform(1, 3), "uniform"])
def test_predicting_for_a_bad_distribution_is_refused(population, bad):
    made = mfbo.create_study(population)
    made.tell(made.ask(), 1.0)
    with pytest.raises(InvalidInputError, match="distribution"):
        made.predict(bad)


MODELED = ["default", "mf-gp-ucb(steps=100)"]


@pytest.mark.parametrize("strategy", MODELED)
def test_a_prediction_interpolates_noise_free_payoffs(strategy):
    made = finished(strategy)
    payoffs = np.array([each.feedback.payoff for each in made.rounds])
    means = np.array([made.predict(each.realized).mean for each in made.rounds])
    np.testing.assert_allclose(means, payoffs, atol=5e-3 * np.ptp(payoffs))


@pytest.mark.parametrize("strategy", MODELED)
@pytest.mark.parametrize("kind", ["system", "agents:3", "cells"])
def test_predicted_deviations_are_at_least_zero_everywhere(strategy, kind):
    made = finished(strategy, kind)
    rng = np.random.default_rng(0)
    for distribution in [made.rounds[2].realized, uniform(2, 8), *rng.dirichlet(np.full(8, 0.3), size=(5, 2))]:
        found = made.predict(distribution)
        assert found.sd >= 0
        assert found.cell_sd.shape == (2, 8)
        assert (found.cell_sd >= 0).all()
        assert np.isfinite([found.mean, *found.cell_mean.ravel()]).all()


@pytest.mark.parametrize("strategy", MODELED)
def test_predicted_mean_is_the_weighted_mean_of_the_cells(strategy):
    made = finished(strategy, "agents:3")
    distribution = np.random.default_rng(1).dirichlet(np.ones(8), size=2)
    found = made.predict(distribution)
    assert found.mean == pytest.approx(float((0.5 * distribution * found.cell_mean).sum()), rel=1e-8)


@pytest.mark.parametrize("strategy", MODELED)
def test_predicted_deviation_of_the_whole_is_at_most_the_mean_deviation_of_the_cells(strategy):
    made = finished(strategy, "agents:3")
    for distribution in np.random.default_rng(1).dirichlet(np.ones(8), size=(10, 2)):
        found = made.predict(distribution)
        assert found.sd <= float((0.5 * distribution * found.cell_sd).sum()) * (1 + 1e-9)


@pytest.mark.parametrize("strategy", MODELED)
def test_known_small_noise_pins_the_prediction_to_the_payoffs(small, strategy):
    made = finished(strategy)
    exact = mfbo.create_study(small.population, strategy, seed=2, noise=1e-6)
    for each in made.rounds:
        exact.tell(exact.ask(), each.feedback.payoff, distribution=each.realized)
    for each in exact.rounds:
        assert exact.predict(each.realized).mean == pytest.approx(each.feedback.payoff, abs=1e-4)


@pytest.mark.parametrize("strategy", MODELED)
def test_known_large_noise_keeps_the_prediction_off_the_payoffs(small, strategy):
    made = mfbo.create_study(small.population, strategy, seed=2, noise=5.0)
    for payoff in (1.0, -1.0, 1.0, -1.0, 1.0, -1.0):
        made.tell(made.ask(), payoff)
    means = [made.predict(each.realized).mean for each in made.rounds]
    assert np.abs(np.array(means) - [1, -1, 1, -1, 1, -1]).min() > 0.5


@pytest.mark.parametrize("strategy", MODELED)
def test_payoffs_whose_squares_overflow_are_refused_or_predicted_but_never_turned_into_nan(population, strategy):
    made = mfbo.create_study(population, strategy)
    try:
        for payoff in (1e200, 3e200, -1e200):
            made.tell(made.ask(), payoff)
    except InvalidInputError:
        return
    assert np.isfinite(made.predict(uniform(2, 3)).mean)


# Batches and seeds


@pytest.mark.parametrize("strategy", [*MODELED, "random"])
@pytest.mark.parametrize("told", [0, 1, 2, 4])
def test_open_plans_spread(strategy, told):
    problem = swarm(12, None)
    made = played(problem, strategy, told, seed=1)
    batch = np.stack([made.ask().distribution[0] for _ in range(4)])
    apart = [float(total_variation(batch[i], batch[j])) for i in range(4) for j in range(i)]
    assert min(apart) > 1e-6


@pytest.mark.parametrize("strategy", [*MODELED, "random"])
def test_open_plans_send_no_two_batches_of_agents_to_the_same_places(strategy):
    """Whole agents are what is played: two open plans with one allocation would be one experiment done twice."""
    problem = arena(10, 40)
    made = played(problem, strategy, 4)
    batch = {made.ask().allocation.tobytes() for _ in range(4)}
    assert len(batch) == 4


def test_open_plans_of_a_model_lower_the_deviation_where_they_are(small):
    """An open plan enters as a hallucinated row: the next plan avoids it, and the means stay."""
    made = finished("default")
    process = made.strategy.belief(made.history).process
    shares = small.population.joint_shares(np.random.default_rng(5).dirichlet(np.ones(8), size=(1, 2)))
    alone, pending = process.posterior(), process.posterior(shares)
    at = 2 * shares[0]
    assert pending.population(at).variance < 0.5 * alone.population(at).variance
    assert pending.population(at).mean == pytest.approx(alone.population(at).mean, abs=1e-9)


@pytest.mark.parametrize("strategy", [*MODELED, "random"])
@pytest.mark.parametrize("kind", ["system", "agents:3"])
def test_equal_seeds_give_equal_plans(small, strategy, kind):
    np.testing.assert_array_equal(
        plans_of(played(small, strategy, 6, kind, seed=2)), plans_of(finished(strategy, kind))
    )


@pytest.mark.parametrize("strategy", [*MODELED, "random"])
def test_different_seeds_give_different_plans(small, strategy):
    assert not np.array_equal(plans_of(played(small, strategy, 4, seed=5)), plans_of(finished(strategy))[:4])


@pytest.mark.parametrize("strategy", [*MODELED, "random"])
def test_a_plan_does_not_depend_on_the_global_generator(small, strategy):
    np.random.seed(1)  # noqa: NPY002
    first = played(small, strategy, 3)
    np.random.seed(2)  # noqa: NPY002
    np.testing.assert_array_equal(plans_of(first), plans_of(played(small, strategy, 3)))


@pytest.mark.parametrize("strategy", [*MODELED, "random"])
@pytest.mark.parametrize("factor", [1e9, 1e-9])
def test_payoffs_in_another_unit_give_nearly_the_same_plans(small, strategy, factor):
    made, scaled = (mfbo.create_study(small.population, strategy, seed=3) for _ in range(2))
    for _ in range(6):
        plan, other = made.ask(), scaled.ask()
        np.testing.assert_allclose(other.distribution, plan.distribution, atol=1e-3)
        payoff = small.value(plan)
        made.tell(plan, payoff)
        scaled.tell(other, payoff * factor, distribution=plan.realized)


@pytest.mark.parametrize("strategy", [*MODELED, "random"])
def test_payoffs_with_another_zero_give_nearly_the_same_plans(small, strategy):
    made, shifted = (mfbo.create_study(small.population, strategy, seed=3) for _ in range(2))
    for _ in range(6):
        plan, other = made.ask(), shifted.ask()
        np.testing.assert_allclose(other.distribution, plan.distribution, atol=1e-3)
        payoff = small.value(plan)
        made.tell(plan, payoff)
        shifted.tell(other, payoff + 1000.0, distribution=plan.realized)


# Maximize


def test_maximize_plays_the_given_number_of_rounds(small):
    result = mfbo.maximize(small.value, small.population, rounds=5, seed=3)
    assert [each.state for each in result.study.rounds] == ["done"] * 5


def test_maximize_returns_the_best_round_and_a_plan_to_keep(small):
    result = mfbo.maximize(small.value, small.population, rounds=5)
    assert result.best is result.study.best
    assert result.best.feedback.payoff == max(each.feedback.payoff for each in result.study.rounds)
    assert result.recommended.allocation.sum() == 40


def test_maximize_equals_asking_and_telling_by_hand(small):
    result = mfbo.maximize(small.value, small.population, rounds=5, seed=3)
    np.testing.assert_array_equal(plans_of(result.study), plans_of(played(small, "default", 5, seed=3)))


@pytest.mark.parametrize("kind", ["system", "agents:3", "cells"])
def test_maximize_takes_feedback_of_every_kind(small, kind):
    observer = Observer(small, FeedbackKind.parse(kind))
    result = mfbo.maximize(observer, small.population, rounds=3, strategy="random")
    first = result.study.rounds[0]
    assert repr(first.feedback) == repr(observer(first.plan))


def test_maximize_reports_every_round(small):
    seen: list[int] = []
    mfbo.maximize(small.value, small.population, 4, strategy="random", progress=lambda each: seen.append(each.number))
    assert seen == [0, 1, 2, 3]


def broken_at(number: int, problem: Problem) -> Callable[[Plan], float]:
    def payoff(plan: Plan) -> float:
        if plan.number == number:
            raise OSError("the sensor is silent")
        return problem.value(plan)

    return payoff


def test_maximize_goes_on_after_a_failure_if_asked(small):
    payoff = broken_at(2, small)
    study = mfbo.maximize(payoff, small.population, 5, strategy="random", on_error="continue").study
    assert [each.state for each in study.rounds] == ["done", "done", "failed", "done", "done"]
    assert study.rounds[2].error == "OSError: the sensor is silent"


def test_maximize_stops_at_a_failure_and_raises_it(small):
    calls: list[int] = []

    def payoff(plan: Plan) -> float:
        calls.append(plan.number)
        return broken_at(2, small)(plan)

    with pytest.raises(OSError, match="the sensor is silent"):
        mfbo.maximize(payoff, small.population, 5, strategy="random")
    assert calls == [0, 1, 2]


def test_a_round_that_raises_is_kept_as_failed_with_all_before_it(small):
    made = mfbo.create_study(small.population, "random")
    run_round(made, small.value)
    with pytest.raises(OSError, match="silent"):
        run_round(made, broken_at(1, small))
    assert [each.state for each in made.rounds] == ["done", "failed"]


@pytest.mark.parametrize("value", [NAN, INF, None, "high", Feedback()])
def test_maximize_fails_the_round_of_an_unusable_payoff(small, value):
    payoff = lambda plan: value if plan.number == 1 else 1.0 * plan.number  # noqa: E731
    study = mfbo.maximize(payoff, small.population, 3, strategy="random", on_error="continue").study
    assert [each.state for each in study.rounds] == ["done", "failed", "done"]
    assert study.rounds[1].error.startswith("InvalidInputError")


def test_maximize_stops_at_a_payoff_that_is_not_finite(small):
    with pytest.raises(InvalidInputError, match="nan"):
        mfbo.maximize(lambda plan: NAN, small.population, 3, strategy="random")


def test_maximize_that_failed_in_every_round_says_so(small):
    with pytest.raises(RoundStateError, match="told round"):
        mfbo.maximize(lambda plan: NAN, small.population, 2, strategy="random", on_error="continue")


@pytest.mark.parametrize("rounds", [0, -1, 2.5, True, "ten"])
def test_maximize_refuses_a_bad_number_of_rounds(small, rounds):
    with pytest.raises(InvalidInputError, match="rounds"):
        mfbo.maximize(small.value, small.population, rounds)


def test_maximize_refuses_an_unknown_way_to_treat_errors(small):
    with pytest.raises(UnknownNameError, match="'ignore'"):
        mfbo.maximize(small.value, small.population, 1, on_error="ignore")


def test_maximize_refuses_a_misspelt_option(small):
    with pytest.raises(TypeError, match="sead"):
        mfbo.maximize(small.value, small.population, 1, sead=3)


def test_a_keyboard_interrupt_is_not_swallowed(small):
    def payoff(plan: Plan) -> float:
        raise KeyboardInterrupt

    made = mfbo.create_study(small.population, "random")
    with pytest.raises(KeyboardInterrupt):
        run_round(made, payoff, on_error="continue")
    assert made.rounds[0].state == "open"
