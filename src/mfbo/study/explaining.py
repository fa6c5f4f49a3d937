"""What the model expects of a plan, and what moving one agent would change."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mfbo.arrays import BoolArray, FloatArray, IntArray
from mfbo.cards import Card, CardTable, Shown, amount, bar_list
from mfbo.cards.card import ROWS
from mfbo.frames import columns_of, data_frame
from mfbo.interfaces import Posterior
from mfbo.population import Population
from mfbo.simplex import realized

HUNDREDTH = 0.01  # of a context's agents: what is moved in the mean-field limit
BATCH = 2_000_000  # numbers in the plans that are compared at once


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Shown):
    """What the model expects of a distribution, in the payoff's own units.

    mean, sd: of the population payoff g; cell_mean, cell_sd: of f in every cell, (C, A).
    """

    mean: float
    sd: float
    cell_mean: FloatArray
    cell_sd: FloatArray

    def _card(self) -> Card:
        return Card(f"Prediction: payoff {amount(float(self.mean))} ± {amount(2 * float(self.sd))} (2 sd)")


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Prediction):
    """A prediction, and what moving agents would change.

    distribution: the plan explained, (C, A). gain: expected change of the population payoff if one agent of a context
    moved to an action, (C, A), and gain_sd: the standard deviation of that change; NaN where no such move is possible:
    the action is full or closed, or no agent may leave its place. source: the action that the agent leaves, (C, A), the
    one where it is missed least; −1 where there is none. In the mean-field limit a hundredth of the context's agents
    moves, from everywhere in proportion, and no source is named.
    """

    distribution: FloatArray
    gain: FloatArray
    gain_sd: FloatArray
    source: IntArray
    population: Population

    @property
    def unit(self) -> str:
        """What a gain is counted in."""
        moved = "hundredth of a context's agents" if self.population.size is None else "agent"
        return f"payoff per {moved} moved"

    def rows(self) -> list[dict[str, Any]]:
        """Return one record per cell, most gainful first, impossible moves (gain None) last.

        Keys: context, action, share, payoff, payoff_sd, gain, gain_sd, source.
        """
        cells = [
            {
                "context": context,
                "action": action,
                "share": float(self.distribution[c, a]),
                "payoff": float(self.cell_mean[c, a]),
                "payoff_sd": float(self.cell_sd[c, a]),
                "gain": _known(self.gain[c, a]),
                "gain_sd": _known(self.gain_sd[c, a]),
                "source": None if self.source[c, a] < 0 else self.population.actions[self.source[c, a]],
            }
            for c, context in enumerate(self.population.contexts)
            for a, action in enumerate(self.population.actions)
        ]
        return sorted(cells, key=lambda cell: np.inf if cell["gain"] is None else -float(cell["gain"]))

    def to_frame(self, library: str | None = None) -> Any:
        """Return ``rows`` as a data frame; library: as in ``Study.to_frame``."""
        return data_frame(columns_of(self.rows()), library, ("source",))

    def _card(self) -> Card:
        several, rows = len(self.population.contexts) > 1, self.rows()
        moves = [row for row in rows if row["gain"] is not None]
        names = [f"{row['action']} ({row['context']})" if several else row["action"] for row in moves[:ROWS]]
        gains, halves = np.array([(row["gain"], 2 * row["gain_sd"]) for row in moves[:ROWS]]).reshape(-1, 2).T
        table = CardTable(
            ("context",) * several + ("action", "share", "payoff", "± 2 sd", "gain", "± 2 sd", "from"),
            tuple(
                (row["context"],) * several
                + (row["action"], f"{100 * row['share']:.3g} %", row["payoff"], 2 * row["payoff_sd"])
                + (row["gain"], None if row["gain_sd"] is None else 2 * row["gain_sd"], row["source"])
                for row in rows[:ROWS]
            ),
            max(len(rows) - ROWS, 0),
        )
        said = f"payoff {amount(float(self.mean))} ± {amount(2 * float(self.sd))} (2 sd)"
        facts = (("gain", self.unit),) * bool(moves)
        return Card(f"Explanation: {said}", facts, (partial(bar_list, names, gains, halves),), table)


def predicted(posterior: Posterior, distribution: FloatArray) -> Prediction:
    """Return what a posterior says of a distribution (C, A)."""
    whole, cells = posterior.population(distribution), posterior.cells(distribution)
    return Prediction(whole.mean, whole.variance**0.5, cells.mean, np.sqrt(cells.variance))


def explained(
    posterior: Posterior, population: Population, distribution: FloatArray, counts: IntArray | None
) -> Explanation:
    """Explain a distribution (C, A); counts: the same in whole agents (C, A), None in the mean-field limit."""
    if counts is None:
        source = np.full(population.shape, -1)
        steps = _shifted(distribution)
        targets = np.ones(population.shape, dtype=np.bool_)
    else:
        distribution = realized(counts, distribution)
        source = _sources(posterior, population, distribution, counts)
        targets = source >= 0
        steps = _moved(distribution, counts, source)
    gain, gain_sd = np.full(population.shape, np.nan), np.full(population.shape, np.nan)
    if targets.any():
        mean, variance = _changes(posterior, distribution, steps, targets)
        gain[targets], gain_sd[targets] = mean, np.sqrt(variance)
    said = predicted(posterior, distribution)
    return Explanation(
        said.mean, said.sd, said.cell_mean, said.cell_sd, distribution, gain, gain_sd, source, population
    )


def _changes(
    posterior: Posterior, start: FloatArray, steps: Iterator[FloatArray], chosen: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of the change by every step (C, A), in the order of the chosen cells."""
    size = max(BATCH // start.size, 1)
    found: list[tuple[FloatArray, FloatArray]] = []
    batch: list[FloatArray] = []
    left = int(chosen.sum())
    for step in steps:
        batch.append(step)
        left -= 1
        if len(batch) == size or left == 0:
            found.append(posterior.changes(start, np.stack(batch)))
            batch = []
    return np.concatenate([mean for mean, _ in found]), np.concatenate([variance for _, variance in found])


def _shifted(distribution: FloatArray) -> Iterator[FloatArray]:
    """Yield the plan with a hundredth of a context at each cell in turn, taken from its agents in proportion."""
    for context, action in np.ndindex(distribution.shape):
        plan = distribution.copy()
        plan[context] *= 1.0 - HUNDREDTH
        plan[context, action] += HUNDREDTH
        yield plan


def _moved(distribution: FloatArray, counts: IntArray, source: IntArray) -> Iterator[FloatArray]:
    """Yield the plan with one agent moved to each cell that has a source, in turn."""
    for context, action in np.argwhere(source >= 0).tolist():
        plan = distribution.copy()
        one = 1.0 / counts[context].sum()
        plan[context, source[context, action]] -= one
        plan[context, action] += one
        yield np.maximum(plan, 0.0)  # what is left of the last agent is rounding


def _sources(posterior: Posterior, population: Population, distribution: FloatArray, counts: IntArray) -> IntArray:
    """Return for every cell which action an agent would come from, (C, A), −1 if none can or the cell is full.

    An agent is missed least where the payoff is highest once it is spread over its context instead.
    """
    leaving, room = _free(population, counts)
    source = np.full(counts.shape, -1)
    for context in range(len(counts)):
        order = np.flatnonzero(leaving[context])
        if len(order) > 1:
            one = 1.0 / counts[context].sum()
            without = np.repeat(distribution[None], len(order), axis=0)
            without[np.arange(len(order)), context, order] -= one
            without[:, context] = np.maximum(without[:, context], 0.0) / (1.0 - one)
            order = order[np.argsort(-_means(posterior, without), kind="stable")]
        if len(order):
            source[context] = order[0]
            source[context, order[0]] = order[1] if len(order) > 1 else -1
    return np.where(room, source, -1)


def _means(posterior: Posterior, distributions: FloatArray) -> FloatArray:
    parts = -(-distributions.size // BATCH)
    return np.concatenate([posterior.population_means(part) for part in np.array_split(distributions, parts)])


def _free(population: Population, counts: IntArray) -> tuple[BoolArray, BoolArray]:
    """Return from which cells an agent may leave and to which one may come, (C, A) each, as the limits say."""
    limits = population.limits
    if limits is None:
        return counts > 0, np.ones(counts.shape, dtype=np.bool_)
    at_actions = counts.sum(axis=0)
    leaving = (counts > limits.lower) & (at_actions > limits.least)
    room = (counts < limits.upper) & (at_actions < limits.most)
    return leaving, room


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
