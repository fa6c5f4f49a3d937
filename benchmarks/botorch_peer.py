"""Peer of the benchmark: the paper's MF-GP-UCB written directly on BoTorch and GPyTorch, with autograd and Adam.

The paper's misprints are corrected: noise enters as K + R^2 I, the RBF is exp(-d^2 / (2 l^2)), and the distribution
part of the kernel is a sum over contexts j of k(xi_j, xi'_j).

The structure of the problem is left to the library: every cell (context, action) is an ordinary input row
``[action features, context features, flattened xi]`` of one exact GP, and all cells of a candidate xi are predicted
in one call. What a careful user does for speed is done: cached Cholesky factor, marginal variances only, no gradients
of the hyperparameters while climbing, each fit started from the last one.
"""

from collections.abc import Sequence

import numpy as np
import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms.outcome import Standardize
from gpytorch.constraints import GreaterThan
from gpytorch.distributions import MultivariateNormal
from gpytorch.kernels import AdditiveKernel, Kernel, RBFKernel, ScaleKernel
from gpytorch.lazy import LazyEvaluatedKernelTensor
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import ConstantMean
from gpytorch.mlls import ExactMarginalLogLikelihood
from gpytorch.priors import GammaPrior
from gpytorch.settings import max_eager_kernel_size, min_variance
from numpy.typing import NDArray
from torch import Tensor

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Variances of standardized payoffs.
NOISE_FLOOR = 1e-6
INITIAL_NOISE = 1e-2
# Variance of payoffs in their own units; GPyTorch's floor, 1e-10, is above the true variances of small payoffs.
VARIANCE_FLOOR = 1e-16


class BlockSumKernel(Kernel):  # type: ignore[misc, unused-ignore]
    """Sum of one base kernel over equal blocks of the input: k(x, x') = sum_j base(x_j, x'_j).

    All blocks share the hyperparameters of the base kernel. The sum is not divided by the number of blocks.
    """

    def __init__(self, base_kernel: Kernel, blocks: int, active_dims: tuple[int, ...]) -> None:
        super().__init__(active_dims=active_dims)
        self.base_kernel = base_kernel
        self.blocks = blocks

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **params: object) -> Tensor:
        """Return the kernel matrix, (..., n, m), or its diagonal, (..., n), of inputs (..., n, D) and (..., m, D)."""
        per_block: Tensor = self.base_kernel.forward(self._split(x1), self._split(x2), diag=diag, **params)
        return per_block.sum(dim=-2 if diag else -3)

    def _split(self, x: Tensor) -> Tensor:
        """Return inputs (..., n, D) as blocks (..., blocks, n, D / blocks)."""
        return x.reshape(*x.shape[:-1], self.blocks, -1).transpose(-2, -3)


class MarginalGP(SingleTaskGP):  # type: ignore[misc, unused-ignore]
    """SingleTaskGP whose prediction leaves the prior covariance between test points lazy.

    GPyTorch 1.15 evaluates that matrix, (A C, A C), even if only the variances are read, which doubles the time of a
    step at 400 actions. The method below is the hook it offers for such cases; the posterior is the same.
    """

    def _get_test_prior_mean_and_covariances(
        self, train_inputs: Sequence[Tensor], test_inputs: Sequence[Tensor], **_: object
    ) -> tuple[Tensor, LazyEvaluatedKernelTensor, Tensor, torch.Size, torch.Size, type[MultivariateNormal]]:
        """Return prior mean (m,), lazy covariance (m, m) and covariance with the rows (m, n) of m test points."""
        (train,), (test,) = train_inputs, test_inputs
        mean: Tensor = self.mean_module(test)
        test_train: Tensor = self.covar_module(test, train).to_dense()
        return mean, self.covar_module(test), test_train, torch.Size(), mean.shape, MultivariateNormal


