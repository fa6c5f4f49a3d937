"""What is seen of a problem: every kind of feedback, its noise, its draws, and its seed."""

import dataclasses

import numpy as np
import pytest

from mfbo.errors import InvalidInputError
from mfbo.problems import FeedbackKind, Observer, Problem, arena, swarm
from mfbo.records import Plan
from mfbo.simplex import allocate, dirichlet


@pytest.fixture(scope="module")
def problem() -> Problem:
    return arena(6, 40)


def plan_for(problem: Problem, number: int = 0) -> Plan:
    rng = np.random.default_rng(9)
    distribution = dirichlet(0.5, *problem.population.shape, rng)
    size = problem.population.size
    return Plan(
        number, distribution, None if size is None else allocate(distribution, problem.population.weights, size, rng)
    )


@pytest.fixture
def plan(problem) -> Plan:
    return plan_for(problem)


@pytest.fixture
def limit() -> Problem:
    return arena(6, None)


def seen_counts(agents: tuple, shape: tuple[int, int]) -> np.ndarray:
    counts = np.zeros(shape, dtype=int)
    for c, a, _ in agents:
        counts[c, a] += 1
    return counts


@pytest.mark.parametrize("text", ["system", "cells", "agents:1", "agents:250"])
def test_kind_is_parsed_and_printed_back(text):
    assert str(FeedbackKind.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nosuch",
        "agents",
        "agents:",
        "agents:0",
        "agents:-1",
        "agents:1.5",
        "agents:x",
        "System",
        "system:2",
        "cells:3",
    ],
)
def test_other_kinds_are_refused_and_named(text):
    with pytest.raises(InvalidInputError) as caught:
        FeedbackKind.parse(text)
    assert repr(text) in str(caught.value)
    assert "agents:N" in str(caught.value)


def test_system_feedback_without_noise_is_the_value(problem, plan):
    assert Observer(problem, FeedbackKind("system"))(plan).payoff == problem.value(plan)


def test_system_feedback_in_the_limit_is_the_mean_field_value(limit):
    plan = plan_for(limit)
    found = Observer(limit, FeedbackKind("system"))(plan).payoff
    assert found == limit.mean_field_value(plan.distribution)


def test_system_feedback_tells_nothing_else(problem, plan):
    found = Observer(problem, FeedbackKind("system"))(plan)
    assert (found.agents, found.cells, found.counts) == ((), None, None)


def test_agents_tell_the_payoff_of_their_own_cell(problem, plan):
    cells = problem.payoff.cells(problem.shares(plan), 40)
    for c, a, y in Observer(problem, FeedbackKind("agents", 7))(plan).agents:
        assert y == cells[c, a]


@pytest.mark.parametrize(("asked", "told"), [(1, 1), (7, 7), (40, 40), (100, 40)])
def test_as_many_agents_tell_as_are_asked_and_exist(problem, plan, asked, told):
    assert len(Observer(problem, FeedbackKind("agents", asked))(plan).agents) == told


def test_agents_are_drawn_without_replacement(problem, plan):
    for seed in range(20):
        agents = Observer(problem, FeedbackKind("agents", 35), seed=seed)(plan).agents
        assert (seen_counts(agents, (2, 6)) <= plan.allocation).all()


def test_asking_everyone_sees_the_whole_allocation(problem, plan):
    agents = Observer(problem, FeedbackKind("agents", 40))(plan).agents
    np.testing.assert_array_equal(seen_counts(agents, (2, 6)), plan.allocation)


def test_drawn_agents_represent_the_allocation(problem, plan):
    """The mean of hypergeometric counts is n K / M, with the variance of draws without replacement."""
    observer = Observer(problem, FeedbackKind("agents", 10))
    draws = np.stack([seen_counts(observer(dataclasses.replace(plan, number=t)).agents, (2, 6)) for t in range(1500)])
    share = plan.allocation / 40
    variance = 10 * share * (1 - share) * 30 / 39
    assert (np.abs(draws.mean(axis=0) - 10 * share) <= 5 * np.sqrt(variance / 1500) + 1e-12).all()
    np.testing.assert_allclose(draws.var(axis=0)[share > 0.05], variance[share > 0.05], rtol=0.2)


def test_agents_in_the_limit_are_drawn_by_share(limit):
    plan = plan_for(limit)
    agents = Observer(limit, FeedbackKind("agents", 20_000))(plan).agents
    share = 0.5 * plan.distribution
    error = np.abs(seen_counts(agents, (2, 6)) / 20_000 - share)
    assert (error <= 5 * np.sqrt(share * (1 - share) / 20_000) + 1e-12).all()


def test_agents_of_an_enormous_population_are_drawn_without_counting_it():
    huge = swarm(size=10**15)
    assert len(Observer(huge, FeedbackKind("agents", 3))(plan_for(huge)).agents) == 3


