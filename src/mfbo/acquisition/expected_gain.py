"""How much a plan is expected to gain over the best one known: log E[max(g − best, 0)], eq. (36)."""

import math
from dataclasses import dataclass

import scipy  # its parts are loaded when they are used: a first plan needs none

from mfbo.arrays import FloatArray
from mfbo.interfaces import Posterior

LOG_ROOT_2PI = 0.5 * math.log(2.0 * math.pi)
FAR = 1e4  # standard deviations below the best, from where on two terms of the series say all


@dataclass(frozen=True, eq=False)
class ExpectedGain:
    """log E[max(g(ξ) − best, 0)]: the logarithm keeps a slope where a gain is all but impossible.

    best: payoff to be exceeded, in the posterior's unit. Zero at a known plan, so a maximizer never stays at one.
    """

    posterior: Posterior
    best: float

    def __call__(self, distribution: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient, (C, A)."""
        moments = self.posterior.population(distribution)
        sd = math.sqrt(moments.variance)
        ahead = (moments.mean - self.best) / sd
        log_gain = log_expected_gain(ahead)
        if ahead <= -FAR:  # there Φ and φ over the gain are −u and u², and differences of their logarithms only noise
            d_mean, d_sd = -ahead / sd, ahead * ahead / sd
        else:
            d_mean = math.exp(float(scipy.special.log_ndtr(ahead)) - log_gain) / sd
            d_sd = math.exp(-0.5 * ahead * ahead - LOG_ROOT_2PI - log_gain) / sd
        return math.log(sd) + log_gain, moments.pullback(d_mean, 0.5 * d_sd / sd)


def log_expected_gain(ahead: float) -> float:
    """Return log E[max(z + ahead, 0)] for a standard normal z, exact far into the lower tail too.

    E = φ(u) + u Φ(u); for u < −1 as φ(u) (1 − |u| √(π/2) erfcx(|u|/√2)), and beyond ``FAR`` as φ(u) / u².
    """
    density = -0.5 * ahead * ahead - LOG_ROOT_2PI
    if ahead > -1.0:
        return math.log(math.exp(density) + ahead * math.exp(float(scipy.special.log_ndtr(ahead))))
    below = -ahead
    if below < FAR:
        tail = float(scipy.special.erfcx(below / math.sqrt(2.0)))
        return density + math.log1p(-below * math.sqrt(0.5 * math.pi) * tail)
    return density - 2.0 * math.log(below)
