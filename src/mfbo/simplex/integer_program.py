"""Whole placements by SciPy's integer solver: bounds on cells, contexts and actions, distances and moves."""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

from mfbo.arrays import FloatArray, IntArray

INFEASIBLE = 2  # what SciPy's solver says of an empty region
UNSIMPLIFIED = {"presolve": False}


class IntegerProgram:
    """A small integer program: whole cells n first, then groups of as many continuous variables that are at least 0."""

    def __init__(self, lower: IntArray, upper: IntArray, costs: FloatArray | None) -> None:
        """Bound every cell (C, A); costs (C · A,) of an agent in each, none by default."""
        self._shape = lower.shape
        self._count = lower.size
        self._costs = [np.zeros(self._count) if costs is None else costs]
        self._low, self._high = [lower.ravel().astype(float)], [upper.ravel().astype(float)]
        self._rows: list[tuple[dict[int, csr_array], FloatArray, FloatArray]] = []

    def variables(self, cost: float) -> int:
        """Add a variable per cell; return the group's number."""
        self._costs.append(np.full(self._count, cost))
        self._low.append(np.zeros(self._count))
        self._high.append(np.full(self._count, np.inf))
        return len(self._costs) - 1

    def contexts(self, low: IntArray, high: IntArray) -> None:
        """Bound the sum of every context's cells, (C,)."""
        contexts, actions = self._shape
        self._sums(kron(eye_array(contexts), np.ones((1, actions)), format="csr"), low, high)

    def actions(self, low: IntArray, high: IntArray) -> None:
        """Bound the sum of every action's cells, (A,)."""
        contexts, actions = self._shape
        self._sums(kron(np.ones((1, contexts)), eye_array(actions), format="csr"), low, high)

    def _sums(self, matrix: csr_array, low: IntArray, high: IntArray) -> None:
        self._rows.append(({0: matrix}, low.astype(float), high.astype(float)))

    def cells(self, factors: dict[int, float], low: FloatArray | float, high: FloatArray | float) -> None:
        """Bound, cell by cell, a sum of groups times factors."""
        one_per_cell = eye_array(self._count, format="csr")
        blocks = {group: factor * one_per_cell for group, factor in factors.items()}
        first, last = (np.broadcast_to(np.asarray(end, dtype=np.float64), self._count) for end in (low, high))
        self._rows.append((blocks, first, last))

    def total(self, group: int, most: int) -> None:
        """Bound the sum of a group."""
        ones = csr_array(np.ones((1, self._count)))
        self._rows.append(({group: ones}, np.array([-np.inf]), np.array([float(most)])))

    def solved(self) -> IntArray | None:
        """Return the whole cells (C, A), or None if there are none."""
        groups = range(len(self._costs))
        matrix = vstack([hstack([self._block(blocks, group) for group in groups]) for blocks, _, _ in self._rows])
        limits = LinearConstraint(
            csr_array(matrix), *(np.concatenate([row[end] for row in self._rows]) for end in (1, 2))
        )
        bounds = Bounds(np.concatenate(self._low), np.concatenate(self._high))
        costs = np.concatenate(self._costs)
        whole = (np.arange(len(costs)) < self._count).astype(float)
        for integrality in (np.zeros(len(costs)), whole):  # without a budget the vertices are whole already
            result = milp(costs, integrality=integrality, bounds=bounds, constraints=limits)
            if result.x is None and result.status != INFEASIBLE:  # seen once in a hundred thousand: a solver's error
                result = milp(costs, integrality=integrality, bounds=bounds, constraints=limits, options=UNSIMPLIFIED)
            if result.x is None:
                return None
            cells = result.x[: self._count]
            if float(np.abs(cells - np.round(cells)).max()) <= 1e-6:
                break
        return np.asarray(np.round(cells).astype(np.int64).reshape(self._shape))

    def _block(self, blocks: dict[int, csr_array], group: int) -> csr_array:
        height = next(iter(blocks.values())).shape[0]
        return blocks.get(group, csr_array((height, self._count)))
