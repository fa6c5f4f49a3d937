"""Plans along one action: what else stays in proportion."""

import numpy as np

from mfbo.arrays import FloatArray


def with_share(plan: FloatArray, weights: FloatArray, place: int, share: float) -> FloatArray:
    """Return a plan (C, A) with this share of all agents at an action, weights (C,).

    In every context the other actions make room in proportion.
    """
    here = float(weights @ plan[:, place])
    changed = plan.copy()
    if here > 0 and share <= here:
        changed[:, place] *= share / here
    else:
        changed[:, place] += (1.0 - changed[:, place]) * (share - here) / (1.0 - here)
    others = np.arange(plan.shape[1]) != place
    rest = plan[:, others].sum(axis=1)
    room = 1.0 - changed[:, place]
    spread = np.where(rest[:, None] > 0, plan[:, others] / np.where(rest > 0, rest, 1.0)[:, None], 1.0 / others.sum())
    changed[:, others] = spread * room[:, None]
    return np.asarray(changed)
