"""Maps onto the simplex, each with its pullback (gradient chained backwards), and draws from it.

All functions work on the last axis, so a (C, A) matrix is treated row by row.
Equation numbers refer to docs/theory.md.
"""

import numpy as np

from mfbo.arrays import FloatArray


def uniform(contexts: int, actions: int) -> FloatArray:
    """Return the (C, A) distribution that treats all actions alike."""
    return np.full((contexts, actions), 1.0 / actions)


def softmax(logits: FloatArray) -> FloatArray:
    """Return exp(θ) / Σ exp(θ) per row, eq. (17); the shift by the row maximum avoids overflow."""
    weights = np.exp(logits - np.maximum.reduce(logits, axis=-1, keepdims=True))
    weights /= np.add.reduce(weights, axis=-1, keepdims=True)
    return np.asarray(weights)


def softmax_pullback(distribution: FloatArray, gradient: FloatArray) -> FloatArray:
    """Chain a gradient in ξ back to the logits: ξ (G − Σ ξ G), eq. (17)."""
    inner = np.add.reduce(distribution * gradient, axis=-1, keepdims=True)
    return np.asarray(distribution * (gradient - inner))


def squares(roots: FloatArray) -> FloatArray:
    """Return t² / Σ t² per row, eq. (18); unlike softmax it reaches the faces of the simplex."""
    weights = roots * roots
    weights /= np.add.reduce(weights, axis=-1, keepdims=True)
    return np.asarray(weights)


def squares_pullback(roots: FloatArray, distribution: FloatArray, gradient: FloatArray) -> FloatArray:
    """Chain a gradient in ξ back to t: 2 t / Σ t² (G − Σ ξ G), eq. (18)."""
    norm = np.add.reduce(roots * roots, axis=-1, keepdims=True)
    inner = np.add.reduce(distribution * gradient, axis=-1, keepdims=True)
    return np.asarray(2.0 * roots / norm * (gradient - inner))


def dirichlet(concentration: float, contexts: int, actions: int, rng: np.random.Generator) -> FloatArray:
    """Draw a (C, A) distribution whose rows are Dirichlet with this concentration on every action."""
    return np.asarray(rng.dirichlet(np.full(actions, concentration), size=contexts))


def projected(values: FloatArray) -> FloatArray:
    """Return the nearest distribution in Euclidean distance, row by row (sort and threshold)."""
    ordered = -np.sort(-values, axis=-1)
    ranks = np.arange(1, values.shape[-1] + 1)
    thresholds = (np.cumsum(ordered, axis=-1) - 1.0) / ranks
    support = np.count_nonzero(ordered > thresholds, axis=-1)
    threshold = np.take_along_axis(thresholds, np.expand_dims(support - 1, -1), axis=-1)
    clipped = np.maximum(values - threshold, 0.0)
    return np.asarray(clipped / clipped.sum(axis=-1, keepdims=True))
