"""The region of allowed placements: cell and action bounds, and a number of moves; its projection and rounding.

All in agents. A placement n (C, A) has n_c agents in each context, at least and at most so many in every cell and at
every action, and at most B agents elsewhere than now. Every bound is whole, so a whole placement exists wherever a
fractional one does (without the budget; with it, staying put is one).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.simplex.coordinates import projected
from mfbo.simplex.projection import Projection

CLEARLY = 1e-6  # difference of remainders, in agents, below which two are left to the solver


@dataclass(frozen=True, eq=False)
class Region:
    """Allowed placements.

    totals: agents per context (C,). lower, upper: bounds of every cell (C, A). least, most: bounds of every action
    (A,). placed: where agents are now (C, A), with budget: how many may move; both None without such a limit. If fewer
    agents stand there than are to be placed, or more, those that come or go are not counted as moved.
    """

    totals: IntArray
    lower: IntArray
    upper: IntArray
    least: IntArray
    most: IntArray
    placed: IntArray | None = None
    budget: int | None = None

    def contains(self, counts: IntArray) -> bool:
        """Tell whether a whole placement keeps every limit."""
        at_actions = counts.sum(axis=0)
        inside = (counts >= self.lower).all() and (counts <= self.upper).all()
        inside = inside and (at_actions >= self.least).all() and (at_actions <= self.most).all()
        return bool(inside and (counts.sum(axis=1) == self.totals).all() and self.moved(counts) <= self.allowed_moves)

    @property
    def allowed_moves(self) -> int:
        """How many agents may move; all of them without a budget."""
        return int(self.totals.sum()) if self.budget is None else self.budget

    def moved(self, counts: IntArray) -> int:
        """Return how many agents a placement moves."""
        return 0 if self.placed is None else int(np.maximum(counts - self.placed, 0).sum()) - self.missing

    @property
    def missing(self) -> int:
        """How many agents are to be placed that stand nowhere now."""
        return 0 if self.placed is None else int(np.maximum(self.totals - self.placed.sum(axis=1), 0).sum())

    @property
    def gap(self) -> int:
        """How many agents come or go: the least distance of any placement from where agents are now."""
        return 0 if self.placed is None else int(np.abs(self.totals - self.placed.sum(axis=1)).sum())

    def projected(self, distribution: FloatArray) -> FloatArray:
        """Return the nearest allowed distribution ξ (C, A), by joint shares; a row without agents: the nearest row."""
        weights = self.totals[:, None] / float(self.totals.sum())
        shares = self._projection(weights * distribution)
        sums = np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
        if weights.all():
            return np.asarray(shares / sums)
        return np.asarray(np.where(weights > 0, shares / sums, projected(distribution)))

    @cached_property
    def _projection(self) -> Projection:
        budget = None
        if self.placed is not None and self.budget is not None:
            budget = self.placed, 2.0 * self.budget + self.gap, float(self.gap)
        return Projection(self.totals, (self.lower, self.upper), (self.least, self.most), budget)

    def whole(self, distribution: FloatArray) -> IntArray:
        """Return the whole placement nearest to a distribution (C, A) among the allowed ones."""
        target = distribution * self.totals[:, None]
        rounded = _rounded(self, target)
        return _nearest(self, target) if rounded is None else rounded

    def feasible(self) -> bool:
        """Tell whether there is any allowed whole placement."""
        return _solved(self, np.zeros(self.lower.size), self.lower, self.upper) is not None

    def fewest_moves(self) -> int:
        """Return how many agents must move at least to keep all other limits, which some placement does."""
        if self.placed is None:
            return 0
        free = Region(self.totals, self.lower, self.upper, self.least, self.most)
        nearest = _nearest(free, self.placed.astype(np.float64))
        return self.moved(nearest)


def _rounded(region: Region, target: FloatArray) -> IntArray | None:
    """Round every cell up or down, the largest remainders up, keeping all limits; None if no such rounding does."""
    down = np.clip(np.floor(target + 1e-9).astype(np.int64), region.lower, region.upper)
    up = np.minimum(down + 1, region.upper)
    found = _by_remainders(region, target, down, up)
    return _solved(region, (down - target).ravel(), down, up) if found is None else found


def _by_remainders(region: Region, target: FloatArray, down: IntArray, up: IntArray) -> IntArray | None:
    """Return the rounding if an order of remainders decides it: per context, or of one context within its budget.

    None where limits cross or remainders are all but equal: that is for a solver.
    """
    alone = len(region.totals) == 1  # an action is a cell
    if alone:
        down, up = np.maximum(down, region.least), np.minimum(up, region.most)
    remainders = np.where(up > down, target - down, -np.inf)
    lacking = region.totals - down.sum(axis=1)
    rows = [_largest(row, int(count)) for row, count in zip(remainders, lacking, strict=True)]
    if (down > up).any() or any(row is None for row in rows):
        return None
    counts = down + np.array(rows)
    if region.contains(counts):
        return np.asarray(counts)
    if not alone or region.placed is None:
        return None
    comes = (down >= region.placed)[0]  # one more there is a move; where some leave it is none
    moves = region.allowed_moves - region.moved(down)
    moved = _largest(np.where(comes, remainders[0], -np.inf), moves)
    others = _largest(np.where(comes, -np.inf, remainders[0]), int(lacking[0]) - moves)
    if moved is None or others is None:
        return None
    counts = down + moved + others
    return np.asarray(counts) if region.contains(counts) else None


def _largest(values: FloatArray, count: int) -> IntArray | None:
    """Return 1 at so many largest finite values and 0 elsewhere; None if there are too few, or no clear border."""
    if not 0 <= count <= np.count_nonzero(np.isfinite(values)):
        return None
    chosen = np.zeros(len(values), dtype=np.int64)
    if count:
        order = np.argsort(-values, kind="stable")
        if count < len(values) and values[order[count - 1]] - values[order[count]] < CLEARLY:
            return None
        chosen[order[:count]] = 1
    return chosen


def _nearest(region: Region, target: FloatArray) -> IntArray:
    """Return the whole placement at the least total distance from a target that may itself be out of bounds."""
    found = _solved(region, None, region.lower, region.upper, target)
    if found is None:
        raise AssertionError("an empty region is refused when limits are read")
    return found


def _solved(
    region: Region, costs: FloatArray | None, lower: IntArray, upper: IntArray, target: FloatArray | None = None
) -> IntArray | None:
    """Solve for whole cells between bounds: least Σ costs · n, or least Σ |n − target|; None if there are none."""
    from mfbo.simplex.integer_program import IntegerProgram  # loads SciPy's solvers, which few asks need

    program = IntegerProgram(lower, upper, costs)
    program.contexts(region.totals, region.totals)
    program.actions(region.least, region.most)
    if target is not None:  # a distance per cell, above n − target and above target − n
        distance = program.variables(cost=1.0)
        program.cells({0: 1.0, distance: -1.0}, -np.inf, target.ravel())
        program.cells({0: 1.0, distance: 1.0}, target.ravel(), np.inf)
    if region.placed is not None and region.budget is not None:  # moves per cell, above n − placed
        moves = program.variables(cost=0.0)
        program.cells({0: 1.0, moves: -1.0}, -np.inf, region.placed.ravel().astype(float))
        program.total(moves, region.budget + region.missing)
    return program.solved()
