"""Days that were probably told wrongly: a zero too many must not become the truth.

A payoff is left out of an earning study's model if it is further from those told around it than they are large, and
than six times their spread. Steps are small, so no plan brings that; if the world has really changed, the days after
it say so, and it comes back in.
"""

import numpy as np

from mfbo.models.unit import NORMAL_QUARTILES
from mfbo.records import History, Round
from mfbo.strategies.reading import as_if_failed

NEIGHBORS = 4  # told payoffs on either side
FEWEST = 4  # neighbors from which a day can be judged
FARTHEST = 6.0  # in standard deviations of the neighbors, by their quartiles


def wrong_days(told: tuple[Round, ...]) -> tuple[int, ...]:
    """Return the positions, in the order of tells, of population payoffs that cannot be believed."""
    wrong: list[int] = []
    for places in _like_days(told):
        payoffs = [told[place].payoff for place in places]
        wrong += [place for index, place in enumerate(places) if _is_wrong(payoffs, index)]
    return tuple(sorted(wrong))


def _like_days(told: tuple[Round, ...]) -> list[list[int]]:
    """Return positions of days that can be compared: those whose situations have the same categories."""
    alike: dict[frozenset[tuple[str, object]], list[int]] = {}
    for place, done in enumerate(told):
        words = frozenset((name, value) for name, value in done.situation.items() if isinstance(value, str))
        alike.setdefault(words, []).append(place)
    return list(alike.values())


def without_wrong_days(history: History) -> History:
    """Return the history with those rounds as if they had failed."""
    return as_if_failed(history, {history.told[place].number for place in wrong_days(history.told)})


def _is_wrong(payoffs: list[float | None], place: int) -> bool:
    around = [*payoffs[max(place - NEIGHBORS, 0) : place], *payoffs[place + 1 : place + 1 + NEIGHBORS]]
    near = [payoff for payoff in around if payoff is not None]
    payoff = payoffs[place]
    if payoff is None or len(near) < FEWEST:
        return False
    lower, middle, upper = np.percentile(near, [25.0, 50.0, 75.0])
    spread = float(upper - lower) / NORMAL_QUARTILES
    return abs(payoff - float(middle)) > max(abs(float(middle)), FARTHEST * spread)
