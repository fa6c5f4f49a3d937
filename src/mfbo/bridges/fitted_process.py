"""A Gaussian process of ours on distributions and payoffs that another library holds as plain arrays."""

import numpy as np

from mfbo.arrays import FloatArray, one_blas_thread
from mfbo.errors import InvalidInputError
from mfbo.models import Fit, GaussianProcess, Kernel, default_kernel, system_rows
from mfbo.population import Population

FIT_ITERATIONS = 100


def fitted_process(
    population: Population,
    distributions: FloatArray,
    payoffs: FloatArray,
    *,
    kernel: Kernel | None = None,
    noise: float | None = None,
) -> tuple[GaussianProcess, Fit]:
    """Return the process fitted to population payoffs (n,) at distributions (n, C, A), and its fit.

    kernel: ``mfbo.models.default_kernel`` unless given. noise: the known standard deviation of one payoff, None to fit.
    """
    if len(payoffs) != len(distributions) or not len(payoffs):
        raise InvalidInputError(
            f"every distribution needs its payoff: there are {len(distributions)} of them and {len(payoffs)} payoffs"
        )
    process = GaussianProcess(default_kernel(population) if kernel is None else kernel, noise)
    with one_blas_thread():
        process.append(system_rows(population.weights[:, None] * distributions, np.asarray(payoffs, dtype=np.float64)))
        return process, process.refit(None, FIT_ITERATIONS)
