"""The model of the payoff: an exact Gaussian process on linear functionals of f, with closed-form gradients.

When to use what: ``GaussianProcess`` with a kernel from ``presets`` is the whole model; ``paper_kernel`` and
``joint_kernel`` are the paper's, ``default_kernel`` is ours for population payoffs, ``agents_kernel`` ours as soon
as single agents or cells are told. ``SparseProcess`` takes over where rows become too many.
"""

from mfbo.models.gaussian_process import Fit, GaussianProcess
from mfbo.models.hyperparameters import Hyperparameter
from mfbo.models.kernel import Kernel
from mfbo.models.posterior import RescaledPosterior
from mfbo.models.presets import agents_kernel, default_kernel, joint_kernel, paper_kernel
from mfbo.models.rows import Rows, joined_rows, only_system, row_count, rows_of_round, system_rows
from mfbo.models.sparse import SparseProcess

__all__ = [
    "Fit",
    "GaussianProcess",
    "Hyperparameter",
    "Kernel",
    "RescaledPosterior",
    "Rows",
    "SparseProcess",
    "agents_kernel",
    "default_kernel",
    "joined_rows",
    "joint_kernel",
    "only_system",
    "paper_kernel",
    "row_count",
    "rows_of_round",
    "system_rows",
]
