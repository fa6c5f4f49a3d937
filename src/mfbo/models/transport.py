"""The squared exponential kernel of the Wasserstein distance W₂: how far agents would have to move, exp(−W₂² / 2ℓ²).

On a line the distance has a closed form in cumulative shares. With positions x₁ ≤ … ≤ x_A, gaps Δ_j = x_{j+1} − x_j and
F_j the share at or left of x_j,

    W₂²(F, F′) = 2 D(F, F′) − D(F, F) − D(F′, F′)      D(F, F′) = Σ_{ij} Δ_i Δ_j max(F_i, F′_j)

which is a squared distance in a Hilbert space (of quantile functions), so the kernel is positive definite. In more than
one dimension W₂ has neither property, and its mean over fixed directions stands for it (sliced W₂). Agents do not
change their contexts: distances of the contexts add up, each with its weight.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.models.couplings import Coupling, Identity
from mfbo.models.kernel import At, Columns
from mfbo.models.stationary import Embedding, Stationary, StationaryPart
from mfbo.population import Population

DIRECTIONS = 8
APART = 2.0  # cumulative shares of one line lie in [0, 1]: lines at this distance can be searched as one


@dataclass(frozen=True, eq=False)
class Cumulative(Embedding):
    """Cumulative shares along K lines.

    left: which actions are at or left of a gap, (K, G, A) of 0 and 1. gaps: their widths, (K, G). z has one block of
    C · K · G numbers, those of one line and context beside each other and rising.
    """

    left: FloatArray
    gaps: FloatArray

    @classmethod
    def made_for(cls, weights: FloatArray, actions: int, coupling: Coupling) -> "Cumulative":
        """Take all actions to be equally far from each other: a line for each, with that action on one side."""
        return cls(1.0 - np.eye(actions)[:, None, :], np.ones((actions, 1)))

    def of(self, shares: FloatArray) -> FloatArray:
        """Return F."""
        found = np.tensordot(shares, self.left, axes=(-1, -1))
        return np.asarray(found.reshape(*shares.shape[:-2], 1, -1))

    def pullback(self, shares: FloatArray, d_z: FloatArray) -> FloatArray:
        """Chain through the sums."""
        lines = d_z.reshape(len(shares), -1)
        return np.asarray(lines @ self.left.reshape(lines.shape[1], -1))

    def distances(self, rows: FloatArray, others: FloatArray, norms: FloatArray) -> FloatArray:
        """Return W₂² of all pairs: z (m, D), z (n, D) and their D(F, F) (n,) → (m, n)."""
        own = self.doubles(rows, rows)
        both = np.stack([self.doubles(np.broadcast_to(row, others.shape), others) for row in rows])
        return np.asarray(np.maximum(2.0 * both - own[:, None] - norms, 0.0))

    def slopes(self, row: FloatArray, others: FloatArray) -> FloatArray:
        """Return dW₂²/dz at one z (1, D) against n others, (n, D).

        That is 2 Δ_i times the way from the middle of gap i to where the other has the share F_i.
        """
        gaps = np.resize(self.gaps, row.shape[1])
        middles = self._passed(row, row)[1] - 0.5 * gaps
        there = self._passed(np.broadcast_to(row, others.shape), others)[1]
        return np.asarray((there - middles) * (2.0 / len(self.gaps) * gaps))

    def doubles(self, rows: FloatArray, others: FloatArray) -> FloatArray:
        """Return D of each pair, mean over lines: (n, D), (n, D) → (n,)."""
        places, passed = self._passed(rows, others)
        theirs = others.reshape(len(others), -1, *self.gaps.shape)
        ahead = np.zeros((*theirs.shape[:-1], theirs.shape[-1] + 1))
        ahead[..., :-1] = np.cumsum((self.gaps * theirs)[..., ::-1], axis=-1)[..., ::-1]
        left_over = np.take_along_axis(ahead, places.reshape(theirs.shape), axis=-1)
        summed = self.gaps * ((rows * passed).reshape(theirs.shape) + left_over)
        return np.asarray(summed.sum(axis=(1, 2, 3)) / len(self.gaps))

    def _passed(self, rows: FloatArray, others: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return how many of the other's F_j on the same line are at most F_i, and the width of those gaps, (n, D)."""
        count = self.gaps.shape[1]
        lines = others.size // count
        offsets = APART * np.arange(lines)[:, None]
        found = np.searchsorted(
            (others.reshape(lines, count) + offsets).ravel(), rows.reshape(lines, count) + offsets, side="right"
        )
        places = (found - count * np.arange(lines)[:, None]).reshape(rows.shape)
        widths = np.concatenate([np.zeros((len(self.gaps), 1)), np.cumsum(self.gaps, axis=1)], axis=1)
        line = np.arange(rows.shape[1]) // count % len(self.gaps)
        return places, widths[line, places]


