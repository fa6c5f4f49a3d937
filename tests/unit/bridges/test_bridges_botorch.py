"""Our process inside BoTorch: the same posterior, gradients by finite differences, its acquisitions and maximizers."""

from functools import partial

import numpy as np
import pytest
import torch
from botorch.acquisition import UpperConfidenceBound, qUpperConfidenceBound
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.optim import optimize_acqf

import mfbo
from mfbo.bridges.botorch import (
    HellingerKernel,
    MeanEmbeddingKernel,
    MeanFieldModel,
    gen_candidates,
    simplex_constraints,
    unit_bounds,
)
from mfbo.errors import InvalidInputError
from mfbo.models import RescaledPosterior
from mfbo.population import Population
from mfbo.simplex import dirichlet

pytestmark = pytest.mark.filterwarnings("ignore")


def sample(count=8, seed=0):
    rng = np.random.default_rng(seed)
    population = Population(rng.uniform(size=(4, 2)), contexts=["day", "night"], size=None)
    distributions = np.stack([dirichlet(1.0, 2, 4, rng) for _ in range(count)])
    payoffs = 5 + np.sin(distributions[:, 0, 0] * 3) + distributions[:, 1, 2] ** 2
    return population, torch.from_numpy(distributions.reshape(count, -1)), torch.from_numpy(payoffs)


def test_the_posterior_is_ours():
    population, x, y = sample()
    model = MeanFieldModel.fitted(population, x, y, noise=0.05)
    found = model.posterior(x[:3, None, :])
    ours = RescaledPosterior(model.process.posterior(), model.process.fit.shift, model.process.fit.scale)
    own = [ours.population(row.reshape(population.shape)) for row in x[:3].numpy()]
    np.testing.assert_allclose(found.mean.detach().ravel(), [moments.mean for moments in own], rtol=1e-8)
    np.testing.assert_allclose(
        found.variance.detach().ravel(), [moments.variance for moments in own], rtol=1e-8, atol=1e-8
    )


def test_gradients_of_means_and_covariances_are_exact():
    population, x, y = sample()
    model = MeanFieldModel.fitted(population, x, y, noise=0.05)
    point = x[:2].clone().requires_grad_(True)

    def both(at):
        found = model.posterior(at)
        return found.mean.sum() + (found.mvn.covariance_matrix * torch.tensor([[1.0, 0.3], [0.3, 2.0]])).sum()

    assert torch.autograd.gradcheck(both, (point,), eps=1e-6, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("acquisition", ["ucb", "q-ucb", "q-log-nei"])
def test_optimize_acqf_runs_on_it(acquisition):
    torch.manual_seed(0)
    population, x, y = sample(12)
    model = MeanFieldModel.fitted(population, x, y, noise=0.05)
    made = {
        "ucb": lambda: UpperConfidenceBound(model, beta=1.0),
        "q-ucb": lambda: qUpperConfidenceBound(model, beta=1.0),
        "q-log-nei": lambda: qLogNoisyExpectedImprovement(model, X_baseline=x, cache_root=False, prune_baseline=False),
    }[acquisition]()
    found, value = optimize_acqf(
        made, unit_bounds(population), q=1 if acquisition == "ucb" else 2, num_restarts=1, raw_samples=4,
        equality_constraints=simplex_constraints(population), options={"maxiter": 3},
    )  # fmt: skip
    assert torch.isfinite(value).all()
    np.testing.assert_allclose(found.reshape(-1, 2, 4).sum(axis=2), 1.0, atol=1e-6)


def test_our_maximizer_is_a_gen_candidates():
    population, x, y = sample(12)
    model = MeanFieldModel.fitted(population, x, y, noise=0.05)
    acquisition = UpperConfidenceBound(model, beta=1.0)
    found, value = optimize_acqf(
        acquisition, unit_bounds(population), q=1, num_restarts=3, raw_samples=4,
        gen_candidates=partial(gen_candidates, population=population),
    )  # fmt: skip
    assert float(value) >= float(acquisition(x[:, None, :]).max()) - 1e-9
    np.testing.assert_allclose(found.reshape(2, 4).sum(axis=1), 1.0, atol=1e-9)
    with pytest.raises(InvalidInputError, match="one candidate at a time"):
        gen_candidates(x[:2][None], acquisition, population)


def test_a_study_s_rounds_become_a_model():
    population = Population(["a", "b", "c"], size=30)
    study = mfbo.create_study(population, seed=0)
    with pytest.raises(InvalidInputError, match="no population payoff"):
        MeanFieldModel.of_study(study)
    for payoff in (1.0, 2.0, 1.5, 3.0):
        study.tell(study.ask(), payoff)
    played = torch.from_numpy(np.stack([done.played.ravel() for done in study.rounds]))
    expected = MeanFieldModel.of_study(study).posterior(played).mean.detach().ravel()
    np.testing.assert_allclose(expected, [1.0, 2.0, 1.5, 3.0], atol=0.6)


def test_the_kernels_are_those_of_their_formulas():
    rng = np.random.default_rng(0)
    features, x = rng.uniform(size=(5, 2)), torch.from_numpy(rng.dirichlet(np.ones(5), size=3))
    hellinger = HellingerKernel().double()
    hellinger.lengthscale = 0.7
    apart = ((x.sqrt()[:, None] - x.sqrt()[None]) ** 2).sum(-1)
    np.testing.assert_allclose(hellinger(x).to_dense().detach(), torch.exp(-apart / (2 * 0.49)), atol=1e-10)
    embedding = MeanEmbeddingKernel(features, 0.25).double()
    embedding.lengthscale = 0.5
    scaled = (features - features.min(0)) / np.ptp(features, axis=0)
    gram = np.exp(-((scaled[:, None] - scaled[None]) ** 2).mean(-1) / (2 * 0.25**2))
    change = x.numpy()[:, None] - x.numpy()[None]
    apart = np.einsum("ija,ab,ijb->ij", change, gram, change)
    np.testing.assert_allclose(embedding(x).to_dense().detach(), np.exp(-apart / (2 * 0.25)), atol=1e-6)
