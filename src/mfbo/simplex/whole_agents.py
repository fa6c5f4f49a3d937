"""Whole agents from a distribution, at a cost free of M: the one entrance to rounding and drawing.

``whole_agents`` rounds, with limits or without; ``allocate`` draws as well; ``realized`` is the way back to shares;
``Moves`` lead from one whole placement to another.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.simplex.region import Region

AllocationMethod = Literal["quota", "sampled"]


def whole_agents(distribution: FloatArray, totals: IntArray, region: Region | None = None) -> IntArray:
    """Round a distribution (C, A) to whole agents (C, A).

    totals: agents of every context (C,). By largest remainder; with a region, the nearest placement that it allows.
    """
    if region is not None:
        return region.whole(distribution)
    counts = np.empty(distribution.shape, dtype=np.int64)
    for context, total in enumerate(totals.tolist()):
        counts[context] = quota(distribution[context], total)
    return counts


def quota(shares: FloatArray, total: int) -> IntArray:
    """Round ``total`` · shares to whole numbers that sum to ``total``, by largest remainder, eq. (21).

    Ties go to the lower index, so the result is a function of its arguments alone. Shape (A,) in and out.
    """
    targets = shares * total
    counts = np.floor(targets).astype(np.int64)
    missing = total - int(counts.sum())
    if missing > 0:
        order = np.argsort(counts - targets, kind="stable")
        every, rest = divmod(missing, len(shares))  # `every` > 0 only by rounding of a huge total
        counts += every
        counts[order[:rest]] += 1
    elif missing < 0:  # rounding of a huge total can overshoot by an agent or two
        largest = np.argsort(-counts, kind="stable")[:-missing]
        counts[largest] -= 1
    return counts


def sampled(shares: FloatArray, total: int, rng: np.random.Generator) -> IntArray:
    """Count ``total`` independent draws from ``shares``: one multinomial, never a loop over agents."""
    return np.asarray(rng.multinomial(total, shares), dtype=np.int64)


def allocate(
    distribution: FloatArray,
    weights: FloatArray,
    size: int,
    rng: np.random.Generator,
    *,
    method: AllocationMethod = "quota",
    context_method: AllocationMethod = "quota",
) -> IntArray:
    """Turn a distribution into whole agents, (C, A), summing to ``size``.

    distribution: ξ (C, A); weights: p (C,). ``context_method`` says how many agents have each context
    this round: "quota" gives fixed shares, "sampled" draws the contexts anew, as the paper does.
    """
    totals = quota(weights, size) if context_method == "quota" else sampled(weights, size, rng)
    if method == "quota":
        return whole_agents(distribution, totals)
    return np.stack([sampled(row, int(total), rng) for row, total in zip(distribution, totals, strict=True)])


def realized(counts: IntArray, planned: FloatArray) -> FloatArray:
    """Return what was really played, ξ̂ = n_ca / n_c; a context without agents keeps its planned row."""
    totals = counts.sum(axis=1, keepdims=True)
    return np.asarray(np.where(totals > 0, counts / np.maximum(totals, 1), planned))


@dataclass(frozen=True, eq=False)
class Moves:
    """What leads from where agents stand to a plan, all in whole agents.

    change: what comes to every cell (C, A), below 0 where agents are taken. moved: agents that change their place.
    missing: agents that the plan places and that stand nowhere. surplus: agents that stand somewhere and are not
    in the plan. The changes add up to missing − surplus.
    """

    change: IntArray
    moved: int
    missing: int
    surplus: int

    @staticmethod
    def between(placed: IntArray, planned: IntArray, *, fixed_contexts: bool = True) -> "Moves":
        """Compare two placements (C, A); fixed_contexts: whether no agent changes its context between them."""
        change = planned - placed
        gaps = change.sum(axis=1) if fixed_contexts else change.sum(keepdims=True)
        missing, surplus = int(np.maximum(gaps, 0).sum()), int(np.maximum(-gaps, 0).sum())
        return Moves(change, int(np.maximum(change, 0).sum()) - missing, missing, surplus)