@dataclass(frozen=True, eq=False)
class Transport(Stationary):
    """The term: κ of W₂² in the place of a squared Euclidean distance. lines: its embedding."""

    lines: Cumulative

    def pairs(self, columns: Columns, start: int, count: int) -> FloatArray:
        """Return W₂², (1, m, n)."""
        z = columns[self.lines][:, 0]
        return self.lines.distances(z[start:], z, self.lines.doubles(z, z))[None]

    def part(self, weight: float, length: float, columns: Columns) -> "TransportPart":
        """Return the term on rows."""
        unit = self.radial.norm * length * length
        return TransportPart(self.radial, weight, unit, np.empty(0), np.empty(0), lines=self.lines).on(columns)


@dataclass(frozen=True, eq=False)
class TransportPart(StationaryPart):
    """The term on rows; ``norms`` are their D(F, F), (1, n)."""

    lines: Cumulative = field(kw_only=True)

    def on(self, columns: Columns) -> "TransportPart":
        """Embed other rows."""
        z = columns[self.lines]
        rows = np.ascontiguousarray(np.moveaxis(z, 1, 0))
        return replace(self, rows=rows, norms=self.lines.doubles(rows[0], rows[0])[None])

    def at(self, shares: FloatArray) -> At:
        """Return κ between one candidate and the rows."""
        z = self.lines.of(shares)
        q = self._distances(z)[0] / self.unit
        values = self.radial.profile.value(q)

        def pullback(d_kappa: FloatArray, d_prior: float) -> FloatArray:
            per_row = (self.weight / self.unit) * self.radial.profile.slope(q, values) * d_kappa
            return self.lines.pullback(shares, per_row @ self.lines.slopes(z, self.rows[0]))

        return At(self.weight * values, self.weight, pullback)

    def cross_many(self, shares: FloatArray) -> FloatArray:
        """Return the covariances of g at m distributions with the rows: w (m, C, A) → (m, n)."""
        q = self._distances(self.lines.of(shares)[:, 0]) / self.unit
        return np.asarray(self.weight * self.radial.profile.value(q))

    def fall(self, start: FloatArray, shares: FloatArray) -> FloatArray:
        """Return by how much κ falls from ξ to ξ′, the weight included: w (1, C, A), w (m, C, A) → (m,)."""
        there = self.lines.of(shares)[:, 0]
        squared = self.lines.distances(self.lines.of(start)[:, 0], there, self.lines.doubles(there, there))
        return np.asarray(self.weight * self.radial.profile.fall(squared[0] / self.unit))

    def _distances(self, z: FloatArray) -> FloatArray:
        """Return W₂² of z (m, D) to the rows, (m, n)."""
        return self.lines.distances(z, self.rows[0], self.norms[0])


def lines_of(population: Population) -> Cumulative:
    """Return the lines on which a population's actions are compared.

    One feature is a line; of more there are ``DIRECTIONS``, each feature first scaled to the same spread. Without
    features all actions are equally far from each other.
    """
    actions = population.shape[1]
    if population.features is None:
        return Cumulative.made_for(population.weights, actions, Identity())
    features = population.features - population.features.mean(axis=0)
    features = features / np.maximum(features.std(axis=0), 1e-12)
    positions = features @ directions(features.shape[1])  # (A, K)
    order = np.argsort(positions, axis=0, kind="stable")
    ranks = np.argsort(order, axis=0, kind="stable")
    left = (ranks.T[:, None, :] <= np.arange(actions - 1)[:, None]).astype(np.float64)
    return Cumulative(left, np.diff(np.take_along_axis(positions, order, axis=0), axis=0).T)


def directions(count: int) -> FloatArray:
    """Return unit vectors, (d, K): the axis itself, evenly spread in the plane, else fixed draws."""
    if count == 1:
        return np.ones((1, 1))
    if count == 2:
        angles = np.pi * np.arange(DIRECTIONS) / DIRECTIONS
        return np.stack([np.cos(angles), np.sin(angles)])
    drawn = np.random.default_rng(0).normal(size=(count, DIRECTIONS))
    return np.asarray(drawn / np.linalg.norm(drawn, axis=0))
