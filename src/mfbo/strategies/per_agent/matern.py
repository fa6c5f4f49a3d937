"""A Matérn-5/2 process over the unit cube, fitted from scratch by closed-form gradients of its marginal likelihood.

    n points X (n, d)      y (n,) standardized      q = Σᵢ (xᵢ − x′ᵢ)² / λᵢ²      K = s m(q) + r I      mean μ

With G = ½ (α αᵀ − K⁻¹), α = K⁻¹(y − μ), the likelihood's derivative along any change of K is Σ G ∘ dK; along log λᵢ
that is a quadratic form in the i-th column of X, so that all lengths together cost one matrix product.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, solve_triangular
from scipy.optimize import minimize
from scipy.special import expit, logit

from mfbo.arrays import FloatArray
from mfbo.errors import NumericalError

FIT_ITERATIONS = 50
SHARED_LENGTH_FROM = 200  # dimensions beyond which one length serves all: there are fewer rounds than lengths
LENGTHS = (0.005, 2.0)  # the paper's range in up to 20 dimensions; it grows with the diagonal of the cube
SCALES = (0.05, 20.0)
NOISES = (5e-4, 0.2)
PLAIN_DIMENSIONS = 20
FIRST_LENGTH, FIRST_SCALE, FIRST_NOISE = 0.5, 1.0, 5e-3
JITTERS = (1e-5, 1e-4, 1e-3, 1e-2)  # times the scale; the original's draw carries a noise of 5e-4 or more
ROOT5 = 5.0**0.5


@dataclass(frozen=True, eq=False)
class MaternProcess:
    """The process at given hyperparameters.

    apart: q of all pairs of points, (n, n). lengths: (d,), or (1,) shared by all dimensions.
    """

    points: FloatArray
    apart: FloatArray
    scores: FloatArray
    mean: float
    lengths: FloatArray
    scale: float
    noise: float

    def sample(self, candidates: FloatArray, origin: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return one draw of the noise-free function, jointly at all candidates, (m, d) → (m,).

        origin: a point (d,) from which candidates differ in few dimensions: distances are taken from there, sparsely
        when there are many dimensions. The m × m covariance is held in single precision.
        """
        seen, new = (self.points - origin) / self.lengths, (candidates - origin) / self.lengths
        if candidates.shape[1] > SHARED_LENGTH_FROM:
            new = sparse.csr_array(new)
        gram = self.scale * matern(self.apart.copy())
        gram.flat[:: len(gram) + 1] += self.noise
        factor = np.linalg.cholesky(gram)
        cross = self.scale * matern(squared_distances(seen, new))
        reduced = solve_triangular(factor, cross, lower=True, overwrite_b=True, check_finite=False)
        residual = solve_triangular(factor, self.scores - self.mean, lower=True, check_finite=False)
        single = reduced.astype(np.float32)
        covariance = matern(squared_distances(new.astype(np.float32)))
        covariance *= np.float32(self.scale)
        covariance -= single.T @ single
        root = _safe_root(covariance, self.scale)
        spread = root @ rng.standard_normal(len(candidates), dtype=np.float32)
        return np.asarray(self.mean + residual @ reduced + spread)


def fitted_process(points: FloatArray, scores: FloatArray) -> MaternProcess:
    """Return the process at a local optimum of its marginal likelihood, reached from fixed first values.

    Lengths, scale and noise are sigmoids of free numbers, each into its range.
    """
    dimensions = points.shape[1]
    shared = dimensions > SHARED_LENGTH_FROM
    count = 1 if shared else dimensions
    diagonal = max(1.0, dimensions / PLAIN_DIMENSIONS) ** 0.5
    low = np.array([*[LENGTHS[0] * diagonal] * count, SCALES[0], NOISES[0]])
    high = np.array([*[LENGTHS[1] * diagonal] * count, SCALES[1], NOISES[1]])
    first = np.array([*[FIRST_LENGTH * diagonal] * count, FIRST_SCALE, FIRST_NOISE])
    apart = squared_distances(points) if shared else None

    def negative(free: FloatArray) -> tuple[float, FloatArray]:
        share = expit(free[1:])
        inside = low + (high - low) * share
        value, slope = likelihood(points, scores, free[0], inside, apart)
        slope[1:] *= (high - low) * share * (1.0 - share)
        return -value / len(scores), -slope / len(scores)

    start = np.concatenate([[0.0], logit((first - low) / (high - low))])
    found = minimize(negative, start, jac=True, method="L-BFGS-B", options={"maxiter": FIT_ITERATIONS}).x
    inside = low + (high - low) * expit(found[1:])
    lengths, scale, noise = inside[:count], float(inside[-2]), float(inside[-1])
    scaled = squared_distances(points / lengths) if apart is None else apart / lengths[0] ** 2
    return MaternProcess(points, scaled, scores, float(found[0]), lengths, scale, noise)


