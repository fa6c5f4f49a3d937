"""Ready kernels: the paper's (`paper`, `joint`) and ours for population payoffs and for agents' payoffs.

The numbers are those of shared experiments (docs/decisions/0003-default-kernel.md): wide priors on many small weights,
so that the data choose among the channels.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.models.couplings import (
    DENSE_LIMIT,
    Coupling,
    Identity,
    Ones,
    by_features,
    coupled_features,
    factor_of,
    squared_distances,
    unit_scaled,
)
from mfbo.models.features import Axis, Feature, Shape, Weighting
from mfbo.models.kernel import Hyperparameter, Kernel, LearnedCoupling, Term
from mfbo.models.radials import Embedding, EmbeddingKind, Profile, ProfileKind, Radial, block_distances
from mfbo.population import Population
from mfbo.simplex import dirichlet, uniform

LENGTHS = (0.1, 0.25, 0.6)  # of the couplings over actions, on features scaled to [0, 1]
OCCUPANCY_SHAPES: tuple[Shape, ...] = ("linear", "log", "decay", "fast decay")
REFERENCE_SEED = 20250101
NOISE = Hyperparameter(1e-4, 4.0, float(np.log(1e-9)), 0.0)
KNOWN_TO_BE_NOISY = Hyperparameter(1e-3, 2.0, float(np.log(1e-9)), 0.0)


def paper_kernel(population: Population, *, profile: ProfileKind = "rbf", distance: EmbeddingKind = "rows") -> Kernel:
    """Return k_x(a, a′) + k_c(c, c′) + Σ_j k(ξ_j, ξ′_j), the additive kernel of the paper (corrected: E2, E3).

    ``distance="hellinger"`` compares √w instead of ξ.
    """
    parts = _Parts(population)
    terms = [parts.own_term("actions")]
    if len(population.contexts) > 1:
        terms.append(parts.own_term("contexts"))
    radial = parts.radial(distance, profile)
    terms.append(
        Term("distribution", Hyperparameter(1.0, 1.0), radial=radial, length=Hyperparameter(1.0, 1.0, -4.0, 4.0))
    )
    return Kernel("paper", tuple(terms), Hyperparameter(1e-4, 2.0, float(np.log(1e-8)), 0.0), population.weights)


def joint_kernel(population: Population, *, profile: ProfileKind = "rbf") -> Kernel:
    """Return one stationary kernel over action, context and distribution together, with one length."""
    parts = _Parts(population)
    actions = _scaled_distances(population.features)
    contexts = _scaled_distances(population.context_features)
    term = Term(
        "joint",
        Hyperparameter(1.0, 1.0),
        feature=Feature("cells", parts.weighting("one")),
        learned=LearnedCoupling(actions, contexts),
        radial=parts.radial("joint", profile),
        length=Hyperparameter(1.0, 1.0, -3.0, 4.0),
    )
    return Kernel("joint", (term,), Hyperparameter(1e-4, 2.0, float(np.log(1e-8)), 0.0), population.weights)


def default_kernel(population: Population, *, noisy: bool = False) -> Kernel:
    """Return our kernel for population payoffs: channels on √w, w and P² (and √P, P), two RBFs and a constant.

    noisy: whether payoffs are known to be noisy, which moves the prior of the noise and makes the unit robust.
    """
    parts = _Parts(population)
    weight = Hyperparameter(0.01, 4.0)
    terms = parts.channels("root", "cells", weight, centered=True, ones=True)
    terms += parts.channels("one", "cells", weight, centered=True, ones=False)
    terms += parts.channels("linear", "actions", weight, centered=True, ones=True)
    if len(population.contexts) > 1:
        terms += parts.channels("root", "actions", weight, centered=True, ones=True)
        terms += parts.channels("one", "actions", weight, centered=True, ones=False)
    length = Hyperparameter(1.0, 0.7, -2.0, 3.0)
    terms.append(Term("hellinger", Hyperparameter(0.1, 1.5), radial=parts.radial("hellinger", "rbf"), length=length))
    if population.features is not None:  # without features the mean embedding is w itself and adds nothing
        terms.append(Term("mean", Hyperparameter(0.03, 1.5), radial=parts.radial("mean", "rbf"), length=length))
    terms.append(Term("constant", Hyperparameter(1.0, 1.0, -3.0, 5.0)))
    return Kernel("default", tuple(terms), KNOWN_TO_BE_NOISY if noisy else NOISE, population.weights, robust=noisy)


def agents_kernel(population: Population) -> Kernel:
    """Return our kernel for agents' and cells' payoffs: own action times functions of its occupancy.

    The term "interaction" lets the value of an action change with the whole distribution.
    """
    parts = _Parts(population, of_cells=True)
    weight = Hyperparameter(0.03, 3.0)
    terms = parts.channels("one", "cells", weight, centered=False, ones=False)
    if len(population.contexts) > 1:
        terms += parts.channels("one", "actions", weight, centered=False, ones=False)
    for shape in OCCUPANCY_SHAPES:
        terms += parts.channels(shape, "actions", weight, centered=False, ones=True)
    terms.append(
        Term(
            "hellinger",
            Hyperparameter(0.03, 1.5),
            radial=parts.radial("hellinger", "rbf"),
            length=Hyperparameter(1.0, 0.7, -2.0, 3.0),
        )
    )
    terms.append(
        Term(
            "interaction",
            Hyperparameter(0.1, 1.5),
            feature=Feature("cells", parts.weighting("one")),
            actions=parts.coupling(0.25),
            radial=parts.radial("mean", "rbf"),
            length=Hyperparameter(3.0, 0.7, -2.0, 4.0),
        )
    )
    terms.append(Term("constant", Hyperparameter(1.0, 1.0, -3.0, 5.0)))
    noise = Hyperparameter(1e-4, 2.0, float(np.log(1e-9)), 0.0)
    return Kernel("agents", tuple(terms), noise, population.weights)


@dataclass(frozen=True, eq=False)
class _Parts:
    """What the presets are made of for one population; ``of_cells`` scales to unit variance of f instead of g."""

    population: Population
    of_cells: bool = False

    @cached_property
    def reference(self) -> FloatArray:
        """Sixty fixed joint distributions w (60, C, A), sparse to flat, that set every scale."""
        rng = np.random.default_rng(REFERENCE_SEED)
        draws = [dirichlet(a, *self.population.shape, rng) for a in (0.3, 1.0, 3.0) for _ in range(20)]
        return np.asarray(self.population.weights[:, None] * np.stack(draws))

    @cached_property
    def _couplings(self) -> dict[float, Coupling]:
        return {length: by_features(self.population.features, length) for length in LENGTHS}

    def coupling(self, length: float) -> Coupling:
        """Return the coupling over actions at this length (the identity when actions have no features)."""
        return self._couplings.get(length) or by_features(self.population.features, length)

    def weighting(self, shape: Shape, axis: Axis = "cells") -> Weighting:
        """Return ψ with the offset that keeps roots finite."""
        contexts, actions = self.population.shape
        offset = 1e-3 / actions / (contexts if axis == "cells" else 1)
        return Weighting(shape, actions, offset if shape == "root" else 0.0)

    def learned(self, axis: Axis) -> LearnedCoupling | None:
        """Return a coupling with a length to fit; None without features, or with more than can be held densely."""
        if axis == "actions":
            known = self.population.features is not None and self.population.shape[1] <= DENSE_LIMIT
            return LearnedCoupling(_scaled_distances(self.population.features), None) if known else None
        distances = _scaled_distances(self.population.context_features)
        return None if distances is None else LearnedCoupling(None, distances)

    def own_term(self, axis: Axis) -> Term:
        """Return k_x or k_c of the paper: an RBF of the features with a length to fit; without features, equality."""
        learned = self.learned(axis)
        return Term(
            axis.removesuffix("s"),
            Hyperparameter(1.0, 1.0),
            feature=Feature(axis, self.weighting("one")),
            actions=self.coupling(0.5) if axis == "actions" else Identity(),
            learned=learned,
            length=None if learned is None else Hyperparameter(0.5, 1.0, -3.0, 3.0),
        )

    def channels(self, shape: Shape, axis: Axis, weight: Hyperparameter, *, centered: bool, ones: bool) -> list[Term]:
        """Return one term per coupling for one feature, each scaled to unit variance over the reference draws."""
        weighting = self.weighting(shape, axis)
        center = None
        if centered:
            flat = self.population.joint_shares(uniform(*self.population.shape))
            center = Feature(axis, weighting).at(flat)
        feature = Feature(axis, weighting, center)
        couplings: list[tuple[str, Coupling]] = [("own", Identity())]
        if ones:
            couplings.insert(0, ("all", Ones()))
        if self.population.features is not None:
            couplings[-1:-1] = [(f"{length:g}", self.coupling(length)) for length in LENGTHS]
        return [
            Term(f"{shape}/{axis}/{label}", weight, feature=feature, actions=coupling, scale=1.0 / norm)
            for label, coupling in couplings
            if (norm := self._mean_variance(feature, coupling)) > 1e-12
        ]

    def radial(self, kind: EmbeddingKind, profile: ProfileKind) -> Radial:
        """Return a stationary part whose unit distance is the median of the reference draws."""
        contexts, actions = self.population.shape
        offset = 1e-3 / actions / contexts if kind == "hellinger" else 0.0
        factor = factor_of(self.coupling(0.25), actions) if kind == "mean" else None
        embedding = Embedding(kind, self.population.weights, offset, factor)
        z = embedding.of(self.reference)
        squared = block_distances(z, z).mean(axis=0)
        typical = float(np.median(squared[np.triu_indices(len(z), 1)]))
        return Radial(embedding, Profile(profile), typical if typical > 1e-12 else 1.0)  # one action: no distances

    def _mean_variance(self, feature: Feature, coupling: Coupling) -> float:
        if self.of_cells:
            factors = feature.factors(self.reference)
            return float((factors**2).mean() * coupling.diagonal(factors.shape[-1]).mean())
        phi = feature.of_rows(self.reference, self.reference)
        return float((coupled_features(phi, coupling, Identity()) * phi).sum(axis=(1, 2)).mean())


def _scaled_distances(features: FloatArray | None) -> FloatArray | None:
    return None if features is None else squared_distances(unit_scaled(features))
