"""The published competitors on distributions: Gaussian processes in the geometry of the simplex, and of transport.

Both share the loop of the plain ones and differ in what compares two distributions. docs/baselines.md says what of the
publications is taken over and what is not.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from mfbo.models.couplings import Identity
from mfbo.models.hyperparameters import Hyperparameter
from mfbo.models.spherical import Sphere, Spherical, SphericalMatern, spherical_norm
from mfbo.models.stationary import Radial, Rbf, Stationary
from mfbo.models.transport import Transport, lines_of
from mfbo.population import Population
from mfbo.strategies.on_simplex.plain_gp import PlainGP, random_shares, typical_distance


@dataclass(frozen=True)
class GPFisherRao(PlainGP):
    """The Matérn-5/2 kernel of the Fisher–Rao geometry, after α-GaBO (Pavesi, Candelieri, Jaquier, 2026).

    length: in units of the length at which two random plans are correlated by a half, whatever the dimension.
    """

    length: float = 1.0
    trust_region: bool = False
    name: str = field(default="gp-fisher-rao", kw_only=True)

    def stationary_term(self, population: Population, weight: Hyperparameter, length: Hyperparameter) -> Stationary:
        """Return the kernel on the sphere of all cells."""
        contexts, actions = population.shape
        sphere = Sphere.made_for(population.weights, actions, Identity())
        dimension = contexts * actions - 1
        norm = spherical_norm(dimension, typical_distance(sphere, population))
        radial = Radial(sphere, SphericalMatern.of_length(dimension, norm**0.5), norm)
        return Spherical("distribution", weight, radial, length, dimension)


@dataclass(frozen=True)
class GPWasserstein(PlainGP):
    """The squared exponential kernel of the Wasserstein distance, after BORIS (Candelieri, Ponti, Archetti, 2023).

    How far two actions are apart comes from their features; without any, all are equally far.
    """

    climb_iterations: ClassVar[int] = 20  # W₂² has kinks, at which a line search spends its evaluations

    trust_region: bool = False
    name: str = field(default="gp-wasserstein", kw_only=True)

    def stationary_term(self, population: Population, weight: Hyperparameter, length: Hyperparameter) -> Stationary:
        """Return the kernel of W₂² between the cumulative shares."""
        lines = lines_of(population)
        z = lines.of(random_shares(population))[:, 0]
        pairs = lines.doubles(z[::2], z[1::2]), lines.doubles(z[::2], z[::2]), lines.doubles(z[1::2], z[1::2])
        typical = float(np.mean(2.0 * pairs[0] - pairs[1] - pairs[2]))
        radial = Radial(lines, Rbf(), typical if typical > 1e-12 else 1.0)
        return Transport("distribution", weight, radial, length, lines)
