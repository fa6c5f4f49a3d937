"""The status quo of an earning study: what would be played otherwise. It is played first, and again to see noise."""

import math

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import Posterior
from mfbo.records import History
from mfbo.simplex import uniform
from mfbo.strategies.default.seen import Seen

LOOKS = 2 / 3  # most rounds of a situated study that look elsewhere while nothing is known to be better, as a share …
ROOTED_LOOKS = 4.0  # … and in square roots of the rounds: what looking has not found for long, it seldom finds
LUCK = 1.0  # a day's luck, in what a day may cost: beyond it a look teaches next to nothing for weeks
STOOD, REFERENCE, HIDDEN = ("status quo",), ("reference",), ("luck",)  # what the guard notes in rounds that do not look


def first_earning_plan(seen: Seen) -> FloatArray | None:
    """Return the status quo until it was told twice, (C, A), or once where it cannot be repeated; then None.

    Nothing random is played. Past days stand for the first plan if nobody named another.
    """
    history = seen.history
    named = history.status_quo
    if named is None and any(done.added for done in seen.told):
        return None
    plan = uniform(*history.population.shape) if named is None else named
    if not seen.told:
        return plan
    asked = [done for done in history.rounds if not done.added]
    repeats = seen.kind != "agents" and history.steers == "realized"
    return plan if len(asked) < 1 + int(repeats) else None


def standing_word(seen: Seen, noise_variance: float, allowed: float) -> tuple[str] | None:
    """Return why a planned status quo is played again instead of looking around, or None to look.

    noise_variance: of a day. allowed: what a day may cost; both standardized. Where luck is larger, seeing one
    direction of many with confidence takes weeks, and every look away from a good plan costs.
    """
    if reference_is_due(seen):
        return REFERENCE
    hidden = seen.history.situations is None and math.sqrt(noise_variance) > LUCK * allowed
    return HIDDEN if hidden else None


def reference_is_due(seen: Seen) -> bool:
    """Tell whether the status quo is to be played again: where days differ, its first days do not stand for all.

    Otherwise a level that drifts makes all that is played later look better or worse than it. And looks that find
    nothing must not cost the same for ever.
    """
    if seen.history.situations is None or seen.history.steers != "realized":
        return False
    asked = [done for done in seen.history.rounds if not done.added]
    looks = sum(done.notes.get("guard", STOOD) != STOOD and done.notes["guard"] != REFERENCE for done in asked)
    return looks > min(LOOKS * len(asked), ROOTED_LOOKS * math.sqrt(len(asked)))


def named_status_quo(history: History) -> FloatArray:
    """Return the plan that was named, or else the uniform one, (C, A)."""
    return uniform(*history.population.shape) if history.status_quo is None else history.status_quo


def status_quo_of(seen: Seen, posterior: Posterior) -> FloatArray:
    """Return it, (C, A): the plan that was named, the best of the past days by posterior mean, or the uniform plan."""
    history = seen.history
    if history.status_quo is not None:
        return history.status_quo
    past = np.flatnonzero([done.added for done in seen.told])
    if not len(past):
        return uniform(*history.population.shape)
    days = seen.visited[past]
    return np.asarray(days[int(np.argmax(posterior.population_means(days)))])