def likelihood(
    points: FloatArray, scores: FloatArray, mean: float, inside: FloatArray, apart: FloatArray | None = None
) -> tuple[float, FloatArray]:
    """Return the log marginal likelihood and its gradient along μ and ``inside``: the lengths, s and r.

    apart: squared distances of the points (n, n), needed if one length is shared; then ``inside`` has three numbers.
    """
    lengths, scale, noise = inside[:-2], inside[-2], inside[-1]
    scaled = points / lengths if apart is None else points
    distances = squared_distances(scaled) if apart is None else apart / lengths[0] ** 2
    root = np.sqrt(5.0 * distances)
    decay = np.exp(-root)
    correlation = (1.0 + root + (5.0 / 3.0) * distances) * decay
    gram = scale * correlation
    gram.flat[:: len(gram) + 1] += noise
    upper, _ = lapack.dpotrf(gram.T, lower=0, overwrite_a=1)
    inverse, _ = lapack.dpotri(upper, lower=0)
    inverse = np.triu(inverse) + np.triu(inverse, 1).T
    residual = scores - mean
    alpha = inverse @ residual
    value = -0.5 * residual @ alpha - np.log(np.diag(upper)).sum() - 0.5 * len(scores) * np.log(2.0 * np.pi)
    outer = 0.5 * (np.outer(alpha, alpha) - inverse)
    pull = outer * ((-5.0 / 6.0) * scale * (1.0 + root) * decay)  # along q
    if apart is None:
        along = 2.0 * (pull.sum(axis=1) @ (scaled * scaled) - np.einsum("ji,ji->i", scaled, pull @ scaled))
    else:
        along = np.array([np.vdot(pull, distances)])
    slope = [alpha.sum(), *(-2.0 * along / lengths), np.vdot(outer, correlation), np.trace(outer)]
    return float(value), np.array(slope)


def squared_distances(left: Any, right: Any = None) -> FloatArray:
    """Return |x − x′|² for all pairs, (n, d) and (m, d) → (n, m), or for all pairs of one set; dense or sparse."""
    other = left if right is None else right
    product = left @ other.T
    found = np.asarray(product.toarray() if sparse.issparse(product) else product)
    found *= -2.0
    found += (left * left).sum(axis=1)[:, None]
    found += (other * other).sum(axis=1)
    np.maximum(found, 0.0, out=found)
    if right is None:
        found.flat[:: len(found) + 1] = 0.0
    return found


def matern(distances: Any) -> Any:
    """Return (1 + √5q + 5q/3) exp(−√5q) of squared distances q, any shape and precision; they are overwritten."""
    root = np.sqrt(distances)
    root *= ROOT5
    distances *= 5.0 / 3.0
    distances += root
    distances += 1.0
    np.negative(root, out=root)
    distances *= np.exp(root, out=root)
    return distances


def _safe_root(covariance: Any, scale: float) -> Any:
    """Return the lower Cholesky factor in single precision, with the least jitter that works."""
    added = 0.0
    for jitter in JITTERS:
        covariance.flat[:: len(covariance) + 1] += jitter * scale - added
        added = jitter * scale
        upper, status = lapack.spotrf(covariance.T, lower=0, clean=1)
        if status == 0:
            return upper.T
    raise NumericalError("the covariance of TuRBO's candidates is not positive definite")
