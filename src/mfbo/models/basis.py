"""A finite basis for a kernel: channels are finite-dimensional already, stationary terms get Nyström features.

With inducing distributions ξ_1 … ξ_m, κ(ξ, ξ′) ≈ h(ξ)ᵀ h(ξ′), h(ξ) = L⁻¹ κ(ξ_·, ξ), L Lᵀ = κ(ξ_·, ξ_·). The
approximation is exact between inducing distributions, and never above the kernel: what is missing, κ(0) − |h|², is
added to the predicted variance. Lengths are given. docs/theory.md, section 12.
"""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.models.cholesky import factorized, lower_inverse
from mfbo.models.conditioning import RadialAt, RadialGroup
from mfbo.models.couplings import factor_of
from mfbo.models.features import Feature
from mfbo.models.kernel import Kernel
from mfbo.models.radials import block_distances

LARGEST_INDUCED = 64  # inducing distributions of a stationary term …
LARGEST_PRODUCT = 600  # … and features of a static × stationary term
JITTER = 1e-9


@dataclass(frozen=True, eq=False)
class ChannelBlock:
    """The feature shared by some channels. indices: their terms; shape: (R, K); columns: place in the basis."""

    feature: Feature
    indices: tuple[int, ...]
    shape: tuple[int, int]
    columns: slice


@dataclass(frozen=True, eq=False)
class InducedBlock:
    """A stationary term, alone or times a static part, as Nyström features.

    group: the inducing distributions as rows of a radial group of weight 1. whitening: L⁻¹ (m, m). factor: R (A, r)
    with R Rᵀ = S for a static part, None for R = I; columns: place in the basis.
    """

    index: int
    group: RadialGroup
    whitening: FloatArray
    feature: Feature | None
    factor: FloatArray | None
    scale: float
    columns: slice

    def induced(self, shares: FloatArray) -> FloatArray:
        """Return h of m′ distributions: w (m′, C, A) → (m′, m)."""
        squared = block_distances(self.group.radial.embedding.of(shares), self.group.z)
        kappa = self.group.radial.profile.value(squared / self.group.unit).sum(axis=0)
        return np.asarray(kappa @ self.whitening.T)

    def static(self, omega: FloatArray) -> FloatArray:
        """Return the static factor e = √scale · φ R of n rows: ω (n, C, A) → (n, C·r); 1 without a feature."""
        if self.feature is None:
            return np.ones((len(omega), 1))
        values = self.feature.of_rows(omega, omega)
        coupled = values if self.factor is None else values @ self.factor
        return np.asarray(self.scale**0.5 * coupled.reshape(len(omega), -1))

    def missing_of_changes(self, start: FloatArray, shares: FloatArray) -> FloatArray:
        """Return the prior variance of g(ξ′) − g(ξ) that the features lack: w (1, C, A), w (m, C, A) → (m,).

        They lack e·e′ ρ with ρ = κ − h·h′; the differences are taken before they are squared.
        """
        h, e = self.induced(start), self.static(start)
        steps, turns = self.induced(shares) - h, self.static(shares) - e
        lacking = np.maximum(self.group.radial.embedding.blocks - (h * h).sum(), 0.0)
        fall = 2.0 * self.group.radial.fall(start, shares, self.group.unit) - (steps * steps).sum(axis=1)
        less = steps @ h[0] * 2.0 + (steps * steps).sum(axis=1)  # by how much ρ(ξ′, ξ′) is below ρ(ξ, ξ)
        along = turns @ e[0]
        there = np.maximum(lacking - less, 0.0)
        return np.asarray(
            (e[0] @ e[0] + along) * np.maximum(fall, 0.0) + there * (turns * turns).sum(axis=1) - less * along
        )


