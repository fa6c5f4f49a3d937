"""The process for many rows: equal to the exact one where its basis is exact, bounded, and a function of its rounds."""

import numpy as np
import pytest

from mfbo.acquisition import PopulationUCB
from mfbo.errors import NumericalError
from mfbo.models import (
    Fit,
    GaussianProcess,
    SparseProcess,
    agents_kernel,
    default_kernel,
    joint_kernel,
    paper_kernel,
    rows_of_round,
    system_rows,
)
from mfbo.models.sparse import FITTED_ROWS, SMALLEST_NOISE, CompactRows
from mfbo.population import Population
from mfbo.problems import FeedbackKind, Observer, arena, swarm
from mfbo.records import Plan, Round


def rounds_of(problem, kind, count, seed=0):
    """Rows of ``count`` random rounds, one block each."""
    rng = np.random.default_rng(seed)
    observer = Observer(problem, FeedbackKind.parse(kind), seed=seed)
    blocks = []
    for number in range(count):
        plan = Plan(number, rng.dirichlet(np.full(problem.population.shape[1], 2.0), problem.population.shape[0]))
        done = Round(plan).done(observer(plan), plan.distribution, number)
        blocks.append(rows_of_round(problem.population, done))
    return blocks


def both(kernel, blocks, noise=1e-3):
    """The exact and the sparse process with one and the same fit; lengths at their medians, as sparse has them."""
    theta = kernel.start.copy()
    theta[-1] = np.log(noise)
    values = np.concatenate([rows.values for rows in blocks])
    fit = Fit(theta, float(values.mean()), float(values.std()))
    exact, sparse = GaussianProcess(kernel), SparseProcess(kernel)
    for rows in blocks:
        exact.append(rows)
        sparse.append(rows)
    exact.adopt(fit)
    sparse.adopt(fit)
    return exact, sparse


def candidates(problem, count=12, seed=9):
    shape = problem.population.shape
    return np.random.default_rng(seed).dirichlet(np.full(shape[1], 1.5), size=(count, shape[0]))


CASES = {
    "swarm, cells": (swarm(12, None), "cells", 8),
    "swarm, agents": (swarm(12, None), "agents:10", 16),
    "arena, cells": (arena(10, None), "cells", 4),
    "swarm, system": (swarm(12, None), "system", 32),
}


@pytest.fixture(params=CASES)
def case(request):
    problem, kind, count = CASES[request.param]
    kernel = default_kernel(problem.population) if kind == "system" else agents_kernel(problem.population)
    return problem, kernel, rounds_of(problem, kind, count)


def test_means_equal_the_exact_ones_while_every_round_is_an_inducing_one(case):
    problem, kernel, blocks = case
    exact, sparse = both(kernel, blocks)
    wanted = exact.posterior().population_means(candidates(problem))
    found = sparse.posterior().population_means(candidates(problem))
    np.testing.assert_allclose(found, wanted, atol=2e-3 * max(wanted.std(), 0.1))


def test_variances_are_close_to_the_exact_ones_and_hardly_below(case):
    problem, kernel, blocks = case
    exact, sparse = (each.posterior() for each in both(kernel, blocks))
    for each in candidates(problem, 5):
        ratio = sparse.population(each).variance / exact.population(each).variance
        assert 0.99 < ratio < 1.3


def test_gradient_against_finite_differences(case):
    problem, kernel, blocks = case
    acquisition = PopulationUCB(both(kernel, blocks)[1].posterior(), 0.7)
    here = candidates(problem, 1)[0]
    _, gradient = acquisition(here)
    for cell in [(0, 0), (-1, 3), (0, 7)]:
        step = np.zeros_like(here)
        step[cell] = 1e-6
        slope = (acquisition(here + step)[0] - acquisition(here - step)[0]) / 2e-6
        assert gradient[cell] == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_cells_add_up_to_the_population(case):
    problem, kernel, blocks = case
    posterior = both(kernel, blocks)[1].posterior()
    here = candidates(problem, 1)[0]
    cells = posterior.cells(here)
    shares = problem.population.joint_shares(here)
    assert posterior.population(here).mean == pytest.approx(float((shares * cells.mean).sum()), abs=1e-8)
    assert (cells.variance > 0).all()
    with pytest.raises(NumericalError, match="population"):
        cells.pullback(shares, shares)


