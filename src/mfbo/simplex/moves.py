"""From one whole placement to another: what is taken where, what is brought where."""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import IntArray


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
