"""Properties of whole-agent allocation, for shares and totals that hypothesis thinks of."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from mfbo.simplex import allocate, quota, realized, sampled

TOTALS = st.one_of(st.integers(0, 200), st.integers(0, 10**9))
HUGE_TOTALS = st.integers(10**9, 10**15)
SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def shares(draw: st.DrawFn) -> np.ndarray:
    """Shares that sum to 1: sparse, flat, or small whole numbers with zeros and ties."""
    rng = np.random.default_rng(draw(SEEDS))
    count = draw(st.integers(1, 40))
    kind = draw(st.sampled_from(["ties", 0.02, 1.0, 100.0]))
    if kind == "ties":
        weights = rng.integers(0, 4, size=count) + np.eye(count)[0]
        return weights / weights.sum()
    return rng.dirichlet(np.full(count, kind))


@st.composite
def distributions(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """A distribution (C, A) and its context weights (C,)."""
    contexts, actions = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(SEEDS))
    spread = draw(st.sampled_from([0.05, 1.0, 50.0]))
    return rng.dirichlet(np.full(actions, spread), size=contexts), rng.dirichlet(np.ones(contexts))


@given(shares(), TOTALS)
def test_quota_sums_to_the_total(split, total):
    assert int(quota(split, total).sum()) == total


@given(shares(), HUGE_TOTALS)
def test_quota_of_a_huge_total_sums_exactly(split, total):
    assert int(quota(split, total).sum()) == total


@given(shares(), st.one_of(TOTALS, HUGE_TOTALS))
def test_quota_is_never_negative(split, total):
    assert (quota(split, total) >= 0).all()


@given(shares(), TOTALS)
def test_quota_is_within_one_agent_of_the_exact_share(split, total):
    assert (np.abs(quota(split, total) - total * split) <= 1 + 1e-6).all()


@given(shares(), HUGE_TOTALS)
def test_quota_of_a_huge_total_is_within_one_agent_plus_rounding(split, total):
    rounding = len(split) * total * np.finfo(float).eps
    assert (np.abs(quota(split, total) - total * split) <= 1 + rounding).all()


@given(shares(), TOTALS)
def test_an_action_with_a_larger_share_never_gets_fewer_agents(split, total):
    counts = quota(split, total)
    order = np.argsort(split, kind="stable")
    larger = split[order][1:] > split[order][:-1]
    assert (counts[order][1:] >= counts[order][:-1])[larger].all()


@given(shares(), TOTALS, SEEDS)
def test_permuting_the_actions_permutes_the_quota_up_to_ties(split, total, seed):
    order = np.random.default_rng(seed).permutation(len(split))
    moved = np.empty(len(split), dtype=np.int64)
    moved[order] = quota(split[order], total)
    assert (np.abs(moved - quota(split, total)) <= 1).all()


@given(shares(), TOTALS)
def test_no_other_whole_split_is_nearer_to_the_shares(split, total):
    """Moving one agent from any used action to any other never lowers the squared error (a vertex test)."""
    counts, target = quota(split, total), total * split
    leaving = (1 - 2 * (counts - target))[counts > 0]
    arriving = 1 + 2 * (counts - target)
    if len(leaving) and len(split) > 1:
        assert leaving.min() + arriving.min() >= -1e-5


@given(shares(), TOTALS, SEEDS)
def test_sampled_counts_are_whole_and_sum_to_the_total(split, total, seed):
    counts = sampled(split, total, np.random.default_rng(seed))
    assert counts.dtype == np.int64
    assert (counts >= 0).all()
    assert int(counts.sum()) == total


@given(shares(), TOTALS, SEEDS)
def test_sampled_agents_never_land_where_the_share_is_zero(split, total, seed):
    assert (sampled(split, total, np.random.default_rng(seed))[split == 0] == 0).all()


@given(
    distributions(),
    st.integers(1, 10**12),
    st.sampled_from(["quota", "sampled"]),
    st.sampled_from(["quota", "sampled"]),
    SEEDS,
)
def test_allocation_sums_to_the_size_whatever_the_methods(drawn, size, method, context_method, seed):
    distribution, weights = drawn
    rng = np.random.default_rng(seed)
    counts = allocate(distribution, weights, size, rng, method=method, context_method=context_method)
    assert counts.shape == distribution.shape
    assert (counts >= 0).all()
    assert int(counts.sum()) == size


@given(distributions(), st.integers(1, 500), SEEDS)
@example((np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([0.999, 0.001])), 1, 0)
def test_realized_rows_are_distributions_even_of_empty_contexts(drawn, size, seed):
    distribution, weights = drawn
    counts = allocate(
        distribution, weights, size, np.random.default_rng(seed), method="sampled", context_method="sampled"
    )
    played = realized(counts, distribution)
    assert (played >= 0).all()
    np.testing.assert_allclose(played.sum(axis=1), 1.0, atol=1e-12)


@given(distributions(), st.integers(1, 10**6))
def test_allocating_what_was_realized_gives_the_same_whole_agents(drawn, size):
    distribution, weights = drawn
    rng = np.random.default_rng(0)
    counts = allocate(distribution, weights, size, rng)
    assert allocate(realized(counts, distribution), weights, size, rng).tolist() == counts.tolist()
