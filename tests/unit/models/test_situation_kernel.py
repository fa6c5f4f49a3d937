"""How alike situations are: known values as an RBF and by equality, unknown ones as the average over all."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from mfbo.models.situation_kernel import SituationModel, SituationScale, SituationValues
from mfbo.situations import Situations

MODEL = SituationModel.of(
    Situations.read({"day": ["mon", "sat", "sun"], "rain": "number", "requests": {"kind": "time", "known": "after"}})
)
LENGTHS = np.array([0.9, 0.7, 1.8])
VALUES = SituationValues(0.8, 0.4, LENGTHS)
SCALE = SituationScale(np.zeros(3), np.ones(3), np.array([1.0, 1.0, 2.5]))
NUMBER = SituationModel((0,), np.zeros(1), (0,))


def situations(rng, count, *, unknown=0.0, first=0):
    rows = np.column_stack([rng.integers(0, 3, count).astype(float), rng.normal(size=count), rng.normal(size=count)])
    rows[rng.random(rows.shape) < unknown] = np.nan
    return np.column_stack([rows, first + np.arange(count)])


def compared(first, second, *, model=MODEL, values=VALUES, scale=SCALE):
    return model.pairs(first[:, None], second[None], scale).at(values)


def test_known_numbers_are_scikit_learns_rbf():
    rng = np.random.default_rng(0)
    first, second = situations(rng, 6), situations(rng, 4, first=10)
    first[:, 0] = second[:, 0] = 1.0
    found = compared(first, second)
    np.testing.assert_allclose(found.every, RBF(LENGTHS[1:])(first[:, 1:3], second[:, 1:3]), rtol=1e-12)
    np.testing.assert_allclose(found.before, RBF(LENGTHS[1])(first[:, 1:2], second[:, 1:2]), rtol=1e-12)


def test_known_categories_are_an_rbf_of_indicators():
    codes = np.array([0.0, 1.0, 2.0, 1.0])
    rows = np.column_stack([codes, np.zeros(4), np.zeros(4), np.arange(4)])
    indicators = np.eye(3)[codes.astype(int)]
    np.testing.assert_allclose(compared(rows, rows).every, RBF(LENGTHS[0])(indicators, indicators), rtol=1e-12)


def test_an_unknown_number_is_the_average_over_what_is_usual():
    draws = np.column_stack([2.5 * np.random.default_rng(1).normal(size=400_000), np.arange(400_000)])
    scale = SituationScale(np.zeros(1), np.ones(1), np.array([2.5]))
    values = replace(VALUES, lengths=LENGTHS[2:])
    other, unknown = np.array([[0.6, -1.0]]), np.array([[np.nan, -1.0]])
    averaged = compared(draws, other, model=NUMBER, values=values, scale=scale).every.mean()
    found = compared(unknown, other, model=NUMBER, values=values, scale=scale).every[0, 0]
    assert found == pytest.approx(averaged, rel=5e-3)
    pairs = np.exp(-((draws[:200_000, 0] - draws[200_000:, 0]) ** 2) / (2 * LENGTHS[2] ** 2)).mean()
    both = compared(unknown, np.array([[np.nan, 7.0]]), model=NUMBER, values=values, scale=scale).every[0, 0]
    assert both == pytest.approx(pairs, rel=5e-3)


def test_an_unknown_category_is_the_average_over_all():
    model = SituationModel((3,), np.ones(1), (0,))
    categories = np.column_stack([np.arange(3.0), np.arange(3)])
    gram = compared(categories, categories, model=model).every
    unknown = compared(np.array([[np.nan, 9.0]]), categories, model=model).every
    np.testing.assert_allclose(unknown[0], gram.mean(axis=0), rtol=1e-12)


def test_rows_of_one_round_share_what_is_unknown():
    rows = np.array([[0.0, np.nan, np.nan, 4.0], [0.0, np.nan, np.nan, 4.0], [0.0, np.nan, np.nan, 5.0]])
    found = compared(rows, rows)
    np.testing.assert_array_equal(found.every[:2, :2], np.ones((2, 2)))
    assert found.every[0, 2] < 1.0
    planned = np.array([[0.0, np.nan, np.nan, -1.0]])
    assert compared(planned, planned).every[0, 0] < 1.0  # two candidates are not one round


@pytest.mark.parametrize("unknown", [0.0, 0.4])
def test_the_covariance_is_positive_semidefinite_with_ones_on_its_diagonal(unknown):
    rows = situations(np.random.default_rng(2), 40, unknown=unknown)
    rows[:6, :3], rows[:6, 3] = rows[0, :3], 0.0
    found = compared(rows, rows)
    for gram in (found.before, found.every, found.factor):
        np.testing.assert_allclose(gram, gram.T, rtol=1e-13)
        np.testing.assert_array_equal(np.diag(gram), np.ones(40))
        assert np.linalg.eigvalsh(gram).min() > -1e-9


def test_the_gradient_is_finite_differences():
    rng = np.random.default_rng(3)
    rows = situations(rng, 9, unknown=0.3)
    row, column = np.tril_indices(9)
    pairs = MODEL.pairs(rows[row], rows[column], SCALE)
    pull, plan = rng.normal(size=(2, len(row)))
    theta = np.log([0.8, 0.4, *LENGTHS])
    found = pairs.at(MODEL.values(theta)).gradient(pull, plan)
    step = 1e-6
    for position in range(len(theta)):
        moved = np.zeros(len(theta))
        moved[position] = step
        values = [pull @ pairs.at(MODEL.values(at)).covariance(plan) for at in (theta + moved, theta - moved)]
        assert found[position] == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-6, abs=1e-8)


def test_scales_come_from_what_was_seen():
    rows = np.array([[0.0, 10.0, 1.0], [1.0, np.nan, 3.0], [2.0, 30.0, np.nan]])
    scale = SituationScale.of(rows, units=np.array([1.0, 0.0, 1.0]))
    np.testing.assert_allclose(scale.center, [1.0, 20.0, 2.0])
    np.testing.assert_allclose(scale.unit, [1.0, 10.0, 1.0])
    np.testing.assert_allclose(scale.spread[1:], [1.0, 1.0])
    alone = SituationScale.of(np.full((2, 1), np.nan), np.zeros(1))
    assert (alone.center[0], alone.unit[0], alone.spread[0]) == (0.0, 1.0, 1.0)
    equal = SituationScale.of(np.full((7, 1), 0.3), np.zeros(1))
    assert equal.unit[0] == 1.0


def test_numbers_of_any_size_are_compared():
    rows = np.array([[1e150, 0.0], [-1e150, 1.0]])
    found = compared(rows, rows, model=NUMBER, scale=SituationScale(np.zeros(1), np.full(1, 1e-9), np.ones(1)))
    np.testing.assert_array_equal(found.every, np.eye(2))
