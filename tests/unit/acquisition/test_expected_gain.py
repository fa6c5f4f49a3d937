"""The expected gain against quadrature, its far tail, and its gradient against finite differences."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.integrate import quad

from mfbo.acquisition import ExpectedGain
from mfbo.acquisition.expected_gain import FAR, log_expected_gain
from mfbo.interfaces import PopulationMoments

SLOPES, WIDTHS = np.array([[1.0, -2.0, 0.5]]), np.array([[0.3, 0.1, 0.7]])


@dataclass(frozen=True)
class MadeUp:
    """A posterior with a linear mean and a quadratic variance."""

    def population(self, distribution: np.ndarray) -> PopulationMoments:
        mean = float((SLOPES * distribution).sum())
        variance = 0.01 + float((WIDTHS * distribution**2).sum())
        return PopulationMoments(mean, variance, lambda a, b: a * SLOPES + b * 2.0 * WIDTHS * distribution)


@pytest.mark.parametrize("ahead", [-6.0, -2.0, -1.0, -0.999, 0.0, 1.5, 9.0])
def test_it_is_the_mean_of_what_exceeds(ahead):
    density = lambda z: math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)  # noqa: E731
    mean, _ = quad(lambda z: (z + ahead) * density(z), -ahead, max(-ahead, 0.0) + 12.0, epsabs=0.0)
    assert log_expected_gain(ahead) == pytest.approx(math.log(mean), rel=1e-8)


@pytest.mark.parametrize("ahead", [-30.0, -1e3, -FAR * (1 - 1e-9), -FAR, -1e8])
def test_the_far_tail_is_finite_and_follows_its_series(ahead):
    series = -0.5 * ahead**2 - 0.5 * math.log(2 * math.pi) - 2.0 * math.log(-ahead) + math.log1p(-3.0 / ahead**2)
    assert log_expected_gain(ahead) == pytest.approx(series, rel=1e-6)


@pytest.mark.parametrize("best", [-3.0, 0.2, 4.0])
def test_gradient_against_finite_differences(best):
    gain = ExpectedGain(MadeUp(), best)
    at = np.array([[0.2, 0.5, 0.3]])
    value, gradient = gain(at)
    assert value == pytest.approx(math.log(_expected(at, best)), rel=1e-7)
    for cell in np.ndindex(at.shape):
        step = np.zeros_like(at)
        step[cell] = 1e-6
        assert gradient[cell] == pytest.approx((gain(at + step)[0] - gain(at - step)[0]) / 2e-6, rel=1e-5, abs=1e-8)


def _expected(distribution: np.ndarray, best: float) -> float:
    moments = MadeUp().population(distribution)
    sd = moments.variance**0.5
    density = lambda y: math.exp(-0.5 * ((y - moments.mean) / sd) ** 2) / (sd * math.sqrt(2 * math.pi))  # noqa: E731
    return float(quad(lambda y: (y - best) * density(y), best, max(best, moments.mean) + 12 * sd, epsabs=0.0)[0])


def test_slopes_far_below_the_best_follow_their_series_and_do_not_overflow():
    plan = np.array([[0.2, 0.3, 0.5]])
    moments = MadeUp().population(plan)
    sd = math.sqrt(moments.variance)
    near, far = (ExpectedGain(MadeUp(), moments.mean + below * sd)(plan)[1] for below in (0.999 * FAR, FAR))
    np.testing.assert_allclose(near / far, 0.999**2, rtol=1e-3)
    for below in (1e9, 1e12):
        assert np.isfinite(ExpectedGain(MadeUp(), moments.mean + below * sd)(plan)[1]).all()