def test_cells_tell_every_occupied_cell_and_no_other(problem, plan):
    found = Observer(problem, FeedbackKind("cells"))(plan)
    np.testing.assert_array_equal(np.isnan(found.cells), plan.allocation == 0)


def test_cells_tell_the_payoff_of_each_cell(problem, plan):
    found = Observer(problem, FeedbackKind("cells"))(plan).cells
    expected = problem.payoff.cells(problem.shares(plan), 40)
    np.testing.assert_array_equal(found[~np.isnan(found)], expected[plan.allocation > 0])


def test_counts_of_cells_are_the_allocation(problem, plan):
    np.testing.assert_array_equal(Observer(problem, FeedbackKind("cells"))(plan).counts, plan.allocation)


def test_cells_in_the_limit_count_once_each(limit):
    plan = plan_for(limit)
    found = Observer(limit, FeedbackKind("cells"))(plan)
    np.testing.assert_array_equal(found.counts, (plan.distribution > 0).astype(float))


def test_mean_of_the_cells_weighted_by_counts_is_the_system_payoff(problem, plan):
    found = Observer(problem, FeedbackKind("cells"))(plan)
    mean = np.nansum(found.cells * found.counts) / found.counts.sum()
    assert mean == pytest.approx(problem.value(plan), abs=1e-13)


def residuals(problem: Problem, kind: str, noise: float, rounds: int) -> np.ndarray:
    """Noisy minus noise-free feedback of the same plan in many rounds, standardized by counts for cells."""
    noisy = Observer(problem, FeedbackKind.parse(kind), noise=noise)
    plan = plan_for(problem)
    exact = problem.payoff.cells(problem.shares(plan), problem.population.size)
    found = []
    for number in range(rounds):
        seen = noisy(dataclasses.replace(plan, number=number))
        if seen.payoff is not None:
            found.append(seen.payoff - problem.value(plan))
        found.extend(y - exact[c, a] for c, a, y in seen.agents)
        if seen.cells is not None:
            scaled = (seen.cells - exact) * np.sqrt(seen.counts)
            found.extend(scaled[seen.counts > 0])
    return np.array(found)


@pytest.mark.parametrize("kind", ["system", "agents:4", "cells"])
def test_noise_has_mean_zero_and_the_given_standard_deviation(problem, kind):
    found = residuals(problem, kind, 0.3, 1500)
    assert found.mean() == pytest.approx(0.0, abs=5 * 0.3 / np.sqrt(len(found)))
    assert found.std() == pytest.approx(0.3, rel=5 / np.sqrt(2 * len(found)))


def test_noise_of_different_agents_is_independent(problem, plan):
    observer = Observer(problem, FeedbackKind("agents", 2), noise=1.0)
    cells = problem.payoff.cells(problem.shares(plan), 40)
    rows = np.array(
        [[y - cells[c, a] for c, a, y in observer(dataclasses.replace(plan, number=t)).agents] for t in range(400)]
    )
    correlation = np.corrcoef(rows[:, 0], rows[:, 1])[0, 1]
    assert abs(correlation) < 4 / np.sqrt(400)


@pytest.mark.parametrize("kind", ["system", "agents:4", "cells"])
def test_the_answer_depends_on_the_seed_and_the_number_alone(problem, plan, kind):
    first = Observer(problem, FeedbackKind.parse(kind), noise=0.5, seed=3)
    first(plan_for(problem, 17))
    again = Observer(problem, FeedbackKind.parse(kind), noise=0.5, seed=3)
    assert repr(first(plan)) == repr(again(plan))


@pytest.mark.parametrize("kind", ["system", "agents:4", "cells"])
def test_other_seeds_and_other_rounds_see_other_noise(problem, plan, kind):
    parsed = FeedbackKind.parse(kind)
    base = Observer(problem, parsed, noise=0.5, seed=3)(plan)
    assert str(vars(base)) != str(vars(Observer(problem, parsed, noise=0.5, seed=4)(plan)))
    assert str(vars(base)) != str(vars(Observer(problem, parsed, noise=0.5, seed=3)(plan_for(problem, 1))))


@pytest.mark.parametrize("noise", [-0.1, float("nan"), "loud"])
def test_bad_noise_is_refused(problem, noise):
    with pytest.raises(InvalidInputError, match="noise"):
        Observer(problem, FeedbackKind("system"), noise=noise)


def test_a_kind_the_problem_does_not_give_is_refused(problem):
    silent = dataclasses.replace(problem, feedback=("system",))
    with pytest.raises(InvalidInputError, match="'arena' gives no 'cells' feedback, only system"):
        Observer(silent, FeedbackKind("cells"))
