"""What every strategy over distributions keeps: valid plans from any history, no matter how poor the data are.

Strategies over single agents have no mean-field limit, which is used here; test_strategy_suite.py has them all.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round
from mfbo.catalogue import STRATEGIES, make_strategy
from mfbo.interfaces import Strategy
from mfbo.simplex import allocate

KINDS = ["system", "agents", "cells"]
Payoffs = Callable[[int, np.ndarray], float]


TORCH = ("botorch-simplex", "optuna-gp")  # seconds a test: left to CI
ON_SIMPLEX = [name for name, entry in STRATEGIES.items() if entry.searches == "distribution"]


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.slow) if name in TORCH else name for name in ON_SIMPLEX])
def strategy(request) -> Strategy:
    return make_strategy(request.param)


def fresh(strategy: Strategy) -> Strategy:
    return make_strategy(strategy.name)


def plain(size: int | None = None) -> Population:
    return Population(np.linspace(0, 1, 5), {"x": 0.4, "y": 0.6}, size=size)


def varied(number: int, distribution: np.ndarray) -> float:
    """A payoff that depends on the distribution."""
    return float(np.sin(7 * distribution).sum() + 0.1 * number)


def feedback_of(kind: str, payoff: float, shape: tuple[int, int]) -> Feedback:
    contexts, actions = shape
    if kind == "system":
        return Feedback(payoff)
    if kind == "agents":
        return Feedback(agents=tuple((c, a, payoff) for c in range(contexts) for a in range(min(actions, 2))))
    cells = np.full(shape, payoff)
    return Feedback(cells=cells, counts=np.ones(shape))


def told(
    population: Population, count: int, kind: str = "system", payoffs: Payoffs = varied, same: bool = False
) -> History:
    """A history of ``count`` finished rounds, all on one plan if ``same``, without any notes."""
    rng = np.random.default_rng(2)
    contexts, actions = population.shape
    rounds = []
    for number in range(count):
        draw = np.random.default_rng(2) if same else rng
        distribution = draw.dirichlet(np.ones(actions), size=contexts)
        allocation = None
        if population.size is not None:
            allocation = allocate(distribution, population.weights, population.size, rng)
        plan = Plan(number, distribution, allocation)
        seen = feedback_of(kind, payoffs(number, plan.realized), population.shape)
        rounds.append(Round(plan).done(seen, plan.realized, told=number))
    return History(population, tuple(rounds))


def with_rounds(history: History, *extra: Round) -> History:
    return dataclasses.replace(history, rounds=(*history.rounds, *extra))


def proposed(strategy: Strategy, history: History, seed: int = 0) -> np.ndarray:
    return strategy.propose(history, np.random.default_rng(seed)).distribution


def assert_valid(distribution: np.ndarray, population: Population) -> None:
    assert distribution.shape == population.shape
    assert np.isfinite(distribution).all()
    assert (distribution >= 0).all()
    np.testing.assert_allclose(distribution.sum(axis=1), 1.0, rtol=0, atol=1e-9)


def assert_answers(strategy: Strategy, history: History) -> None:
    """Propose, recommend and predict, and check each answer."""
    population = history.population
    assert_valid(proposed(strategy, history), population)
    assert_valid(strategy.recommend(history), population)
    posterior = strategy.posterior(history)
    if posterior is not None:
        for distribution in (history.told[0].realized, np.full(population.shape, 1 / population.shape[1])):
            whole, cells = posterior.population(distribution), posterior.cells(distribution)
            assert np.isfinite([whole.mean, whole.variance]).all()
            assert np.isfinite([cells.mean, cells.variance]).all()
            assert whole.variance >= 0
            assert (cells.variance >= 0).all()


# Valid, seeded plans


def test_the_first_plan_is_valid(strategy):
    assert_valid(proposed(strategy, History(plain())), plain())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 6])
def test_plans_after_tells_are_valid(strategy, kind, count):
    assert_answers(strategy, told(plain(), count, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_plans_in_whole_agents_are_valid(strategy, kind):
    assert_answers(strategy, told(plain(size=12), 4, kind))


def test_plans_after_mixed_feedback_are_valid(strategy):
    history = told(plain(), 6)
    rounds = [
        dataclasses.replace(each, feedback=feedback_of(KINDS[i % 3], float(i), (2, 5)))
        for i, each in enumerate(history.rounds)
    ]
    assert_answers(strategy, History(history.population, tuple(rounds)))


def test_plans_with_known_noise_are_valid(strategy):
    assert_answers(strategy, dataclasses.replace(told(plain(), 6), noise=0.3))


@pytest.mark.parametrize("kind", KINDS)
def test_equal_history_and_equal_generator_give_equal_plans(strategy, kind):
    history = told(plain(), 6, kind)
    np.testing.assert_array_equal(proposed(strategy, history), proposed(fresh(strategy), history))


def test_proposing_twice_gives_the_same_plan_twice(strategy):
    history = told(plain(), 6)
    np.testing.assert_array_equal(proposed(strategy, history), proposed(strategy, history))


def test_the_generator_is_the_only_source_of_randomness(strategy):
    np.random.seed(0)  # noqa: NPY002
    first = proposed(strategy, told(plain(), 3))
    np.random.seed(99)  # noqa: NPY002
    np.testing.assert_array_equal(first, proposed(fresh(strategy), told(plain(), 3)))


def test_some_early_plan_depends_on_the_seed(strategy):
    histories = [History(plain()), told(plain(), 1), told(plain(), 2)]
    differ = [not np.array_equal(proposed(strategy, h, 0), proposed(fresh(strategy), h, 1)) for h in histories]
    assert any(differ)


def test_notes_are_plain_numbers_and_words_that_a_store_can_keep(strategy):
    notes = strategy.propose(told(plain(), 6), np.random.default_rng(0)).notes
    assert all(isinstance(key, str) for key in notes)
    values = [value for values in notes.values() for value in values]
    assert all(type(value) is str or (type(value) is float and np.isfinite(value)) for value in values)


# What a strategy remembers is a cache


def test_what_was_asked_before_changes_no_answer(strategy):
    target = told(plain(), 6)
    for other in (told(plain(), 9), told(plain(), 3, "agents"), told(plain(size=9), 6, payoffs=lambda i, _: -float(i))):
        proposed(strategy, other)
        strategy.recommend(other)
    np.testing.assert_array_equal(proposed(strategy, target), proposed(fresh(strategy), target))


def test_two_studies_can_share_a_strategy(strategy):
    one, other = told(plain(), 7), told(plain(), 7, payoffs=lambda i, d: -varied(i, d))
    alone = [proposed(fresh(strategy), one), proposed(fresh(strategy), other)]
    for _ in range(2):
        np.testing.assert_array_equal(proposed(strategy, one), alone[0])
        np.testing.assert_array_equal(proposed(strategy, other), alone[1])


def test_a_longer_history_is_answered_as_by_a_newcomer(strategy):
    """The cached model grows round by round; the notes of each proposal travel with the rounds."""
    history = told(plain(), 4)
    for number in range(4, 12):
        proposal = strategy.propose(history, np.random.default_rng(number))
        newcomer = fresh(strategy).propose(history, np.random.default_rng(number))
        np.testing.assert_array_equal(proposal.distribution, newcomer.distribution, err_msg=f"round {number}")
        plan = Plan(number, proposal.distribution)
        seen = Feedback(varied(number, plan.distribution))
        history = with_rounds(history, Round(plan, proposal.notes).done(seen, plan.distribution, told=number))


# The history is left alone


def contents(history: History) -> list[bytes]:
    found = [history.population.weights.tobytes(), repr(history.noise).encode()]
    for each in history.rounds:
        found.append(repr((each.number, each.state, each.told, each.error, dict(each.notes))).encode())
        arrays = (each.plan.distribution, each.plan.allocation, each.realized)
        found.extend(b"" if array is None else array.tobytes() for array in arrays)
        if each.feedback is not None:
            found.append(repr((each.feedback.payoff, each.feedback.agents)).encode())
            found.append(b"" if each.feedback.cells is None else each.feedback.cells.tobytes())
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_the_history_is_not_changed(strategy, kind):
    history = with_rounds(told(plain(size=12), 5, kind), Round(Plan(5, np.full((2, 5), 0.2))))
    before = contents(history)
    rounds = history.rounds
    proposed(strategy, history)
    strategy.recommend(history)
    strategy.posterior(history)
    assert contents(history) == before
    assert history.rounds is rounds


def test_a_plan_is_not_a_view_of_the_history(strategy):
    history = told(plain(), 5)
    before = contents(history)
    proposed(strategy, history)[:] = 0.5
    strategy.recommend(history)[:] = 0.5
    assert contents(history) == before


# Rounds without a result, and open ones


def failed(number: int) -> Round:
    return Round(Plan(number, np.full((2, 5), 0.2))).ended("failed", "no power")


def test_a_history_of_failures_alone_gets_a_valid_plan(strategy):
    assert_valid(proposed(strategy, History(plain(), tuple(failed(i) for i in range(4)))), plain())


def test_a_failed_first_round_does_no_harm(strategy):
    history = told(plain(), 5)
    later = [dataclasses.replace(e, plan=dataclasses.replace(e.plan, number=e.number + 1)) for e in history.rounds]
    assert_answers(strategy, History(plain(), (failed(0), *later)))


@pytest.mark.parametrize("state", ["failed", "abandoned"])
def test_rounds_without_a_result_do_not_change_the_recommendation(strategy, state):
    history = told(plain(), 5)
    more = with_rounds(history, failed(5).ended(state), failed(6).ended(state))
    np.testing.assert_array_equal(strategy.recommend(more), fresh(strategy).recommend(history))


def test_open_plans_alone_get_a_valid_plan(strategy):
    opened = tuple(Round(Plan(i, np.full((2, 5), 0.2))) for i in range(3))
    assert_valid(proposed(strategy, History(plain(), opened)), plain())


@pytest.mark.parametrize("kind", KINDS)
def test_open_plans_beside_told_ones_get_a_valid_plan(strategy, kind):
    opened = [Round(Plan(5 + i, np.full((2, 5), 0.2))) for i in range(3)]
    assert_valid(proposed(strategy, with_rounds(told(plain(), 5, kind), *opened)), plain())


def test_open_plans_do_not_change_the_recommendation(strategy):
    history = told(plain(), 5)
    opened = with_rounds(history, Round(Plan(5, np.full((2, 5), 0.2))))
    np.testing.assert_array_equal(strategy.recommend(opened), fresh(strategy).recommend(history))


# Degenerate populations

POPULATIONS = {
    "one action": Population(["only"]),
    "one action with a feature": Population({"only": 3.0}),
    "one action in two contexts": Population(["only"], ["x", "y"], size=5),
    "two actions": Population(["left", "right"]),
    "names only": Population([f"n{i}" for i in range(6)]),
    "three contexts without features": Population(np.linspace(0, 1, 4), ["x", "y", "z"], size=20),
    "names and contexts only": Population(["a", "b", "c"], {"x": 0.999, "y": 0.001}),
    "all features equal": Population({"a": 1.0, "b": 1.0, "c": 1.0}),
    "one feature constant": Population({"a": [0.0, 7.0], "b": [1.0, 7.0], "c": [2.0, 7.0]}),
    "features of unlike scales": Population({"a": [1e-9, 1e9], "b": [2e-9, 2e9], "c": [4e-9, -1e9]}),
    "equal context features": Population(["a", "b", "c"], ["x", "y"], context_features=[2.0, 2.0]),
    "one agent": Population(np.linspace(0, 1, 5), ["x", "y"], size=1),
}


@pytest.mark.parametrize("case", POPULATIONS, ids=lambda case: case.replace(" ", "-"))
@pytest.mark.parametrize("kind", ["system", "agents"])
def test_degenerate_populations_are_answered(strategy, case, kind):
    assert_answers(strategy, told(POPULATIONS[case], 6, kind))


# Degenerate payoffs

PAYOFFS: dict[str, Payoffs] = {
    "identical": lambda i, d: 3.0,
    "zero": lambda i, d: 0.0,
    "huge": lambda i, d: 1e9 * varied(i, d),
    "tiny": lambda i, d: 1e-9 * varied(i, d),
    "far from zero": lambda i, d: 1e9 + varied(i, d),
    "one outlier": lambda i, d: 1e9 if i == 2 else varied(i, d),
    "equal but for rounding": lambda i, d: 0.1 + i * 1e-17,
    "enormous": lambda i, d: 1e150 * varied(i, d),
}


@pytest.mark.parametrize("case", PAYOFFS, ids=lambda case: case.replace(" ", "-"))
@pytest.mark.parametrize("kind", ["system", "agents"])
def test_degenerate_payoffs_are_answered(strategy, case, kind):
    assert_answers(strategy, told(plain(), 6, kind, PAYOFFS[case]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", ["identical", "tiny"])
def test_one_plan_told_again_and_again_is_answered(strategy, kind, case):
    assert_answers(strategy, told(plain(), 6, kind, PAYOFFS[case], same=True))


@pytest.mark.parametrize("kind", KINDS)
def test_one_plan_told_with_contradicting_payoffs_is_answered(strategy, kind):
    assert_answers(strategy, told(plain(), 6, kind, lambda i, d: (-1.0) ** i, same=True))


def test_plans_at_the_vertices_are_answered(strategy):
    rounds = []
    for number in range(5):
        corner = np.eye(5)[[number, (number + 1) % 5]]
        rounds.append(Round(Plan(number, corner)).done(Feedback(float(number)), corner, told=number))
    assert_answers(strategy, History(plain(), tuple(rounds)))


def test_a_cell_mean_of_very_many_agents_is_answered(strategy):
    history = told(plain(), 4, "cells")
    rounds = [
        dataclasses.replace(e, feedback=dataclasses.replace(e.feedback, counts=np.full((2, 5), 1e15)))
        for e in history.rounds
    ]
    assert_answers(strategy, History(plain(), tuple(rounds)))
