"""Whole agents: quotas by largest remainder, sampled counts, both ways to fill the contexts, what was realized."""

import numpy as np
import pytest

from mfbo.simplex import Region, allocate, quota, realized, sampled, whole_agents

WEIGHTS = np.array([0.7, 0.3])
DISTRIBUTION = np.array([[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]])
HUGE = 10**15


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def test_quota_of_exact_shares_is_exact():
    assert quota(np.array([0.5, 0.25, 0.25]), 8).tolist() == [4, 2, 2]


def test_quota_gives_the_leftover_agent_to_the_largest_remainder():
    assert quota(np.array([0.42, 0.33, 0.25]), 10).tolist() == [4, 3, 3]


def test_quota_gives_tied_leftovers_to_the_lower_index():
    assert quota(np.full(3, 1 / 3), 4).tolist() == [2, 1, 1]


def test_quota_of_nobody_is_nobody():
    assert quota(np.array([0.2, 0.8]), 0).tolist() == [0, 0]


def test_quota_leaves_actions_without_share_empty():
    assert quota(np.array([0.0, 1 / 3, 0.0, 2 / 3]), 10)[[0, 2]].tolist() == [0, 0]


def test_quota_counts_are_integers():
    assert quota(np.array([0.2, 0.8]), 3).dtype == np.int64


def test_quota_of_a_quadrillion_agents_sums_exactly(rng):
    assert int(quota(rng.dirichlet(np.ones(300)), HUGE).sum()) == HUGE


def test_quota_with_ten_thousand_actions_sums_exactly(rng):
    assert int(quota(rng.dirichlet(np.full(10_000, 0.1)), 10**9).sum()) == 10**9


def test_sampled_counts_sum_to_the_total(rng):
    assert int(sampled(DISTRIBUTION[1], 1234, rng).sum()) == 1234


def test_sampled_quadrillion_agents_sum_exactly_without_a_loop(rng):
    assert int(sampled(DISTRIBUTION[1], HUGE, rng).sum()) == HUGE


def test_sampled_mean_is_total_times_share(rng):
    draws = np.stack([sampled(DISTRIBUTION[1], 40, rng) for _ in range(4000)])
    standard_error = np.sqrt(40 * DISTRIBUTION[1] * (1 - DISTRIBUTION[1]) / 4000)
    assert (np.abs(draws.mean(axis=0) - 40 * DISTRIBUTION[1]) < 5 * standard_error).all()


def test_sampled_variance_is_multinomial(rng):
    draws = np.stack([sampled(DISTRIBUTION[1], 40, rng) for _ in range(4000)])
    assert draws.var(axis=0) == pytest.approx(40 * DISTRIBUTION[1] * (1 - DISTRIBUTION[1]), rel=0.15)


def test_sampled_never_uses_an_action_without_share(rng):
    assert all(sampled(DISTRIBUTION[0], 50, rng)[2] == 0 for _ in range(50))


@pytest.mark.parametrize("method", ["quota", "sampled"])
@pytest.mark.parametrize("context_method", ["quota", "sampled"])
@pytest.mark.parametrize("size", [1, 2, 37, HUGE])
def test_allocation_sums_to_the_size(method, context_method, size, rng):
    counts = allocate(DISTRIBUTION, WEIGHTS, size, rng, method=method, context_method=context_method)
    assert int(counts.sum()) == size
    assert (counts >= 0).all()


@pytest.mark.parametrize("method", ["quota", "sampled"])
def test_quota_contexts_have_the_same_number_of_agents_every_time(method, rng):
    for _ in range(20):
        totals = allocate(DISTRIBUTION, WEIGHTS, 10, rng, method=method).sum(axis=1)
        assert totals.tolist() == [7, 3]


def test_quota_allocation_does_not_draw_from_the_generator(rng):
    before = rng.bit_generator.state
    allocate(DISTRIBUTION, WEIGHTS, 10, rng)
    assert rng.bit_generator.state == before


def test_sampled_contexts_vary_around_their_weights(rng):
    totals = np.array(
        [allocate(DISTRIBUTION, WEIGHTS, 50, rng, context_method="sampled").sum(axis=1) for _ in range(2000)]
    )
    assert totals[:, 0].mean() == pytest.approx(35, abs=5 * np.sqrt(50 * 0.21 / 2000))
    assert totals[:, 0].var() == pytest.approx(50 * 0.21, rel=0.2)


def test_quota_rows_of_sampled_contexts_follow_each_contexts_distribution(rng):
    counts = allocate(DISTRIBUTION, WEIGHTS, 50, rng, context_method="sampled")
    expected = [quota(row, int(total)).tolist() for row, total in zip(DISTRIBUTION, counts.sum(axis=1), strict=True)]
    assert counts.tolist() == expected


def test_sampled_allocation_differs_from_draw_to_draw(rng):
    first, second = (allocate(DISTRIBUTION, WEIGHTS, 500, rng, method="sampled") for _ in range(2))
    assert (first != second).any()


def test_realized_divides_counts_by_their_context_total():
    counts = np.array([[2, 1, 1], [0, 3, 0]])
    np.testing.assert_array_equal(realized(counts, DISTRIBUTION), [[0.5, 0.25, 0.25], [0, 1, 0]])


def test_realized_keeps_the_planned_row_of_a_context_without_agents():
    counts = np.array([[2, 2, 0], [0, 0, 0]])
    np.testing.assert_array_equal(realized(counts, DISTRIBUTION)[1], DISTRIBUTION[1])


def test_a_rare_context_of_a_tiny_population_is_empty_and_stays_defined(rng):
    counts = allocate(DISTRIBUTION, np.array([0.99, 0.01]), 2, rng)
    assert counts[1].sum() == 0
    np.testing.assert_allclose(realized(counts, DISTRIBUTION).sum(axis=1), 1.0)


def test_realized_approaches_the_plan_as_the_population_grows(rng):
    played = realized(allocate(DISTRIBUTION, WEIGHTS, 10**9, rng), DISTRIBUTION)
    np.testing.assert_allclose(played, DISTRIBUTION, atol=1e-8)


def test_whole_agents_are_the_quota_of_every_context():
    distribution = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    found = whole_agents(distribution, np.array([7, 4]))
    np.testing.assert_array_equal(found, [quota(distribution[0], 7), quota(distribution[1], 4)])
    assert found.dtype == np.int64


def test_whole_agents_keep_a_region():
    totals, full = np.array([6]), np.array([[6, 6, 6]])
    region = Region(totals, 0 * full, full, np.array([0, 0, 2]), np.array([2, 6, 6]))
    np.testing.assert_array_equal(whole_agents(np.array([[0.5, 0.5, 0.0]]), totals, region), [[2, 2, 2]])