def test_pending_plans_leave_means_and_lower_variances(case):
    problem, kernel, blocks = case
    sparse = both(kernel, blocks)[1]
    here = candidates(problem, 1)[0]
    pending = problem.population.joint_shares(here)[None]
    before, after = sparse.posterior(), sparse.posterior(pending)
    assert after.population(here).mean == pytest.approx(before.population(here).mean, abs=1e-9)
    assert after.population(here).variance < before.population(here).variance


def test_the_basis_stops_growing_and_so_does_the_work():
    problem = swarm(8, None)
    sparse = SparseProcess(agents_kernel(problem.population))
    sizes = []
    for number, rows in enumerate(rounds_of(problem, "cells", 70)):
        sparse.append(rows)
        if number == 0:
            sparse.refit(None, 5)
        sizes.append(sparse.posterior().basis.size)
    assert sizes[-1] == sizes[63]
    assert sizes[5] == sizes[3] < sizes[63]


def test_summing_round_by_round_equals_summing_at_the_end_bit_for_bit():
    problem = swarm(8, None)
    blocks = rounds_of(problem, "cells", 9)
    kernel = agents_kernel(problem.population)
    one_by_one, at_once = SparseProcess(kernel), SparseProcess(kernel)
    fit = Fit(kernel.start, 0.0, 1.0)
    for process in (one_by_one, at_once):
        process.adopt(fit)
    for rows in blocks:
        one_by_one.append(rows)
        at_once.append(rows)
        one_by_one.posterior()
    here = candidates(problem)
    np.testing.assert_array_equal(
        one_by_one.posterior().population_means(here), at_once.posterior().population_means(here)
    )


def test_a_fit_looks_at_a_bounded_number_of_rows_and_repeats_itself():
    problem = swarm(12, None)
    process = SparseProcess(agents_kernel(problem.population))
    for rows in rounds_of(problem, "cells", 40):
        process.append(rows)
    assert sum(len(rows) for rows in process._chosen_rows()) == FITTED_ROWS
    first, second = process.refit(None, 5), process.refit(None, 5)
    np.testing.assert_array_equal(first.theta, second.theta)


def test_the_noise_never_falls_below_what_keeps_the_sums_solvable():
    kernel = agents_kernel(Population(["a", "b"]))
    process = SparseProcess(kernel)
    theta = kernel.start.copy()
    theta[-1] = np.log(1e-12)
    process.adopt(Fit(theta, 0.0, 1.0))
    assert process.noise_variance == SMALLEST_NOISE


def test_rows_survive_compression():
    blocks = [*rounds_of(arena(6, None), "agents:7", 1), system_rows(np.full((1, 2, 6), 1 / 12), np.array([0.3]))]
    for rows in blocks:
        again = CompactRows.of(rows).expanded()
        np.testing.assert_array_equal(again.omega, rows.omega)
        np.testing.assert_array_equal(again.shares, rows.shares)
        np.testing.assert_array_equal(again.values, rows.values)


def test_lengths_are_taken_over_and_kept():
    problem = swarm(12, None)
    kernel = default_kernel(problem.population)
    blocks = rounds_of(problem, "system", 32)
    exact, sparse = GaussianProcess(kernel), SparseProcess(kernel)
    for rows in blocks:
        exact.append(rows)
        sparse.append(rows)
    theta = exact.refit(None, 20).theta
    lengths = slice(len(kernel.terms), -1)
    assert not np.allclose(theta[lengths], kernel.start[lengths])
    np.testing.assert_array_equal(sparse.refit(theta, 20).theta[lengths], theta[lengths])


