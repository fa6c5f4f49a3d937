"""Kernels, rows and finite differences that the tests of the model share."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from mfbo.arrays import one_blas_thread
from mfbo.models import (
    GaussianProcess,
    Kernel,
    Rows,
    agents_kernel,
    default_kernel,
    joint_kernel,
    paper_kernel,
    rows_of_round,
)
from mfbo.models.couplings import Dense, FixedCoupling
from mfbo.models.features import Feature, Log, Root
from mfbo.models.gaussian_process import Fit
from mfbo.models.hyperparameters import Hyperparameter
from mfbo.models.products import Product
from mfbo.models.stationary import ByContext, Hellinger, Matern52, Radial, Rbf
from mfbo.population import Population
from mfbo.records import Feedback, Plan, Round

NOISE = 1e-2  # variance, in standardized payoffs


def product_kernel(population: Population) -> Kernel:
    """Return a kernel of static × stationary terms with every part that no preset combines: weighted and centered."""
    rng = np.random.default_rng(13)
    contexts, actions = population.shape
    root = rng.normal(size=(actions, actions))
    cells = Feature("cells", Root(actions, 1e-2), center=rng.random(size=(contexts, actions)))
    crowds = Feature("actions", Log(actions), center=rng.random(size=(1, actions)))
    terms = (
        Product(
            "cells",
            Hyperparameter(0.5, 1.0),
            cells,
            Radial(ByContext(population.weights), Matern52(), norm=0.5),
            Hyperparameter(0.8, 1.0),
            FixedCoupling(Dense(root @ root.T / actions)),
            scale=0.3,
        ),
        Product("crowds", Hyperparameter(0.7, 1.0), crowds, Radial(Hellinger(1e-2), Rbf()), Hyperparameter(0.6, 1.0)),
    )
    return Kernel("product", terms, Hyperparameter(NOISE, 1.0), population.weights)


PRESETS = {
    "paper": paper_kernel,
    "joint": joint_kernel,
    "default": default_kernel,
    "agents": agents_kernel,
    "matern52+hellinger": lambda population: paper_kernel(population, profile="matern52", distance="hellinger"),
    "product": product_kernel,
}
ROW_KINDS = ("system", "agents", "cells", "mixed")
STENCIL = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))  # steps and weights of the first derivative


def make_population(contexts: int, actions: int = 5, *, features: bool = True) -> Population:
    """Return a population with unequal context weights and two features per action (or none at all)."""
    rng = np.random.default_rng(7)
    places = rng.normal(size=(actions, 2)) if features else [f"a{i}" for i in range(actions)]
    if contexts == 1:
        return Population(places)
    weights = np.arange(1, contexts + 1) / (contexts * (contexts + 1) / 2)
    types = {"name": [f"c{i}" for i in range(contexts)], "weight": weights}
    if features:
        types["age"] = rng.normal(size=contexts)
    return Population(places, types)


@dataclass(frozen=True, eq=False)
class Case:
    """One kernel on one population, at hyperparameters that are not the prior medians."""

    population: Population
    kernel: Kernel
    theta: np.ndarray
    rng: np.random.Generator

    @staticmethod
    def of(preset: str, contexts: int, *, features: bool = True, seed: int = 3) -> "Case":
        """Build a case by the names of its parts."""
        population = make_population(contexts, features=features)
        kernel = PRESETS[preset](population)
        rng = np.random.default_rng(seed)
        theta = kernel.start + 0.4 * rng.normal(size=len(kernel.start))
        theta[-1] = np.log(NOISE)
        return Case(population, kernel, theta, rng)

    def distribution(self, concentration: float = 3.0) -> np.ndarray:
        """Draw ξ (C, A) away from the faces."""
        contexts, actions = self.population.shape
        drawn = self.rng.dirichlet(np.full(actions, concentration), size=contexts)
        return 0.9 * drawn + 0.1 / actions

    def rounds(self, kind: str, count: int = 5) -> list[Rows]:
        """Tell ``count`` rounds of one kind and return the rows of each."""
        return [rows_of_round(self.population, self._told(kind, number)) for number in range(count)]

    def process(self, blocks: list[Rows], noise: float | None = None) -> GaussianProcess:
        """Return the process after these blocks of rows at the case's hyperparameters, payoffs as they are."""
        process = GaussianProcess(self.kernel, noise)
        for rows in blocks:
            process.append(rows)
        process.adopt(Fit(self.theta, 0.0, 1.0))
        return process

    def pending(self, count: int = 2) -> np.ndarray:
        """Draw the shares of open plans, (count, C, A)."""
        return np.stack([self.population.joint_shares(self.distribution()) for _ in range(count)])

    def _told(self, kind: str, number: int) -> Round:
        distribution = self.distribution()
        contexts, actions = self.population.shape
        payoff = float(self.rng.normal()) if kind in ("system", "mixed") else None
        agents = None
        if kind in ("agents", "mixed"):
            cells = self.rng.integers((contexts, actions), size=(2, 2))
            agents = [(int(c), int(a), float(self.rng.normal())) for c, a in cells]
        cells = counts = None
        if kind in ("cells", "mixed"):
            seen = self.rng.random((contexts, actions)) < 0.4
            seen[0, number % actions] = True
            cells = np.where(seen, self.rng.normal(size=seen.shape), np.nan)
            counts = self.rng.integers(1, 6, size=seen.shape)
        feedback = Feedback.read(self.population, payoff, agents, cells, counts)
        return Round(Plan(number, distribution)).done(feedback, distribution, number)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Hold BLAS to one thread, as the study does: the matrices here are small."""
    with one_blas_thread():
        yield


@pytest.fixture(
    params=[(preset, contexts) for preset in PRESETS for contexts in (1, 3)], ids=lambda p: f"{p[0]}-C{p[1]}"
)
def case(request: pytest.FixtureRequest) -> Case:
    """Every preset, for one context and for three."""
    return Case.of(*request.param)


@pytest.fixture(params=ROW_KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Every kind of feedback."""
    return str(request.param)


@pytest.fixture
def presets() -> dict[str, Callable[[Population], Kernel]]:
    """What makes each kernel, by name."""
    return PRESETS


@pytest.fixture
def make_case() -> Callable[..., Case]:
    """Build single cases where a test is not about every preset."""
    return Case.of


@pytest.fixture
def population_of() -> Callable[..., Population]:
    """Build populations of any size."""
    return make_population


@pytest.fixture
def finite_differences() -> Callable[..., np.ndarray]:
    """Return the numerical gradient of a scalar function of an array, by five-point central differences."""

    def gradient(function: Callable[[np.ndarray], float], at: np.ndarray, step: float = 2e-5) -> np.ndarray:
        slopes = np.empty_like(at)
        for index in np.ndindex(at.shape):
            moved = [at.copy() for _ in STENCIL]
            for (multiple, _), each in zip(STENCIL, moved, strict=True):
                each[index] += multiple * step
            terms = [weight * function(each) for (_, weight), each in zip(STENCIL, moved, strict=True)]
            slopes[index] = sum(terms) / step
        return slopes

    return gradient
