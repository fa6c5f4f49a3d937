"""A plain Gaussian process on the distribution itself, or on its square roots, with a trust region if wanted.

What somebody would write who knows Bayesian optimization and not mean fields: one Matérn-5/2 kernel with one length
over all C · A coordinates, expected improvement, random plans first. It knows neither features nor whose payoff it is.
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from mfbo.acquisition import ExpectedGain
from mfbo.arrays import FloatArray, one_blas_thread
from mfbo.interfaces import Acquisition
from mfbo.maximizers import Lbfgs
from mfbo.models import Kernel, only_system
from mfbo.models.couplings import Identity
from mfbo.models.hyperparameters import Hyperparameter
from mfbo.models.kernel import Constant, Term
from mfbo.models.stationary import EMBEDDINGS, PROFILES, Embedding, Radial, Stationary
from mfbo.population import Population
from mfbo.records import Feedback, History, Proposal, Round, told_payoff
from mfbo.simplex import dirichlet, uniform
from mfbo.strategies.model_free import standardized
from mfbo.strategies.modeled import ModeledStrategy
from mfbo.strategies.reading import told_payoffs
from mfbo.validation import positive, whole_number

GAIN = 1e-3  # a success improves the best payoff by more than so many standard deviations
LEAST_REGION = 2.0**-7


@dataclass(frozen=True)
class PlainGP(ModeledStrategy):
    """Climbs the expected improvement of a Gaussian process; subclasses choose the coordinates, or the whole term.

    initial_rounds: uniform draws from the simplex at the start. starts: climbs in a round. length: median of the
    length's log-normal prior in units of √(E d²), the typical distance of two random plans: the prior is as wide as the
    space whatever its dimension. trust_region: whether plans stay near the best one, see ``region_size``.
    success_tolerance, failure_tolerance: results in a row that double or halve the region.
    """

    coordinates: ClassVar[str]
    climb_iterations: ClassVar[int] = 60

    initial_rounds: int = 10
    starts: int = 4
    length: float = 2.0
    trust_region: bool = True
    success_tolerance: int = 3
    failure_tolerance: int = 5
    name: str = field(default="plain-gp", kw_only=True)

    def __post_init__(self) -> None:
        """Refuse counts of nothing and a length of nothing."""
        for count in ("initial_rounds", "starts", "success_tolerance", "failure_tolerance"):
            whole_number(getattr(self, count), count, least=1)
        positive(self.length, "length")

    def as_modeled(self, history: History) -> History:
        """Return the history with one number a round, as for every baseline."""
        return replace(history, rounds=tuple(map(_as_one_number, history.rounds)))

    def kernel_for(self, population: Population, kind: str) -> Kernel:
        """Return a constant and one stationary term; with one action all distributions are the same."""
        terms: tuple[Term, ...] = (Constant("constant", Hyperparameter(1.0, 1.0, -3.0, 5.0)),)
        if population.shape[1] > 1:
            length = Hyperparameter(self.length, 1.0, -4.0, 4.0)
            terms = (self.stationary_term(population, Hyperparameter(1.0, 1.0), length), *terms)
        noise = Hyperparameter(1e-4, 2.0, float(np.log(1e-8)), 0.0)
        return Kernel(self.name.partition("(")[0], terms, noise, population.weights)

    def stationary_term(self, population: Population, weight: Hyperparameter, length: Hyperparameter) -> Stationary:
        """Return what compares distributions."""
        embedding = EMBEDDINGS[self.coordinates].made_for(population.weights, population.shape[1], Identity())
        radial = Radial(embedding, PROFILES["matern52"](), typical_distance(embedding, population))
        return Stationary("distribution", weight, radial, length)

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        """Return random plans first, then where the expected improvement is highest inside the region."""
        contexts, actions = history.population.shape
        if actions == 1:
            return Proposal(uniform(contexts, actions))
        if len(history.told) < self.initial_rounds:
            return Proposal(dirichlet(1.0, contexts, actions, rng))
        modeled = self.as_modeled(history)
        size = self._region_size(modeled)
        with one_blas_thread():
            belief = self.belief(modeled)
            visited = modeled.steered
            means = belief.posterior.population_means(visited)
            center = visited[int(np.argmax(means))]
            posterior = belief.after_open_plans
            objective = Shrunk(ExpectedGain(posterior, float(means.max())), center, size)
            found, _ = Lbfgs(self.climb_iterations)(objective, self._starts(center, rng))
        plan = objective.plan(found)
        return Proposal(plan if history.region is None else history.region.projected(plan), belief.notes)

    def _region_size(self, history: History) -> float:
        if not self.trust_region:
            return 1.0
        tolerances = self.success_tolerance, self.failure_tolerance
        return region_size(told_payoffs(history), self.initial_rounds, *tolerances)

    def _starts(self, center: FloatArray, rng: np.random.Generator) -> list[FloatArray]:
        """Return where to climb from, (C, A) each: near the center first, then random plans, flat and sparse ones."""
        contexts, actions = center.shape
        sparse = 3.0 / actions
        draws = [dirichlet(1.0 if place % 2 else sparse, contexts, actions, rng) for place in range(self.starts)]
        return [0.9 * center + 0.1 * draws[0], *draws[1:]]


@dataclass(frozen=True)
class GPSqrt(PlainGP):
    """On √ξ, where a small share moves as far as a large one: rare actions and faces are easy to tell apart."""

    coordinates: ClassVar[str] = "hellinger"
    trust_region: bool = False
    name: str = field(default="gp-sqrt", kw_only=True)


@dataclass(frozen=True)
class GPSimplex(PlainGP):
    """On ξ itself, inside a trust region."""

    coordinates: ClassVar[str] = "joint"
    name: str = field(default="gp-simplex", kw_only=True)


@dataclass(frozen=True, eq=False)
class Shrunk:
    """An acquisition on the simplex shrunk towards a center c: ξ = (1 − τ) c + τ η, any distribution η (C, A)."""

    acquisition: Acquisition
    center: FloatArray
    size: float

    def plan(self, distribution: FloatArray) -> FloatArray:
        """Return ξ."""
        return np.asarray((1.0 - self.size) * self.center + self.size * distribution)

    def __call__(self, distribution: FloatArray) -> tuple[float, FloatArray]:
        """Return the value at ξ and its gradient in η."""
        value, gradient = self.acquisition(self.plan(distribution))
        return value, self.size * gradient


def region_size(payoffs: FloatArray, initial: int, successes: int, failures: int) -> float:
    """Return τ after payoffs in the order of tells (n,): all of the simplex at first, and again below 2⁻⁷.

    ``successes`` new bests in a row double it, ``failures`` rounds without one halve it.
    """
    size, won, lost = 1.0, 0, 0
    scores = standardized(payoffs)
    for told in range(initial, len(scores)):
        better = bool(scores[told] > scores[:told].max() + GAIN)
        won, lost = (won + 1, 0) if better else (0, lost + 1)
        if won == successes:
            size, won = min(1.0, 2.0 * size), 0
        elif lost == failures:
            size, lost = 0.5 * size, 0
        if size < LEAST_REGION:
            size = 1.0
    return size


def typical_distance(embedding: Embedding, population: Population) -> float:
    """Return the mean squared distance of two uniform draws from the simplex: fixed draws, so equal on every call."""
    z = embedding.of(random_shares(population))
    mean = float(((z[::2] - z[1::2]) ** 2).sum(axis=(1, 2)).mean())
    return mean if mean > 1e-12 else 1.0  # one action: no distances


def random_shares(population: Population) -> FloatArray:
    """Return the joint shares of 64 uniform draws from the simplex, (64, C, A), the same on every call."""
    rng = np.random.default_rng(0)
    draws = np.stack([dirichlet(1.0, *population.shape, rng) for _ in range(64)])
    return np.asarray(population.weights[:, None] * draws)


def _as_one_number(done: Round) -> Round:
    """Return a round told by its population payoff as it is (the model knows it then), others with their mean."""
    if done.feedback is None or only_system((done,)):
        return done
    return replace(done, feedback=Feedback(told_payoff(done)))
