"""Move sheets follow the agents: whatever was counted, nothing is taken where it does not stand."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mfbo import Population, create_study, load_study
from mfbo.simplex import Moves, Region

FEW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["tell", "tell placed", "fail", "fail placed", "abandon", "ask placed"]), st.integers(0, 99)
    ),
    min_size=1,
    max_size=5,
)


def counts_near(rng, planned, missing):
    """What somebody counts: some agents elsewhere than planned, some gone or too many."""
    counts = planned.copy()
    for _ in range(int(rng.integers(0, 6))):
        context = int(rng.integers(len(counts)))
        here, there = rng.integers(counts.shape[1], size=2)
        if counts[context, here]:
            counts[context, here] -= 1
            counts[context, there] += 1
    for _ in range(missing):
        context, action = (int(rng.integers(side)) for side in counts.shape)
        counts[context, action] += -1 if rng.random() < 0.7 and counts[context, action] else 1
    return counts


def checked_sheet(study, plan, stood, budget):
    """Return nothing; the sheet leads from where agents stood to the plan, taking nothing that is not there."""
    moves = study.moves(plan)
    if stood is None:
        assert moves is None
        return
    np.testing.assert_array_equal(study.placed, stood)
    np.testing.assert_array_equal(stood + moves.change, plan.allocation)
    assert (np.maximum(-moves.change, 0) <= stood).all()
    assert moves.change.sum() == moves.missing - moves.surplus == plan.allocation.sum() - stood.sum()
    limits = study.population.limits
    bounds = limits.lower, limits.upper, limits.least, limits.most
    free = Region(plan.allocation.sum(axis=1), *bounds, stood, None)
    assert moves.moved <= max(budget, free.fewest_moves())


@FEW
@given(st.integers(0, 10**6), st.integers(1, 2), st.integers(2, 5), STEPS)
def test_every_sheet_leads_from_where_agents_stand_to_the_plan(seed, contexts, actions, steps):
    rng = np.random.default_rng(seed)
    names = [f"a{a}" for a in range(actions)], [f"c{c}" for c in range(contexts)]
    size, budget = int(rng.integers(contexts, 40)), int(rng.integers(0, 8))
    capacity = size // actions + 1 + rng.integers(0, 5, size=actions)
    population = Population(names[0], names[1], size=size, capacity=capacity, move_budget=budget)
    study = create_study(population, "random", seed=1, storage="memory", name="s")
    stood = None
    for step, missing in steps:
        if step == "ask placed":
            near = population.limits.region(population.context_totals, None).whole(
                rng.dirichlet(np.ones(actions), contexts)
            )
            stood = counts_near(rng, near if stood is None else stood, missing % 4)
            plan = study.ask("w", placed=stood, allow_misfit=True)
        else:
            plan = study.ask("w")
        checked_sheet(study, plan, stood, budget)
        if step == "abandon":
            study.abandon(plan)
            continue
        if step == "ask placed":
            continue
        given = {}
        stood = plan.allocation
        if "placed" in step:
            stood = counts_near(rng, stood, missing % 4)
            given = {"placed": stood, "allow_misfit": True}
        if step.startswith("tell"):
            study.tell(plan, float(missing), **given)
        else:
            study.fail(plan, "rain", **given)
        np.testing.assert_array_equal(study.placed, stood)
    again = load_study("s", study.storage)
    assert (again.placed is None) == (stood is None)
    assert stood is None or again.placed.tolist() == stood.tolist()
    assert [each.seen for each in again.rounds] == [each.seen for each in study.rounds]


@FEW
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(2, 6))
def test_a_budget_counts_agents_that_stand_somewhere(seed, contexts, actions):
    """With agents missing or too many: projections and whole placements stay in the region, and it is never empty."""
    rng = np.random.default_rng(seed)
    totals = rng.integers(1, 20, size=contexts)
    placed = np.stack(
        [rng.multinomial(max(int(n + rng.integers(-3, 4)), 0), np.ones(actions) / actions) for n in totals]
    )
    size, budget = int(totals.sum()), int(rng.integers(0, 8))
    zero, full = np.zeros((contexts, actions), dtype=np.int64), np.full((contexts, actions), size)
    region = Region(totals, zero, full, zero[0], np.full(actions, size), placed, budget)
    assert region.fewest_moves() == 0
    wanted = rng.dirichlet(np.ones(actions), contexts)
    whole = region.whole(wanted)
    assert region.contains(whole)
    assert Moves.between(placed, whole).moved <= budget
    agents = region.projected(wanted) * totals[:, None]
    np.testing.assert_allclose(agents.sum(axis=1), totals, atol=1e-3)
    assert np.abs(agents - placed).sum() <= 2 * budget + region.gap + 1e-3
    if budget >= size:
        np.testing.assert_allclose(agents, wanted * totals[:, None], atol=1e-3)
