"""The baselines on the simplex: logits kept and recovered, CMA-ES replayed, sizes refused, better than random."""

import logging

import numpy as np
import pytest

from mfbo import Feedback, Plan, Population, Round, create_study
from mfbo.catalogue import make_strategy
from mfbo.errors import InvalidInputError, MissingExtraError
from mfbo.records import History
from mfbo.simplex import softmax
from mfbo.strategies import optional_library
from mfbo.strategies.on_simplex.cma_es import CmaEs
from mfbo.strategies.on_simplex.logits import logits_of, noted_logits, proposal_of_logits

BASELINES = ["cma-es", "optuna-tpe", "optuna-gp", "botorch-simplex"]
LOGITS = np.array([[0.1, -2.0, 3.0], [1.0, 1.0, 0.5]])
TARGET = np.array([[0.7, 0.2, 0.1, 0.0]])


def names(count: int) -> list[str]:
    return [f"n{i}" for i in range(count)]


def closeness(plan: Plan) -> float:
    return -float(np.abs(plan.realized - TARGET).sum())


def played(strategy, rounds: int, population: Population) -> History:
    study = create_study(population, strategy, seed=3)
    for _ in range(rounds):
        plan = study.ask()
        study.tell(plan, closeness(plan))
    return study.history


def asked(logits: np.ndarray) -> Round:
    proposal = proposal_of_logits(logits, seen=4)
    return Round(Plan(0, proposal.distribution), proposal.notes)


def test_logits_are_found_again_exactly():
    noted = noted_logits(asked(LOGITS).done(Feedback(1.0), softmax(LOGITS), told=0))
    np.testing.assert_array_equal(noted, LOGITS)
    assert asked(LOGITS).notes["seen"] == (4.0,)


def test_when_something_else_was_played_its_logarithm_counts():
    other = np.array([[0.5, 0.5, 0.0], [0.2, 0.2, 0.6]])
    done = asked(LOGITS).done(Feedback(1.0), other, told=0)
    assert noted_logits(done) is None
    np.testing.assert_allclose(softmax(logits_of(done)), other, atol=1e-5)


def test_rounds_without_notes_get_centered_logarithms():
    found = logits_of(Round(Plan(0, softmax(LOGITS))))
    np.testing.assert_allclose(found, LOGITS - LOGITS.mean(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("name", "rounds"), [("cma-es", 120), ("optuna-tpe", 40), ("optuna-gp", 22), ("botorch-simplex", 20)]
)
def test_it_comes_closer_to_a_target_than_its_random_phase(name, rounds):
    history = played(make_strategy(name), rounds, Population(names(4)))
    payoffs = [each.payoff for each in history.told]
    assert max(payoffs) > max(payoffs[:10]) + 0.05
    assert np.median(payoffs[-10:]) > np.median(payoffs[:10])


@pytest.mark.parametrize("name", BASELINES)
def test_too_many_cells_are_refused_with_the_way_out(name):
    history = History(Population(names(3000)))
    with pytest.raises(InvalidInputError, match=rf"'{name}' searches at most \d+ cells .* use 'default'"):
        make_strategy(name).propose(history, np.random.default_rng(0))


@pytest.mark.parametrize("name", BASELINES)
def test_a_missing_library_is_said_in_one_line(name, monkeypatch):
    def missing(module):
        raise ImportError(f"No module named {module!r}")

    monkeypatch.setattr(optional_library, "import_module", missing)
    with pytest.raises(MissingExtraError, match=rf'"{name}" .*extra "baselines": pip install "mfbo\[baselines\]"$'):
        make_strategy(name).propose(History(Population(names(4))), np.random.default_rng(0))


def test_a_whole_generation_moves_cma_es_and_a_part_of_one_does_not():
    """Four actions make generations of eight."""
    population = Population(names(4))
    history = played(CmaEs(), 17, population)

    def proposed(rounds: int) -> np.ndarray:
        part = History(population, history.rounds[:rounds])
        return CmaEs().propose(part, np.random.default_rng(0)).distribution

    np.testing.assert_array_equal(proposed(0), proposed(7))
    assert not np.array_equal(proposed(7), proposed(8))
    np.testing.assert_array_equal(proposed(8), proposed(15))
    assert not np.array_equal(proposed(15), proposed(16))


def test_cma_es_starts_from_the_best_day_brought_along():
    study = create_study(Population(names(4)), CmaEs(step=1e-6), seed=0)
    days = np.array([[0.7, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.7]])
    for day in days:
        study.add(day, float(day[0]))
    np.testing.assert_allclose(study.ask().distribution, days[:1], atol=1e-4)
    study.add([0.0, 1.0, 0.0, 0.0], 99.0)  # too late to be the start
    np.testing.assert_allclose(study.ask().distribution, days[:1], atol=1e-4)


def test_cma_es_restarts_when_it_has_converged():
    study = create_study(Population(names(2)), CmaEs(), seed=0)
    for _ in range(700):
        plan = study.ask()
        study.tell(plan, 0.0)
    assert study.strategy._replay._evolution.population_size > 6


@pytest.mark.parametrize("name", ["optuna-tpe", "optuna-gp"])
def test_optuna_says_nothing_and_its_verbosity_is_left_as_it_was(name, capfd):
    import optuna

    before = optuna.logging.get_verbosity()
    make_strategy(name).propose(History(Population(names(4))), np.random.default_rng(0))
    assert optuna.logging.get_verbosity() == before == logging.INFO
    assert capfd.readouterr() == ("", "")
