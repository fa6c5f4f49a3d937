"""The posterior of g at several distributions together: means, covariances, and the way back for gradients."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.models.gaussian_process import GaussianProcess
from mfbo.models.posterior import TermPosterior


@dataclass(frozen=True, eq=False)
class JointMoments:
    """Posterior of g at q distributions: (q,) and (q, q); ``pullback(d_mean, d_covariance)`` is (q, C, A)."""

    mean: FloatArray
    covariance: FloatArray
    pullback: Callable[[FloatArray, FloatArray], FloatArray]


def joint_moments(process: GaussianProcess, distributions: FloatArray) -> JointMoments:
    """Return the joint posterior at distributions (q, C, A), in standardized payoffs.

    With k_i the covariances of g(ξ_i) with the rows, S_ij = k(ξ_i, ξ_j) − k_iᵀ K⁻¹ k_j. Every candidate is compared
    with the others as if they were rows, so the parts of the kernel give the gradient of k(ξ_i, ξ_j) along ξ_i too.
    """
    posterior = process.posterior()
    if not isinstance(posterior, TermPosterior) or posterior.data.level is not None:
        raise AssertionError("a joint posterior is of an exact process without situations")  # bridges make only those
    data = posterior.data
    shares = data.weights[:, None] * distributions
    columns = {source: source.of_rows(shares, shares) for source in process.design.columns}
    others = [part.on(columns) for part in data.parts]
    to_rows = [[part.at(own) for part in data.parts] for own in shares]
    to_others = [[part.at(own) for part in others] for own in shares]
    count = len(shares)
    cross, among = np.zeros((count, data.count)), np.zeros((count, count))
    for place in range(count):
        for at in to_rows[place]:
            cross[place] += at.cross
        for at in to_others[place]:
            among[place] += at.cross
        among[place, place] = sum(at.prior for at in to_rows[place])
    whitened = cross @ data.inverse.T

    def pullback(d_mean: FloatArray, d_covariance: FloatArray) -> FloatArray:
        both = d_covariance + d_covariance.T
        d_cross = d_mean[:, None] * data.alpha - (both @ whitened) @ data.inverse
        d_shares = np.zeros_like(shares)
        for place in range(count):
            apart = both[place].copy()
            apart[place] = 0.0
            for at in to_rows[place]:
                d_shares[place] += at.pullback(d_cross[place], float(d_covariance[place, place]))
            for at in to_others[place]:
                d_shares[place] += at.pullback(apart, 0.0)
        return np.asarray(data.weights[:, None] * d_shares)

    return JointMoments(cross @ data.alpha, among - whitened @ whitened.T, pullback)
