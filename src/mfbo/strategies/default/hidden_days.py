"""Whether luck still hides what plans bring: then an earning study follows what it expects and does not look.

The mean of the days told is uncertain by a day's luck over the root of their number. While that is large against what a
day may cost, a look at one direction of many teaches next to nothing and costs what a look costs. What is expected
without any look, demand with diminishing returns, is worth following as far as it is safe: the model is that of
``models/street_demand``, and its lower bound is climbed.
"""

import math

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.records import History
from mfbo.strategies.default.seen import is_earned

SEEN = 0.4  # of what a day may cost: how well the days told must be known before looks begin
DOUBT = 0.5  # deviations of the lower bound that is climbed while they are not
SURE = 0.975  # a plan must be so probably safe: the model knows its scale, not its shape …
BELIEVED_DAYS = 3  # … and what is believed of a day's luck beforehand counts as so many days


def luck_hides(history: History) -> bool:
    """Tell whether the days told are too few for their luck, in a study whose payoffs may be demand.

    Not where days differ in ways that are known, where contexts share places, or where nothing is earned.
    """
    if history.risk is None or history.situations is not None or len(history.population.contexts) > 1:
        return False
    payoffs = np.array([done.payoff for done in history.told if done.payoff is not None])
    if len(payoffs) < (2 if history.noise is None else 1) or not is_earned(history.told):
        return False
    luck = history.noise if history.noise is not None else _luck(payoffs)
    return luck / math.sqrt(len(payoffs)) > SEEN * history.risk * float(np.median(payoffs))


def _luck(payoffs: FloatArray) -> float:
    """Return the standard deviation of a day's luck, from days that follow each other: payoffs may rise meanwhile."""
    return float(np.sqrt((np.diff(payoffs) ** 2).mean() / 2.0))
