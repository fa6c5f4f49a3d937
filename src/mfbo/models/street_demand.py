"""What places are worth where agents merely stand: demand with diminishing returns, as the terms of a kernel.

A round earns Σ_a v_a √P_a / Σ_a √P₀_a of what the status quo earns, P the occupancies, P₀ those of the status quo. The
worth v of a place is 1 as far as anybody knows. It differs by about as much, alike among neighbors ("near") and for
every place of its own ("own"), and it may follow, or shun, the agents that stand there already ("standing").

Whether agents stand where they are wanted cannot be seen within weeks of noisy days, but the map tells: demand is alike
among neighbors, chance is not. So v may follow what neighbors share of P₀ far more than P₀ itself ("common").
"""

from dataclasses import replace

import numpy as np
import scipy

from mfbo.arrays import FloatArray
from mfbo.models.channels import Channel
from mfbo.models.couplings import (
    DENSE_LIMIT,
    Coupling,
    FixedCoupling,
    Identity,
    LowRank,
    by_features,
    unit_scaled,
)
from mfbo.models.features import SHAPES, Feature
from mfbo.models.hyperparameters import Hyperparameter
from mfbo.population import Population

OFFSET = 1e-3  # of an even share: keeps the slope finite where nobody stands
NEAR_LENGTH = 0.15  # on features scaled to [0, 1]: how far demand is alike
NEAREST = 64  # neighbors that are looked at on maps too large for all of them
EVEN = 1e-9  # relative differences of placements that are none
WEIGHT_SD = 0.5  # of the logarithm of a variance: a few noisy days must not argue it away or up
NEAR, OWN = Hyperparameter(1.0, WEIGHT_SD), Hyperparameter(0.64, WEIGHT_SD)  # variances of v
STANDING, COMMON = Hyperparameter(0.04, WEIGHT_SD), Hyperparameter(9.0, WEIGHT_SD)  # of its slopes in √P₀ / mean √P₀


def demand_terms(population: Population, status_quo: FloatArray) -> tuple[Channel, ...]:
    """Return the terms for a status quo (C, A), in units of what it earns; an even one says nothing of places."""
    actions = population.shape[1]
    occupancy = population.weights @ status_quo
    feature = Feature("actions", SHAPES["root"](actions, OFFSET / actions))
    feature = replace(feature, center=feature.at(population.joint_shares(status_quo))[0])
    roots = np.sqrt(occupancy + OFFSET / actions)
    standing = roots / roots.mean() - 1.0
    couplings: list[tuple[str, Hyperparameter, Coupling]] = [("own", OWN, Identity())]
    if population.features is not None:
        couplings.append(("near", NEAR, by_features(population.features, NEAR_LENGTH)))
    if np.abs(standing).max() > EVEN:
        common = _common(standing, population.features)
        couplings += [("standing", STANDING, LowRank(standing[:, None])), ("common", COMMON, LowRank(common[:, None]))]
    scale = float(1.0 / roots.sum() ** 2)
    return tuple(
        Channel(f"demand/{name}", weight, feature, FixedCoupling(coupling), scale)
        for name, weight, coupling in couplings
    )


def _common(standing: FloatArray, features: FloatArray | None) -> FloatArray:
    """Return what neighbors share of these numbers (A,): weighted means around each place, centered.

    Without features nobody knows who are neighbors, and all of it may be shared.
    """
    if features is None:
        return standing
    places, dimensions = features.shape
    spacing = places ** (-1.0 / dimensions) / dimensions**0.5  # of as many places on an even grid
    if places > DENSE_LIMIT:
        means = _means_of_nearest(standing, unit_scaled(features), float(spacing))
    else:
        neighbors = by_features(features, float(spacing))
        means = neighbors.apply(standing[None])[0] / neighbors.apply(np.ones((1, places)))[0]
    return np.asarray(means - means.mean())


def _means_of_nearest(values: FloatArray, places: FloatArray, length: float) -> FloatArray:
    """Return the same means, (A,), of the nearest places alone: a thin factor does not know who is next to whom."""
    distances, nearest = scipy.spatial.cKDTree(places).query(places, k=NEAREST)
    weights = np.exp(-0.5 * distances**2 / (places.shape[1] * length**2))
    return np.asarray((weights * values[nearest]).sum(axis=1) / weights.sum(axis=1))
