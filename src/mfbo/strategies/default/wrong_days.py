"""Days that were probably told wrongly: a zero too many must not become the truth.

A payoff is left out of an earning study's model if it is further from those told around it than they are large, and
than six times their spread. Steps are small, so no plan brings that; if the world has really changed, the days after
it say so, and it comes back in.
"""

from dataclasses import replace

import numpy as np

from mfbo.records import History, Round

NEIGHBORS = 4  # told payoffs on either side
FEWEST = 4  # neighbors from which a day can be judged
FARTHEST = 6.0  # in standard deviations of the neighbors, by their quartiles
NORMAL_QUARTILES = 1.349


def wrong_days(told: tuple[Round, ...]) -> tuple[int, ...]:
    """Return the positions, in the order of tells, of population payoffs that cannot be believed."""
    payoffs = [done.payoff for done in told]
    return tuple(place for place, payoff in enumerate(payoffs) if payoff is not None and _is_wrong(payoffs, place))


def without_wrong_days(history: History) -> History:
    """Return the history with those rounds as if they had failed."""
    wrong = {history.told[place].number for place in wrong_days(history.told)}
    if not wrong:
        return history
    rounds = [
        replace(done, state="failed", feedback=None, told=None) if done.number in wrong else done
        for done in history.rounds
    ]
    return replace(history, rounds=tuple(rounds))


def _is_wrong(payoffs: list[float | None], place: int) -> bool:
    around = [*payoffs[max(place - NEIGHBORS, 0) : place], *payoffs[place + 1 : place + 1 + NEIGHBORS]]
    near = [payoff for payoff in around if payoff is not None]
    payoff = payoffs[place]
    if payoff is None or len(near) < FEWEST:
        return False
    lower, middle, upper = np.percentile(near, [25.0, 50.0, 75.0])
    spread = float(upper - lower) / NORMAL_QUARTILES
    return abs(payoff - float(middle)) > max(abs(float(middle)), FARTHEST * spread)
