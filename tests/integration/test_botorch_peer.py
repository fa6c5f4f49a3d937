"""An independent cross-check: MF-GP-UCB on BoTorch and GPyTorch (benchmarks/botorch_peer.py) agrees with ours."""

import importlib.util
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round
from mfbo.acquisition import MeanFieldUCB
from mfbo.catalogue import make_problem
from mfbo.experiments.runs import RunSettings, run
from mfbo.experiments.statistics import interval
from mfbo.maximizers import Adam
from mfbo.models import paper_kernel
from mfbo.models.couplings import unit_scaled
from mfbo.models.fitting import JITTER
from mfbo.models.gaussian_process import Fit, GaussianProcess
from mfbo.models.rows import rows_of_round
from mfbo.simplex import allocate, softmax, uniform
from mfbo.strategies.representative import with_representatives

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
MULTIPLIER = 1.5
ROUNDS, SEEDS = 12, 5


@pytest.fixture(scope="module")
def botorch_peer():
    """The peer's class; the libraries warn about themselves at import."""
    spec = importlib.util.spec_from_file_location("botorch_peer", BENCHMARKS / "botorch_peer.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["botorch_peer"] = module
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec.loader.exec_module(module)
        yield module.BotorchPeer


def population_of(contexts: int) -> Population:
    features = np.random.default_rng(7).uniform(size=(9, 2))
    if contexts == 1:
        return Population(features, size=40)
    return Population(features, {"x": 0.3, "y": 0.7}, context_features=[-1.0, 1.0], size=40)


def told_history(population: Population, count: int) -> History:
    """Rounds with one agent's payoff each, as Algorithm 1 reads them."""
    rng = np.random.default_rng(1)
    rounds = []
    for number in range(count):
        xi = rng.dirichlet(np.ones(population.shape[1]), size=population.shape[0])
        payoff = Feedback(float(np.sin(3 * xi[0, 0]) + xi[-1, 2] * xi[0, 1]))
        rounds.append(Round(Plan(number, xi)).done(payoff, xi, told=number))
    return with_representatives(History(population, tuple(rounds)))


def same_state(peer_class, contexts: int, steps: int = 500):
    """Return our acquisition and the peer with its model, both on the same rows at the same hyperparameters."""
    population = population_of(contexts)
    history = told_history(population, 12)
    kernel = paper_kernel(population)
    parts = [0, 1, 2] if contexts > 1 else [0, 2]  # actions, contexts, distribution
    scales, lengths, noise = np.array([1.7, 0.6, 2.3])[parts], np.array([0.4, 0.9, 0.8])[parts], 1e-3
    process = GaussianProcess(kernel)
    for each in history.told:
        process.append(rows_of_round(population, each))
    process.adopt(Fit(np.log([*scales, *lengths, noise]), 0.0, 1.0))
    ours = MeanFieldUCB(process.posterior(), population.weights, MULTIPLIER)
    of_contexts = None if contexts == 1 else unit_scaled(population.context_features)
    peer = peer_class(unit_scaled(population.features), of_contexts, population.weights, MULTIPLIER, steps)
    cells = [each.feedback.agents[0] for each in history.told]
    played = np.stack([each.played for each in history.told])
    context, action, values = (np.array(column) for column in zip(*cells, strict=True))
    model = peer.conditioned(action, context, played, values).requires_grad_(False)
    units = np.sqrt([2.0, 1.0, kernel.terms[-1].radial.norm])  # ours divides squared distances by these
    peer.adopt(scales, lengths * units[parts], noise + JITTER)
    return ours, peer, model


@pytest.mark.parametrize("contexts", [1, 2])
def test_the_acquisition_is_the_peers(botorch_peer, contexts):
    import torch

    ours, peer, model = same_state(botorch_peer, contexts)
    rng = np.random.default_rng(2)
    for concentration in (0.2, 1.0, 20.0):
        xi = rng.dirichlet(np.full(9, concentration), size=contexts)
        with torch.no_grad():
            theirs = float(peer.acquisition(model, torch.from_numpy(xi)))
        assert ours(xi)[0] == pytest.approx(theirs, abs=1e-5)


@pytest.mark.parametrize("contexts", [1, 2])
def test_500_adam_steps_end_where_the_peers_end(botorch_peer, contexts):
    ours, peer, model = same_state(botorch_peer, contexts)
    found, _ = Adam()(ours, [uniform(contexts, 9)])
    theirs = softmax(peer.climb(model, np.zeros((contexts, 9))))
    assert np.abs(found - uniform(contexts, 9)).max() > 0.05, "a climb that stays tests nothing"
    np.testing.assert_allclose(found, theirs, atol=1e-5)


def peers_best(peer_class, seed: int) -> float:
    """Play whole rounds of swarm with the peer: drawn agents, one representative, the population's payoff."""
    problem = make_problem("swarm")
    population, rng = problem.population, np.random.default_rng(seed)
    peer = peer_class(unit_scaled(population.features), None, np.ones(1), 1.0)
    actions, played, values = [], [], []
    logits = rng.uniform(size=population.shape)
    for _ in range(ROUNDS):
        counts = allocate(softmax(logits), population.weights, population.size, rng, method="sampled")
        xi = counts / population.size
        values.append(problem.payoff.population(xi, population.size))
        played.append(xi)
        actions.append(int(rng.choice(population.shape[1], p=xi[0])))
        of_contexts = np.zeros(len(values), dtype=np.int64)
        logits = peer.propose(np.array(actions), of_contexts, np.array(played), np.array(values), np.zeros((1, 30)))
    return max(values)


@pytest.mark.slow
def test_whole_runs_on_swarm_are_alike_in_distribution(botorch_peer):
    """Five seeds each; the libraries advise on scaling while they fit."""
    settings = [RunSettings("swarm", "mf-gp-ucb(rows=agent)", ROUNDS, s, allocation="sampled") for s in range(SEEDS)]
    ours = interval(np.array([run(each).best_value for each in settings]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = interval(np.array([peers_best(botorch_peer, seed) for seed in range(SEEDS)]))
    assert theirs.low <= ours.mean <= theirs.high
    assert ours.low <= theirs.mean <= ours.high
