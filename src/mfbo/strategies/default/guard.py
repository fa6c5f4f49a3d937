"""The guard of an earning study: a round must not cost more against the status quo than the user allows.

It judges the posterior of the difference to the status quo, whose variance is small near it however uncertain both
payoffs are. A plan passes if its difference, some standard deviations below its mean, is above the loss allowed:
``CONFIDENCE`` of them, on noisy days Student's for the days told, and while luck hides what plans bring those of
``hidden_days``, which count what is believed of a day's luck as days told.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from mfbo.arrays import BoolArray, FloatArray
from mfbo.interfaces import Acquisition, Posterior
from mfbo.strategies.default.hidden_days import BELIEVED_DAYS, SURE
from mfbo.strategies.default.seen import DEMAND, STREET, Seen
from mfbo.strategies.default.status_quo import status_quo_of
from mfbo.strategies.modeled import Belief

CONFIDENCE = 1.645  # standard deviations: 95 of 100 plans that pass cost less than is allowed
SAFE = 0.95  # the same as a probability
BETTER = 1.645  # the same for a plan that is recommended instead of the status quo
NOTHING = 0.5  # of the payoffs' unit: a status quo that earns less has no natural zero, as differences do
WAYS = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1)  # shares of the way from the best plan to one that does not pass

Word = Literal["free", "shortened", "best", "status quo"]
SAME_AGENTS = "same agents"  # for those who show a plan: shortened to less than one agent's way
GUARD_WORDS = {  # what people are told of a round's note; a plan that is free needs none
    "shortened": "The guard allows only a part of the way to what looks promising.",
    SAME_AGENTS: "The guard allows less than an agent's way to what looks promising: a plan played before once more.",
    "best": "Nothing new passes the guard yet: the best plan so far once more.",
    "status quo": "Nothing passes the guard yet: the status quo once more.",
    "rests": "Looking further has found nothing for long: the best plan once more.",
    "luck": "A day's luck is larger than what a day may cost, so looking would teach little: the status quo once more.",
    "reference": "Days differ: the status quo once more, to know what the others are compared with.",
}


@dataclass(frozen=True, eq=False)
class Guard:
    """What passes.

    posterior: in standardized payoffs. status_quo: (C, A). allowed: loss, in the same unit; infinite without a guard.
    deviations: that a plan must be safe by.
    """

    posterior: Posterior
    status_quo: FloatArray
    allowed: float
    deviations: float = CONFIDENCE

    @staticmethod
    def of(seen: Seen, belief: Belief) -> "Guard":
        """Measure the loss allowed by what the status quo is believed to earn.

        While all payoffs told are one, the model has no unit to measure it in: the first step alone protects.
        """
        posterior, fit = belief.posterior, belief.note.fit
        plan = status_quo_of(seen, posterior)
        if seen.payoffs_are_equal and seen.history.risk != 0.0:
            return Guard(posterior, plan, np.inf)
        earned = fit.shift + fit.scale * float(posterior.population_means(plan[None])[0])
        if seen.kind == DEMAND:
            deviations = _student(len(seen.told) + BELIEVED_DAYS, SURE)
        else:
            deviations = _student(len(seen.told)) if seen.kind in STREET else CONFIDENCE
        size = abs(earned) / fit.scale
        usual = size if seen.history.situations is None else max(size, abs(fit.shift) / fit.scale)
        return Guard(posterior, plan, _allowed(seen.history.risk, size, usual), deviations)

    def lower(self, plans: FloatArray, deviations: float) -> FloatArray:
        """Return what plans (m, C, A) bring against the status quo at least, so many deviations below, (m,)."""
        mean, variance = self.posterior.changes(self.status_quo, plans)
        return np.asarray(mean - deviations * np.sqrt(variance))

    def passes(self, plans: FloatArray) -> BoolArray:
        """Tell which of the plans (m, C, A) may be played, (m,)."""
        return np.asarray(self.lower(plans, self.deviations) >= -self.allowed)

    def best(self, visited: FloatArray) -> FloatArray:
        """Return the best plan believed in, (C, A): of those visited that pass, and the status quo."""
        return self._highest(visited, self.passes(visited))

    def recommended(self, visited: FloatArray) -> FloatArray:
        """Return the best of the visited plans that are believed to be better with confidence, or the status quo."""
        return self._highest(visited, self.lower(visited, BETTER) >= 0.0)

    def held(self, plan: FloatArray, best: FloatArray, promise: Acquisition) -> tuple[FloatArray, Word]:
        """Return the plan, or the most promising of what passes on the way to it from the best plan believed in.

        "free": the plan passes. "shortened": a part of the way does. "best", "status quo": nothing else passes.
        """
        ways = np.stack([best + share * (plan - best) for share in WAYS])
        passing = self.passes(ways)
        if passing[0]:
            return plan, "free"
        if not passing.any():
            word: Word = "status quo" if np.array_equal(best, self.status_quo) else "best"
            return best, word
        values = [promise(way)[0] if passed else -np.inf for way, passed in zip(ways, passing, strict=True)]
        return np.asarray(ways[int(np.argmax(values))]), "shortened"

    def _highest(self, visited: FloatArray, allowed: BoolArray) -> FloatArray:
        plans = np.concatenate([self.status_quo[None], visited])
        means = self.posterior.population_means(plans)
        means[1:][~allowed] = -np.inf
        return np.asarray(plans[int(np.argmax(means))])


def _student(days: int, safe: float = SAFE) -> float:
    """Return how many deviations are as safe while the size of the noise is itself learned from so few days."""
    return float(scipy.special.stdtrit(max(days - 1, 1), safe))


def _allowed(risk: float | None, earned: float, usual: float) -> float:
    """Return the loss allowed, in the payoffs' unit, if the status quo earns so much in it; usual: on usual days.

    Shares of about nothing say nothing: then one unit is allowed, and the step alone protects.
    """
    if risk is None:
        return np.inf
    return risk * earned if usual >= NOTHING else 1.0
