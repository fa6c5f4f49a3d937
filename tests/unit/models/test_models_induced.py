"""The sparse process of days that differ: exact where all rows are inducing rows, bounded, a function of its calls."""

from dataclasses import replace

import numpy as np
import pytest

from mfbo.models import Fit, GaussianProcess, InducedProcess, induced
from mfbo.models.situation_kernel import SituationModel, encoded_situation
from mfbo.situations import Situations

SITUATIONS = Situations.read(
    {"day": ["weekday", "weekend"], "rain": "number", "requests": {"kind": "number", "known": "after"}}
)
TODAY = encoded_situation(SITUATIONS, {"day": "weekend", "rain": 0.4})
KERNELS = ("paper", "default", "product", "agents")


def situated(case):
    """Return the case with situations, at hyperparameters that are not the prior medians."""
    theta = np.concatenate([case.theta[:-1], np.log([1.7, 0.6, 0.8, 1.3, 0.9]), case.theta[-1:]])
    return replace(case, kernel=replace(case.kernel, situation=SituationModel.of(SITUATIONS)), theta=theta)


def rounds_of(case, kind, count):
    """Return the rows of some rounds, each in a situation, of which something is unknown now and then."""
    rng = np.random.default_rng(5)
    found = []
    for place, rows in enumerate(case.rounds(kind, count)):
        day = {"day": "weekend" if place % 3 == 2 else "weekday"}
        if place % 4:
            day["rain"] = float(rng.random())
        if place % 3:
            day["requests"] = float(rng.normal(800, 90))
        encoded = encoded_situation(SITUATIONS, day, float(place))
        found.append(replace(rows, situations=np.tile(encoded, (len(rows), 1))))
    return found


def told(case, process, blocks, before=None):
    """Tell a process blocks of rows; the fit comes after the first ``before`` of them."""
    split = len(blocks) if before is None else before
    for rows in blocks[:split]:
        process.append(rows)
    process.adopt(Fit(case.theta, 0.1, 1.3))
    for rows in blocks[split:]:
        process.append(rows)
    return process


@pytest.mark.parametrize("preset", KERNELS)
@pytest.mark.parametrize("kind", ["system", "mixed"])
def test_it_is_the_exact_process_if_all_rows_are_inducing_rows(make_case, preset, kind):
    case = situated(make_case(preset, 3))
    blocks = rounds_of(case, kind, 7)
    pending = case.pending()
    plans = np.stack([case.distribution() for _ in range(4)])
    exact, sparse = (
        told(case, process(case.kernel), blocks, 5).posterior(pending, situation=TODAY)
        for process in (GaussianProcess, InducedProcess)
    )
    np.testing.assert_allclose(sparse.population_means(plans), exact.population_means(plans), atol=1e-6)
    np.testing.assert_allclose(sparse.cells(plans[0]).mean, exact.cells(plans[0]).mean, atol=1e-6)
    np.testing.assert_allclose(sparse.cells(plans[0]).variance, exact.cells(plans[0]).variance, atol=1e-6)
    np.testing.assert_allclose(sparse.changes(plans[0], plans), exact.changes(plans[0], plans), atol=1e-6)
    assert type(sparse) is type(exact)
    assert exact.leave_one_out() is not None
    assert sparse.leave_one_out() is None  # inducing rows are not all rows


def few_inducing(monkeypatch, rows=6, rounds=4):
    for name, value in {"INDUCING": rows, "FEWEST_ROUNDS": rounds, "MOST_INDUCING": rows + 2}.items():
        monkeypatch.setattr(induced, name, value)


@pytest.mark.parametrize("preset", KERNELS)
def test_the_pullbacks_are_finite_differences(make_case, finite_differences, monkeypatch, preset):
    few_inducing(monkeypatch)
    case = situated(make_case(preset, 3))
    posterior = told(case, InducedProcess(case.kernel), rounds_of(case, "mixed", 9), 8).posterior(situation=TODAY)
    at = case.distribution()
    numeric = finite_differences(
        lambda xi: 0.7 * posterior.population(xi).mean + 1.3 * posterior.population(xi).variance, at
    )
    np.testing.assert_allclose(posterior.population(at).pullback(0.7, 1.3), numeric, rtol=2e-6, atol=2e-7)


