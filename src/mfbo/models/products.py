"""Product terms: a channel times a stationary term, so that what an action is worth changes with the distribution."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.models.channels import Channel, Channels, ChannelsPart
from mfbo.models.couplings import FixedCoupling, LearnedCoupling, factor_of
from mfbo.models.features import Feature
from mfbo.models.hyperparameters import Hyperparameter
from mfbo.models.kernel import At, BlockAt, Columns, Role, Source, Summand, Values
from mfbo.models.stationary import Nystrom, Radial, Stationary, StationaryPart

LARGEST_PRODUCT = 600  # features of a term in the sparse posterior's basis


@dataclass(frozen=True, eq=False)
class Product:
    """One term, scale · ⟨φ, S φ′⟩ · κ; a learned coupling shares the length of κ."""

    name: str
    weight: Hyperparameter
    feature: Feature
    radial: Radial
    length: Hyperparameter
    coupling: FixedCoupling | LearnedCoupling = field(default_factory=FixedCoupling)
    scale: float = 1.0

    @cached_property
    def channel(self) -> Channel:
        """The static factor."""
        length = self.length if isinstance(self.coupling, LearnedCoupling) else None
        return Channel(self.name, self.weight, self.feature, self.coupling, self.scale, length)

    @cached_property
    def stationary(self) -> Stationary:
        """The factor that moves with the distribution."""
        return Stationary(self.name, self.weight, self.radial, self.length)

    @property
    def role(self) -> Role:
        """It says something of actions and distributions together."""
        return "mixed"

    @property
    def sources(self) -> tuple[Source, ...]:
        """The feature and the embedding."""
        return (self.feature, self.radial.embedding)

    def pairs(self, columns: Columns, start: int, count: int) -> FloatArray:
        """Return those of the two factors, (1 + B, m, n)."""
        return np.concatenate([self.channel.pairs(columns, start, count), self.stationary.pairs(columns, start, count)])

    def gram(self, pairs: FloatArray, columns: Columns, length: float, start: int) -> tuple[FloatArray, FloatArray]:
        """Return the product of both Gram matrices, and its derivative by the product rule."""
        static, static_slope = self.channel.gram(pairs[:, :1], columns, length, start)
        kappa, slope = self.stationary.gram(pairs[:, 1:], columns, length, start)
        return static * kappa, static_slope * kappa + static * slope

    @classmethod
    def summands(cls, members: Sequence[tuple[int, "Product"]]) -> Sequence[Summand]:
        """Return each term by itself."""
        return [ProductSummand(place, term) for place, term in members]


@dataclass(frozen=True, eq=False)
class ProductSummand:
    """A product term and its place among the terms."""

    place: int
    term: Product

    def conditioned(self, values: Values, columns: Columns) -> "ProductPart":
        """Return the part of an exact posterior; the weight stands with the stationary factor."""
        weight, length = float(values.weights[self.place]), float(values.lengths[self.place])
        static = Channels((((0, self.term.channel),),)).conditioned(
            Values(np.ones(1), np.array([length]), 0.0), columns
        )
        return ProductPart(static, self.term.stationary.part(weight, length, columns))

    def block(self, values: Values, inducing: FloatArray) -> "ProductBlock":
        """Return all products of a static feature and a Nyström feature."""
        length = float(values.lengths[self.place])
        rows, count = self.term.feature.at(inducing[0])[0].shape
        actions, contexts = self.term.coupling.at(length)
        factors = factor_of(contexts, rows), factor_of(actions, count)
        width = (rows if factors[0] is None else factors[0].shape[1]) * (
            count if factors[1] is None else factors[1].shape[1]
        )
        nystrom = self.term.stationary.nystrom(length, inducing, LARGEST_PRODUCT // width)
        return ProductBlock(self.place, self.term, factors, width, nystrom)


@dataclass(frozen=True, eq=False)
class ProductPart:
    """A product term on rows: both factors on the same rows."""

    static: ChannelsPart
    stationary: StationaryPart
    role: Role = "mixed"

    def on(self, columns: Columns) -> "ProductPart":
        """Take both factors to other rows."""
        return replace(self, static=self.static.on(columns), stationary=self.stationary.on(columns))

    def joined(self, later: "ProductPart") -> "ProductPart":
        """Join both factors."""
        static, stationary = self.static.joined(later.static), self.stationary.joined(later.stationary)
        return replace(self, static=static, stationary=stationary)

    def at(self, shares: FloatArray) -> At:
        """Return the products of both factors' covariances, and the product rule."""
        static, radial = self.static.at(shares), self.stationary.at(shares)

        def pullback(d_cross: FloatArray, d_prior: float) -> FloatArray:
            total = np.zeros(shares.shape)
            total += radial.pullback(d_cross * static.cross, 0.0)
            total += static.pullback(d_cross * radial.cross, d_prior * radial.prior)
            return total

        return At(static.cross * radial.cross, radial.prior * static.prior, pullback)

    def cells_at(self, shares: FloatArray) -> At:
        """Return the same for every cell."""
        static, radial = self.static.cells_at(shares), self.stationary.cells_at(shares)

        def pullback(d_cross: FloatArray, d_prior: FloatArray) -> FloatArray:
            total = np.zeros(shares.shape)
            total += radial.pullback(d_cross * static.cross, 0.0)
            total += static.pullback(d_cross * radial.cross, d_prior * radial.prior)
            return total

        return At(static.cross * radial.cross, static.prior * radial.prior, pullback)

    def own(self) -> Sequence[tuple[FloatArray, FloatArray]]:
        """Return nothing: all of it moves with ξ."""
        return ()

    def cross_many(self, shares: FloatArray) -> FloatArray:
        """Return the covariances of g at m distributions with the rows: w (m, C, A) → (m, n)."""
        return self.stationary.cross_many(shares) * self.static.cross_many(shares)

    def prior_of_changes(self, start: FloatArray, shares: FloatArray) -> FloatArray:
        """Return the prior variance of g(ξ′) − g(ξ): w (1, C, A) of ξ, w (m, C, A) of ξ′ → (m,).

        With k = κ ⟨φ, S φ′⟩ it is κ(0) ⟨Δφ, S Δφ⟩ + 2 (κ(0) − κ) ⟨φ′, S φ⟩: no difference of two large numbers.
        """
        fall = self.stationary.fall(start, shares)
        here, there = self.static.features_of(start), self.static.features_of(shares)
        at_zero = self.stationary.weight * self.stationary.radial.embedding.blocks
        return np.asarray(
            at_zero * self.static.prior_of_changes(start, shares) + 2.0 * fall * (there @ self.static.apply(here)[0])
        )


