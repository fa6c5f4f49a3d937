"""Resume is exact: rounds played after a restart from plain records equal those of an unbroken study, bit for bit."""

import json
from collections.abc import Callable

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Study
from mfbo.catalogue import make_strategy
from mfbo.problems import FeedbackKind, Observer, Problem, arena
from mfbo.study import create_study
from mfbo.study.settings import StudySettings
from mfbo.testing import plain_round, round_from_plain

SEED, ROUNDS, BREAK = 6, 24, 5
LITERAL = "mf-gp-ucb(rows=agent,start=normal,steps=50)"
STRATEGIES = ("default", "mf-gp-ucb(steps=100)", LITERAL, "random", "cma-es", "optuna-tpe")  # test_strategy_suite: all
Answer = Callable[[Plan], Feedback]


def mixed(problem: Problem) -> Answer:
    """System payoffs for eight rounds, then two agents' payoffs: the kind of feedback changes along the way."""
    first, then = Observer(problem, FeedbackKind("system")), Observer(problem, FeedbackKind("agents", 2))
    return lambda plan: first(plan) if plan.number < 8 else then(plan)


@pytest.fixture(scope="module")
def problem() -> Problem:
    return arena(8, 40)


@pytest.fixture(scope="module")
def answers(problem) -> dict[str, Answer]:
    kinds = {kind: Observer(problem, FeedbackKind.parse(kind), noise=0.01) for kind in ("system", "agents:2")}
    return {**kinds, "mixed": mixed(problem)}


def play(study: Study, answer: Answer, rounds: int, width: int) -> None:
    """Ask until ``rounds`` plans were asked; ``width`` plans are open at a time, told now in, now out of order."""
    while len(study.rounds) < rounds:
        study.ask()
        while len(study.history.open) >= width:
            waiting = study.history.open[-1 if len(study.rounds) % 3 == 0 else 0]
            if waiting.number == 3:
                study.fail(waiting.plan, "no power")
            else:
                study.tell(waiting.plan, answer(waiting.plan))


def rebuilt(population: Population) -> Population:
    """The same population read anew from names and numbers: equal, not identical."""
    columns = {"name": list(population.actions), "angle": population.features[:, 0].tolist()}
    weights = dict(zip(population.contexts, population.weights.tolist(), strict=True))
    return Population(columns, weights, size=population.size, context_features=population.context_features.tolist())


def restarted(study: Study, rounds: int, allocation: str = "quota") -> Study:
    """A new study object with a new strategy object from the first ``rounds`` records, through JSON and back."""
    stored = json.loads(json.dumps([plain_round(each) for each in study.rounds[:rounds]]))
    old = study.history
    history = History(rebuilt(old.population), tuple(map(round_from_plain, stored)), old.noise, old.steers)
    settings = StudySettings(seed=study.seed, allocation=allocation)
    return Study(history, make_strategy(study.strategy.name), settings)


def assert_same_plans(found: Study, expected: Study) -> None:
    assert len(found.rounds) == len(expected.rounds)
    for ours, theirs in zip(found.rounds, expected.rounds, strict=True):
        np.testing.assert_array_equal(ours.plan.distribution, theirs.plan.distribution, err_msg=f"round {ours.number}")
        np.testing.assert_array_equal(ours.plan.allocation, theirs.plan.allocation, err_msg=f"round {ours.number}")
        assert dict(ours.notes) == dict(theirs.notes)


@pytest.fixture(
    scope="module", params=[(s, k) for s in STRATEGIES for k in ("system", "agents:2", "mixed")], ids="-".join
)
def unbroken(request, problem, answers) -> tuple[Study, Answer]:
    strategy, kind = request.param
    study = create_study(problem.population, strategy, seed=SEED)
    play(study, answers[kind], 14 if kind == "mixed" else ROUNDS, width=1)
    return study, answers[kind]


def test_five_rounds_a_restart_and_nineteen_more_equal_twenty_four(unbroken):
    whole, answer = unbroken
    resumed = restarted(whole, BREAK)
    play(resumed, answer, len(whole.rounds), width=1)
    assert_same_plans(resumed, whole)


def test_a_restart_between_any_two_rounds_proposes_the_same_next_plan(unbroken):
    whole, _ = unbroken
    for rounds in (2, 9, len(whole.rounds) - 1):
        plan = restarted(whole, rounds).ask()
        np.testing.assert_array_equal(plan.distribution, whole.rounds[rounds].plan.distribution, err_msg=f"at {rounds}")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_restart_after_past_days_were_added_equals_an_unbroken_study(problem, answers, strategy):
    whole = create_study(problem.population, strategy, seed=SEED)
    past = np.random.default_rng(3).dirichlet(np.ones(8), size=(3, 2))
    for distribution in past:
        whole.add(distribution, problem.mean_field_value(distribution))
    play(whole, answers["system"], 8, width=1)
    resumed = restarted(whole, BREAK)
    play(resumed, answers["system"], 8, width=1)
    assert_same_plans(resumed, whole)


def test_a_restart_recommends_the_same_plan(unbroken):
    whole, _ = unbroken
    found = restarted(whole, len(whole.rounds)).recommend()
    np.testing.assert_array_equal(found.distribution, whole.recommend().distribution)


def test_looking_at_the_study_between_rounds_changes_no_plan(problem, answers, unbroken):
    """Recommending and predicting fill the strategy's cache; the cache must never change an answer."""
    whole, answer = unbroken
    curious = create_study(problem.population, whole.strategy.name, seed=SEED)
    for rounds in range(1, 10):
        play(curious, answer, rounds, width=1)
        if curious.history.told:
            curious.recommend()
            if curious.strategy.posterior(curious.history) is not None:
                curious.predict(problem.optimum.distribution)
    for ours, theirs in zip(curious.rounds, whole.rounds[:9], strict=True):
        np.testing.assert_array_equal(ours.plan.distribution, theirs.plan.distribution, err_msg=f"round {ours.number}")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", ["system", "agents:2"])
def test_a_restart_with_open_plans_equals_an_unbroken_batch(problem, answers, strategy, kind):
    whole = create_study(problem.population, strategy, seed=SEED)
    snapshots: dict[int, Study] = {}
    for rounds in range(1, 13):
        play(whole, answers[kind], rounds, width=3)
        if rounds == BREAK:
            assert len(whole.history.open) == 2
            snapshots[rounds] = restarted(whole, rounds)
    resumed = snapshots[BREAK]
    play(resumed, answers[kind], 12, width=3)
    assert_same_plans(resumed, whole)


def test_a_restart_across_the_point_where_rows_become_many_equals_an_unbroken_study(problem):
    """Forty agents tell every round, so in round 13 the default strategy changes over to its bounded process."""
    everyone = Observer(problem, FeedbackKind("agents", 40), noise=0.01)
    whole = create_study(problem.population, "default", seed=SEED)
    play(whole, everyone, 15, width=1)
    for rounds in (11, 14):
        resumed = restarted(whole, rounds)
        play(resumed, everyone, 15, width=1)
        assert_same_plans(resumed, whole)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_restart_with_sampled_agents_and_known_noise_equals_an_unbroken_study(problem, answers, strategy):
    whole = create_study(problem.population, strategy, seed=SEED, noise=0.01, allocation="sampled")
    play(whole, answers["system"], 10, width=1)
    resumed = restarted(whole, BREAK, allocation="sampled")
    play(resumed, answers["system"], 10, width=1)
    assert_same_plans(resumed, whole)
