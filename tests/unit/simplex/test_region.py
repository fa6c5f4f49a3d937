"""The nearest point of a region is proven by a linear program; whole placements by the solver that ties are left to."""

import numpy as np
import pytest
from scipy.optimize import linprog

from mfbo.simplex import Region
from mfbo.simplex import region as region_module


def random_region(rng, contexts, actions, *, capacity, budget, size=200):
    totals = rng.multinomial(size, np.ones(contexts) / contexts)
    placed = np.array([rng.multinomial(total, rng.dirichlet(np.ones(actions))) for total in totals])
    standing, cells = placed.sum(axis=0), np.zeros((contexts, actions), dtype=np.int64)
    least, most = np.zeros(actions, dtype=np.int64), np.full(actions, size)
    if capacity:
        least = np.minimum(standing, rng.integers(0, 4, actions))
        most = np.maximum(standing, rng.integers(size // actions, 3 * size // actions, actions))
    moves = int(rng.integers(0, size // 3)) if budget else None
    return Region(totals, cells, cells + size, least, most, placed if budget else None, moves)


def farthest(region, slopes):
    """Return the largest Σ slopes · w over the region, in shares of all agents, by a linear program of its own."""
    contexts, actions = slopes.shape
    size, cells = float(region.totals.sum()), slopes.size
    rows, columns = np.kron(np.eye(contexts), np.ones(actions)), np.kron(np.ones(contexts), np.eye(actions))
    unequal, bounds = [columns, -columns], [region.most / size, -region.least / size]
    extra = 0 if region.budget is None else cells
    unequal = [np.hstack([block, np.zeros((actions, extra))]) for block in unequal]
    if region.budget is not None:
        now = region.placed.ravel() / size
        unequal += [np.hstack([np.eye(cells), -np.eye(cells)]), np.hstack([np.zeros((1, cells)), np.ones((1, cells))])]
        bounds += [now, np.array([region.budget / size])]
    solved = linprog(
        -np.concatenate([slopes.ravel(), np.zeros(extra)]),
        A_ub=np.vstack(unequal),
        b_ub=np.concatenate(bounds),
        A_eq=np.hstack([rows, np.zeros((contexts, extra))]),
        b_eq=region.totals / size,
    )
    return -solved.fun


@pytest.mark.parametrize("contexts", [1, 3])
@pytest.mark.parametrize("capacity", [False, True])
@pytest.mark.parametrize("budget", [False, True])
def test_no_allowed_point_lies_further_in_the_direction_of_what_is_projected(contexts, capacity, budget):
    rng = np.random.default_rng(3)
    for reach in (0.01, 0.1, 1.0, 10.0):
        region = random_region(rng, contexts, 9, capacity=capacity, budget=budget)
        weights = region.totals[:, None] / region.totals.sum()
        aim = rng.dirichlet(np.ones(9), size=contexts) + reach * rng.standard_normal((contexts, 9))
        nearest = weights * region.projected(aim)
        outwards = weights * aim - nearest
        reached = float((outwards * nearest).sum())
        assert farthest(region, outwards) == pytest.approx(reached, abs=1e-6 * max(reach, 1.0))


def test_a_budget_of_no_moves_leaves_agents_where_they_are():
    region = Region(
        np.array([6]),
        np.zeros((1, 3), int),
        np.full((1, 3), 6),
        np.zeros(3, int),
        np.full(3, 6),
        np.array([[1, 2, 3]]),
        0,
    )
    np.testing.assert_allclose(region.projected(np.array([[1.0, 0.0, 0.0]])), [[1 / 6, 2 / 6, 3 / 6]])


def test_a_context_without_agents_is_projected_by_itself():
    region = Region(np.array([4, 0]), np.zeros((2, 2), int), np.full((2, 2), 4), np.zeros(2, int), np.full(2, 4))
    np.testing.assert_allclose(region.projected(np.array([[0.5, 0.5], [2.0, 0.5]])), [[0.5, 0.5], [1.0, 0.0]])


@pytest.mark.parametrize("contexts", [1, 3])
@pytest.mark.parametrize("capacity", [False, True])
@pytest.mark.parametrize("budget", [False, True])
def test_remainders_round_as_the_solver_does(contexts, capacity, budget, monkeypatch):
    rng = np.random.default_rng(4)
    for _ in range(8):
        region = random_region(rng, contexts, 9, capacity=capacity, budget=budget)
        plan = region.projected(rng.dirichlet(np.ones(9), size=contexts))
        found = region.whole(plan)
        with monkeypatch.context() as patched:
            patched.setattr(region_module, "_by_remainders", lambda *_: None)
            np.testing.assert_array_equal(found, region.whole(plan))


def test_one_context_within_its_budget_needs_no_solver(monkeypatch):
    monkeypatch.setattr(region_module, "_solved", None)
    rng = np.random.default_rng(5)
    for _ in range(20):
        region = random_region(rng, 1, 12, capacity=True, budget=True)
        counts = region.whole(region.projected(rng.dirichlet(np.ones(12), size=1)))
        assert region.contains(counts)


def test_equal_remainders_are_left_to_the_solver(monkeypatch):
    asked = []
    monkeypatch.setattr(region_module, "_solved", lambda *arguments: asked.append(arguments))
    monkeypatch.setattr(region_module, "_nearest", lambda *_: np.array([[2, 1]]))
    region = Region(np.array([3]), np.zeros((1, 2), int), np.full((1, 2), 3), np.zeros(2, int), np.full(2, 3))
    region.whole(np.array([[0.5, 0.5]]))
    assert len(asked) == 1


def test_a_solver_that_fails_on_a_simplified_program_is_asked_without():
    nobody = np.zeros((1, 4), dtype=np.int64)
    region = Region(np.array([9]), nobody, np.full((1, 4), 9), nobody[0], np.array([6, 5, 9, 6]))
    shares = np.array([[0.3857326038522304, 6.0193856675667785, 0.4173845840123429, 2.1774971445686466]]) / 9
    np.testing.assert_array_equal(region.whole(shares), [[1, 5, 1, 2]])
