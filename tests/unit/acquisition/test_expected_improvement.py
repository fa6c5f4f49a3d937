"""Log expected improvement against numerical integration and finite differences, near and far below the best."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from mfbo.acquisition import LogExpectedImprovement
from mfbo.acquisition.expected_improvement import log_improvement
from mfbo.interfaces import PopulationMoments

XI = np.array([[0.5, 0.25, 0.25]])


class FakePosterior:
    """Mean ⟨m, ξ⟩ and variance ⟨v, ξ⟩²."""

    mean, spread = np.array([[0.3, -0.4, 1.0]]), np.array([[0.2, 0.5, 0.9]])

    def population(self, distribution):
        sd = float((self.spread * distribution).sum())
        return PopulationMoments(
            float((self.mean * distribution).sum()),
            sd**2,
            lambda d_mean, d_variance: d_mean * self.mean + 2 * d_variance * sd * self.spread,
        )


@pytest.mark.parametrize("z", [2.0, 0.0, -0.99, -1.01, -4.0, -8.0])
def test_the_value_is_that_of_the_integral(z):
    expected = quad(lambda x: x * norm.pdf(x - z), 0, 12 + max(z, 0), epsabs=1e-300, epsrel=1e-11)[0]
    assert log_improvement(z)[0] == pytest.approx(np.log(expected), rel=1e-7)


@pytest.mark.parametrize("z", [3.0, 0.0, -1.5, -20.0, -900.0])
def test_the_slope_is_that_of_finite_differences(z):
    step = 1e-5
    numeric = (log_improvement(z + step)[0] - log_improvement(z - step)[0]) / (2 * step)
    assert log_improvement(z)[1] == pytest.approx(numeric, rel=1e-4)


@pytest.mark.parametrize("border", [-1.0, -1000.0])
def test_the_branches_meet(border):
    low, high = log_improvement(border - 1e-9), log_improvement(border + 1e-9)
    np.testing.assert_allclose(low, high, rtol=2e-5)


@pytest.mark.parametrize("best", [-1.0, 0.4, 3.0, 50.0])
def test_the_gradient_is_that_of_finite_differences(best):
    acquisition = LogExpectedImprovement(FakePosterior(), best)
    _, gradient = acquisition(XI)
    for place in range(3):
        step = np.zeros((1, 3))
        step[0, place] = 1e-6
        numeric = (acquisition(XI + step)[0] - acquisition(XI - step)[0]) / 2e-6
        assert gradient[0, place] == pytest.approx(numeric, rel=1e-5)
