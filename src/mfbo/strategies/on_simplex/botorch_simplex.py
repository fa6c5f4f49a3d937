"""What BoTorch offers out of the box: SingleTaskGP, noisy log expected improvement, one sum-to-one row per context."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.records import History, Proposal
from mfbo.simplex import dirichlet, projected, uniform
from mfbo.strategies.model_free import ModelFreeStrategy, standardized
from mfbo.strategies.on_simplex.logits import require_cells
from mfbo.strategies.optional_library import drawn_seed, load, seeded_torch
from mfbo.strategies.reading import told_payoffs
from mfbo.validation import whole_number

MOST_CELLS = 500  # a step of SLSQP, which BoTorch uses under equality constraints, costs the cube of the cells
SAMPLES = 128  # base samples of qLogNEI


@dataclass(frozen=True)
class BotorchSimplex(ModelFreeStrategy):
    """Climbs qLogNEI over the distribution itself, (C, A) cells in [0, 1] with rows that sum to 1.

    initial_rounds: uniform draws from the simplex at the start. starts: climbs, from the best plans and random ones.
    fit_iterations, iterations: bounds on the L-BFGS steps of a fit and on the SLSQP steps of a climb.
    """

    initial_rounds: int = 10
    starts: int = 4
    fit_iterations: int = 100
    iterations: int = 50
    name: str = field(default="botorch-simplex", kw_only=True)

    def __post_init__(self) -> None:
        """Refuse counts of nothing."""
        for count in ("initial_rounds", "starts", "fit_iterations", "iterations"):
            whole_number(getattr(self, count), count, least=1)

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        """Return random plans first, then the maximizer of the acquisition."""
        shape = history.population.shape
        require_cells(history.population, self.name, MOST_CELLS)
        load("botorch", self.name)
        if shape[1] == 1:
            return Proposal(uniform(*shape))
        if len(history.told) < self.initial_rounds:
            return Proposal(dirichlet(1.0, *shape, rng))
        starts = self._starts(history, rng)
        with seeded_torch(load("torch", self.name), drawn_seed(rng)):
            found = self._climbed(history, starts, drawn_seed(rng))
        return Proposal(projected(found.reshape(shape)))

    def _starts(self, history: History, rng: np.random.Generator) -> FloatArray:
        """Return where to climb from, (starts, C, A): half of them mixtures of a best plan and a random one."""
        shape = history.population.shape
        best = np.argsort(-told_payoffs(history), kind="stable")[: self.starts // 2]
        near = [0.9 * plan + 0.1 * dirichlet(1.0, *shape, rng) for plan in history.steered[best]]
        return np.stack([*near, *(dirichlet(1.0, *shape, rng) for _ in range(self.starts - len(near)))])

    def _climbed(self, history: History, starts: FloatArray, seed: int) -> FloatArray:
        torch = load("torch", self.name)
        points = _flat(torch, history.steered)
        model = self._fitted(points, torch.from_numpy(standardized(told_payoffs(history)))[:, None])
        waiting = [asked.plan.realized for asked in history.open]
        sampling = load("botorch.sampling", self.name)
        acquisition = load("botorch.acquisition", self.name).qLogNoisyExpectedImprovement(
            model,
            points,
            sampler=sampling.SobolQMCNormalSampler(torch.Size([SAMPLES]), seed=seed),
            X_pending=_flat(torch, np.stack(waiting)) if waiting else None,
            prune_baseline=True,
        )
        found, _ = load("botorch.optim", self.name).optimize_acqf(
            acquisition,
            bounds=torch.stack([torch.zeros_like(points[0]), torch.ones_like(points[0])]),
            q=1,
            num_restarts=len(starts),
            batch_initial_conditions=_flat(torch, starts)[:, None, :],
            equality_constraints=_rows_sum_to_one(torch, *history.population.shape),
            options={"batch_limit": 1, "maxiter": self.iterations},
        )
        return np.asarray(found.detach().numpy())

    def _fitted(self, points: Any, values: Any) -> Any:
        model = load("botorch.models", self.name).SingleTaskGP(points, values, outcome_transform=None)
        likelihood = load("gpytorch", self.name).mlls.ExactMarginalLogLikelihood(model.likelihood, model)
        fit = load("botorch.optim.fit", self.name).fit_gpytorch_mll_scipy
        fit(likelihood, options={"maxiter": self.fit_iterations})
        return model.eval()


def _flat(torch: Any, distributions: FloatArray) -> Any:
    """Return (m, C, A) as a tensor (m, C · A)."""
    return torch.from_numpy(np.array(distributions).reshape(len(distributions), -1))


def _rows_sum_to_one(torch: Any, contexts: int, actions: int) -> list[tuple[Any, Any, float]]:
    """Return (cells, coefficients, right-hand side) for every context."""
    ones = torch.ones(actions, dtype=torch.float64)
    return [(torch.arange(c * actions, (c + 1) * actions), ones, 1.0) for c in range(contexts)]