def test_other_lengths_make_another_basis():
    problem = swarm(8, None)
    kernel = default_kernel(problem.population)
    blocks = rounds_of(problem, "system", 8)
    theta = kernel.start + 0.3
    changed, fresh = SparseProcess(kernel), SparseProcess(kernel)
    for process in (changed, fresh):
        for rows in blocks:
            process.append(rows)
    changed.adopt(Fit(kernel.start, 0.0, 1.0))
    changed.posterior()
    for process in (changed, fresh):
        process.adopt(Fit(theta, 0.0, 1.0))
    here = candidates(problem)
    np.testing.assert_array_equal(changed.posterior().population_means(here), fresh.posterior().population_means(here))


def joint_of(posterior, distributions):
    """Mean (m,) and covariance (m, m) of g at m distributions: the basis, and what it lacks of the kernel."""
    shares = posterior.weights[:, None] * distributions
    phi = posterior.basis.of_rows(shares, shares)
    covariance = phi @ posterior.covariance @ phi.T
    for block in posterior.basis.blocks:
        if not hasattr(block, "nystrom"):
            continue  # exact
        radial, unit, h = block.nystrom.part.radial, block.nystrom.part.unit, block.nystrom.of(shares)
        e = block.static(shares, shares) if hasattr(block, "static") else np.ones((len(shares), 1))
        z = radial.embedding.of(shares)
        squared = ((z[:, None] - z[None, :]) ** 2).sum(axis=-1)
        kappa = radial.profile.value(squared / unit).sum(axis=-1)
        covariance += posterior.values.weights[block.place] * (e @ e.T) * (kappa - h @ h.T)
    return phi @ posterior.coefficients, covariance


def test_changes_equal_the_joint_gaussian_of_basis_and_rest(case):
    problem, kernel, blocks = case
    posterior = both(kernel, blocks)[1].posterior()
    start, *others = candidates(problem, 5)
    mean, covariance = joint_of(posterior, np.stack([start, *others]))
    np.testing.assert_allclose(covariance[0, 0], posterior.population(start).variance, rtol=1e-6)
    found_mean, found_variance = posterior.changes(start, np.stack(others))
    np.testing.assert_allclose(found_mean, mean[1:] - mean[0], rtol=1e-7, atol=1e-9)
    variance = np.diag(covariance)[1:] + covariance[0, 0] - 2 * covariance[0, 1:]
    np.testing.assert_allclose(found_variance, variance, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("make", [paper_kernel, joint_kernel])
def test_learned_couplings_of_actions_and_contexts_are_those_of_the_exact_process(make):
    problem = arena(5, None)
    population = Population(np.linspace(0, 1, 5), {"name": ["x", "y"], "weight": [0.3, 0.7], "age": [0.0, 1.0]})
    exact, sparse = (process.posterior() for process in both(make(population), rounds_of(problem, "cells", 4)))
    start, *others = candidates(problem, 4)
    np.testing.assert_allclose(
        sparse.population_means(np.stack(others)), exact.population_means(np.stack(others)), atol=0.02
    )
    np.testing.assert_allclose(sparse.cells(start).mean, exact.cells(start).mean, atol=0.02)


def test_the_uncertainty_of_a_sparse_change_goes_to_zero_with_the_step(case):
    problem, kernel, blocks = case
    posterior = both(kernel, blocks)[1].posterior()
    start, other = candidates(problem, 2)
    steps = np.array([1e-2, 1e-3, 1e-4, 1e-5])
    _, variance = posterior.changes(start, start + steps[:, None, None] * (other - start))
    slopes = np.sqrt(variance) / steps
    np.testing.assert_allclose(slopes[1:], slopes[1], rtol=0.03)


def test_changes_are_close_to_the_exact_ones(case):
    problem, kernel, blocks = case
    exact, sparse = (each.posterior() for each in both(kernel, blocks))
    start, *others = candidates(problem, 5)
    wanted, found = (each.changes(start, np.stack(others)) for each in (exact, sparse))
    np.testing.assert_allclose(found[0], wanted[0], atol=4e-3 * max(wanted[0].std(), 0.1))
    assert (found[1] / wanted[1] > 0.98).all()
    assert (found[1] / wanted[1] < 1.4).all()
