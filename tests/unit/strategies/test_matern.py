"""TuRBO's process: its likelihood, gradient and posterior against GPyTorch's and against the draw itself."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from mfbo.strategies.optional_library import load
from mfbo.strategies.per_agent.matern import MaternProcess, fitted_process, likelihood, squared_distances


def data(count: int, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    points = rng.uniform(size=(count, dimensions))
    values = np.sin(4 * points[:, 0]) + points.mean(axis=1) + 0.1 * rng.normal(size=count)
    return points, (values - values.mean()) / values.std()


@pytest.mark.parametrize("shared", [False, True])
def test_the_gradient_is_that_of_finite_differences(shared):
    points, scores = data(12, 3)
    apart = squared_distances(points) if shared else None
    lengths = [0.7] if shared else [0.4, 1.3, 0.2]
    at = np.array([0.1, *lengths, 1.7, 0.03])
    slope = likelihood(points, scores, at[0], at[1:], apart)[1]
    numeric = approx_fprime(at, lambda x: likelihood(points, scores, x[0], x[1:], apart)[0], 1e-7)
    np.testing.assert_allclose(slope, numeric, rtol=2e-5, atol=2e-5)


def reference(process: MaternProcess):
    """Return the same process on GPyTorch, and its marginal likelihood."""
    gpytorch, torch = load("gpytorch", "turbo"), load("torch", "turbo")
    kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=2.5, ard_num_dims=len(process.lengths)))
    likelihood_part = gpytorch.likelihoods.GaussianLikelihood()

    class Model(gpytorch.models.ExactGP):
        def __init__(self):
            super().__init__(torch.from_numpy(process.points), torch.from_numpy(process.scores), likelihood_part)
            self.mean, self.kernel = gpytorch.means.ConstantMean(), kernel

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))

    model = Model().double()
    model.mean.initialize(constant=process.mean)
    kernel.base_kernel.lengthscale = torch.from_numpy(process.lengths)
    kernel.outputscale, likelihood_part.noise = process.scale, process.noise
    return model, gpytorch.mlls.ExactMarginalLogLikelihood(likelihood_part, model)


def test_likelihood_and_posterior_are_gpytorch_s():
    torch = load("torch", "turbo")
    points, scores = data(25, 4)
    process = fitted_process(points, scores)
    model, marginal = reference(process)
    with torch.no_grad():
        theirs = float(marginal(model(*model.train_inputs), model.train_targets))
        inside = np.array([*process.lengths, process.scale, process.noise])
        assert likelihood(points, scores, process.mean, inside)[0] / len(scores) == pytest.approx(theirs, abs=1e-9)
        new = np.random.default_rng(4).uniform(size=(6, 4))
        posterior = model.eval()(torch.from_numpy(new))
    draws = np.stack([process.sample(new, points[0], np.random.default_rng([0, number])) for number in range(20_000)])
    error = np.sqrt(posterior.variance.numpy() / len(draws))
    np.testing.assert_array_less(np.abs(draws.mean(axis=0) - posterior.mean.numpy()), 4 * error)
    np.testing.assert_allclose(np.cov(draws.T), posterior.covariance_matrix.numpy(), atol=0.01)


@pytest.mark.parametrize("dimensions", [4, 250])
def test_a_fit_raises_the_likelihood_within_the_ranges(dimensions):
    """250 dimensions share one length."""
    points, scores = data(30, dimensions)
    diagonal = max(1.0, dimensions / 20) ** 0.5
    process = fitted_process(points, scores)
    assert len(process.lengths) == (1 if dimensions > 200 else dimensions)
    apart = squared_distances(points) if dimensions > 200 else None

    def at(mean, lengths, scale, noise):
        return likelihood(points, scores, mean, np.array([*lengths, scale, noise]), apart)[0]

    first = at(0.0, np.full(len(process.lengths), 0.5 * diagonal), 1.0, 5e-3)
    assert at(process.mean, process.lengths, process.scale, process.noise) > first
    assert (process.lengths >= 0.005 * diagonal).all()
    assert (process.lengths <= 2.0 * diagonal).all()
    assert 5e-4 <= process.noise <= 0.2


def test_equal_candidates_get_equal_draws():
    points, scores = data(10, 3)
    candidates = np.repeat(np.random.default_rng(1).uniform(size=(4, 3)), 50, axis=0)
    drawn = fitted_process(points, scores).sample(candidates, points[0], np.random.default_rng(2)).reshape(4, 50)
    assert np.ptp(drawn, axis=1).max() < 0.05
