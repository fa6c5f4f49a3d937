"""The plain Gaussian processes: their kernels against scikit-learn's, their region, and that they climb."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern

from mfbo.catalogue import make_strategy
from mfbo.errors import MfboError
from mfbo.population import Population
from mfbo.strategies.on_simplex.plain_gp import GPSimplex, GPSqrt, Shrunk, region_size, typical_distance
from mfbo.study import create_study

POPULATION = Population(["a", "b", "c"], {"x": 0.25, "y": 0.75})


@pytest.mark.parametrize(("strategy", "coordinates"), [(GPSqrt(), np.sqrt), (GPSimplex(), np.positive)])
def test_the_stationary_term_is_a_matern_kernel_of_the_coordinates(strategy, coordinates):
    term = strategy.kernel_for(POPULATION, "any").terms[0]
    rng = np.random.default_rng(0)
    pair = rng.dirichlet(np.ones(3), size=(2, 2))
    shares = POPULATION.weights[:, None] * pair
    weighted = shares + 1e-3 / 6 if isinstance(strategy, GPSqrt) else pair  # a root has an offset
    length = 1.7
    z = np.stack([coordinates(each).ravel() for each in weighted])
    unit = length**2 * term.radial.norm
    expected = Matern(np.sqrt(unit), nu=2.5)(z[:1], z[1:])[0, 0]
    found = 1.0 - term.radial.fall(shares[:1], shares[1:], unit)[0]
    assert found == pytest.approx(expected, rel=1e-9)


def test_the_unit_of_length_is_the_spread_of_random_plans():
    """Two uniform draws from the simplex are 2 (A − 1) / (A (A + 1)) apart on average, squared."""
    population = Population([f"a{place}" for place in range(10)])
    embedding = GPSimplex().kernel_for(population, "any").terms[0].radial.embedding
    assert typical_distance(embedding, population) == pytest.approx(2 * 9 / 110, rel=0.25)


def test_the_region_doubles_halves_and_opens_again():
    first = [0.0, 1.0]
    assert region_size(np.array(first), 2, 3, 2) == 1.0
    assert region_size(np.array([*first, 0.5, 0.5]), 2, 3, 2) == 0.5
    assert region_size(np.array([*first, *[0.5] * 4]), 2, 3, 2) == 0.25
    assert region_size(np.array([*first, *[0.5] * 4, 2.0, 3.0, 4.0]), 2, 3, 2) == 0.5
    assert region_size(np.array([*first, *[0.5] * 16]), 2, 3, 2) == 1.0


def test_a_shrunk_acquisition_has_the_gradient_of_finite_differences():
    def acquisition(distribution):
        return float((distribution**3).sum()), 3 * distribution**2

    center, at = np.array([[0.2, 0.8]]), np.array([[0.6, 0.4]])
    shrunk = Shrunk(acquisition, center, 0.25)
    np.testing.assert_allclose(shrunk.plan(at), [[0.3, 0.7]])
    step = np.array([[1e-6, 0.0]])
    numeric = (shrunk(at + step)[0] - shrunk(at - step)[0]) / 2e-6
    assert shrunk(at)[1][0, 0] == pytest.approx(numeric, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "closer"),
    [
        ("gp-sqrt", 0.2),
        ("gp-sqrt(trust_region=true)", 0.2),
        ("gp-simplex", 0.2),
        ("gp-fisher-rao(starts=2)", 0.2),
        ("gp-wasserstein(starts=2)", 0.5),
    ],
)
def test_it_climbs_a_hill(name, closer):
    target = np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
    study = create_study(POPULATION, name, seed=0)
    gaps = []
    for _ in range(25):
        plan = study.ask()
        gaps.append(float(((plan.distribution - target) ** 2).sum()))
        study.tell(plan, -gaps[-1])
    assert min(gaps) < closer * min(gaps[:10])


@pytest.mark.parametrize("written", ["gp-sqrt(length=0)", "gp-simplex(starts=0)", "gp-fisher-rao(length=0)"])
def test_settings_of_nothing_are_refused(written):
    with pytest.raises(MfboError):
        make_strategy(written)
