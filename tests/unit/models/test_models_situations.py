"""Kernels with situations: gradients by finite differences, growth, open plans, and what no situation leaves alone."""

from dataclasses import replace

import numpy as np
import pytest

from mfbo.models import Fit, GaussianProcess
from mfbo.models.fitting import MarginalLikelihood
from mfbo.models.situation_kernel import SituationModel, encoded_situation
from mfbo.situations import Situations

SITUATIONS = Situations.read(
    {
        "day": ["weekday", "weekend", "holiday"],
        "rain": "number",
        "date": "time",
        "requests": {"kind": "number", "known": "after"},
    }
)
PRESETS = ("paper", "default", "product", "joint")


def situated(case):
    """Return the case with situations, at hyperparameters that are not the prior medians."""
    numbers = np.log([1.7, 0.6, 0.8, 1.3, 0.9, 1.1])
    theta = np.concatenate([case.theta[:-1], numbers, case.theta[-1:]])
    return replace(case, kernel=replace(case.kernel, situation=SituationModel.of(SITUATIONS)), theta=theta)


def days(count, seed=4):
    rng = np.random.default_rng(seed)
    found = []
    for place in range(count):
        day = {"day": ("weekday", "weekend", "holiday")[place % 3], "date": float(20_000 + 9 * place)}
        if place % 4:
            day["rain"] = float(rng.random())
        if place % 3:
            day["requests"] = float(rng.normal(800, 90))
        found.append(encoded_situation(SITUATIONS, day, float(place)))
    return found


def in_situations(blocks):
    return [
        replace(rows, situations=np.tile(day, (len(rows), 1)))
        for rows, day in zip(blocks, days(len(blocks)), strict=True)
    ]


TODAY = encoded_situation(SITUATIONS, {"day": "weekend", "rain": 0.4, "date": 20_050.0})


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("rows", ["system", "mixed"])
def test_the_likelihoods_gradient_is_finite_differences(make_case, finite_differences, preset, rows):
    case = situated(make_case(preset, 3))
    design = case.process(in_situations(case.rounds(rows))).design
    objective = MarginalLikelihood(design, design.values, None)
    value, gradient = objective(case.theta)
    assert np.isfinite(value)
    numeric = finite_differences(lambda theta: objective(theta)[0], case.theta)
    np.testing.assert_allclose(gradient, numeric, rtol=2e-6, atol=2e-6 + 1e-7 * np.abs(numeric).max())


@pytest.mark.parametrize("preset", PRESETS)
def test_the_pullbacks_in_a_situation_are_finite_differences(make_case, finite_differences, preset):
    case = situated(make_case(preset, 3))
    posterior = case.process(in_situations(case.rounds("mixed"))).posterior(situation=TODAY)
    at = case.distribution()
    whole, cells = posterior.population(at), posterior.cells(at)
    numeric = finite_differences(
        lambda xi: 0.7 * posterior.population(xi).mean + 1.3 * posterior.population(xi).variance, at
    )
    np.testing.assert_allclose(whole.pullback(0.7, 1.3), numeric, rtol=2e-6, atol=2e-7)
    weights = case.rng.normal(size=(2, *at.shape))

    def blended(xi):
        found = posterior.cells(xi)
        return float((weights[0] * found.mean + weights[1] * found.variance).sum())

    np.testing.assert_allclose(cells.pullback(*weights), finite_differences(blended, at), rtol=2e-6, atol=2e-7)


@pytest.mark.parametrize("preset", PRESETS)
def test_one_by_one_equals_all_at_once_and_cells_sum_to_the_population(make_case, preset):
    case = situated(make_case(preset, 3))
    blocks = in_situations(case.rounds("cells", 6))
    whole = case.process(blocks)
    grown = GaussianProcess(case.kernel)
    for rows in blocks[:4]:
        grown.append(rows)
    grown.adopt(Fit(case.theta, 0.0, 1.0))
    usual = grown.design.situation_scale()
    for rows in blocks[4:]:
        grown.append(rows)
    at = case.distribution()
    assert grown.design.count == whole.design.count
    np.testing.assert_array_equal(usual.unit, grown._state.scale.unit)  # what was usual when it was fitted
    for process in (whole, grown):
        moments, cells = (
            process.posterior(situation=TODAY).population(at),
            process.posterior(situation=TODAY).cells(at),
        )
        assert moments.mean == pytest.approx(float((case.population.joint_shares(at) * cells.mean).sum()), rel=1e-9)
        means = process.posterior(situation=TODAY).population_means(at[None])
        assert means[0] == pytest.approx(moments.mean, rel=1e-9)