class Basis:
    """Features of any row under one kernel, (n, D), for given lengths in θ and inducing distributions w (m, C, A)."""

    def __init__(self, kernel: Kernel, theta: FloatArray, inducing: FloatArray) -> None:
        """Lay out the columns: channels, stationary terms, constant."""
        self.kernel = kernel
        self.channels: list[ChannelBlock] = []
        self.blocks: list[InducedBlock] = []
        self.size = 0
        by_feature: dict[int, list[int]] = {}
        for index, term in enumerate(kernel.terms):
            if term.radial is None and term.feature is not None:
                by_feature.setdefault(id(term.feature), []).append(index)
        for indices in by_feature.values():
            self._add_channel(indices, inducing)
        for index, term in enumerate(kernel.terms):
            if term.radial is not None:
                self._add_induced(index, kernel.length_value(index, theta), inducing)
        self.constant = next((i for i, t in enumerate(kernel.terms) if t.radial is None and t.feature is None), None)
        self.size += self.constant is not None

    def _take(self, count: int) -> slice:
        start, self.size = self.size, self.size + count
        return slice(start, self.size)

    def _add_channel(self, indices: list[int], inducing: FloatArray) -> None:
        feature = self.kernel.terms[indices[0]].feature
        if feature is None:
            raise AssertionError("a channel has a feature")  # chosen for it above
        rows, columns = feature.at(inducing[0]).shape
        self.channels.append(ChannelBlock(feature, tuple(indices), (rows, columns), self._take(rows * columns)))

    def _add_induced(self, index: int, length: float, inducing: FloatArray) -> None:
        term = self.kernel.terms[index]
        if term.radial is None:
            raise AssertionError("only stationary terms are induced")  # chosen for it above
        width, factor = 1, None
        if term.feature is not None:
            contexts, actions = inducing[0].shape
            factor = factor_of(term.actions, actions)
            width = contexts * (actions if factor is None else factor.shape[1])
        count = max(min(len(inducing), LARGEST_INDUCED, LARGEST_PRODUCT // width), 1)
        kept = inducing[np.linspace(0, len(inducing) - 1, count).round().astype(int)]
        z = term.radial.embedding.of(kept)
        group = RadialGroup(term.radial, 1.0, length, z, (z * z).sum(axis=-1))
        kappa = term.radial.profile.value(block_distances(z, z) / group.unit).sum(axis=0)
        whitening = lower_inverse(factorized(kappa + JITTER * np.eye(count)))
        columns = self._take(width * count)
        self.blocks.append(InducedBlock(index, group, whitening, term.feature, factor, term.scale, columns))

    def of_rows(self, omega: FloatArray, shares: FloatArray) -> FloatArray:
        """Return Φ (n, D) of rows: ω, w (n, C, A)."""
        phi = np.ones((len(omega), self.size))
        for channel in self.channels:
            phi[:, channel.columns] = channel.feature.of_rows(omega, shares).reshape(len(omega), -1)
        for block in self.blocks:
            product = block.static(omega)[:, :, None] * block.induced(shares)[:, None, :]
            phi[:, block.columns] = product.reshape(len(omega), -1)
        return phi

    def at(self, shares: FloatArray) -> "BasisAt":
        """Evaluate the features of g at one distribution, w (C, A)."""
        return BasisAt(self, shares)


class BasisAt:
    """φ(ξ) of the population payoff (D,), the kernel that Nyström leaves out, and their pullback to w."""

    def __init__(self, basis: Basis, shares: FloatArray) -> None:
        """Evaluate every block."""
        self._basis = basis
        self._shares = shares
        self.phi = np.ones(basis.size)
        for channel in basis.channels:
            self.phi[channel.columns] = channel.feature.at(shares).ravel()
        self._induced: list[tuple[InducedBlock, RadialAt, FloatArray, FloatArray]] = []
        for block in basis.blocks:
            radial = block.group.at(shares)
            h = block.whitening @ radial.kappa
            static = block.static(shares[None])[0]
            self._induced.append((block, radial, h, static))
            self.phi[block.columns] = np.outer(static, h).ravel()

    def missing(self, weights: FloatArray) -> float:
        """Return Σ v |e|² (κ(0) − |h|²): prior variance of g that the basis lacks; weights (J,)."""
        return sum(
            float(weights[block.index] * (static @ static)) * max(radial.at_zero - float(h @ h), 0.0)
            for block, radial, h, static in self._induced
        )

    def pullback(self, d_phi: FloatArray, d_missing: float, weights: FloatArray) -> FloatArray:
        """Chain d/dφ (D,) and d/d(missing) back to d/dw (C, A)."""
        total = np.zeros(self._shares.shape)
        for channel in self._basis.channels:
            part = d_phi[channel.columns].reshape(channel.shape)
            total += channel.feature.pullback(self._shares, part)
        for block, radial, h, static in self._induced:
            d_product = d_phi[block.columns].reshape(len(static), len(h))
            weight = d_missing * float(weights[block.index])
            left = max(radial.at_zero - float(h @ h), 0.0)
            d_h = static @ d_product - (2.0 * weight * float(static @ static) * (left > 0)) * h
            total += radial.pullback(block.whitening.T @ d_h)
            if block.feature is not None:
                d_static = block.scale**0.5 * (d_product @ h + (2.0 * weight * left) * static)
                unfolded = d_static.reshape(self._shares.shape[0], -1)
                d_omega = unfolded if block.factor is None else unfolded @ block.factor.T
                total += block.feature.pullback(self._shares, d_omega)
        return total
