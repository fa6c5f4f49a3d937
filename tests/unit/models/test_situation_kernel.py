"""How alike situations are: known values as an RBF and by equality, unknown ones as the average over all."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from mfbo.models.situation_kernel import SituationKernel, SituationScale

KERNEL = SituationKernel(categories=(3, 0, 0), chosen=(0, 1, 2))
LENGTHS = np.array([0.9, 0.7, 1.8])
SPREAD = np.array([1.0, 1.0, 2.5])


def situations(rng, count, *, unknown=0.0):
    rows = np.column_stack([rng.integers(0, 3, count).astype(float), rng.normal(size=count), rng.normal(size=count)])
    rows[rng.random(rows.shape) < unknown] = np.nan
    return rows


def test_known_numbers_are_scikit_learns_rbf():
    rng = np.random.default_rng(0)
    first, second = situations(rng, 6), situations(rng, 4)
    only_numbers = SituationKernel((3, 0, 0), (1, 2))
    found, _ = only_numbers.gram(first, second, LENGTHS, SPREAD)
    np.testing.assert_allclose(found, RBF(LENGTHS[1:])(first[:, 1:], second[:, 1:]), rtol=1e-12)


def test_known_categories_are_an_rbf_of_indicators():
    codes = np.array([0.0, 1.0, 2.0, 1.0])
    rows = np.column_stack([codes, np.zeros(4), np.zeros(4)])
    found, _ = KERNEL.gram(rows, rows, LENGTHS, SPREAD)
    indicators = np.eye(3)[codes.astype(int)]
    np.testing.assert_allclose(found, RBF(LENGTHS[0])(indicators, indicators), rtol=1e-12)


def test_an_unknown_number_is_the_average_over_what_is_usual():
    rng = np.random.default_rng(1)
    draws = SPREAD[2] * rng.normal(size=(400_000, 1))
    other = np.array([[0.6]])
    kernel = SituationKernel((0,), (0,))
    averaged = kernel.gram(draws, other, LENGTHS[2:], SPREAD[2:])[0].mean()
    unknown = np.array([[np.nan]])
    assert kernel.gram(unknown, other, LENGTHS[2:], SPREAD[2:])[0][0, 0] == pytest.approx(averaged, rel=5e-3)
    pairs = np.exp(-((draws[:200_000] - draws[200_000:]) ** 2) / (2 * LENGTHS[2] ** 2)).mean()
    assert kernel.own(unknown, LENGTHS[2:], SPREAD[2:])[0][0] == pytest.approx(pairs, rel=5e-3)


def test_an_unknown_category_is_the_average_over_all():
    kernel = SituationKernel((3,), (0,))
    every = np.array([[0.0], [1.0], [2.0]])
    gram, _ = kernel.gram(every, every, LENGTHS, SPREAD)
    unknown = np.array([[np.nan]])
    np.testing.assert_allclose(kernel.gram(unknown, every, LENGTHS, SPREAD)[0][0], gram.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(kernel.own(unknown, LENGTHS, SPREAD)[0][0], gram.mean(), rtol=1e-12)


@pytest.mark.parametrize("unknown", [0.0, 0.4])
def test_the_gram_is_positive_semidefinite_and_bounded_by_its_own_variance(unknown):
    rows = situations(np.random.default_rng(2), 40, unknown=unknown)
    gram, _ = KERNEL.gram(rows, rows, LENGTHS, SPREAD)
    own, _ = KERNEL.own(rows, LENGTHS, SPREAD)
    np.testing.assert_allclose(gram, gram.T, rtol=1e-13)
    assert np.linalg.eigvalsh(gram).min() > -1e-9
    assert (own <= 1.0 + 1e-15).all()
    np.testing.assert_allclose(own, np.diag(gram), rtol=1e-13)


@pytest.mark.parametrize("variable", [0, 1, 2])
def test_slopes_are_finite_differences(variable):
    rng = np.random.default_rng(3)
    first, second = situations(rng, 7, unknown=0.3), situations(rng, 5, unknown=0.3)
    step = 1e-6
    raised, lowered = LENGTHS.copy(), LENGTHS.copy()
    raised[variable] *= np.exp(step)
    lowered[variable] *= np.exp(-step)
    _, slopes = KERNEL.gram(first, second, LENGTHS, SPREAD)
    values = [KERNEL.gram(first, second, lengths, SPREAD)[0] for lengths in (raised, lowered)]
    np.testing.assert_allclose(slopes[variable], (values[0] - values[1]) / (2 * step), rtol=1e-6, atol=1e-9)
    _, own_slopes = KERNEL.own(first, LENGTHS, SPREAD)
    own = [KERNEL.own(first, lengths, SPREAD)[0] for lengths in (raised, lowered)]
    np.testing.assert_allclose(own_slopes[variable], (own[0] - own[1]) / (2 * step), rtol=1e-6, atol=1e-9)


def test_scales_come_from_what_was_seen():
    rows = np.array([[0.0, 10.0, 1.0], [1.0, np.nan, 3.0], [2.0, 30.0, np.nan]])
    scale = SituationScale.of(rows, units=np.array([1.0, 0.0, 1.0]))
    np.testing.assert_allclose(scale.center, [1.0, 20.0, 2.0])
    np.testing.assert_allclose(scale.unit, [1.0, 10.0, 1.0])
    np.testing.assert_allclose(scale.spread[1:], [1.0, 1.0])
    np.testing.assert_allclose(scale.scaled(rows)[:, 1], [-1.0, np.nan, 1.0])
    alone = SituationScale.of(np.full((2, 1), np.nan), np.zeros(1))
    assert (alone.center[0], alone.unit[0], alone.spread[0]) == (0.0, 1.0, 1.0)
