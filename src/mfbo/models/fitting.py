"""Fits hyperparameters: marginal likelihood plus log-normal priors, by L-BFGS with closed-form gradients, eq. (19)."""

import numpy as np
import scipy

from mfbo.arrays import FloatArray
from mfbo.models.design import Design, packed_positions

JITTER = 1e-10  # on standardized payoffs; keeps noise-free data factorizable
FAILED = 1e25


class MarginalLikelihood:
    """Negative log posterior of θ for one design and its standardized payoffs y (n,).

    ``noise``: known noise variance in standardized units, or None to fit it.
    """

    def __init__(self, design: Design, targets: FloatArray, noise: float | None) -> None:
        """Prepare what does not change from one θ to the next."""
        self._design = design
        self._targets = targets
        self._noise = noise
        self._flat = packed_positions(design.count)
        self._doubled = np.full(len(self._flat), 2.0)
        self._doubled[np.cumsum(np.arange(1, design.count + 1)) - 1] = 1.0
        self._grams: FloatArray | None = None

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient in θ; a θ whose covariance cannot be factorized is merely very bad."""
        kernel, count = self._design.kernel, self._design.count
        values = kernel.values(theta)
        self._grams, slopes = self._design.unit_grams(values.lengths, reuse=self._grams)
        weights = values.weights
        noise = values.noise if self._noise is None else self._noise
        covariance = np.zeros((count, count))
        covariance.ravel()[self._flat] = self._grams @ weights
        covariance.flat[:: count + 1] += noise * self._design.noise_scale + JITTER
        lapack = scipy.linalg.lapack
        upper, status = lapack.dpotrf(covariance.T, lower=0, clean=0, overwrite_a=1)
        if status != 0 or not np.isfinite(np.diag(upper)).all():
            return FAILED, np.zeros_like(theta)
        alpha, _ = lapack.dpotrs(upper, self._targets, lower=0)
        value = 0.5 * float(self._targets @ alpha) + float(np.log(np.diag(upper)).sum())
        inverse, _ = lapack.dpotri(upper, lower=0, overwrite_c=1)
        pull = (inverse.T.ravel()[self._flat] - np.outer(alpha, alpha).ravel()[self._flat]) * self._doubled
        gradient = np.zeros_like(theta)
        gradient[: len(weights)] = 0.5 * weights * (pull @ self._grams)
        for position, (place, slope) in enumerate(zip(kernel.moving, slopes, strict=True), start=len(weights)):
            gradient[position] = 0.5 * weights[place] * float(pull @ slope)
        if self._noise is None:
            diagonal = np.diag(inverse) - alpha * alpha
            gradient[-1] = 0.5 * noise * float(diagonal @ self._design.noise_scale)
        from_prior = (theta - kernel.start) / kernel.prior_sds
        return value + 0.5 * float(from_prior @ from_prior), gradient + from_prior / kernel.prior_sds


def fitted(design: Design, targets: FloatArray, noise: float | None, start: FloatArray, iterations: int) -> FloatArray:
    """Return θ after at most ``iterations`` L-BFGS steps from ``start``."""
    objective = MarginalLikelihood(design, targets, noise)
    bounds = design.kernel.bounds
    result = scipy.optimize.minimize(
        objective,
        np.clip(start, bounds[:, 0], bounds[:, 1]),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": iterations},
    )
    return np.asarray(result.x)