class BotorchPeer:
    """MF-GP-UCB on BoTorch; keeps the last hyperparameters as the start of the next fit.

    One thread by intention: creating a peer sets PyTorch's number of threads to one.
    """

    def __init__(
        self,
        action_features: FloatArray,
        context_features: FloatArray | None,
        weights: FloatArray,
        multiplier: float,
        steps: int = 500,
        learning_rate: float = 0.01,
    ) -> None:
        """Describe the population and how to climb.

        Args:
            action_features: coordinates of the actions, scaled to [0, 1], shape (A, d).
            context_features: coordinates of the contexts, shape (C, e); not used, and may be None, if C == 1.
            weights: probability of each context, shape (C,).
            multiplier: how many posterior standard deviations are added to the mean.
            steps: Adam steps per proposal.
            learning_rate: Adam's learning rate on the logits.
        """
        torch.set_num_threads(1)
        self.multiplier = multiplier
        self.steps = steps
        self.learning_rate = learning_rate
        self.weights = torch.as_tensor(weights, dtype=torch.float64)
        self.cell_features = _cell_features(action_features, context_features, len(weights))
        self.kernel = _additive_kernel(action_features.shape[1], self.cell_features.shape)
        self.mean = ConstantMean()
        floor = GreaterThan(NOISE_FLOOR, transform=None, initial_value=INITIAL_NOISE)
        self.likelihood = GaussianLikelihood(noise_prior=GammaPrior(1.1, 0.05), noise_constraint=floor)

    def propose(
        self,
        actions: IntArray,
        contexts: IntArray,
        distributions: FloatArray,
        values: FloatArray,
        logits: FloatArray,
        *,
        refit: bool = True,
    ) -> FloatArray:
        """Fit the model to all rows, climb MF-UCB from the given logits, and return the new logits, (C, A).

        Args:
            actions: action index of each row, shape (n,).
            contexts: context index of each row, shape (n,).
            distributions: distribution played in each row, shape (n, C, A).
            values: payoff seen in each row, shape (n,).
            logits: where Adam starts, zeros for the uniform plan, shape (C, A).
            refit: whether to fit hyperparameters, or to keep the last ones.
        """
        if refit:
            return self.climb(self.fit(actions, contexts, distributions, values), logits)
        model = self.conditioned(actions, contexts, distributions, values, Standardize(m=1))
        return self.climb(model.requires_grad_(False), logits)

    def fit(self, actions: IntArray, contexts: IntArray, distributions: FloatArray, values: FloatArray) -> MarginalGP:
        """Return the exact GP fitted by marginal likelihood and priors, started from the last hyperparameters.

        Shapes as in ``propose``. Kernel, mean and likelihood belong to the peer, so the fit stays in them.
        """
        model = self.conditioned(actions, contexts, distributions, values, Standardize(m=1))
        model.requires_grad_(True)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(self.likelihood, model))
        model.requires_grad_(False)
        return model

    def conditioned(
        self,
        actions: IntArray,
        contexts: IntArray,
        distributions: FloatArray,
        values: FloatArray,
        outcome: Standardize | None = None,
    ) -> MarginalGP:
        """Return the exact GP on these rows at the present hyperparameters; shapes as in ``propose``."""
        xi = torch.as_tensor(distributions, dtype=torch.float64)
        return MarginalGP(
            torch.cat([self.cell_features[contexts, actions], xi.flatten(start_dim=1)], dim=1),
            torch.as_tensor(values, dtype=torch.float64).unsqueeze(-1),
            likelihood=self.likelihood,
            covar_module=self.kernel,
            mean_module=self.mean,
            outcome_transform=outcome,
        )

    def adopt(self, scales: Sequence[float], lengths: Sequence[float], noise: float) -> None:
        """Set the hyperparameters: of actions, contexts (if there are several) and distribution, and of the noise."""
        for part, scale, length in zip(self.kernel.kernels, scales, lengths, strict=True):
            base = getattr(part.base_kernel, "base_kernel", None) or part.base_kernel
            part.outputscale, base.lengthscale = scale, length
        self.likelihood.noise = noise

    def acquisition(self, model: SingleTaskGP, distribution: Tensor) -> Tensor:
        """Return MF-UCB, sum over cells of p_c xi_ca (mean_ca + multiplier * sd_ca), of a distribution (C, A)."""
        shared = distribution.flatten().expand(*self.cell_features.shape[:2], -1)
        cells = torch.cat([self.cell_features, shared], dim=-1).flatten(end_dim=1)
        posterior = model.posterior(cells)
        upper = posterior.mean + self.multiplier * posterior.variance.sqrt()
        return (self.weights.unsqueeze(-1) * distribution * upper.view_as(distribution)).sum()

    def climb(self, model: SingleTaskGP, logits: FloatArray) -> FloatArray:
        """Return the logits, (C, A), after the Adam steps on MF-UCB of their row-wise softmax."""
        parameter = torch.tensor(logits, dtype=torch.float64, requires_grad=True)
        adam = torch.optim.Adam([parameter], lr=self.learning_rate, maximize=True)
        # Size 0 keeps GPyTorch from forming the covariance between cells when it is small, too.
        with max_eager_kernel_size(0), min_variance(double_value=VARIANCE_FLOOR):
            for _ in range(self.steps):
                adam.zero_grad()
                torch.autograd.backward(self.acquisition(model, parameter.softmax(dim=-1)))
                adam.step()
        return np.asarray(parameter.detach().numpy())


def _cell_features(action_features: FloatArray, context_features: FloatArray | None, contexts: int) -> Tensor:
    """Return the features of every cell, (C, A, d + e), or (1, A, d) if there is one context."""
    actions = torch.as_tensor(action_features, dtype=torch.float64).expand(contexts, -1, -1)
    if contexts == 1:
        return actions
    if context_features is None:
        raise ValueError(f"context_features must be given for {contexts} contexts")
    per_context = torch.as_tensor(context_features, dtype=torch.float64).unsqueeze(1)
    return torch.cat([actions, per_context.expand(-1, actions.shape[1], -1)], dim=-1)


def _additive_kernel(action_columns: int, cells: torch.Size) -> AdditiveKernel:
    """Return k_x + k_c + sum_j k(xi_j, xi'_j), each part an RBF with its own scale; no k_c if there is one context.

    Args:
        action_columns: number of action features, d.
        cells: shape of the cell features, (C, A, d + e); input columns are these features, then C * A of xi.
    """
    contexts, actions, features = cells
    columns = tuple(range(features + contexts * actions))
    parts = [_scaled(_rbf(columns[:action_columns]))]
    if contexts == 1:
        parts.append(_scaled(_rbf(columns[features:])))
    else:
        parts.append(_scaled(_rbf(columns[action_columns:features])))
        parts.append(_scaled(BlockSumKernel(_rbf(), contexts, columns[features:])))
    return AdditiveKernel(*parts)


def _rbf(columns: tuple[int, ...] | None = None) -> RBFKernel:
    """Return an RBF on the given input columns, by default all, with BoTorch's Gamma prior on the length-scale."""
    return RBFKernel(active_dims=columns, lengthscale_prior=GammaPrior(3.0, 6.0))


def _scaled(kernel: Kernel) -> ScaleKernel:
    """Return the kernel times a learned scale with BoTorch's Gamma prior.

    Without a prior a scale fitted to a few rows can vanish, and a fit started there never brings it back.
    """
    return ScaleKernel(kernel, outputscale_prior=GammaPrior(2.0, 0.15))
