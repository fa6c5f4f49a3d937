"""A process that grows equals one made at once; open plans take uncertainty away and change no mean."""

import logging
from dataclasses import replace

import numpy as np
import pytest

from mfbo.models import GaussianProcess
from mfbo.models.fitting import MarginalLikelihood
from mfbo.models.gaussian_process import Fit
from mfbo.models.unit import in_unit

CLOSE = {"rtol": 1e-8, "atol": 1e-8}


def assert_same_posterior(case, first, second):
    candidate = case.distribution()
    np.testing.assert_allclose(first.cells(candidate).mean, second.cells(candidate).mean, **CLOSE)
    np.testing.assert_allclose(first.cells(candidate).variance, second.cells(candidate).variance, **CLOSE)
    assert first.population(candidate).mean == pytest.approx(second.population(candidate).mean, rel=1e-8, abs=1e-8)
    assert first.population(candidate).variance == pytest.approx(
        second.population(candidate).variance, rel=1e-8, abs=1e-8
    )


def test_appended_rows_equal_rows_from_scratch(case, kind):
    blocks = case.rounds(kind)
    grown = case.process(blocks[:2])
    for rows in blocks[2:]:
        grown.append(rows)
    assert_same_posterior(case, grown.posterior(), case.process(blocks).posterior())


def test_a_grown_process_fits_as_one_from_scratch(case):
    blocks = case.rounds("mixed")
    grown = case.process(blocks[:2])
    for rows in blocks[2:]:
        grown.append(rows)
    fit = grown.refit(None, 10)
    scratch = case.process(blocks).refit(None, 10)
    np.testing.assert_allclose(fit.theta, scratch.theta, atol=1e-6)
    assert (fit.shift, fit.scale) == (scratch.shift, scratch.scale)


def test_a_posterior_stays_as_it_was_when_rows_are_appended(case):
    blocks, candidate = case.rounds("mixed"), case.distribution()
    process = case.process(blocks[:3])
    posterior = process.posterior()
    before = posterior.cells(candidate)
    for rows in blocks[3:]:
        process.append(rows)
    np.testing.assert_array_equal(posterior.cells(candidate).mean, before.mean)
    np.testing.assert_array_equal(posterior.cells(candidate).variance, before.variance)


def test_equal_calls_give_equal_bits(case):
    blocks, candidate = case.rounds("mixed"), case.distribution()
    first, second = case.process(blocks[:2]), case.process(blocks[:2])
    for process in (first, second):
        for rows in blocks[2:]:
            process.append(rows)
        process.refit(None, 5)
    np.testing.assert_array_equal(first.fit.theta, second.fit.theta)
    np.testing.assert_array_equal(
        first.posterior().cells(candidate).variance, second.posterior().cells(candidate).variance
    )


def test_refit_from_its_own_optimum_stays_there(make_case):
    case = make_case("paper", 3)
    process = case.process(case.rounds("mixed"))
    best = process.refit(None, 500).theta
    np.testing.assert_allclose(process.refit(best, 500).theta, best, atol=1e-2)


def test_a_kernel_fitted_afresh_keeps_the_better_of_two_fits(make_case):
    case = make_case("paper", 3)
    blocks = case.rounds("mixed")
    fitted_afresh = replace(case.kernel, afresh=True)
    wrong = case.kernel.start + 3.0  # far from the medians, and too few steps to come back

    def cost(kernel, start):
        process = GaussianProcess(kernel)
        for rows in blocks:
            process.append(rows)
        fit = process.refit(start, 2)
        targets = in_unit(process.design.values, fit.shift, fit.scale)
        return MarginalLikelihood(process.design, targets, None)(fit.theta)[0]

    begun_wrong, begun_at_medians = cost(case.kernel, wrong), cost(case.kernel, None)
    assert begun_at_medians < begun_wrong
    assert cost(fitted_afresh, wrong) == begun_at_medians
    assert cost(fitted_afresh, None) == begun_at_medians


