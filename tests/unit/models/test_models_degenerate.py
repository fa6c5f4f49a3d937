"""The model survives any data a study can hold: one row, equal payoffs, repeated plans, huge and tiny payoffs."""

from dataclasses import replace

import numpy as np
import pytest

from mfbo.models import GaussianProcess, RescaledPosterior, Rows
from mfbo.models.gaussian_process import Fit
from mfbo.models.unit import standardization


def one_row(case):
    return case.rounds("system", 1)


def equal_payoffs(case):
    return with_payoffs(case.rounds("mixed"), lambda values: np.full_like(values, 0.1))


def zero_payoffs(case):
    return with_payoffs(case.rounds("system"), np.zeros_like)


def same_plan_same_payoff(case):
    return case.rounds("system", 1) * 6


def same_plan_other_payoffs(case):
    rows = case.rounds("system", 1)[0]
    return [replace(rows, values=case.rng.normal(size=1)) for _ in range(6)]


def same_cell_again_and_again(case):
    rows = case.rounds("agents", 1)[0]
    return [replace(rows, values=case.rng.normal(size=len(rows))) for _ in range(6)]


def huge_payoffs(case):
    return with_payoffs(case.rounds("mixed"), lambda values: 1e9 * values)


def tiny_payoffs(case):
    return with_payoffs(case.rounds("mixed"), lambda values: 1e-9 * values)


def shifted_payoffs(case):
    return with_payoffs(case.rounds("mixed"), lambda values: 1e6 + values)


def one_outlier(case):
    blocks = case.rounds("system")
    return blocks[:-1] + with_payoffs(blocks[-1:], lambda values: 1e9 + values)


def vertices(case):
    """Everybody on one action, a different one every round: zero shares wherever a root or logarithm is taken."""
    contexts, actions = case.population.shape
    shares = [case.population.joint_shares(np.eye(actions)[[a] * contexts]) for a in range(actions)]
    return [Rows(w[None], w[None], case.rng.normal(size=1), np.ones(1)) for w in shares]


def with_payoffs(blocks, change):
    return [replace(rows, values=change(rows.values)) for rows in blocks]


DEGENERATE = [
    one_row,
    equal_payoffs,
    zero_payoffs,
    same_plan_same_payoff,
    same_plan_other_payoffs,
    same_cell_again_and_again,
    huge_payoffs,
    tiny_payoffs,
    shifted_payoffs,
    one_outlier,
    vertices,
]


def grown(case, blocks, noise=None, iterations=10):
    """Fit after the first round and after the last, growing in between, as a strategy does."""
    process = GaussianProcess(case.kernel, noise)
    process.append(blocks[0])
    fit = process.refit(None, iterations)
    for rows in blocks[1:]:
        process.append(rows)
    process.refit(fit.theta, iterations)
    return process


def assert_finite(case, posterior):
    contexts, actions = case.population.shape
    for candidate in (case.distribution(), np.full((contexts, actions), 1 / actions), np.eye(actions)[[0] * contexts]):
        cells, whole = posterior.cells(candidate), posterior.population(candidate)
        assert np.isfinite(cells.mean).all()
        assert (cells.variance > 0).all()
        assert np.isfinite(cells.pullback(np.ones_like(candidate), np.ones_like(candidate))).all()
        assert np.isfinite(whole.mean)
        assert whole.variance > 0
        assert np.isfinite(whole.pullback(1.0, 1.0)).all()


@pytest.mark.parametrize("data", DEGENERATE, ids=lambda data: data.__name__)
def test_fit_and_posterior_are_finite(case, data):
    process = grown(case, data(case))
    assert np.isfinite(process.fit.theta).all()
    assert_finite(case, process.posterior())


@pytest.mark.parametrize("noise", [0.0, 0.1], ids=["none", "some"])
@pytest.mark.parametrize("preset", ["paper", "default"])
@pytest.mark.parametrize("data", DEGENERATE, ids=lambda data: data.__name__)
def test_fit_and_posterior_are_finite_at_known_noise(make_case, data, preset, noise):
    case = make_case(preset, 3)
    process = grown(case, data(case), noise)
    assert np.isfinite(process.fit.theta).all()
    assert_finite(case, process.posterior())