@dataclass(frozen=True, eq=False)
class ProductBlock:
    """A product term as products of static features e = √scale · R_cᵀ φ R_a and Nyström features.

    factors: R_c (R, s) and R_a (K, r) with R Rᵀ the coupling over contexts and over actions; None stands for R = I.
    width: number of static features.
    """

    place: int
    term: Product
    factors: tuple[FloatArray | None, FloatArray | None]
    width: int
    nystrom: Nystrom

    @property
    def size(self) -> int:
        """Number of products."""
        return self.width * len(self.nystrom.whitening)

    def prior_factors(self, values: Values) -> Sequence[tuple[int, FloatArray | float]]:
        """Return the root of the weight."""
        return [(self.size, float(values.weights[self.place]) ** 0.5)]

    def static(self, omega: FloatArray, shares: FloatArray) -> FloatArray:
        """Return e of n rows: ω, w (n, C, A) → (n, width)."""
        contexts, actions = self.factors
        phi = self.term.feature.of_rows(omega, shares)
        coupled = phi if actions is None else phi @ actions
        coupled = coupled if contexts is None else contexts.T @ coupled
        return np.asarray(self.term.scale**0.5 * coupled.reshape(len(omega), -1))

    def of_rows(self, omega: FloatArray, shares: FloatArray) -> FloatArray:
        """Return the products of rows: ω, w (n, C, A) → (n, D)."""
        products = self.static(omega, shares)[:, :, None] * self.nystrom.of(shares)[:, None, :]
        return products.reshape(len(omega), -1)

    def at(self, shares: FloatArray, values: Values) -> BlockAt:
        """Return the products at one candidate, and v |e|² (κ(0) − |h|²)."""
        radial = self.nystrom.part.at(shares)
        h = self.nystrom.whitening @ radial.cross
        e = self.static(shares[None], shares[None])[0]
        left = max(radial.prior - float(h @ h), 0.0)
        weight = float(values.weights[self.place])

        def pull(total: FloatArray, d_phi: FloatArray, d_lacking: float) -> None:
            d_product = d_phi.reshape(len(e), len(h))
            d_left = d_lacking * weight
            d_h = e @ d_product - (2.0 * d_left * float(e @ e) * (left > 0)) * h
            total += radial.pullback(self.nystrom.whitening.T @ d_h, 0.0)
            d_e = self.term.scale**0.5 * (d_product @ h + (2.0 * d_left * left) * e)
            contexts, actions = self.factors
            phi, slope = self.term.feature.at(shares)
            d_phi = d_e.reshape(len(phi) if contexts is None else contexts.shape[1], -1)
            d_phi = d_phi if actions is None else d_phi @ actions.T
            total += (d_phi if contexts is None else contexts @ d_phi) * slope

        return BlockAt(np.outer(e, h).ravel(), float(weight * (e @ e)) * left, pull)

    def lacking(self, omega: FloatArray, shares: FloatArray, values: Values) -> FloatArray:
        """Return v |e|² (κ(0) − |h|²) of rows ω (n, C, A), all at one w (C, A): (n,)."""
        left = self.nystrom.lacking(self.nystrom.of(shares[None])[0])
        e = self.static(omega, np.broadcast_to(shares, omega.shape))
        return np.asarray(float(values.weights[self.place]) * left * (e**2).sum(axis=1))

    def lacking_of_changes(self, start: FloatArray, shares: FloatArray, values: Values) -> FloatArray:
        """Return what the features lack of the prior variance of g(ξ′) − g(ξ): w (1, C, A), w (m, C, A) → (m,).

        They lack e·e′ ρ with ρ = κ − h·h′; the differences are taken before they are squared.
        """
        h, e = self.nystrom.of(start), self.static(start, start)
        steps, turns = self.nystrom.of(shares) - h, self.static(shares, shares) - e
        lacking = np.maximum(self.nystrom.part.radial.embedding.blocks - (h * h).sum(), 0.0)
        fall = 2.0 * self.nystrom.part.fall(start, shares) - (steps * steps).sum(axis=1)
        less = steps @ h[0] * 2.0 + (steps * steps).sum(axis=1)  # by how much ρ(ξ′, ξ′) is below ρ(ξ, ξ)
        along = turns @ e[0]
        there = np.maximum(lacking - less, 0.0)
        missing = (e[0] @ e[0] + along) * np.maximum(fall, 0.0) + there * (turns * turns).sum(axis=1) - less * along
        return np.asarray(float(values.weights[self.place]) * missing)
