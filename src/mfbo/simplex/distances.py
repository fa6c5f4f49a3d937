"""Distances between distributions, over the last axis; natural logarithms throughout."""

import numpy as np
import scipy

from mfbo.arrays import FloatArray


def total_variation(p: FloatArray, q: FloatArray) -> FloatArray:
    """Return ½ Σ |p − q|, between 0 and 1."""
    return np.asarray(0.5 * np.abs(p - q).sum(axis=-1))


def hellinger(p: FloatArray, q: FloatArray) -> FloatArray:
    """Return √(½ Σ (√p − √q)²), between 0 and 1."""
    return np.asarray(np.sqrt(0.5 * ((np.sqrt(p) - np.sqrt(q)) ** 2).sum(axis=-1)))


def jensen_shannon(p: FloatArray, q: FloatArray) -> FloatArray:
    """Return the Jensen–Shannon divergence (not its square root), between 0 and log 2."""
    middle = 0.5 * (p + q)
    rel_entr = scipy.special.rel_entr
    return np.asarray(0.5 * (rel_entr(p, middle).sum(axis=-1) + rel_entr(q, middle).sum(axis=-1)))