def test_refit_standardizes_the_payoffs(make_case):
    case = make_case("paper", 1)
    process = case.process(case.rounds("system"))
    values = process.design.values
    fit = process.refit(None, 5)
    assert (fit.shift, fit.scale) == pytest.approx((values.mean(), values.std()))


def test_refit_keeps_the_bounds(case):
    process = case.process(case.rounds("mixed"))
    fit = process.refit(case.kernel.start + 100.0, 5)
    for value, each in zip(fit.theta, case.kernel.with_further(fit.further).hyperparameters, strict=True):
        assert each.lower <= value <= each.upper


def test_pending_plans_leave_means_unchanged(case, kind):
    process, pending, candidate = case.process(case.rounds(kind)), case.pending(), case.distribution()
    told, waiting = process.posterior(), process.posterior(pending)
    np.testing.assert_allclose(waiting.cells(candidate).mean, told.cells(candidate).mean, rtol=1e-10, atol=1e-12)
    assert waiting.population(candidate).mean == pytest.approx(told.population(candidate).mean, rel=1e-10, abs=1e-12)
    np.testing.assert_allclose(
        waiting.population_means(candidate[None]), told.population_means(candidate[None]), rtol=1e-10, atol=1e-12
    )


def test_pending_plans_never_raise_variances(case, kind):
    process, pending = case.process(case.rounds(kind)), case.pending()
    told, waiting = process.posterior(), process.posterior(pending)
    for _ in range(5):
        candidate = case.distribution(0.5)
        assert (waiting.cells(candidate).variance <= told.cells(candidate).variance + 1e-12).all()
        assert waiting.population(candidate).variance <= told.population(candidate).variance + 1e-12


def test_a_pending_plan_takes_most_of_its_own_uncertainty_away(case):
    process, plan = case.process(case.rounds("system", 2), noise=1e-3), case.distribution()
    before = process.posterior().population(plan).variance
    after = process.posterior(case.population.joint_shares(plan)[None]).population(plan).variance
    assert after < 1.01e-6 < before


def test_pending_plans_are_forgotten_by_the_next_posterior(case):
    process, candidate = case.process(case.rounds("mixed")), case.distribution()
    before = process.posterior().population(candidate).variance
    process.posterior(case.pending())
    assert process.posterior().population(candidate).variance == before


def test_no_pending_plans_change_nothing(make_case):
    case = make_case("default", 3)
    process, candidate = case.process(case.rounds("mixed")), case.distribution()
    none = case.pending()[:0]
    assert process.posterior(none).population(candidate).variance == process.posterior().population(candidate).variance


def test_known_noise_is_in_the_units_of_the_payoff(make_case):
    """Payoffs and noise in other units, standardized accordingly, are the same data."""
    case = make_case("paper", 3)
    blocks = case.rounds("agents")
    plain = case.process(blocks, noise=0.2)
    converted = GaussianProcess(case.kernel, noise=0.2 * 50)
    for rows in blocks:
        converted.append(replace(rows, values=7 + 50 * rows.values))
    converted.adopt(Fit(case.theta, 7.0, 50.0))
    assert_same_posterior(case, plain.posterior(), converted.posterior())
    assert converted.noise_variance == pytest.approx(plain.noise_variance) == pytest.approx(0.04)


def test_fitted_noise_is_that_of_standardized_payoffs(make_case):
    case = make_case("paper", 1)
    process = case.process(case.rounds("system"))
    process.adopt(Fit(case.theta, 0.0, 50.0))
    assert process.noise_variance == pytest.approx(np.exp(case.theta[-1]))


def test_equal_payoffs_are_logged(make_case, caplog):
    case = make_case("paper", 1)
    rows = case.rounds("system", 1)[0]
    process = case.process([rows])
    with caplog.at_level(logging.INFO, "mfbo.models"):
        process.refit(None, 3)
    assert "told payoffs are equal" in caplog.text
