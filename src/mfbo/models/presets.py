"""Ready kernels: the paper's (`paper`, `joint`) and ours for population payoffs and for agents' payoffs.

The numbers were found with prototypes (docs/decisions/0003-default-kernel.md): wide priors on many small weights, so
that the data choose among the channels.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError
from mfbo.models.channels import Channel
from mfbo.models.couplings import (
    DENSE_LIMIT,
    Coupling,
    FixedCoupling,
    Identity,
    LearnedCoupling,
    Ones,
    by_features,
    coupled_features,
    squared_distances,
    unit_scaled,
)
from mfbo.models.features import SHAPES, Axis, Feature, Shape
from mfbo.models.hyperparameters import Hyperparameter
from mfbo.models.kernel import Constant, Further, Kernel, Term
from mfbo.models.products import Product
from mfbo.models.separable import CellRoots, Separable
from mfbo.models.stationary import EMBEDDINGS, PROFILES, Radial, Stationary, block_distances
from mfbo.population import Population
from mfbo.simplex import dirichlet, uniform

LENGTHS = (0.1, 0.25, 0.6)  # of the couplings over actions, on features scaled to [0, 1]
CLOSE = 0.03  # median distance of next neighbors below which the shortest of these would blur them …
NEIGHBORS, SHORTEST = 2.5, 0.02  # … and lengths begin at so many such distances, but never below
SAME_PLACE = 1e-12  # squared distance of what is not a neighbor, but the same place
SEPARABLE_LENGTHS = (0.2, 0.6)  # of the functions of single cells, in typical distances of √w
MOST_SEPARABLE = 250  # cells: as many as payoffs that an exact process holds
OCCUPANCY_SHAPES = ("linear", "log", "decay", "fast decay")
REFERENCE_SEED = 20250101
NOISE = Hyperparameter(1e-4, 4.0, float(np.log(1e-9)), 0.0)
KNOWN_TO_BE_NOISY = Hyperparameter(1e-3, 2.0, float(np.log(1e-9)), 0.0)


def paper_kernel(population: Population, *, profile: str = "rbf", distance: str = "rows") -> Kernel:
    """Return k_x(a, a′) + k_c(c, c′) + Σ_j k(ξ_j, ξ′_j), the additive kernel of the paper (corrected: E2, E3).

    ``distance="hellinger"`` compares √w instead of ξ.
    """
    parts = _Parts(population)
    terms: list[Term] = [parts.own_term("actions")]
    if len(population.contexts) > 1:
        terms.append(parts.own_term("contexts"))
    length = Hyperparameter(1.0, 1.0, -4.0, 4.0)
    terms.append(Stationary("distribution", Hyperparameter(1.0, 1.0), parts.radial(distance, profile), length))
    return Kernel("paper", tuple(terms), Hyperparameter(1e-4, 2.0, float(np.log(1e-8)), 0.0), population.weights)


def joint_kernel(population: Population, *, profile: str = "rbf") -> Kernel:
    """Return one stationary kernel over action, context and distribution together, with one length."""
    parts = _Parts(population)
    actions = _scaled_distances(population.features)
    contexts = _scaled_distances(population.context_features)
    term = Product(
        "joint",
        Hyperparameter(1.0, 1.0),
        Feature("cells", parts.shape("one")),
        parts.radial("joint", profile),
        Hyperparameter(1.0, 1.0, -3.0, 4.0),
        LearnedCoupling(actions, contexts),
    )
    return Kernel("joint", (term,), Hyperparameter(1e-4, 2.0, float(np.log(1e-8)), 0.0), population.weights)


def default_kernel(population: Population, *, noisy: bool = False) -> Kernel:
    """Return our kernel for population payoffs: channels on √w, w and P² (and √P, P), two RBFs and a constant.

    noisy: whether payoffs are known to be noisy, which moves the prior of the noise and makes the unit robust. Exact
    payoffs may ask for further terms, and tell close neighbors apart, see ``close_lengths``.
    """
    parts = _Parts(population, lengths=LENGTHS if noisy else close_lengths(population.features))
    weight = Hyperparameter(0.01, 4.0)
    terms: list[Term] = []
    terms += parts.channels("root", "cells", weight, centered=True, ones=True)
    terms += parts.channels("one", "cells", weight, centered=True, ones=False)
    terms += parts.channels("linear", "actions", weight, centered=True, ones=True)
    if len(population.contexts) > 1:
        terms += parts.channels("root", "actions", weight, centered=True, ones=True)
        terms += parts.channels("one", "actions", weight, centered=True, ones=False)
    length = Hyperparameter(1.0, 0.7, -2.0, 3.0)
    terms.append(Stationary("hellinger", Hyperparameter(0.1, 1.5), parts.radial("hellinger", "rbf"), length))
    if population.features is not None:  # without features the mean embedding is w itself and adds nothing
        terms.append(Stationary("mean", Hyperparameter(0.03, 1.5), parts.radial("mean", "rbf"), length))
    terms.append(Constant("constant", Hyperparameter(1.0, 1.0, -3.0, 5.0)))
    noise, further = (KNOWN_TO_BE_NOISY, ()) if noisy else (NOISE, parts.further())
    kernel = Kernel("default", tuple(terms), noise, population.weights, robust=noisy, drifts=True)
    return replace(kernel, further=further)


def unplaced_kernel(population: Population) -> Kernel:
    """Return our kernel for exact payoffs of actions without features: nothing is known of crowding but by evidence.

    The square of all occupancies is one number for a whole plan, and a model that explains a few dozen plans by such
    numbers is sure of all others: an RBF of the shares says how payoffs bend instead. Channels of occupancy are further
    terms where contexts may share places.
    """
    if population.features is not None:
        raise InvalidInputError("unplaced_kernel is for actions without features: take default_kernel for these")
    kernel = default_kernel(population)
    occupancy = tuple(term for term in kernel.terms if isinstance(term, Channel) and term.feature.axis == "actions")
    others = tuple(term for term in kernel.terms if not any(term is crowding for crowding in occupancy))
    groups = {group.name: group for group in kernel.further}
    shares = groups.pop("shares")
    if occupancy and len(population.contexts) > 1:
        groups["occupancy"] = Further("occupancy", occupancy)
    return replace(kernel, name="unplaced", terms=(*others, *shares.terms), further=tuple(groups.values()))


def agents_kernel(population: Population) -> Kernel:
    """Return our kernel for agents' and cells' payoffs: own action times functions of its occupancy.

    The term "interaction" lets the value of an action change with the whole distribution.
    """
    parts = _Parts(population, of_cells=True)
    weight = Hyperparameter(0.03, 3.0)
    terms: list[Term] = []
    terms += parts.channels("one", "cells", weight, centered=False, ones=False)
    if len(population.contexts) > 1:
        terms += parts.channels("one", "actions", weight, centered=False, ones=False)
    for shape in OCCUPANCY_SHAPES:
        terms += parts.channels(shape, "actions", weight, centered=False, ones=True)
    length = Hyperparameter(1.0, 0.7, -2.0, 3.0)
    terms.append(Stationary("hellinger", Hyperparameter(0.03, 1.5), parts.radial("hellinger", "rbf"), length))
    terms.append(
        Product(
            "interaction",
            Hyperparameter(0.1, 1.5),
            Feature("cells", parts.shape("one")),
            parts.radial("mean", "rbf"),
            Hyperparameter(3.0, 0.7, -2.0, 4.0),
            FixedCoupling(parts.coupling(0.25)),
        )
    )
    terms.append(Constant("constant", Hyperparameter(1.0, 1.0, -3.0, 5.0)))
    noise = Hyperparameter(1e-4, 2.0, float(np.log(1e-9)), 0.0)
    return Kernel("agents", tuple(terms), noise, population.weights)


def close_lengths(features: FloatArray | None) -> tuple[float, ...]:
    """Return the lengths of couplings, down to next neighbors where these lie close (maps of hundreds of places).

    The usual ones for more actions than can be held densely: a thin factor cannot hold a shorter length.
    """
    if features is None or len(features) > DENSE_LIMIT:
        return LENGTHS
    squared = squared_distances(unit_scaled(features))
    squared[squared < SAME_PLACE] = np.inf
    distance = float(np.median(np.sqrt(squared.min(axis=1))))
    if distance >= CLOSE:
        return LENGTHS
    shortest, longest = max(NEIGHBORS * distance, SHORTEST), LENGTHS[-1]
    return shortest, (shortest * longest) ** 0.5, longest


@dataclass(frozen=True, eq=False)
class _Parts:
    """What the presets are made of for one population; ``of_cells`` scales to unit variance of f instead of g.

    lengths: of the couplings of all channels.
    """

    population: Population
    of_cells: bool = False
    lengths: tuple[float, ...] = LENGTHS

    @cached_property
    def reference(self) -> FloatArray:
        """Sixty fixed joint distributions w (60, C, A), sparse to flat, that set every scale."""
        rng = np.random.default_rng(REFERENCE_SEED)
        draws = [dirichlet(a, *self.population.shape, rng) for a in (0.3, 1.0, 3.0) for _ in range(20)]
        return np.asarray(self.population.weights[:, None] * np.stack(draws))

    @cached_property
    def _couplings(self) -> dict[float, Coupling]:
        return {length: by_features(self.population.features, length) for length in self.lengths}

    def coupling(self, length: float) -> Coupling:
        """Return the coupling over actions at this length (the identity when actions have no features)."""
        return self._couplings.get(length) or by_features(self.population.features, length)

    def shape(self, name: str, axis: Axis = "cells") -> Shape:
        """Return ψ with the offset that keeps roots finite."""
        contexts, actions = self.population.shape
        return SHAPES[name](actions, 1e-3 / actions / (contexts if axis == "cells" else 1))

    def own_term(self, axis: Axis) -> Channel:
        """Return k_x or k_c of the paper: an RBF of the features with a length to fit.

        Without features it is equality, and with more actions than can be held densely the length is fixed.
        """
        name, weight, feature = axis.removesuffix("s"), Hyperparameter(1.0, 1.0), Feature(axis, self.shape("one"))
        of_actions = axis == "actions"
        features = self.population.features if of_actions else self.population.context_features
        if features is None or (of_actions and len(features) > DENSE_LIMIT):
            return Channel(name, weight, feature, FixedCoupling(self.coupling(0.5) if of_actions else Identity()))
        distances = squared_distances(unit_scaled(features))
        learned = LearnedCoupling(distances, None) if of_actions else LearnedCoupling(None, distances)
        return Channel(name, weight, feature, learned, length=Hyperparameter(0.5, 1.0, -3.0, 3.0))

    def channels(self, shape: str, axis: Axis, weight: Hyperparameter, *, centered: bool, ones: bool) -> list[Channel]:
        """Return one term per coupling for one feature, each scaled to unit variance over the reference draws."""
        feature = Feature(axis, self.shape(shape, axis))
        if centered:
            flat = self.population.joint_shares(uniform(*self.population.shape))
            feature = replace(feature, center=feature.at(flat)[0])
        couplings: list[tuple[str, Coupling]] = [("own", Identity())]
        if ones:
            couplings.insert(0, ("all", Ones()))
        if self.population.features is not None:
            couplings[-1:-1] = [(f"{length:g}", self.coupling(length)) for length in self.lengths]
        return [
            Channel(f"{shape}/{axis}/{label}", weight, feature, FixedCoupling(coupling), 1.0 / norm)
            for label, coupling in couplings
            if (norm := self._mean_variance(feature, coupling)) > 1e-12
        ]

    def radial(self, embedding_name: str, profile: str) -> Radial:
        """Return a stationary part whose unit distance is the median of the reference draws."""
        actions = self.population.shape[1]
        embedding = EMBEDDINGS[embedding_name].made_for(self.population.weights, actions, self.coupling(0.25))
        blocks = np.moveaxis(embedding.of(self.reference), 1, 0)
        squared = block_distances(blocks, blocks).mean(axis=0)
        typical = float(np.median(squared[np.triu_indices(len(squared), 1)]))
        norm = typical if typical > 1e-12 else 1.0  # one action: no distances
        return Radial(embedding, PROFILES[profile](), norm)

    def further(self) -> tuple[Further, ...]:
        """Return functions of single cells, and an RBF of the shares, for roots say little of routes that share roads.

        The first are for as many cells as can be told apart; with features the mean embedding is that RBF.
        """
        contexts, actions = self.population.shape
        groups = [Further("separable", self.separable())] if contexts * actions <= MOST_SEPARABLE else []
        if self.population.features is None:
            length = Hyperparameter(1.0, 0.7, -2.0, 3.0)
            shares = Stationary("shares", Hyperparameter(0.1, 4.0), self.radial("mean", "rbf"), length)
            groups.append(Further("shares", (shares,)))
        return tuple(groups)

    def separable(self) -> tuple[Separable, ...]:
        """Return a term per length; at their medians all of them together have the variance of the payoffs."""
        contexts, actions = self.population.shape
        cells = contexts * actions
        roots = CellRoots.made_for(self.population.weights, actions, Identity())
        typical = self.radial("hellinger", "rbf").norm / cells
        weight = Hyperparameter(1.0 / cells / len(SEPARABLE_LENGTHS), 1.5)
        return tuple(
            Separable(f"separable/{length:g}", weight, Radial(roots, PROFILES["rbf"](), typical * length * length))
            for length in SEPARABLE_LENGTHS
        )

    def _mean_variance(self, feature: Feature, coupling: Coupling) -> float:
        if self.of_cells:
            factors = feature.factors(self.reference)
            return float((factors**2).mean() * coupling.diagonal(factors.shape[-1]).mean())
        phi = feature.of_rows(self.reference, self.reference)
        return float((coupled_features(phi, coupling, Identity()) * phi).sum(axis=(1, 2)).mean())


def _scaled_distances(features: FloatArray | None) -> FloatArray | None:
    return None if features is None else squared_distances(unit_scaled(features))
