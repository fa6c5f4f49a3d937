"""The certified solver and the enumeration of faces, against SciPy's SLSQP, a fine grid, and payoffs that are known."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mfbo.errors import InvalidInputError, NumericalError
from mfbo.population import Population
from mfbo.problems.concave import concave_optimum, gap_at
from mfbo.problems.quadratic import QuadraticPayoff, quadratic_optimum


def by_slsqp(payoff, population) -> float:
    """The best value that SciPy finds over all rows on the simplex."""
    contexts, actions = population.shape

    def negative(flat):
        return -payoff.population(population.joint_shares(flat.reshape(contexts, actions)))

    rows = [
        {"type": "eq", "fun": lambda flat, c=c: flat.reshape(contexts, actions)[c].sum() - 1} for c in range(contexts)
    ]
    start = np.full(contexts * actions, 1 / actions)
    found = minimize(negative, start, method="SLSQP", bounds=[(0, 1)] * len(start), constraints=rows,
                     options={"maxiter": 500, "ftol": 1e-12})  # fmt: skip
    return -found.fun


def random_quadratic(rng, contexts: int, actions: int, *, concave: bool) -> QuadraticPayoff:
    root = rng.normal(size=(contexts * actions,) * 2)
    return QuadraticPayoff(rng.normal(size=(contexts, actions)), -root @ root.T if concave else root)


@pytest.mark.parametrize("seed", range(3))
def test_a_concave_optimum_equals_that_of_slsqp(seed):
    population = Population(["a", "b", "c", "d"], {"x": 0.3, "y": 0.7})
    payoff = random_quadratic(np.random.default_rng(seed), 2, 4, concave=True)
    best = concave_optimum(payoff, population)
    value = payoff.population(population.joint_shares(best))
    assert value == pytest.approx(by_slsqp(payoff, population), abs=1e-7)
    gradient = population.weights[:, None] * payoff.gradient(population.joint_shares(best))
    assert gap_at(best, gradient) <= 1e-10 * max(1.0, abs(value))


def test_a_gap_that_cannot_close_is_said(monkeypatch):
    monkeypatch.setattr("mfbo.problems.concave.STEPS", 1)
    payoff = random_quadratic(np.random.default_rng(0), 1, 6, concave=True)
    with pytest.raises(NumericalError, match="stays at"):
        concave_optimum(payoff, Population(list("abcdef")))


@pytest.mark.parametrize("concave", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_face_beats_a_fine_grid_and_is_reached_by_it(seed, concave):
    payoff = random_quadratic(np.random.default_rng(seed), 1, 3, concave=concave)
    best = quadratic_optimum(payoff)
    steps = 200
    grid = np.array([(i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)]) / steps
    values = grid @ payoff.linear[0] + np.einsum("ni,ij,nj->n", grid, payoff.pairs, grid)
    top = payoff.population(best)
    assert top >= values.max() - 1e-12
    assert top <= values.max() + 10.0 * np.abs(payoff.pairs).sum() / steps**2
    assert best.sum() == pytest.approx(1.0)


def test_the_best_face_equals_the_concave_optimum():
    payoff = random_quadratic(np.random.default_rng(4), 1, 7, concave=True)
    best = concave_optimum(payoff, Population(list("abcdefg")))
    assert payoff.population(quadratic_optimum(payoff)) == pytest.approx(payoff.population(best), abs=1e-9)


def test_too_many_faces_are_refused():
    with pytest.raises(InvalidInputError, match="too many"):
        quadratic_optimum(random_quadratic(np.random.default_rng(0), 1, 30, concave=True))
