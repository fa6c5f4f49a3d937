"""The nearest point of a region of allowed placements, in shares of all agents, eq. (32)."""

import numpy as np

from mfbo.arrays import FloatArray, IntArray

TOLERANCE = 1e-8  # of a projection, in shares of all agents
SWEEPS = 200  # over contexts and actions in turn
BISECTIONS = 80


class Projection:
    """Euclidean projection onto a region, by ascent in its multipliers.

    Given multipliers λ of contexts, ν of actions and μ of the budget, the nearest point is, eq. (32),
    w = clip(w₀ + soft(v − λ − ν − w₀, μ), lower, upper), monotone in each: λ and ν are set in turn, μ around them.
    With one context μ is not searched for: those who come share one multiplier and those who go another.
    """

    def __init__(
        self,
        totals: IntArray,
        cells: tuple[IntArray, IntArray],
        actions: tuple[IntArray, IntArray],
        budget: tuple[IntArray, float, float] | None = None,
    ) -> None:
        """Take limits in agents: totals (C,), least and most of cells (C, A) each and of actions (A,) each.

        budget: where agents are now, (C, A), the largest distance from there, and the least distance there is.
        """
        size = float(totals.sum())
        self._totals = totals[:, None] / size
        self._lower, self._upper = cells[0] / size, cells[1] / size
        self._least, self._most = actions[0] / size, actions[1] / size
        self._many = len(totals) > 1
        if not self._many:  # an action is a cell
            self._lower = np.maximum(self._lower, self._least)
            self._upper = np.minimum(self._upper, self._most)
        self._now = None
        if budget is not None:
            self._now = budget[0] / size
            self._radius, self._gap = budget[1] / size, budget[2] / size
            lower, upper = self._lower - self._now, self._upper - self._now
            self._ramps = (  # what comes, what goes: (2, C, A)
                np.stack([np.maximum(lower, 0.0), np.minimum(lower, 0.0)]),
                np.stack([np.maximum(upper, 0.0), np.minimum(upper, 0.0)]),
            )

    def __call__(self, values: FloatArray) -> FloatArray:
        """Return the point nearest to values v (C, A)."""
        if self._now is not None and self._radius == 0.0:
            return self._now
        near = None if self._many or self._now is None else self._at_the_budget(values, self._now)
        if near is not None:
            return near
        rows, columns = self._prices(values, 0.0, np.zeros((1, values.shape[1])))
        point = self._at(values - rows - columns, 0.0)
        if self._now is None or self._excess(point, self._now) <= TOLERANCE:
            return point
        return self._pulled(values, point, columns, self._now)

    def _at_the_budget(self, values: FloatArray, now: FloatArray) -> FloatArray | None:
        """Return the point of one context that uses up the budget; None if the nearest one does not reach it.

        Sums of what comes and of what goes are known then, so that each has a multiplier of its own: λ + μ, λ − μ.
        """
        change = float(self._totals[0, 0]) - float(now.sum())
        wanted = 0.5 * np.array([[change + self._radius], [change - self._radius]])
        lower, upper = self._ramps[0][:, 0], self._ramps[1][:, 0]
        steps = np.repeat(values - now, 2, axis=0)
        levels = _levels(steps, lower, upper, wanted)
        if levels[0, 0] <= levels[1, 0]:
            return None
        moved = np.minimum(np.maximum(steps - levels, lower), upper)
        return np.asarray(now + (moved[:1] + moved[1:]))

    def _pulled(self, values: FloatArray, point: FloatArray, columns: FloatArray, now: FloatArray) -> FloatArray:
        """Return the nearest point within the budget, begun at the one without it: the excess falls as the pull grows.

        Newton steps, exact where no action is at a bound; otherwise regula falsi with halving (Illinois).
        """
        low, high, pull = 0.0, 4.0 * float(np.abs(values - now).max()), 0.0  # with so strong a pull nobody moves
        below = excess = self._excess(point, now)
        above = self._gap - self._radius
        for _ in range(BISECTIONS):
            pull = np.inf if columns.any() else pull + excess / self._stiffness(point, now)
            if not low < pull < high:
                pull = (low * above - high * below) / (above - below)
            rows, columns = self._prices(values, pull, columns)
            point = self._at(values - rows - columns, pull)
            excess = self._excess(point, now)
            if abs(excess) <= TOLERANCE or high - low <= 1e-15:
                break
            if excess > 0:
                low, below, above = pull, excess, 0.5 * above
            else:
                high, above, below = pull, excess, 0.5 * below
        return point

    def _excess(self, point: FloatArray, now: FloatArray) -> float:
        """Return by how much a point moves more than the budget, as a distance."""
        return float(np.abs(point - now).sum()) - self._radius

    def _stiffness(self, point: FloatArray, now: FloatArray) -> float:
        """Return how fast the excess falls with the pull if contexts keep their agents and no action is at a bound."""
        free = (point > self._lower) & (point < self._upper)
        come = np.count_nonzero(free & (point > now), axis=1)
        go = np.count_nonzero(free & (point < now), axis=1)
        return max(4.0 * float((come * go / np.maximum(come + go, 1)).sum()), 1e-300)

    def _prices(self, values: FloatArray, pull: float, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return λ (C, 1) and ν (1, A) for one μ: contexts keep their agents, actions their bounds; begun at a ν."""
        rows = self._shifted(values - columns, pull, self._totals, axis=1)
        for _ in range(SWEEPS if self._many else 0):
            columns = self._columns(values - rows, pull)
            sums = self._at(values - rows - columns, pull).sum(axis=1, keepdims=True)
            if float(np.abs(sums - self._totals).max()) <= TOLERANCE:
                break
            rows = self._shifted(values - columns, pull, self._totals, axis=1)
        return rows, columns

    def _at(self, values: FloatArray, pull: float) -> FloatArray:
        if self._now is None or pull == 0.0:
            return np.minimum(np.maximum(values, self._lower), self._upper)
        step = values - self._now
        soft = step - np.minimum(np.maximum(step, -pull), pull)
        return np.minimum(np.maximum(self._now + soft, self._lower), self._upper)

    def _columns(self, values: FloatArray, pull: float) -> FloatArray:
        """Return ν (1, A): every action keeps its bounds; 0 where it does by itself."""
        sums = self._at(values, pull).sum(axis=0, keepdims=True)
        wanted = np.minimum(np.maximum(sums, self._least), self._most)
        if np.array_equal(sums, wanted):
            return np.zeros_like(sums)
        return np.where(sums == wanted, 0.0, self._shifted(values, pull, wanted, axis=0))

    def _shifted(self, values: FloatArray, pull: float, wanted: FloatArray, axis: int) -> FloatArray:
        """Return by how much all values along an axis are lowered so that their points sum to ``wanted``."""
        if self._now is None or pull == 0.0:
            cells, lower, upper = values[None], self._lower[None], self._upper[None]
        else:
            step = values - self._now
            cells, (lower, upper) = np.stack([step - pull, step + pull]), self._ramps
            wanted = wanted - self._now.sum(axis=axis, keepdims=True)
        order = (1, 0, 2) if axis == 1 else (2, 0, 1)  # of (·, C, A): first what has a shift each
        count = values.shape[1 - axis]
        cells, lower, upper = (each.transpose(order).reshape(count, -1) for each in (cells, lower, upper))
        return _levels(cells, lower, upper, wanted.reshape(-1, 1)).reshape(wanted.shape)


def _levels(values: FloatArray, lower: FloatArray, upper: FloatArray, wanted: FloatArray) -> FloatArray:
    """Return x (R, 1) with Σ clip(values − x, lower, upper) = wanted in every row: (R, K) each, wanted (R, 1).

    The sum falls piecewise linearly in x, by as much as there are values strictly between their bounds: it is known
    at all of its corners once they are in order.
    """
    each = np.arange(len(values))
    corners = np.concatenate([values - upper, values - lower], axis=1)
    order = corners.argsort(axis=1)
    corners = corners[each[:, None], order]
    between = np.where(order < values.shape[1], 1.0, -1.0).cumsum(axis=1)[:, :-1]
    fallen = (between * (corners[:, 1:] - corners[:, :-1])).cumsum(axis=1)
    sums = upper.sum(axis=1, keepdims=True) - fallen  # at the later end of every piece
    piece = np.minimum((sums > wanted).sum(axis=1), sums.shape[1] - 1)
    lacks = wanted[:, 0] - sums[each, piece]
    return np.asarray(corners[each, piece + 1] - lacks / np.maximum(between[each, piece], 1.0))[:, None]
