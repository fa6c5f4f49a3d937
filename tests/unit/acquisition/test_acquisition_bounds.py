"""The two upper confidence bounds on a fake posterior with given moments: no Gaussian process is needed."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfbo.acquisition import MeanFieldUCB, PopulationUCB
from mfbo.interfaces import CellMoments, PopulationMoments

WEIGHTS = np.array([0.4, 0.6])
XI = np.array([[0.5, 0.25, 0.25], [0.2, 0.2, 0.6]])


@dataclass(frozen=True, eq=False)
class FakePosterior:
    """f is Gaussian with mean + slope · ξ (C, A) and a given covariance (C A, C A), the same at every ξ."""

    weights: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    slope: float = 0.0

    def cells(self, distribution):
        variance = np.diag(self.covariance).reshape(distribution.shape)
        return CellMoments(
            self.mean + self.slope * distribution, variance, lambda d_mean, d_variance: self.slope * d_mean
        )

    def population(self, distribution):
        share = (self.weights[:, None] * distribution).ravel()
        mean = float(share @ (self.mean + self.slope * distribution).ravel())

        def pullback(d_mean, d_variance):
            d_share = d_mean * self.mean.ravel() + 2 * d_variance * self.covariance @ share
            d_mean_part = 2 * self.slope * d_mean * self.weights[:, None] * distribution
            return self.weights[:, None] * d_share.reshape(distribution.shape) + d_mean_part

        return PopulationMoments(mean, float(share @ self.covariance @ share), pullback)

    def population_means(self, distributions):
        return np.array([self.population(each).mean for each in distributions])


def fake(seed=0, slope=0.0, contexts=2, actions=3, rank=None):
    rng = np.random.default_rng(seed)
    cells = contexts * actions
    root = rng.normal(size=(cells, rank or cells))
    weights = rng.dirichlet(np.ones(contexts)) if contexts != 2 else WEIGHTS
    return FakePosterior(weights, rng.normal(size=(contexts, actions)), root @ root.T + 1e-6 * np.eye(cells), slope)


def test_mean_field_ucb_is_the_weighted_mean_of_the_cells_upper_bounds():
    posterior = FakePosterior(WEIGHTS, np.arange(6.0).reshape(2, 3), np.diag(np.arange(1.0, 7.0) ** 2))
    value, _ = MeanFieldUCB(posterior, WEIGHTS, 2.0)(XI)
    upper = np.array([[0 + 2, 1 + 4, 2 + 6], [3 + 8, 4 + 10, 5 + 12]])
    assert value == pytest.approx(0.4 * (XI[0] @ upper[0]) + 0.6 * (XI[1] @ upper[1]))


def test_population_ucb_uses_the_deviation_of_the_weighted_sum():
    posterior = FakePosterior(WEIGHTS, np.arange(6.0).reshape(2, 3), np.diag(np.arange(1.0, 7.0) ** 2))
    value, _ = PopulationUCB(posterior, 2.0)(XI)
    share = (WEIGHTS[:, None] * XI).ravel()
    expected = share @ np.arange(6.0) + 2 * np.sqrt(np.sum((share * np.arange(1.0, 7.0)) ** 2))
    assert value == pytest.approx(expected)


@pytest.mark.parametrize("multiplier", [0.0, 1.5])
@pytest.mark.parametrize("slope", [0.0, 0.8])
@pytest.mark.parametrize("seed", range(3))
def test_mean_field_ucb_gradient(seed, slope, multiplier):
    posterior = fake(seed, slope)
    assert_slope(MeanFieldUCB(posterior, WEIGHTS, multiplier))


@pytest.mark.parametrize("multiplier", [0.0, 1.5])
@pytest.mark.parametrize("slope", [0.0, 0.8])
@pytest.mark.parametrize("seed", range(3))
def test_population_ucb_gradient(seed, slope, multiplier):
    assert_slope(PopulationUCB(fake(seed, slope), multiplier))


def assert_slope(acquisition, step=1e-6):
    _, gradient = acquisition(XI)
    assert gradient.shape == XI.shape
    for index in np.ndindex(XI.shape):
        ahead, behind = XI.copy(), XI.copy()
        ahead[index] += step
        behind[index] -= step
        numerical = (acquisition(ahead)[0] - acquisition(behind)[0]) / (2 * step)
        assert gradient[index] == pytest.approx(numerical, rel=1e-6, abs=1e-8)


@given(
    seed=st.integers(0, 10_000),
    contexts=st.integers(1, 3),
    actions=st.integers(1, 5),
    multiplier=st.floats(0, 50),
    rank=st.integers(1, 3),
)
@settings(max_examples=100, deadline=None)
def test_population_ucb_is_never_above_mean_field_ucb(seed, contexts, actions, multiplier, rank):
    posterior = fake(seed, 0.5, contexts, actions, rank)
    distribution = np.random.default_rng(seed).dirichlet(np.ones(actions), size=contexts)
    tight, _ = PopulationUCB(posterior, multiplier)(distribution)
    wide, _ = MeanFieldUCB(posterior, posterior.weights, multiplier)(distribution)
    assert tight <= wide + 1e-9 * (1 + abs(wide))


def test_the_bounds_are_equal_if_all_cells_are_perfectly_correlated():
    posterior = FakePosterior(WEIGHTS, np.zeros((2, 3)), np.ones((6, 6)))
    assert PopulationUCB(posterior, 2.0)(XI)[0] == pytest.approx(MeanFieldUCB(posterior, WEIGHTS, 2.0)(XI)[0])


def test_more_optimism_raises_both_bounds():
    posterior = fake()
    assert PopulationUCB(posterior, 3.0)(XI)[0] > PopulationUCB(posterior, 1.0)(XI)[0]
    assert MeanFieldUCB(posterior, WEIGHTS, 3.0)(XI)[0] > MeanFieldUCB(posterior, WEIGHTS, 1.0)(XI)[0]


def test_without_optimism_both_bounds_are_the_mean():
    posterior = fake()
    mean = posterior.population(XI).mean
    assert PopulationUCB(posterior, 0.0)(XI)[0] == pytest.approx(mean)
    assert MeanFieldUCB(posterior, WEIGHTS, 0.0)(XI)[0] == pytest.approx(mean)


def test_the_distribution_is_left_alone():
    before = XI.copy()
    MeanFieldUCB(fake(), WEIGHTS, 2.0)(XI)
    PopulationUCB(fake(), 2.0)(XI)
    np.testing.assert_array_equal(XI, before)
