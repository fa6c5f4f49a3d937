"""The region of allowed placements: cell and action bounds, and a number of moves; its projection and rounding.

All in agents. A placement n (C, A) has n_c agents in each context, at least and at most so many in every cell and at
every action, and at most B agents elsewhere than now. Every bound is whole, so a whole placement exists wherever a
fractional one does (without the budget; with it, staying put is one).
"""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.simplex.coordinates import projected

TOLERANCE = 1e-8  # of a projection, in shares of all agents; whole placements are exact
SWEEPS = 200  # over contexts and actions in turn
BISECTIONS = 80


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
        size = float(self.totals.sum())
        weights = self.totals[:, None] / size
        shares = _Projection(self, size)(weights * distribution)
        sums = np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
        return np.asarray(np.where(weights > 0, shares / sums, projected(distribution)))

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


class _Projection:
    """Euclidean projection onto the region in shares of all agents, by ascent in its multipliers.

    Given multipliers λ of contexts, ν of actions and μ of the budget, the nearest point is, eq. (32),
    w = clip(w₀ + soft(v − λ − ν − w₀, μ), lower, upper), monotone in each: λ and ν are set in turn, μ around them.
    """

    def __init__(self, region: Region, size: float) -> None:
        self._lower, self._upper = region.lower / size, region.upper / size
        self._least, self._most = region.least / size, region.most / size
        self._totals = region.totals / size
        if len(region.totals) == 1:  # one context: an action is a cell
            self._lower = np.maximum(self._lower, self._least)
            self._upper = np.minimum(self._upper, self._most)
        self._many = len(region.totals) > 1
        self._now = None if region.placed is None or region.budget is None else region.placed / size
        self._gap = region.gap / size
        self._radius = 0.0 if region.budget is None else (2.0 * region.budget + region.gap) / size

    def __call__(self, values: FloatArray) -> FloatArray:
        rows, columns = np.zeros((len(values), 1)), np.zeros((1, values.shape[1]))
        rows, columns = self._prices(values, 0.0, rows, columns)
        point = self._at(values - rows - columns, 0.0)
        if self._now is None or self._excess(point) <= TOLERANCE:
            return point
        if self._radius == 0.0:
            return self._now
        low, high = 0.0, 4.0 * float(np.abs(values - self._now).max())  # with so strong a pull nobody moves
        below, above = self._excess(point), self._gap - self._radius
        for _ in range(BISECTIONS):  # regula falsi with halving (Illinois): the excess falls as the pull grows
            pull = (low * above - high * below) / (above - below)
            rows, columns = self._prices(values, pull, rows, columns)
            point = self._at(values - rows - columns, pull)
            excess = self._excess(point)
            if abs(excess) <= TOLERANCE or high - low <= 1e-15:
                break
            if excess > 0:
                low, below, above = pull, excess, 0.5 * above
            else:
                high, above, below = pull, excess, 0.5 * below
        return point

    def _excess(self, point: FloatArray) -> float:
        """Return by how much a point moves more than the budget, as a distance."""
        return 0.0 if self._now is None else float(np.abs(point - self._now).sum()) - self._radius

    def _prices(
        self, values: FloatArray, pull: float, rows: FloatArray, columns: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return λ (C, 1) and ν (1, A) for one μ: contexts keep their agents, actions their bounds."""
        rows = self._shifted(values - columns, pull, self._totals[:, None], axis=1)
        for _ in range(SWEEPS if self._many else 0):
            columns = self._columns(values - rows, pull)
            sums = self._at(values - rows - columns, pull).sum(axis=1)
            if float(np.abs(sums - self._totals).max()) <= TOLERANCE:
                break
            rows = self._shifted(values - columns, pull, self._totals[:, None], axis=1)
        return rows, columns

    def _at(self, values: FloatArray, pull: float) -> FloatArray:
        if self._now is None or pull == 0.0:
            return np.asarray(np.clip(values, self._lower, self._upper))
        step = values - self._now
        soft = step - np.clip(step, -pull, pull)
        return np.asarray(np.clip(self._now + soft, self._lower, self._upper))

    def _columns(self, values: FloatArray, pull: float) -> FloatArray:
        """Return ν (1, A): every action keeps its bounds; 0 where it does by itself."""
        sums = self._at(values, pull).sum(axis=0, keepdims=True)
        wanted = np.clip(sums, self._least, self._most)
        if np.array_equal(sums, wanted):
            return np.zeros_like(sums)
        return np.where(sums == wanted, 0.0, self._shifted(values, pull, wanted, axis=0))

    def _shifted(self, values: FloatArray, pull: float, wanted: FloatArray, axis: int) -> FloatArray:
        """Return by how much all values along an axis are lowered so that their points sum to ``wanted``.

        The sum falls piecewise linearly: Newton steps, kept inside a bracket that shrinks.
        """
        low = (values - self._upper).min(axis=axis, keepdims=True) - pull
        high = (values - self._lower).max(axis=axis, keepdims=True) + pull
        shift = np.clip(np.zeros_like(low), low, high)
        for _ in range(BISECTIONS):
            point = self._at(values - shift, pull)
            gap = point.sum(axis=axis, keepdims=True) - wanted
            if float(np.abs(gap).max()) <= 1e-3 * TOLERANCE:
                break
            low, high = np.where(gap > 0, shift, low), np.where(gap > 0, high, shift)
            free = (point > self._lower) & (point < self._upper)
            if self._now is not None and pull > 0.0:
                free &= point != self._now
            count = np.count_nonzero(free, axis=axis, keepdims=True)
            newton = shift + gap / np.maximum(count, 1)
            step = np.where((count > 0) & (newton > low) & (newton < high), newton, 0.5 * (low + high))
            shift = np.where(np.abs(gap) <= 1e-3 * TOLERANCE, shift, step)  # what is solved stays
        return np.asarray(shift)


def _rounded(region: Region, target: FloatArray) -> IntArray | None:
    """Round every cell up or down, the largest remainders up, keeping all limits; None if no such rounding does."""
    down = np.clip(np.floor(target + 1e-9).astype(np.int64), region.lower, region.upper)
    up = np.minimum(down + 1, region.upper)
    return _solved(region, (down - target).ravel(), down, up)


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
