"""What every kernel keeps, as a class of tests that third parties inherit.

from mfbo.testing import KernelContract

class TestMine(KernelContract):
    def make(self, population):
        return my_kernel(population)
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mfbo.models import GaussianProcess, Kernel
from mfbo.population import Population
from mfbo.testing.agreement import assert_agree
from mfbo.testing.kernel_cases import KernelCase, told_rows


class KernelContract:
    """A covariance whose Gram matrix, cross-covariances, derivatives and finite features agree. Give ``make``.

    A message names the population, and the term if one alone is at fault.
    """

    def make(self, population: Population) -> Kernel:
        """Return the kernel for a population."""
        raise NotImplementedError("a subclass of KernelContract must say how to make its kernel for a population")

    def populations(self) -> dict[str, Population]:
        """Return whom to place, by a name; small, so that the suite is quick."""
        places = np.random.default_rng(7).normal(size=(5, 2))
        three = {"name": ["x", "y", "z"], "weight": [0.2, 0.3, 0.5], "age": [1.0, -0.4, 0.3]}
        return {
            "one context": Population(places[:, :1]),
            "three contexts": Population(places, three),
            "names alone": Population(list("abcde"), {"name": ["x", "y"], "weight": [0.3, 0.7]}),
        }

    # A covariance

    def test_hyperparameters_begin_within_their_bounds(self) -> None:
        """And every term has a name of its own."""
        for where, population in self.populations().items():
            kernel = self.make(population)
            assert isinstance(kernel, Kernel), f"{where}: make returned {kernel!r}, not a Kernel"
            names = [term.name for term in kernel.terms]
            assert names, f"{where}: the kernel has no terms"
            assert len(set(names)) == len(names), f"{where}: two terms have the same name: {names}"
            assert_agree(kernel.weights, population.weights, f"{where}: the kernel's context weights")
            inside = (kernel.bounds[:, 0] <= kernel.start) & (kernel.start <= kernel.bounds[:, 1])
            assert inside.all(), f"{where}: hyperparameter {int(np.argmin(inside))} begins outside of its bounds"

    def test_the_gram_matrix_is_symmetric(self) -> None:
        """K of two rows is the same in either order."""
        self._check_every_term(KernelCase.assert_symmetric)

    def test_the_gram_matrix_is_positive_semidefinite(self) -> None:
        """No combination of rows has a negative variance."""
        self._check_every_term(KernelCase.assert_positive)

    def test_rows_may_come_one_round_after_another(self) -> None:
        """The Gram matrix grows to what it would be at once, and so does the part of a posterior."""
        self._check(KernelCase.assert_growing)

    def test_the_gram_matrix_has_its_derivatives_in_the_lengths(self) -> None:
        """In the logarithm of each, against finite differences."""
        self._check(KernelCase.assert_length_slopes)

    # What posteriors ask of it

    def test_cross_covariances_and_variances_agree_with_the_gram_matrix(self) -> None:
        """Of the population payoff at one distribution and at many, of every cell, and of changes."""
        self._check(KernelCase.assert_cross_covariances)
        self._check(KernelCase.assert_cells)
        self._check(KernelCase.assert_changes)

    def test_pullbacks_are_the_derivatives(self) -> None:
        """Of covariances and variances in the shares of the candidate, against finite differences."""
        self._check(KernelCase.assert_pullbacks)

    def test_predictions_are_those_of_the_gram_matrix(self) -> None:
        """Whichever posterior the roles of its terms choose."""
        self._check(KernelCase.assert_predictions)

    def test_a_fit_stays_within_the_bounds(self) -> None:
        """The whole kernel, on a few payoffs."""
        for where, population in self.populations().items():
            process = GaussianProcess(self._made(population))
            process.append(told_rows(population, np.random.default_rng(5)))
            theta = process.refit(None, 5).theta
            inside = (process.kernel.bounds[:, 0] <= theta) & (theta <= process.kernel.bounds[:, 1])
            assert inside.all(), f"{where}: a fit leaves the bounds: {theta}"

    # Finite features, for many rows; a kernel whose ``block`` raises NotImplementedError has none

    def test_finite_features_lack_what_they_say(self) -> None:
        """They are never more than the kernel, of rows and of changes."""
        self._check(KernelCase.assert_finite_features)

    def test_finite_features_have_their_derivatives(self) -> None:
        """Those of the population payoff, in the shares of the candidate, against finite differences."""
        self._check(KernelCase.assert_finite_pullbacks)

    # How a kernel is looked at

    def _check(self, check: Callable[[KernelCase], None]) -> None:
        """Check the whole kernel on every population; where that fails, each term, so that the message names one."""
        for where, population in self.populations().items():
            kernel = self._made(population)
            try:
                check(KernelCase.of(f"all terms, {where}", kernel, population))
            except AssertionError:
                for term in kernel.terms:
                    check(KernelCase.of(f"term {term.name!r}, {where}", replace(kernel, terms=(term,)), population))
                raise

    def _check_every_term(self, check: Callable[[KernelCase], None]) -> None:
        """Check each term, whose fault the others might hide."""
        for where, population in self.populations().items():
            kernel = self._made(population)
            for term in kernel.terms:
                check(KernelCase.of(f"term {term.name!r}, {where}", replace(kernel, terms=(term,)), population))

    def _made(self, population: Population) -> Kernel:
        return replace(self.make(population), situation=None)  # situations multiply any kernel, and are mfbo's own
