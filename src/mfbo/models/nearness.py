"""Nearness to a plan that somebody chose, as one more term of a kernel: a feature whose weight is learned.

The feature is Σ √(P₀ P), eq. (38), the Bhattacharyya coefficient of a plan's occupancies P and those of the plan
chosen, P₀. It is what a plan brings if places have diminishing returns √P and P₀ is best, so a positive weight says
that the plan was chosen well.
"""

from dataclasses import replace

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.models.channels import Channel
from mfbo.models.couplings import FixedCoupling, LowRank
from mfbo.models.features import SHAPES, Feature
from mfbo.models.hyperparameters import Hyperparameter
from mfbo.models.kernel import Kernel
from mfbo.population import Population

WEIGHT = Hyperparameter(1.0, 1.0)  # variance of the feature's weight, in the kernel's unit
OFFSET = 1e-3  # of an even share: keeps the slope finite where nobody stands


def with_nearness(kernel: Kernel, population: Population, start: FloatArray) -> Kernel:
    """Return a kernel with nearness to a plan (C, A) as one more term, before its last one."""
    actions = population.shape[1]
    feature = Feature("actions", SHAPES["root"](actions, OFFSET / actions))
    feature = replace(feature, center=feature.at(population.joint_shares(start))[0])
    roots = np.sqrt(population.weights @ start)
    term = Channel("nearness", WEIGHT, feature, FixedCoupling(LowRank(roots[:, None])))
    return replace(kernel, terms=(*kernel.terms[:-1], term, kernel.terms[-1]))
