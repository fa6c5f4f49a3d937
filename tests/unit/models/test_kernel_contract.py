"""The shipped contract suite over every kernel, and over deliberately wrong ones: the message says what is wrong."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from mfbo.models import Hyperparameter, Kernel, default_kernel
from mfbo.models.stationary import Hellinger, Radial, Rbf, Stationary
from mfbo.population import Population
from mfbo.strategies.on_simplex.geometric_gp import GPFisherRao, GPWasserstein
from mfbo.strategies.on_simplex.plain_gp import GPSimplex, GPSqrt
from mfbo.testing import KernelContract

OPPONENTS = {"gp-fisher-rao": GPFisherRao(), "gp-wasserstein": GPWasserstein(), "gp-sqrt": GPSqrt()}
OPPONENTS["gp-simplex"] = GPSimplex()
NAMES = ("paper", "joint", "default", "agents", "matern52+hellinger", "product", *OPPONENTS)
UNIT = Hyperparameter(1.0, 1.0)
MADE: dict[tuple[str, tuple[int, int]], Kernel] = {}


class TestEveryKernel(KernelContract):
    @pytest.fixture(autouse=True, params=NAMES)
    def _name(self, request, presets):
        self.name, self.presets = request.param, presets

    def make(self, population: Population) -> Kernel:
        key = self.name, population.shape
        if key not in MADE:
            own = self.name in OPPONENTS
            MADE[key] = (
                OPPONENTS[self.name].kernel_for(population, "any") if own else self.presets[self.name](population)
            )
        return MADE[key]


class TestSeparableTerms(KernelContract):
    def make(self, population: Population) -> Kernel:
        kernel = default_kernel(population)
        return replace(kernel, terms=kernel.further[0].terms, further=())


class TestTheRbfOfShares(KernelContract):
    def make(self, population: Population) -> Kernel:
        kernel = default_kernel(population.replaced(features=None))
        return replace(kernel, terms=kernel.further[-1].terms, further=())


class Steep(Rbf):
    """A profile with the slope of another."""

    def slope(self, q: np.ndarray, value: np.ndarray) -> np.ndarray:
        return -value


class Cosine(Rbf):
    """cos(√q): positive definite on a line and nowhere else."""

    def value(self, q: np.ndarray) -> np.ndarray:
        return np.cos(3.0 * np.sqrt(q))


class Flat(Rbf):
    """A variance of changes that does not fit."""

    def fall(self, q: np.ndarray) -> np.ndarray:
        return q


@dataclass(frozen=True, eq=False)
class Bent(Hellinger):
    """An embedding with the pullback of another."""

    def pullback(self, shares: np.ndarray, d_z: np.ndarray) -> np.ndarray:
        return d_z.reshape(shares.shape)


class Lopsided(Stationary):
    """A term that counts later rows less."""

    def pairs(self, columns, start, count):
        return super().pairs(columns, start, count) * np.arange(start + 1, count + 1)[:, None]


def wrong(profile=None, embedding=None, term=Stationary, first=UNIT) -> KernelContract:
    class Suite(KernelContract):
        def make(self, population):
            radial = Radial(embedding or Hellinger(1e-3), profile or Rbf(), 0.1)
            kernel = term("mine", first, radial, Hyperparameter(1.0, 1.0, -2.0, 2.0))
            return Kernel("wrong", (kernel,), Hyperparameter(1e-4, 1.0), population.weights)

    return Suite()


@pytest.mark.parametrize(
    ("suite", "test", "said"),
    [
        (lambda: wrong(term=Lopsided), "the_gram_matrix_is_symmetric", "'mine', one context: .* is not symmetric"),
        (lambda: wrong(Cosine()), "the_gram_matrix_is_positive_semidefinite", "'mine', .* not positive semi-definite"),
        (lambda: wrong(Steep()), "the_gram_matrix_has_its_derivatives_in_the_lengths", "derivative in the logarithm"),
        (
            lambda: wrong(Steep()),
            "pullbacks_are_the_derivatives",
            "'mine', .* the pullback of at is not the derivative",
        ),
        (lambda: wrong(embedding=Bent(1e-3)), "pullbacks_are_the_derivatives", "the pullback of at is not"),
        (lambda: wrong(Flat()), "cross_covariances_and_variances_agree_with_the_gram_matrix", "prior_of_changes"),
        (lambda: wrong(embedding=Bent(1e-3)), "finite_features_have_their_derivatives", "of the finite features"),
        (
            lambda: wrong(first=Hyperparameter(1.0, 1.0, 2.0, 3.0)),
            "hyperparameters_begin_within_their_bounds",
            "hyperparameter 0 begins outside",
        ),
    ],
)
def test_a_wrong_kernel_is_caught(suite: Callable[[], KernelContract], test: str, said: str):
    with pytest.raises(AssertionError, match=said):
        getattr(suite(), f"test_{test}")()


def test_a_suite_without_a_kernel_says_what_to_give():
    with pytest.raises(NotImplementedError, match="how to make its kernel"):
        KernelContract().make(Population(["a", "b"]))
