"""The model of the payoff: an exact Gaussian process on linear functionals of f, with closed-form gradients.

When to use what: ``GaussianProcess`` with a kernel from ``presets`` is the whole model; ``paper_kernel`` and
``joint_kernel`` are the paper's, ``default_kernel`` is ours for population payoffs, ``unplaced_kernel`` for exact ones
of actions without features, ``agents_kernel`` as soon as single agents or cells are told. ``SparseProcess`` takes over
where rows become too many, ``InducedProcess`` if rounds differ.

A kernel of one's own is a ``Kernel`` of terms (``Channel``, ``Stationary``, ``Product``, ``Constant``), which are made
of shapes, embeddings, profiles and couplings: docs/how-to/own-parts.md.
"""

from mfbo.models.channels import Channel
from mfbo.models.couplings import Dense, FixedCoupling, Identity, LearnedCoupling, Ones, by_features
from mfbo.models.features import SHAPES, Feature, Shape
from mfbo.models.gaussian_process import Fit, GaussianProcess
from mfbo.models.hyperparameters import Hyperparameter
from mfbo.models.induced import InducedProcess
from mfbo.models.kernel import Constant, Kernel, Term
from mfbo.models.nearness import with_nearness
from mfbo.models.posterior import RescaledPosterior
from mfbo.models.presets import agents_kernel, default_kernel, joint_kernel, paper_kernel, unplaced_kernel
from mfbo.models.products import Product
from mfbo.models.rows import Rows, joined_rows, only_system, row_count, rows_of_round, system_rows
from mfbo.models.sparse import SparseProcess
from mfbo.models.stationary import EMBEDDINGS, PROFILES, Embedding, Profile, Radial, Stationary
from mfbo.models.street_demand import demand_terms

__all__ = [
    "EMBEDDINGS",
    "PROFILES",
    "SHAPES",
    "Channel",
    "Constant",
    "Dense",
    "Embedding",
    "Feature",
    "Fit",
    "FixedCoupling",
    "GaussianProcess",
    "Hyperparameter",
    "Identity",
    "InducedProcess",
    "Kernel",
    "LearnedCoupling",
    "Ones",
    "Product",
    "Profile",
    "Radial",
    "RescaledPosterior",
    "Rows",
    "Shape",
    "SparseProcess",
    "Stationary",
    "Term",
    "agents_kernel",
    "by_features",
    "default_kernel",
    "demand_terms",
    "joined_rows",
    "joint_kernel",
    "only_system",
    "paper_kernel",
    "row_count",
    "rows_of_round",
    "system_rows",
    "unplaced_kernel",
    "with_nearness",
]
