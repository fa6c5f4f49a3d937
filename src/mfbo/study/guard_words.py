"""What the guard of an earning study did to a plan, in a word for those who show it."""

import numpy as np

from mfbo.strategies.default.guard import SAME_AGENTS
from mfbo.study.study import Study


def guard_word(study: Study, number: int) -> str:
    """Return what the strategy noted, empty if nothing.

    ``SAME_AGENTS``: it allows a part of a way, but so small a part that whole agents stand where they stood before.
    """
    asked = study.rounds[number]
    word = str(asked.notes.get("guard", ("",))[0])
    if word != "shortened" or asked.plan.allocation is None:
        return word
    before = (earlier.plan.allocation for earlier in study.rounds[:number] if earlier.plan.allocation is not None)
    return SAME_AGENTS if any(np.array_equal(asked.plan.allocation, counts) for counts in before) else word
