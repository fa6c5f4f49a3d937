"""Payoffs that change with time: the kernel times exp(−(t − t′)² / 2 ℓ²), t the number of the round, eq. (35).

Rounds far apart tell less of each other, and a slow change goes on as it went: a long ℓ is nearly a slope in time. What
is believed is about the next round, so each row's covariance with a plan shrinks by the same factor for all plans, and
a posterior needs no more than K⁻¹ y and L⁻¹ with their rows' factors on them. Without drift nothing is computed.
"""

import numpy as np

from mfbo.arrays import FloatArray

LENGTHS = (30.0, 100.0, 300.0, 1000.0, 3000.0)  # rounds, that are compared
QUIETER = 3.0  # by which the logarithm of the noise variance is lowered to see it: without drift, noise explains it
EVIDENCE = 5.0  # nats by which drift must explain the payoffs better than none


def correlation(numbers: FloatArray, others: FloatArray | float, length: float) -> FloatArray:
    """Return how much rounds with these numbers tell of each other; arrays that broadcast."""
    return np.asarray(np.exp(-0.5 * ((numbers - others) / length) ** 2))


def correlation_with_next(numbers: FloatArray, length: float) -> FloatArray:
    """Return how much each of these rounds tells of the one after the last, (n,)."""
    return correlation(numbers, numbers.max() + 1.0, length)
