"""The shipped contract suite over every problem of the catalogue, and over wrong ones: messages say what is wrong."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest

from mfbo.catalogue import PROBLEMS, make_problem
from mfbo.population import Population
from mfbo.problems import Optimum, Problem, custom_problem
from mfbo.testing import MeanFieldProblemContract, ProblemContract

LIMITLESS = ("jersey-city",)  # a replay counts whole bikes


kept = cache(make_problem)


class Named:
    """A problem by its name, made once for all tests that do not change it."""

    name: str

    def make(self) -> Problem:
        return make_problem(self.name)

    def problem(self) -> Problem:
        return kept(self.name)


class TestEveryMeanFieldProblem(Named, MeanFieldProblemContract):
    @pytest.fixture(autouse=True, params=[name for name in PROBLEMS if name not in LIMITLESS])
    def _name(self, request):
        self.name = request.param


class TestEveryReplay(Named, ProblemContract):
    @pytest.fixture(autouse=True, params=LIMITLESS)
    def _name(self, request):
        self.name = request.param


def peak(distribution: np.ndarray) -> float:
    """Return a payoff whose best plan is the first action alone."""
    return 1.0 - float(((distribution - [[1.0, 0.0, 0.0]]) ** 2).sum())


def own_problem(payoff=peak, value: float = 1.0, best=(1.0, 0.0, 0.0)) -> Problem:
    population = Population(["a", "b", "c"], size=30)
    return custom_problem("own", population, payoff, optimum=Optimum(value, np.array([best])))


def suite(make: Callable[[], Problem]) -> MeanFieldProblemContract:
    class Suite(MeanFieldProblemContract):
        def make(self):
            return make()

    return Suite()


class TestOwnProblem(MeanFieldProblemContract):
    def make(self) -> Problem:
        return own_problem()


class Loud:
    """A payoff that changes the shares it is given, and has the gradient of another."""

    def cells(self, shares, size=None):
        return np.zeros(3)

    def population(self, shares, size=None):
        return float((shares**2).sum())

    def gradient(self, shares):
        return shares


def level(value: float, distribution: np.ndarray) -> float:
    return value


RNG = np.random.default_rng(0)
WRONG: dict[str, tuple[Callable[[], Problem], str, str]] = {
    "noise in the payoff": (lambda: own_problem(lambda xi: RNG.normal()), "a_plan_has_one_value", "noise belongs to"),
    "global randomness": (
        lambda: own_problem(lambda xi: 0.0 * np.random.normal()),  # noqa: NPY002
        "a_plan_has_one_value",
        "NumPy's global generator",
    ),
    "another problem each time": (
        lambda: own_problem(partial(level, RNG.normal())),
        "made_again_it_is_the_same",
        "made twice, one plan has the values",
    ),
    "an optimum that is beaten": (
        lambda: own_problem(value=-1.0, best=(0.0, 1.0, 0.0)),
        "nothing_random_beats_the_optimum",
        "more than",
    ),
    "an optimum with another value": (lambda: own_problem(value=7.0), "the_optimum_has_its_value", "1 instead of 7"),
    "an optimum of too many": (lambda: own_problem(best=(1.0, 1.0, 0.0)), "the_optimum_is_a_distribution", "2 instead"),
    "a gradient of another payoff": (
        lambda: replace(own_problem(), payoff=Loud()),
        "the_gradient_is_the_derivative",
        "is not the derivative",
    ),
    "payoffs without contexts": (
        lambda: replace(own_problem(), payoff=Loud()),
        "arrays_have_their_shapes",
        r"payoff.cells has the shape \(3,\), not \(1, 3\)",
    ),
    "places of others": (
        lambda: replace(own_problem(), places=np.zeros((2, 2))),
        "arrays_have_their_shapes",
        r"places has the shape \(2, 2\), not \(3, 2\)",
    ),
    "no source": (lambda: replace(own_problem(), source=""), "it_says_what_it_is", "has no source"),
    "unknown feedback": (lambda: replace(own_problem(), feedback=("all",)), "it_says_what_it_is", "kinds: system"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_problem_is_caught(fault):
    make, test, said = WRONG[fault]
    with pytest.raises(AssertionError, match=said):
        getattr(suite(make), f"test_{test}")()


def test_a_suite_without_a_problem_says_what_to_give():
    with pytest.raises(NotImplementedError, match="how to make its problem"):
        ProblemContract().make()
