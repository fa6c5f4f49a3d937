"""Units of payoffs: warps have the slopes they say, and are let in where evidence asks for them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from mfbo import Population
from mfbo.models import GaussianProcess, default_kernel, system_rows
from mfbo.models.fitting import MarginalLikelihood
from mfbo.models.gaussian_process import FEWEST
from mfbo.models.unit import Unit, Warp

POPULATION = Population(list("abcd"))
KERNEL = replace(default_kernel(POPULATION), warps=True)
PLANS = np.random.default_rng(5).dirichlet(np.ones(4), size=(40, 1))
BEST = np.array([0.4, 0.3, 0.2, 0.1])
VALUES = np.array([-3.0, 1.0, 0.5, -40.0, 0.9])


def smooth(plan: np.ndarray) -> float:
    return -float(((plan[0] - BEST) ** 2).sum())


def steep(plan: np.ndarray) -> float:
    return -float(np.expm1(-12.0 * smooth(plan)))


def process_of(payoff, plans: np.ndarray = PLANS) -> GaussianProcess:
    process = GaussianProcess(KERNEL)
    process.append(system_rows(plans, np.array([payoff(plan) for plan in plans])))
    return process


def test_a_warp_is_straight_above_its_top_smooth_there_and_a_logarithm_far_below():
    warp = Warp(1.0, 2.0)
    np.testing.assert_allclose(warp.warped(np.array([1.0, 1.5, 9.0])), [1.0, 1.5, 9.0])
    around = warp.warped(np.array([1.0 - 1e-6, 1.0 + 1e-6]))
    assert (around[1] - around[0]) / 2e-6 == pytest.approx(1.0, rel=1e-5)
    assert warp.warped(np.array([1.0 - 2e6]))[0] == pytest.approx(1.0 - 2.0 * np.log(1e6), rel=1e-5)


def test_slopes_of_a_warp_are_those_of_finite_differences():
    warp, step = Warp(1.2, 0.7), 1e-6
    slopes = (warp.warped(VALUES + step) - warp.warped(VALUES - step)) / (2.0 * step)
    assert warp.log_slopes(VALUES) == pytest.approx(float(np.log(slopes).sum()), rel=1e-6)


@pytest.mark.parametrize("warp", [None, Warp.of(VALUES)])
def test_slopes_of_a_unit_are_those_of_finite_differences(warp):
    unit, step = Unit.of(VALUES, warp=warp), 1e-3
    standardized = unit.standardized(VALUES)
    assert (standardized.mean(), standardized.std()) == pytest.approx((0.0, 1.0), abs=1e-9)
    slopes = (unit.standardized(VALUES) - unit.standardized(VALUES - step)) / step
    assert unit.log_slopes(VALUES) == pytest.approx(float(np.log(slopes).sum()), rel=1e-2)


@pytest.mark.parametrize("factor", [1e-9, 1.0, 1e9])
def test_a_warp_is_of_no_currency(factor):
    plain, other = Unit.of(VALUES, warp=Warp.of(VALUES)), Unit.of(factor * VALUES, warp=Warp.of(factor * VALUES))
    np.testing.assert_allclose(plain.standardized(VALUES), other.standardized(factor * VALUES), atol=1e-9)


def test_equal_payoffs_have_no_warp():
    assert Warp.of(np.full(5, 0.1)) is None


def test_payoffs_are_warped_where_they_fall_steeply_and_only_there():
    assert process_of(smooth).refit(None, 20).warped is None
    assert process_of(steep, PLANS[: FEWEST - 1]).refit(None, 20).warped is None  # too few to tell
    process = process_of(steep)
    fit = process.refit(None, 20)
    told = np.array([steep(plan) for plan in PLANS])
    assert fit.warp is None
    assert fit.warped.warp == Warp(float(told.max()), float(told.std()))
    assert process.warped.fit is fit.warped
    before = fit.warped.theta
    assert process_of(steep).refit(fit.theta, 20, further=fit.further, warped=before).warped is not None
    assert process_of(smooth).refit(fit.theta, 20, further=fit.further, warped=before).warped is None


def test_a_process_of_warped_payoffs_grows_with_the_other_and_equals_one_from_scratch():
    process = process_of(steep, PLANS[:30])
    fit = process.refit(None, 20)
    told = np.array([steep(plan) for plan in PLANS])
    process.append(system_rows(PLANS[30:], told[30:]))
    scratch = process_of(steep)
    scratch.adopt(fit)
    for grown, made in ((process, scratch), (process.warped, scratch.warped)):
        np.testing.assert_allclose(
            grown.posterior().population_means(PLANS), made.posterior().population_means(PLANS), atol=1e-6
        )
    process.forget_fit()
    assert process.warped is None


def test_what_drifts_is_not_warped():
    process = GaussianProcess(KERNEL)
    for number, plan in enumerate(PLANS):
        moved = BEST + 0.4 * np.array([-1.0, 1.0, 0.0, 0.0]) * np.sin(number / 8.0)
        payoff = -float(((plan[0] - moved) ** 2).sum())
        process.append(replace(system_rows(plan[None], np.array([payoff])), numbers=np.array([float(number)])))
    fit = process.refit(None, 40, memory=30.0)
    assert fit.memory is not None
    assert fit.warped is None


def test_evidence_is_the_density_of_the_payoffs_themselves():
    """The gain of a warp against SciPy's normal density, moved to payoffs by finite differences."""
    process, told = process_of(steep), np.array([steep(plan) for plan in PLANS])
    theta = KERNEL.start + 0.3
    theta[-1] = -3.0  # noise, so that the covariance is easily inverted
    values = KERNEL.values(theta)
    gram = process.design.gram(values)
    normal = multivariate_normal(np.zeros(len(told)), gram + np.tril(gram, -1).T + values.noise * np.eye(len(told)))

    def log_density(unit):
        slopes = (unit.standardized(told + 1e-3) - unit.standardized(told - 1e-3)) / 2e-3
        return float(normal.logpdf(unit.standardized(told))) + float(np.log(slopes).sum())

    def evidence(unit):
        objective = MarginalLikelihood(process.design, unit.standardized(told), None)
        return unit.log_slopes(told) - objective(theta)[0]

    units = [Unit.of(told, warp=warp) for warp in (None, Warp.of(told))]
    gain = evidence(units[1]) - evidence(units[0])  # equal priors drop out
    assert gain == pytest.approx(log_density(units[1]) - log_density(units[0]), rel=1e-3)