@pytest.mark.parametrize("data", DEGENERATE, ids=lambda data: data.__name__)
def test_repeated_pending_plans_are_finite(make_case, data):
    case = make_case("default", 3)
    process = grown(case, data(case))
    plan = case.pending(1)
    assert_finite(case, process.posterior(np.concatenate([plan, plan, plan])))


@pytest.mark.parametrize("factor", [2.0**30, 2.0**-30], ids=["huge", "tiny"])
def test_scaled_payoffs_give_the_same_fit(case, factor):
    """Powers of two scale exactly, so the fit must be equal in every bit."""
    blocks = case.rounds("mixed")
    plain = grown(case, blocks)
    scaled = grown(case, with_payoffs(blocks, lambda values: factor * values))
    np.testing.assert_array_equal(scaled.fit.theta, plain.fit.theta)
    assert scaled.fit.shift == factor * plain.fit.shift
    assert scaled.fit.scale == factor * plain.fit.scale


@pytest.mark.parametrize(("factor", "shift"), [(1e9, 0.0), (1e-9, 0.0), (1.0, 1e6)], ids=["huge", "tiny", "shifted"])
def test_predictions_follow_the_units_of_the_payoff(case, factor, shift):
    blocks, candidate = case.rounds("mixed"), case.distribution()
    plain, converted = (
        process_at(case, each) for each in (blocks, with_payoffs(blocks, lambda values: shift + factor * values))
    )
    first, second = plain.cells(candidate), converted.cells(candidate)
    np.testing.assert_allclose((second.mean - shift) / factor, first.mean, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(second.variance / factor**2, first.variance, rtol=1e-6)


def process_at(case, blocks):
    """Return the posterior in the payoff's units at the case's hyperparameters, payoffs standardized."""
    process = GaussianProcess(case.kernel)
    for rows in blocks:
        process.append(rows)
    standardized = process.refit(None, 0)
    process.adopt(Fit(case.theta, standardized.shift, standardized.scale))
    return RescaledPosterior(process.posterior(), standardized.shift, standardized.scale)


def test_equal_payoffs_are_predicted_everywhere(case):
    process = grown(case, equal_payoffs(case))
    posterior = RescaledPosterior(process.posterior(), process.fit.shift, process.fit.scale)
    assert posterior.population(case.distribution()).mean == pytest.approx(0.1, abs=1e-9)


def test_the_mean_of_repeated_payoffs_is_predicted_at_their_plan(make_case):
    case = make_case("default", 1)
    blocks = same_plan_other_payoffs(case)
    process = grown(case, blocks, iterations=100)
    posterior = RescaledPosterior(process.posterior(), process.fit.shift, process.fit.scale)
    payoffs = np.concatenate([rows.values for rows in blocks])
    assert posterior.population(blocks[0].shares[0]).mean == pytest.approx(payoffs.mean(), abs=0.1 * payoffs.std())


def test_a_robust_unit_is_set_by_the_middle_half():
    values = np.concatenate([np.linspace(-1, 1, 41), [-1e3, -2e3]])
    shift, scale = standardization(values, robust=True)
    assert shift == np.median(values)
    assert scale == pytest.approx(np.subtract(*np.percentile(values, [75, 25])) / 1.349, rel=1e-12) or (
        scale == values.std() / 100
    )
    assert scale < standardization(values)[1]


def test_a_robust_unit_is_never_zero_nor_above_the_standard_deviation():
    assert standardization(np.array([5.0] * 9 + [6.0]), robust=True)[1] == pytest.approx(0.003)
    split = np.array([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0])
    assert standardization(split, robust=True)[1] == 1.0
    assert standardization(np.array([1.0, 2.0]), robust=True) == standardization(np.array([1.0, 2.0]))
