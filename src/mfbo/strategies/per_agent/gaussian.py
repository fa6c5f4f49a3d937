"""GP-UCB and Add-GP-UCB on the assignment: the two rows of the regret table that know nothing of mean fields."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from mfbo.arrays import FloatArray, IntArray, one_blas_thread
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.records import History, Proposal
from mfbo.strategies.model_free import ModelFreeStrategy, standardized
from mfbo.strategies.per_agent.assignments import assignment_of, proposal_of, random_assignment, require_agents
from mfbo.strategies.reading import told_payoffs

LENGTHS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)  # of the kernel, on features scaled to [0, 1]
NOISES = (1e-4, 1e-2)  # noise variance over the kernel's amplitude
LARGEST = 20_000  # agents × actions: every one-agent move is looked at in every step
STEPS = 30  # one-agent moves from each start
FIRST_RANDOM = 5


@dataclass(frozen=True, eq=False)
class AssignmentModel:
    """A Gaussian process on told assignments; length, noise and amplitude by marginal likelihood on a grid.

    seen: (n, M) actions. between: (A, A) squared distances of actions. additive: whether the kernel is the mean over
    agents of kernels, or a kernel of the mean over agents of distances.
    """

    seen: IntArray
    between: FloatArray
    additive: bool
    length: float
    amplitude: float
    factor: FloatArray
    alpha: FloatArray

    @staticmethod
    def fitted(seen: IntArray, values: FloatArray, between: FloatArray, *, additive: bool) -> "AssignmentModel":
        """Return the best of the grid for standardized values (n,)."""
        best: tuple[float, AssignmentModel] | None = None
        distances = _mean_over_agents(between, seen)
        for length in LENGTHS:
            scale = -2.0 * length * length
            gram = _mean_over_agents(np.exp(between / scale), seen) if additive else np.exp(distances / scale)
            for noise in NOISES:
                factor = cholesky(gram + noise * np.eye(len(values)), lower=True)
                alpha = cho_solve((factor, True), values)
                amplitude = max(float(values @ alpha) / len(values), 1e-12)
                score = -0.5 * len(values) * np.log(amplitude) - float(np.log(np.diag(factor)).sum())
                if best is None or score > best[0]:
                    best = score, AssignmentModel(seen, between, additive, length, amplitude, factor, alpha)
        if best is None:
            raise AssertionError("the grid is not empty")
        return best[1]

    @property
    def action_kernel(self) -> FloatArray:
        """Kernel between actions, (A, A)."""
        return np.asarray(np.exp(self.between / (-2.0 * self.length * self.length)))

    def bound(self, cross: FloatArray, prior: float, multiplier: float) -> FloatArray:
        """Return mean + multiplier · sd for points with these covariances to the data, (…, n) → (…,)."""
        flat = cross.reshape(-1, cross.shape[-1])
        reduced = solve_triangular(self.factor, flat.T, lower=True)
        variance = self.amplitude * np.maximum(prior - (reduced * reduced).sum(axis=0), 1e-12)
        return np.asarray((flat @ self.alpha + multiplier * np.sqrt(variance)).reshape(cross.shape[:-1]))


@dataclass(frozen=True)
class _AssignmentUCB(ModelFreeStrategy):
    """What both share: the data, the model, the limit of size. multiplier: standard deviations of optimism."""

    multiplier: float = 1.0
    name: str = ""

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        """Return random assignments first, then the one with the highest upper confidence bound found."""
        population = history.population
        size = require_agents(population, self.name)
        if size * population.shape[1] > LARGEST:
            raise InvalidInputError(
                f"strategy {self.name!r} looks at every move of every agent and holds {LARGEST} agents × actions, not"
                f" {size} × {population.shape[1]}: place fewer agents, or take the strategy 'default'"
            )
        told = history.told
        if len(told) < FIRST_RANDOM:
            return proposal_of(population, random_assignment(population, rng))
        seen = np.stack([assignment_of(population, done) for done in told])
        values = standardized(told_payoffs(history))
        with one_blas_thread():
            return proposal_of(population, self._chosen(seen, values, _distances(population), rng))

    @abstractmethod
    def _chosen(
        self, seen: IntArray, values: FloatArray, between: FloatArray, rng: np.random.Generator
    ) -> IntArray: ...


@dataclass(frozen=True)
class GPUCB(_AssignmentUCB):
    """One kernel over the whole assignment; climbs by the best move of one agent, from the best told and at random."""

    name: str = "gp-ucb"

    def _chosen(self, seen: IntArray, values: FloatArray, between: FloatArray, rng: np.random.Generator) -> IntArray:
        model = AssignmentModel.fitted(seen, values, between, additive=False)
        starts = [seen[int(np.argmax(values))], rng.integers(len(between), size=seen.shape[1])]
        climbed = [self._climbed(model, start) for start in starts]
        return max(climbed, key=lambda pair: pair[0])[1]

    def _climbed(self, model: AssignmentModel, start: IntArray) -> tuple[float, IntArray]:
        """Return the bound and the assignment after at most ``STEPS`` moves, each the best of all."""
        agents = np.arange(model.seen.shape[1])
        here, reached = start.copy(), -np.inf
        for _ in range(STEPS):
            apart = model.between[here[None, :], model.seen].mean(axis=1)  # (n,)
            own = model.between[here[None, :], model.seen].T  # (M, n)
            moved = model.between[:, model.seen.T].transpose(1, 0, 2)  # (M, A, n)
            distances = apart + (moved - own[:, None, :]) / len(agents)
            bounds = model.bound(np.exp(distances / (-2.0 * model.length**2)), 1.0, self.multiplier)
            agent, action = np.unravel_index(int(np.argmax(bounds)), bounds.shape)
            if bounds[agent, action] <= reached + 1e-9:
                break
            reached = float(bounds[agent, action])
            here[agent] = action
        return reached, here


@dataclass(frozen=True)
class AdditiveGPUCB(_AssignmentUCB):
    """A sum of one kernel per agent; every agent takes the action with its own highest bound."""

    name: str = "add-gp-ucb"

    def _chosen(self, seen: IntArray, values: FloatArray, between: FloatArray, rng: np.random.Generator) -> IntArray:
        model = AssignmentModel.fitted(seen, values, between, additive=True)
        agents = seen.shape[1]
        cross = model.action_kernel[:, seen.T].transpose(1, 0, 2) / agents  # (M, A, n)
        bounds = model.bound(cross, 1.0 / agents, self.multiplier)
        ties = 1e-9 * rng.uniform(size=bounds.shape)  # equal agents must not all choose the first of equal actions
        return np.asarray(np.argmax(bounds + ties, axis=1))


def _mean_over_agents(table: FloatArray, seen: IntArray) -> FloatArray:
    """Return Σ_i table[a_i, a′_i] / M for all pairs of rows: table (A, A), seen (n, M) → (n, n)."""
    total = np.zeros((len(seen), len(seen)))
    for column in seen.T:
        total += table[column[:, None], column[None, :]]
    return np.asarray(total / seen.shape[1])


def _distances(population: Population) -> FloatArray:
    """Return squared distances of actions, (A, A): of their features scaled to [0, 1], or 1 for unlike names."""
    features = population.features
    if features is None:
        return np.asarray(1.0 - np.eye(population.shape[1]))
    spans = np.ptp(features, axis=0)
    scaled = (features - features.min(axis=0)) / np.where(spans > 0, spans, 1.0)
    return np.asarray(((scaled[:, None, :] - scaled[None, :, :]) ** 2).sum(axis=-1))