def test_few_inducing_rows_give_the_gaussian_in_which_they_carry_all_between_rounds(make_case, monkeypatch):
    few_inducing(monkeypatch, rows=5, rounds=9)
    case = situated(make_case("default", 3))
    *blocks, last = rounds_of(case, "mixed", 8)  # of the last day everything is known
    sparse = told(case, InducedProcess(case.kernel), blocks)
    state, values = sparse._state, np.concatenate([rows.values for rows in blocks])
    places = [int(np.flatnonzero(values == value)[0]) for value in sparse._inducing().values]
    exact = told(case, GaussianProcess(case.kernel), [*blocks, last])
    full = exact._covariance(exact.kernel, state.values, 0.0, None, 0, state.scale)
    full = np.tril(full) + np.tril(full, -1).T
    among = full[np.ix_(places, places)] + induced.JITTER * np.eye(len(places))
    carried = full[:, places] @ np.linalg.solve(among, full[places])
    owner = np.repeat(np.arange(8), [len(rows) for rows in (*blocks, last)])
    n = len(values)
    covariance = np.where(owner[:, None] == owner, full, carried)[:n, :n]
    covariance += np.diag(state.noise * np.concatenate([rows.noise_scale for rows in blocks]))
    here = last.situations[0].copy()
    here[-1] = -1.0
    found = sparse.posterior(situation=here).population(last.shares[0] / case.population.weights[:, None])
    row = carried[n, :n]  # the first row of such a round is that of the population
    assert len(places) == 5 < n
    assert found.mean == pytest.approx(row @ np.linalg.solve(covariance, (values - 0.1) / 1.3), abs=1e-6)
    assert found.variance == pytest.approx(full[n, n] - row @ np.linalg.solve(covariance, row), abs=1e-6)


def test_rows_of_later_rounds_become_inducing_rows_while_there_is_room(make_case, monkeypatch):
    few_inducing(monkeypatch)
    case = situated(make_case("default", 1))
    blocks = rounds_of(case, "system", 12)
    sparse = told(case, InducedProcess(case.kernel), blocks[:8])
    counts = [len(sparse._state.situations)]
    for rows in blocks[8:]:
        sparse.append(rows)
        counts.append(len(sparse._state.situations))
    assert counts == [6, 7, 8, 8, 8]
    pending = case.pending(1)
    plan = pending[0] / case.population.weights[:, None]
    before, after = (sparse.posterior(shares, situation=TODAY).population(plan) for shares in (None, pending))
    assert after.mean == pytest.approx(before.mean, abs=1e-9)
    assert after.variance < before.variance


def test_a_fit_looks_at_the_inducing_rows_and_what_follows_is_the_same_after_a_restart(make_case, monkeypatch):
    few_inducing(monkeypatch, rows=20)
    case = situated(make_case("agents", 1))
    blocks = rounds_of(case, "mixed", 14)
    unbroken = InducedProcess(case.kernel)
    for rows in blocks[:12]:
        unbroken.append(rows)
    assert len(unbroken._inducing()) == 20
    unbroken.forget_fit()
    fit = unbroken.refit(None, 5)
    assert np.isfinite(fit.theta).all()
    resumed = InducedProcess(case.kernel)
    for rows in blocks[:12]:
        resumed.append(rows)
    resumed.adopt(fit)
    plans = np.stack([case.distribution() for _ in range(3)])
    for rows in blocks[12:]:
        unbroken.append(rows)
        resumed.append(rows)
    first, second = (each.posterior(situation=TODAY).population_means(plans) for each in (unbroken, resumed))
    np.testing.assert_array_equal(first, second)
