"""One Thompson sample for TuRBO: a Matérn-5/2 process fitted from scratch on GPyTorch, drawn on candidates."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.strategies.optional_library import load, seeded_torch

STRATEGY = "turbo"
FIT_ITERATIONS = 50
SHARED_LENGTH_FROM = 200  # dimensions beyond which one length serves all: there are fewer rounds than lengths
LENGTHS = (0.005, 2.0)  # the paper's range in up to 20 dimensions; it grows with the diagonal of the cube
SCALES = (0.05, 20.0)
NOISES = (5e-4, 0.2)
PLAIN_DIMENSIONS = 20


def thompson_sample(
    points: FloatArray, scores: FloatArray, propose: Callable[[FloatArray], FloatArray], seed: int
) -> FloatArray:
    """Return the candidate (d,) at which one draw from the posterior is highest.

    points (n, d); scores (n,), standardized; ``propose`` gives candidates (m, d) for the fitted lengths λ (d,).
    """
    torch = load("torch", STRATEGY)
    gpytorch = load("gpytorch", STRATEGY)
    dimensions = points.shape[1]
    with seeded_torch(torch, seed), gpytorch.settings.max_cholesky_size(10**6):
        model = _fitted(points, scores)
        lengths = model.covar_module.base_kernel.lengthscale.detach().numpy().ravel()
        candidates = propose(np.broadcast_to(lengths, (dimensions,)))
        if dimensions > SHARED_LENGTH_FROM:
            model.set_train_data(torch.from_numpy(points), strict=False)
        with torch.no_grad():
            posterior = model.posterior(torch.from_numpy(candidates)).mvn
            root = gpytorch.utils.cholesky.psd_safe_cholesky(posterior.covariance_matrix)
            draw = posterior.mean + root @ torch.randn(len(candidates), dtype=torch.float64)
        return np.asarray(candidates[int(torch.argmax(draw))])


def _fitted(points: FloatArray, scores: FloatArray) -> Any:
    """Return the process at a local optimum of its marginal likelihood.

    With one length for all dimensions only distances matter: then the points are first turned into as many dimensions
    as there are points (a rotation), which makes a fit in 20,000 dimensions as fast as in 200.
    """
    torch = load("torch", STRATEGY)
    gpytorch = load("gpytorch", STRATEGY)
    botorch = load("botorch", STRATEGY)
    kernels, interval = gpytorch.kernels, gpytorch.constraints.Interval
    dimensions = points.shape[1]
    shared = dimensions > SHARED_LENGTH_FROM
    if shared:
        points = np.asarray(np.linalg.qr((points - points.mean(axis=0)).T, mode="r")).T
    diagonal = max(1.0, dimensions / PLAIN_DIMENSIONS) ** 0.5
    kernel = kernels.MaternKernel(
        nu=2.5,
        ard_num_dims=None if shared else dimensions,
        lengthscale_constraint=interval(LENGTHS[0] * diagonal, LENGTHS[1] * diagonal, initial_value=0.5 * diagonal),
    )
    model = botorch.models.SingleTaskGP(
        torch.from_numpy(np.ascontiguousarray(points)),
        torch.from_numpy(scores)[:, None],
        likelihood=gpytorch.likelihoods.GaussianLikelihood(noise_constraint=interval(*NOISES, initial_value=5e-3)),
        covar_module=kernels.ScaleKernel(kernel, outputscale_constraint=interval(*SCALES, initial_value=1.0)),
        outcome_transform=None,
    )
    likelihood = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)
    load("botorch.optim.fit", STRATEGY).fit_gpytorch_mll_scipy(likelihood, options={"maxiter": FIT_ITERATIONS})
    return model.eval()
