"""Limits: feasible ones are kept exactly by every plan and placement, infeasible ones are refused with the reason."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mfbo import InvalidInputError, Population, create_study
from mfbo.simplex import Region

QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MANY = settings(QUICK, max_examples=1000)


@st.composite
def limit_sets(draw):
    """Any limits on a small population, possible or not."""
    contexts, actions = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    size = draw(st.integers(1, 30))
    names = [f"c{c}" for c in range(contexts)], [f"a{a}" for a in range(actions)]
    counts = st.lists(st.integers(0, 2 * size // actions + 2), min_size=actions, max_size=actions)
    cells = st.tuples(st.sampled_from(names[0]), st.sampled_from(names[1]))
    options = {
        "capacity": draw(st.none() | counts),
        "minimum": draw(st.none() | st.lists(st.integers(0, 3), min_size=actions, max_size=actions)),
        "forbidden": draw(st.none() | st.lists(cells, max_size=3)),
        "fixed": draw(st.none() | st.dictionaries(cells, st.integers(0, 4), max_size=2)),
        "move_budget": draw(st.none() | st.integers(0, size)),
    }
    return names, size, options


def kept(counts, names, options, size, totals):
    """Check a placement against the limits as they were given, not as we stored them."""
    assert counts.dtype == np.int64
    assert (counts >= 0).all()
    assert counts.sum() == size
    np.testing.assert_array_equal(counts.sum(axis=1), totals)
    at_actions = counts.sum(axis=0)
    assert options["capacity"] is None or (at_actions <= options["capacity"]).all()
    assert options["minimum"] is None or (at_actions >= options["minimum"]).all()
    for context, action in options["forbidden"] or []:
        assert counts[names[0].index(context), names[1].index(action)] == 0
    for (context, action), count in (options["fixed"] or {}).items():
        assert counts[names[0].index(context), names[1].index(action)] == count


def brute_force_possible(names, options, totals):
    """Tell by a linear program of its own whether any placement exists (its vertices are whole)."""
    from scipy.optimize import linprog

    shape = len(names[0]), len(names[1])
    upper, lower = np.full(shape, float(sum(totals))), np.zeros(shape)
    for context, action in options["forbidden"] or []:
        upper[names[0].index(context), names[1].index(action)] = 0
    for (context, action), count in (options["fixed"] or {}).items():
        at = names[0].index(context), names[1].index(action)
        if upper[at] == 0 and count > 0:
            return False
        lower[at] = upper[at] = count
    rows = np.kron(np.eye(shape[0]), np.ones(shape[1]))
    columns = np.kron(np.ones(shape[0]), np.eye(shape[1]))
    most = np.full(shape[1], 1e9) if options["capacity"] is None else options["capacity"]
    least = np.zeros(shape[1]) if options["minimum"] is None else options["minimum"]
    bounds = list(zip(lower.ravel(), upper.ravel(), strict=True))
    solved = linprog(
        np.zeros(lower.size),
        A_ub=np.vstack([columns, -columns]),
        b_ub=np.concatenate([most, -np.asarray(least, dtype=float)]),
        A_eq=rows,
        b_eq=totals,
        bounds=bounds,
    )
    return solved.status == 0


def check(case, rounds=3):
    names, size, options = case
    totals = Population(names[1], names[0], size=size).context_totals
    if not brute_force_possible(names, options, totals):
        with pytest.raises(InvalidInputError, match=r"agents|limits"):
            Population(names[1], names[0], size=size, **options)
        return
    population = Population(names[1], names[0], size=size, **options)
    study = create_study(population, "default", seed=size)
    before = None
    for number in range(rounds):
        plan = study.ask()
        kept(plan.allocation, names, options, size, totals)
        if population.limits is not None:
            shares = plan.allocation / np.maximum(totals, 1)[:, None]
            np.testing.assert_allclose(plan.distribution[totals > 0], shares[totals > 0])
        if before is not None and options["move_budget"] is not None:
            assert np.maximum(plan.allocation - before, 0).sum() <= options["move_budget"]
        before = plan.allocation
        study.tell(plan, float(np.sin(number) + plan.realized[0, 0]))


@QUICK
@given(limit_sets())
def test_limits_hold_exactly_or_are_refused(case):
    check(case)


@pytest.mark.slow
@MANY
@given(limit_sets())
def test_a_thousand_limit_sets_hold_exactly_or_are_refused(case):
    check(case)


@QUICK
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 6), st.booleans())
def test_a_projection_is_allowed_and_nothing_allowed_is_nearer(seed, contexts, actions, moves):
    rng = np.random.default_rng(seed)
    totals = rng.integers(1, 12, size=contexts)
    size = int(totals.sum())
    most = rng.integers(size // actions + 1, size + 2, size=actions)
    zero, full = np.zeros((contexts, actions), dtype=np.int64), np.full((contexts, actions), size)
    open_region = Region(totals, zero, full, np.zeros(actions, dtype=np.int64), most)
    placed = open_region.whole(rng.dirichlet(np.ones(actions), contexts))
    budget = int(rng.integers(0, size + 1))
    region = Region(totals, zero, full, open_region.least, most, placed, budget) if moves else open_region
    values = rng.dirichlet(np.ones(actions), contexts) + rng.normal(size=(contexts, actions))
    found = region.projected(values)
    agents = found * totals[:, None]
    assert (np.abs(agents.sum(axis=1) - totals) <= 1e-3).all()
    assert (agents.sum(axis=0) <= most + 1e-3).all()
    assert not moves or np.maximum(agents - placed, 0).sum() <= budget + 1e-3
    weights = totals[:, None] / size
    distance = np.linalg.norm(weights * (found - values))
    for _ in range(5):
        other = region.whole(rng.dirichlet(np.ones(actions), contexts)) / totals[:, None]
        assert distance <= np.linalg.norm(weights * (other - values)) + 1e-4
