"""The strategies that place agents one by one: they solve small problems, and their parts do what their papers say."""

import numpy as np
import pytest

from mfbo import InvalidInputError, Population, create_study
from mfbo.strategies.per_agent.annealing import Annealing
from mfbo.strategies.per_agent.assignments import assignment_of
from mfbo.strategies.per_agent.gaussian import GPUCB, AdditiveGPUCB, AssignmentModel
from mfbo.strategies.per_agent.genetic import Genetic, _chances, _crossed

NAMES = ["annealing", "genetic", "gp-ucb", "add-gp-ucb"]
TARGET = np.array([[3, 0, 1, 2], [0, 2, 0, 2]])
POPULATION = Population(np.linspace(0, 1, 4), {"x": 0.6, "y": 0.4}, size=10)


def misplaced(plan) -> float:
    """Minus the number of agents in the wrong place; 0 is the known optimum."""
    return -0.5 * float(np.abs(plan.allocation - TARGET).sum())


def played(strategy, rounds, population=POPULATION, payoff=misplaced, seed=0):
    study = create_study(population, strategy, seed=seed)
    for _ in range(rounds):
        plan = study.ask()
        study.tell(plan, payoff(plan))
    return study


@pytest.mark.parametrize(("strategy", "rounds"), [(Annealing(temperature=1.0), 400), (Genetic(), 600)])
def test_a_small_combinatorial_problem_is_solved(strategy, rounds):
    assert max(each.payoff for each in played(strategy, rounds).rounds) == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_single_agents_are_placed_and_counted(name):
    study = played(name, 8)
    for each in study.rounds:
        assert each.plan.assignment.shape == (10,)
        counts = np.zeros((2, 4), dtype=int)
        np.add.at(counts, (POPULATION.agent_contexts, each.plan.assignment), 1)
        np.testing.assert_array_equal(counts, each.plan.allocation)
        np.testing.assert_allclose(each.plan.realized, counts / counts.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("name", NAMES)
def test_the_mean_field_limit_has_no_agents_to_place(name):
    with pytest.raises(InvalidInputError, match="one by one"):
        create_study(POPULATION.with_size(None), name).ask()


@pytest.mark.parametrize("name", ["gp-ucb", "add-gp-ucb"])
def test_more_than_can_be_held_is_refused_with_the_way_out(name):
    with pytest.raises(InvalidInputError, match=r"20000 agents × actions, not 9000 × 4.*default"):
        create_study(POPULATION.with_size(9000), name).ask()


@pytest.mark.parametrize("name", ["annealing", "genetic"])
def test_twenty_thousand_agents_are_no_loop(name):
    study = played(name, 45, Population([str(i) for i in range(158)], size=20_000), lambda plan: float(plan.number))
    assert study.rounds[-1].plan.allocation.sum() == 20_000


def test_annealing_moves_one_agent_of_the_current_assignment():
    study = played("annealing", 12)
    for number in range(1, 12):
        asked = study.rounds[number]
        current = study.rounds[int(asked.notes["current"][0])].plan.assignment
        assert np.count_nonzero(current != asked.plan.assignment) == 1


def test_annealing_keeps_a_new_best_and_when_cold_nothing_worse():
    payoffs = iter([0.0, 1.0, -50.0, 0.5, 2.0, 1.9])
    study = played(Annealing(temperature=1e-9), 6, payoff=lambda plan: next(payoffs))
    plan = study.ask()
    assert study.rounds[plan.number].notes["current"] == (4.0,)


def test_hot_annealing_accepts_almost_everything():
    study = played(Annealing(temperature=1e9, cooling=1.0), 30, payoff=lambda plan: -float(plan.number))
    assert [each.notes["current"][0] for each in study.rounds[1:]] == [float(i) for i in range(29)]


def test_children_of_a_generation_come_from_both_parents():
    rng = np.random.default_rng(0)
    child = _crossed(np.zeros(20, dtype=int), np.ones(20, dtype=int), rng)
    assert set(child) == {0, 1}
    assert (np.diff(child) <= 0).all()


def test_better_parents_are_drawn_more_often():
    np.testing.assert_allclose(_chances(np.array([-3.0, -1.0, 0.0])), np.array([1, 3, 4]) / 8)


@pytest.mark.parametrize("additive", [False, True])
def test_the_model_interpolates_and_its_doubt_vanishes_at_the_data(additive):
    rng = np.random.default_rng(1)
    seen = rng.integers(4, size=(12, 6))
    between = np.subtract.outer(np.linspace(0, 1, 4), np.linspace(0, 1, 4)) ** 2
    values = -(seen == 2).sum(axis=1).astype(float)
    values = (values - values.mean()) / values.std()
    model = AssignmentModel.fitted(seen, values, between, additive=additive)
    table = model.action_kernel if additive else between
    cross = np.stack([[table[a, b].mean() for b in seen] for a in seen])
    cross = cross if additive else np.exp(cross / (-2.0 * model.length**2))
    np.testing.assert_allclose(model.bound(cross, 1.0, 0.0), values, atol=0.1)
    assert (model.bound(cross, 1.0, 1.0) - model.bound(cross, 1.0, 0.0) < 0.2).all()


def test_the_additive_strategy_learns_what_each_agent_should_do():
    wanted = np.array([0, 1, 2, 3, 0, 1])
    population = Population([f"p{i}" for i in range(4)], size=6)
    study = played(AdditiveGPUCB(), 40, population, lambda plan: float((plan.assignment == wanted).sum()))
    np.testing.assert_array_equal(max(study.rounds, key=lambda each: each.payoff).plan.assignment, wanted)


def test_the_joint_strategy_climbs():
    study = played(GPUCB(), 40)
    payoffs = [each.payoff for each in study.rounds]
    assert max(payoffs[20:]) > max(payoffs[:5])


def test_a_day_without_an_assignment_becomes_one_that_rounds_it():
    study = create_study(POPULATION, "annealing")
    added = study.add(TARGET / TARGET.sum(axis=1, keepdims=True), payoff=0.0)
    np.testing.assert_array_equal(POPULATION.counted(assignment_of(POPULATION, added)), TARGET)
    assert np.abs(study.ask().allocation - TARGET).sum() == 2


@pytest.mark.parametrize("bad", [np.zeros(9, dtype=int), np.full(10, 4), np.full(10, -1), np.zeros(10)])
def test_a_strategy_with_a_bad_assignment_is_refused(bad):
    from mfbo import Proposal

    class Wrong(Annealing):
        def propose(self, history, rng):
            return Proposal(np.full((2, 4), 0.25), {}, bad)

    study = create_study(POPULATION, Wrong())
    with pytest.raises(InvalidInputError, match="assignment must hold"):
        study.ask()
    assert study.rounds == ()
