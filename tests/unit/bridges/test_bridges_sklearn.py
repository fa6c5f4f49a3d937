"""Our process as a scikit-learn regressor: its estimator checks, and the same numbers as our own posterior."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import estimator_checks_generator

from mfbo.bridges.fitted_process import fitted_process
from mfbo.bridges.sklearn import DistributionRegressor
from mfbo.errors import InvalidInputError
from mfbo.models import RescaledPosterior
from mfbo.population import Population
from mfbo.simplex import dirichlet

NOTHING_PLACED = "its data have rows of zeros, which place nobody"
NOT_OURS = {"check_estimators_dtypes": NOTHING_PLACED, "check_fit2d_1feature": NOTHING_PLACED}


@pytest.mark.parametrize(
    ("estimator", "check"),
    list(estimator_checks_generator(DistributionRegressor(), expected_failed_checks=NOT_OURS, mark="xfail")),
    ids=lambda part: getattr(getattr(part, "func", None), "__name__", "ours"),
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scikit_learn_s_own_checks(estimator, check):
    check(estimator)


def test_predictions_are_our_posterior_in_the_payoff_s_unit():
    rng = np.random.default_rng(0)
    population = Population(rng.uniform(size=(5, 2)), contexts=["a", "b"], size=None)
    distributions = np.stack([dirichlet(1.0, 2, 5, rng) for _ in range(12)])
    payoffs = 40 + 3 * distributions[:, 0, 1] - distributions[:, 1, 2] ** 2
    flat = distributions.reshape(12, -1)
    regressor = DistributionRegressor(population).fit(17 * flat, payoffs)  # agents instead of shares
    means, deviations = regressor.predict(flat[:3], return_std=True)
    process, fit = fitted_process(population, distributions, payoffs)
    posterior = RescaledPosterior(process.posterior(), fit.shift, fit.scale)
    own = [posterior.population(distribution) for distribution in distributions[:3]]
    np.testing.assert_allclose(means, [moments.mean for moments in own], rtol=1e-8)
    np.testing.assert_allclose(deviations**2, [moments.variance for moments in own], rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose(regressor.predict(flat[:3]), means, rtol=1e-8)


def test_it_predicts_placements_it_has_not_seen():
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.ones(6), size=60)
    payoffs = -((shares - np.arange(6) / 15) ** 2).sum(axis=1)
    assert cross_val_score(DistributionRegressor(), shares, payoffs, cv=3).min() > 0.95


def test_what_cannot_be_placed_is_said():
    with pytest.raises(InvalidInputError, match="row 1 of X places nobody"):
        DistributionRegressor().fit([[1.0, 2.0], [0.0, 0.0]], [1.0, 2.0])
    with pytest.raises(InvalidInputError, match="3 columns"):
        DistributionRegressor(Population(["a", "b"])).fit([[1.0, 2.0, 3.0]] * 2, [1.0, 2.0])
