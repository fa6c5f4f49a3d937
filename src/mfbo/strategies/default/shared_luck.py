"""Luck that all cells of a day share: rain takes a tenth of the rides at every station at once.

A model of cells takes each for luck of its own, so plans of dry days look best and the search turns around them. A cell
that is as full as it was on other days says by how much its day differs from them: an analysis of variance by days and
by cells that are equally full. Where days differ significantly, what was told of a day is divided by its factor.
Measured: a city with 15 % weather, cells told, seeds 0 and 1, days 21–30: 1.112 and 1.231 → 1.379 and 1.523 of the
status quo.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.records import Feedback, History, Round

SIGNIFICANT = 3.0  # ratio of variances, between days to within them; 1 if days do not differ
OWN_LUCK = 0.02  # of a cell's payoff: where cells have less, what days differ by may be the plans' work
SWEEPS = 30
FULLNESS = 9  # digits of a share


@dataclass(frozen=True, eq=False)
class CellTable:
    """Payoffs of cells that were equally full on several days: values, weights, day and cell of each, (n,)."""

    values: FloatArray
    weights: FloatArray
    days: IntArray
    cells: IntArray

    @staticmethod
    def of(told: Sequence[Round]) -> "CellTable":
        """Gather what rounds tell by cells."""
        rows: list[tuple[float, float, int]] = []
        names: list[tuple[int, int, float]] = []
        for day, done in enumerate(told):
            feedback = done.feedback
            if feedback is None or feedback.cells is None or feedback.counts is None:
                continue
            for context, action in np.argwhere(feedback.counts > 0).tolist():
                fullness = round(float(done.played[context, action]), FULLNESS)
                names.append((context, action, fullness))
                rows.append((float(feedback.cells[context, action]), float(feedback.counts[context, action]), day))
        places = {name: place for place, name in enumerate(dict.fromkeys(names))}
        cells = np.array([places[name] for name in names], dtype=np.int64)
        often = np.bincount(cells, minlength=len(places))[cells] > 1
        values, weights, days = np.array(rows, dtype=float).reshape(-1, 3)[often].T
        return CellTable(values, weights, days.astype(np.int64), np.unique(cells[often], return_inverse=True)[1])

    def factors(self, days: int) -> FloatArray:
        """Return by how much each of so many days differs from all, 1 on average, (days,); ones if they do not."""
        same = found = np.ones(days)
        level = self._levels(same)
        apart = self._unexplained(same, level)
        seen = np.bincount(self.days, minlength=days) > 0
        within = len(self.values) - len(level) - int(seen.sum()) + 1
        if within < 1 or seen.sum() < 2:
            return same
        for _ in range(SWEEPS):
            per_day = _sums(self.weights * level[self.cells] * self.values, self.days, days)
            square = _sums(self.weights * level[self.cells] ** 2, self.days, days)
            found = np.where(square > 0.0, per_day / np.where(square > 0.0, square, 1.0), 1.0)
            found = np.where(seen, found / found[seen].mean(), 1.0)
            level = self._levels(found)
        left = self._unexplained(found, level)
        own = left / within / max(float(self.weights @ level[self.cells] ** 2) / len(self.values), 1e-300)
        significant = (apart - left) * within > SIGNIFICANT * left * (int(seen.sum()) - 1)
        return found if significant and own > OWN_LUCK**2 and found.min() > 0.0 else same

    def _levels(self, factors: FloatArray) -> FloatArray:
        """Return what each cell brings on a usual day, if days differ by these factors."""
        factor = factors[self.days]
        count = int(self.cells.max()) + 1 if len(self.cells) else 0
        squares = _sums(self.weights * factor**2, self.cells, count)
        return np.asarray(_sums(self.weights * factor * self.values, self.cells, count) / squares)

    def _unexplained(self, factors: FloatArray, level: FloatArray) -> float:
        rest = self.values - factors[self.days] * level[self.cells]
        return float(self.weights @ rest**2)


def without_shared_luck(history: History) -> History:
    """Return the history with what was told of each day divided by the day's factor, where days differ."""
    told = history.told
    if history.situations is not None:
        return history  # what situations say of a day is the model's to learn
    factors = CellTable.of(told).factors(len(told))
    if (factors == 1.0).all():
        return history
    usual = {done.number: _usual(done, float(factor)) for done, factor in zip(told, factors, strict=True)}
    return replace(history, rounds=tuple(usual.get(asked.number, asked) for asked in history.rounds))


def _usual(done: Round, factor: float) -> Round:
    """Return a round as on a usual day."""
    feedback = done.feedback
    assert feedback is not None
    payoff = None if feedback.payoff is None else feedback.payoff / factor
    agents = tuple((context, action, own / factor) for context, action, own in feedback.agents)
    cells = None if feedback.cells is None else feedback.cells / factor
    return replace(done, feedback=Feedback(payoff, agents, cells, feedback.counts))


def _sums(values: FloatArray, groups: IntArray, count: int) -> FloatArray:
    return np.asarray(np.bincount(groups, weights=values, minlength=count), dtype=float)