def test_the_level_cancels_in_changes_and_a_like_situation_explains_more(make_case):
    case = situated(make_case("default", 1))
    process = case.process(in_situations(case.rounds("system", 8)))
    start, plans = case.distribution(), np.stack([case.distribution() for _ in range(3)])
    near, far = days(8)[1].copy(), days(8)[1].copy()
    near[-1] = far[-1] = -1.0
    far[2] += 500.0  # months away
    found = []
    for situation in (near, far):
        posterior = process.posterior(situation=situation)
        mean, variance = posterior.changes(start, plans)
        means = posterior.population_means(np.concatenate([start[None], plans]))
        np.testing.assert_allclose(mean, means[1:] - means[0], atol=1e-10)
        found.append((variance, posterior.population(plans[0]).variance))
    assert (found[0][0] < found[1][0]).all()
    assert found[0][1] < found[1][1]


def test_open_plans_keep_the_means_and_take_uncertainty_away_in_their_own_situation(make_case):
    case = situated(make_case("default", 3))
    process = case.process(in_situations(case.rounds("mixed")))
    pending = case.pending()
    open_days = np.stack(
        [
            encoded_situation(SITUATIONS, {"day": day, "rain": 0.4, "date": 20_050.0}, 90.0 + place)
            for place, day in enumerate(("weekend", "holiday"))
        ]
    )
    plain = process.posterior(situation=TODAY)
    after = process.posterior(pending, situation=TODAY, pending_situations=open_days)
    plans = pending / case.population.weights[:, None]
    np.testing.assert_allclose(after.population_means(plans), plain.population_means(plans), rtol=1e-7, atol=1e-9)
    drops = [plain.population(plan).variance - after.population(plan).variance for plan in plans]
    assert min(drops) > 0.0
    unknown = process.posterior(pending, situation=TODAY)
    assert unknown.population(plans[0]).variance < plain.population(plans[0]).variance


def test_leave_one_out_is_that_of_rows_in_their_own_situations(make_case):
    case = situated(make_case("default", 1))
    process = case.process(in_situations(case.rounds("system", 7)))
    errors, variances = process.posterior(situation=TODAY).leave_one_out()
    state = process._state
    covariance = process._covariance(state.kernel, state.values, process.noise_variance, None, 0, state.scale)
    others, last = covariance[:-1, :-1], covariance[-1, :-1]
    mean = last @ np.linalg.solve(others, process.design.values[:-1])
    variance = covariance[-1, -1] - last @ np.linalg.solve(others, last)
    assert errors[-1] == pytest.approx(process.design.values[-1] - mean, rel=1e-6)
    assert variances[-1] == pytest.approx(variance, rel=1e-6)


def test_a_refit_learns_that_a_variable_matters(make_case):
    case = situated(make_case("default", 1))
    rng = np.random.default_rng(11)
    process = GaussianProcess(case.kernel, 0.01)
    for place, rows in enumerate(case.rounds("system", 24)):
        rain = float(rng.random())
        day = {"day": "weekday", "rain": rain, "date": 20_000.0 + place}
        encoded = encoded_situation(SITUATIONS, day, float(place))
        process.append(replace(rows, values=np.array([3.0 * rain]), situations=encoded[None]))
    process.refit(None, 40)
    dry, wet = (
        process.posterior(situation=encoded_situation(SITUATIONS, {"day": "weekday", "rain": rain, "date": 20_012.0}))
        for rain in (0.1, 0.9)
    )
    fit, plan = process.fit, case.distribution()
    risen = fit.scale * (wet.population(plan).mean - dry.population(plan).mean)
    assert risen == pytest.approx(2.4, abs=0.2)
