"""Our process as a BoTorch model with exact gradients, our maximizer as its ``gen_candidates``, two GPyTorch kernels.

X (… , q, C · A)   distributions, contexts one after the other, each row of a context summing to 1
"""

from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, one_blas_thread
from mfbo.bridges.fitted_process import fitted_process
from mfbo.errors import InvalidInputError, MissingExtraError
from mfbo.maximizers import Lbfgs
from mfbo.models import Fit, GaussianProcess, Kernel
from mfbo.models.couplings import by_features, matrix_of
from mfbo.models.joint import JointMoments, joint_moments
from mfbo.population import Population
from mfbo.simplex import uniform
from mfbo.study import Study

try:
    import torch
    from botorch.models.model import Model
    from botorch.posteriors.gpytorch import GPyTorchPosterior
    from gpytorch.distributions import MultivariateNormal
    from gpytorch.kernels import RBFKernel
    from torch import Tensor
    from torch.autograd import Function
except ImportError as error:
    raise MissingExtraError(f'this bridge needs {error.name}: pip install "mfbo[bridges]"') from error

SMALLEST_ROOT = 1e-12  # the root of a share has no slope at 0
JITTER = 1e-10  # of the standardized variance: two equal candidates are perfectly correlated


class MeanFieldModel(Model):
    """The posterior of the population payoff; use it with BoTorch's acquisition functions and ``optimize_acqf``.

    Draws of several candidates are joint, so Monte-Carlo acquisitions (qUCB, qLogNEI with ``cache_root=False``) work.
    """

    def __init__(self, process: GaussianProcess, fit: Fit, population: Population) -> None:
        """Wrap a fitted process; see ``fitted`` and ``of_study``."""
        super().__init__()
        self.process = process
        self.fit = fit
        self.population = population

    @staticmethod
    def fitted(
        population: Population,
        X: Tensor,
        Y: Tensor,
        *,
        kernel: Kernel | None = None,
        noise: float | None = None,
    ) -> "MeanFieldModel":
        """Fit our process to payoffs Y (n,) or (n, 1) at distributions X (n, C · A)."""
        payoffs = Y.detach().numpy().reshape(-1)
        distributions = X.detach().numpy().reshape(-1, *population.shape)
        return MeanFieldModel(
            *fitted_process(population, distributions, payoffs, kernel=kernel, noise=noise), population
        )

    @staticmethod
    def of_study(study: Study) -> "MeanFieldModel":
        """Fit our process to the population payoffs that a study was told."""
        told = [done for done in study.history.told if done.payoff is not None]
        if not told:
            raise InvalidInputError("the study was told no population payoff yet: tell one first")
        played = np.stack([done.played for done in told])
        payoffs = np.array([done.payoff for done in told])
        return MeanFieldModel(*fitted_process(study.population, played, payoffs), study.population)

    @property
    def num_outputs(self) -> int:
        """One payoff."""
        return 1

    @property
    def batch_shape(self) -> torch.Size:
        """One model."""
        return torch.Size()

    def posterior(
        self,
        X: Tensor,
        output_indices: Any = None,
        observation_noise: bool | Tensor = False,
        posterior_transform: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Return the joint posterior of g at X (…, q, C · A), in the payoff's own units."""
        fit = self.fit
        mean, covariance = _Joint.apply(X, self)  # type: ignore[no-untyped-call]
        covariance = covariance + JITTER * torch.eye(X.shape[-2], dtype=covariance.dtype)
        if observation_noise is not False:
            noise = self.process.noise_variance if observation_noise is True else observation_noise / fit.scale**2
            covariance = covariance + torch.as_tensor(noise) * torch.eye(X.shape[-2], dtype=covariance.dtype)
        found = GPyTorchPosterior(MultivariateNormal(fit.shift + fit.scale * mean, fit.scale**2 * covariance))
        return found if posterior_transform is None else posterior_transform(found)

    def joint(self, distributions: FloatArray) -> JointMoments:
        """Return the joint moments at distributions (q, C, A), in standardized payoffs."""
        with one_blas_thread():
            return joint_moments(self.process, distributions)


class _Joint(Function):
    """Means (…, q) and covariances (…, q, q) with the closed-form way back."""

    @staticmethod
    def forward(ctx: Any, X: Tensor, model: MeanFieldModel) -> tuple[Tensor, Tensor]:
        """Compute one joint posterior for every batch."""
        batches = X.detach().to(torch.float64).numpy().reshape(-1, X.shape[-2], *model.population.shape)
        ctx.moments = [model.joint(batch) for batch in batches]
        ctx.shape = X.shape
        mean = np.stack([moments.mean for moments in ctx.moments]).reshape(X.shape[:-1])
        covariance = np.stack([moments.covariance for moments in ctx.moments])
        return torch.from_numpy(mean), torch.from_numpy(covariance.reshape(*X.shape[:-1], X.shape[-2]))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        """Pull the derivatives back through every batch."""
        q = ctx.shape[-2]
        d_mean, d_covariance = grads[0].numpy().reshape(-1, q), grads[1].numpy().reshape(-1, q, q)
        pulled = [
            moments.pullback(mean, covariance)
            for moments, mean, covariance in zip(ctx.moments, d_mean, d_covariance, strict=True)
        ]
        return torch.from_numpy(np.stack(pulled).reshape(ctx.shape)), None


def simplex_constraints(population: Population) -> list[tuple[Tensor, Tensor, float]]:
    """Return BoTorch's ``equality_constraints``: every context's shares sum to 1."""
    contexts, actions = population.shape
    ones = torch.ones(actions, dtype=torch.float64)
    return [(torch.arange(context * actions, (context + 1) * actions), ones, 1.0) for context in range(contexts)]


def unit_bounds(population: Population) -> Tensor:
    """Return BoTorch's ``bounds``, (2, C · A): shares lie between 0 and 1."""
    contexts, actions = population.shape
    return torch.stack([torch.zeros(contexts * actions), torch.ones(contexts * actions)]).to(torch.float64)


def gen_candidates(
    initial_conditions: Tensor, acquisition_function: Any, population: Population, iterations: int = 60, **ignored: Any
) -> tuple[Tensor, Tensor]:
    """Climb an acquisition of one candidate (q = 1) with our L-BFGS on the simplex, from every start.

    For ``optimize_acqf(gen_candidates=partial(gen_candidates, population=…))``; bounds and constraints need not be
    given to it, since our coordinates never leave the simplex.
    """
    if initial_conditions.shape[-2] != 1:
        raise InvalidInputError(f"our maximizer climbs one candidate at a time, not q = {initial_conditions.shape[-2]}")
    shape = population.shape

    def objective(distribution: FloatArray) -> tuple[float, FloatArray]:
        point = torch.tensor(distribution.reshape(1, 1, -1), requires_grad=True)
        value = acquisition_function(point).sum()
        (gradient,) = torch.autograd.grad(value, point)
        return float(value), gradient.numpy().reshape(shape)

    starts = initial_conditions.detach().to(torch.float64).numpy().reshape(-1, *shape)
    starts = np.maximum(starts, 0.0)
    totals = starts.sum(axis=-1, keepdims=True)
    starts = np.where(totals > 0, starts / np.where(totals > 0, totals, 1.0), uniform(*shape))
    climbed = [Lbfgs(iterations)(objective, [start]) for start in starts]
    ends = torch.from_numpy(np.stack([end for end, _ in climbed]).reshape(initial_conditions.shape))
    return ends, torch.tensor([value for _, value in climbed], dtype=torch.float64)


class HellingerKernel(RBFKernel):  # type: ignore[misc]
    """exp(−‖√ξ − √ξ′‖² / 2ℓ²): an RBF of the Hellinger distance."""

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any) -> Any:
        """Compare the roots of shares."""
        return super().forward(_roots(x1), _roots(x2), diag=diag, **params)


class MeanEmbeddingKernel(RBFKernel):  # type: ignore[misc]
    """exp(−‖μ − μ′‖² / 2ℓ²), μ = Σ_a ξ_a k(a, ·): an RBF of the distance between mean embeddings.

    features: (A, d) of the actions; embedding_length: of the kernel k between them, on features scaled to [0, 1] and
    squared distances averaged over the features.
    """

    def __init__(self, features: FloatArray, embedding_length: float = 0.25, **options: Any) -> None:
        super().__init__(**options)
        gram = matrix_of(by_features(np.asarray(features, dtype=np.float64), embedding_length), len(features))
        values, vectors = np.linalg.eigh(gram)
        self.register_buffer("root", torch.from_numpy(vectors * np.sqrt(np.maximum(values, 0.0))))

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any) -> Any:
        """Compare mean embeddings."""
        return super().forward(self._embedded(x1), self._embedded(x2), diag=diag, **params)

    def _embedded(self, x: Tensor) -> Tensor:
        cells: Tensor = x.reshape(*x.shape[:-1], -1, self.root.shape[0]) @ self.root
        return cells.reshape(*x.shape[:-1], -1)


def _roots(x: Tensor) -> Tensor:
    return x.clamp_min(SMALLEST_ROOT).sqrt()
