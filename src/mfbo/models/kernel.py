"""The kernel: a weighted sum of terms, and what a term is, eqs. (4) and (5).

Terms come in kinds, each with a file: ``channels``, ``stationary``, ``products`` of the two; the constant is here. A
*term* has a weight, perhaps a length, and a Gram matrix for the fit. Terms become *summands*: the channels of a kernel
together are one, every other term is one by itself. All posteriors go through ``Kernel.summands`` and nothing else. A
summand at fixed hyperparameters on rows is a *part* of the exact posterior, general or structured; a summand in
finitely many features is a *block* of the sparse posterior's basis.

To add a kind of term: a file with its term, part and block, and a term in a preset.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, Self

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.models.hyperparameters import Hyperparameter
from mfbo.models.situation_kernel import SituationModel, SituationValues

Role = Literal["actions", "contexts", "distribution", "constant", "mixed"]
"""What alone a term's covariance of f depends on; "mixed" if on several of them together."""


@dataclass(frozen=True, eq=False)
class Values:
    """The numbers that θ stands for: weights (J,), lengths (J,), 1 for a term without one, and the noise variance.

    situation: those of situations, None in a kernel without them.
    """

    weights: FloatArray
    lengths: FloatArray
    noise: float
    situation: SituationValues | None = None


class Source(Protocol):
    """What terms read of rows: a feature or an embedding."""

    def of_rows(self, omega: FloatArray, shares: FloatArray) -> FloatArray:
        """Return an array for n rows: ω, w (n, C, A) → (n, …)."""
        ...


Columns = Mapping[Any, FloatArray]
"""What sources read of some rows, (n, …) each."""


class Term(Protocol):
    """A summand of the kernel as the fit sees it."""

    @property
    def name(self) -> str:
        """What tables and tests call it."""
        ...

    @property
    def weight(self) -> Hyperparameter:
        """Its factor in the kernel."""
        ...

    @property
    def length(self) -> Hyperparameter | None:
        """What else its Gram matrix depends on; None: nothing."""
        ...

    @property
    def role(self) -> Role:
        """What the term says something about."""
        ...

    @property
    def sources(self) -> tuple[Source, ...]:
        """What it reads of rows."""
        ...

    def pairs(self, columns: Columns, start: int, count: int) -> FloatArray:
        """Return what no hyperparameter changes of rows start … count − 1 with all rows, (P, m, n).

        Without a length that is the unit Gram matrix itself, P = 1.
        """
        ...

    def gram(self, pairs: FloatArray, columns: Columns, length: float, start: int) -> tuple[FloatArray, Any]:
        """Return the unit Gram matrix and its derivative in log length, packed (N,), from packed pairs (N, P)."""
        ...

    @classmethod
    def summands(cls, members: Sequence[tuple[int, Any]]) -> Sequence["Summand"]:
        """Return what the terms of this kind are in the kernel, given with their places among all terms."""
        ...


class Summand(Protocol):
    """One term, or all channels: what the posteriors go through."""

    def conditioned(self, values: Values, columns: Columns) -> "Part":
        """Return the part of an exact posterior on rows."""
        ...

    def block(self, values: Values, inducing: FloatArray) -> "Block":
        """Return finite features for inducing distributions w (m, C, A); of ``values`` only the lengths count."""
        ...


class At(NamedTuple):
    """A part at one candidate ξ: covariance of g (or of f in every cell) with the rows, prior variance, pullback.

    cross: (n,), of cells (n, C, A) or broadcasting to it; prior: a number, of cells (C, A) likewise.
    pullback: (d_cross, d_prior) → d/dw, broadcasting to (C, A).
    """

    cross: Any
    prior: Any
    pullback: Callable[[Any, Any], Any]


class Part(Protocol):
    """A summand at fixed hyperparameters, on n rows."""

    @property
    def role(self) -> Role:
        """As of its terms."""
        ...

    def on(self, columns: Columns) -> Self:
        """Return the same part on other rows."""
        ...

    def joined(self, later: Self) -> Self:
        """Return the part on these rows and on later ones."""
        ...

    def at(self, shares: FloatArray) -> At:
        """Return the covariances of g at one distribution, w (C, A)."""
        ...

    def cells_at(self, shares: FloatArray) -> At:
        """Return the covariances of f in every cell at one distribution, w (C, A)."""
        ...

    def own(self) -> Sequence[tuple[FloatArray, FloatArray]]:
        """Return what does not move with ξ: covariances of f with the rows (n, R, K), prior variances (R, K).

        (R, K) is (1, A) for what depends on the action, (C, 1) on the context, (1, 1) on neither.
        """
        ...

    def cross_many(self, shares: FloatArray) -> FloatArray | float:
        """Return the covariances of g at m distributions with the rows: w (m, C, A) → (m, n)."""
        ...

    def prior_of_changes(self, start: FloatArray, shares: FloatArray) -> FloatArray | float:
        """Return the prior variance of g(ξ′) − g(ξ): w (1, C, A) of ξ, w (m, C, A) of ξ′ → (m,)."""
        ...


class BlockAt(NamedTuple):
    """A block at one candidate ξ: features of g (D,), the prior variance they lack, and the way back.

    pull: (total, d_phi, d_lacking) adds d/dw to ``total`` (C, A).
    """

    phi: FloatArray
    lacking: float
    pull: Callable[[FloatArray, FloatArray, float], None]


class Block(Protocol):
    """A summand as D features with Gaussian weights: exact, or less than the kernel by what it says is lacking."""

    @property
    def size(self) -> int:
        """Number of features, D."""
        ...

    def prior_factors(self, values: Values) -> Sequence[tuple[int, FloatArray | float]]:
        """Return F with F Fᵀ the prior covariance of the weights, as sizes and factors of its diagonal blocks."""
        ...

    def of_rows(self, omega: FloatArray, shares: FloatArray) -> FloatArray:
        """Return the features of rows: ω, w (n, C, A) → (n, D)."""
        ...

    def at(self, shares: FloatArray, values: Values) -> BlockAt:
        """Return the features of g at one distribution, w (C, A)."""
        ...

    def lacking(self, omega: FloatArray, shares: FloatArray, values: Values) -> FloatArray | float:
        """Return the prior variance that the features lack of rows ω (n, C, A), all at one w (C, A): (n,)."""
        ...

    def lacking_of_changes(self, start: FloatArray, shares: FloatArray, values: Values) -> FloatArray | float:
        """Return the prior variance of g(ξ′) − g(ξ) that the features lack: w (1, C, A), w (m, C, A) → (m,)."""
        ...


@dataclass(frozen=True, eq=False)
class Constant:
    """The term that is 1 for any two rows: the unknown level of the payoff."""

    name: str
    weight: Hyperparameter
    length: None = None

    @property
    def role(self) -> Role:
        """It depends on nothing."""
        return "constant"

    @property
    def sources(self) -> tuple[Source, ...]:
        """It reads nothing."""
        return ()

    def pairs(self, columns: Columns, start: int, count: int) -> FloatArray:
        """Return ones."""
        return np.ones((1, count - start, count))

    def gram(self, pairs: FloatArray, columns: Columns, length: float, start: int) -> tuple[FloatArray, Any]:
        """Return what the pairs are already."""
        return pairs[:, 0], 0.0

    @classmethod
    def summands(cls, members: Sequence[tuple[int, Any]]) -> Sequence[Summand]:
        """Return all constants as one."""
        return [Level([index for index, _ in members])]


@dataclass(frozen=True, eq=False)
class Level:
    """The constant terms of a kernel, by their places among the terms; the block's only feature is 1."""

    places: list[int]
    size: int = 1

    def conditioned(self, values: Values, columns: Columns) -> "LevelPart":
        """Return the part of an exact posterior."""
        return LevelPart(float(values.weights[self.places].sum()))

    def block(self, values: Values, inducing: FloatArray) -> "Level":
        """Return itself: one feature is all."""
        return self

    def prior_factors(self, values: Values) -> Sequence[tuple[int, FloatArray | float]]:
        """Return the standard deviation of the level."""
        return [(1, float(values.weights[self.places].sum()) ** 0.5)]

    def of_rows(self, omega: FloatArray, shares: FloatArray) -> FloatArray:
        """Return ones, (n, 1)."""
        return np.ones((len(omega), 1))

    def at(self, shares: FloatArray, values: Values) -> BlockAt:
        """Return 1, wherever the candidate is."""
        return BlockAt(np.ones(1), 0.0, lambda total, d_phi, d_lacking: None)

    def lacking(self, omega: FloatArray, shares: FloatArray, values: Values) -> float:
        """Return 0: the feature is exact."""
        return 0.0

    def lacking_of_changes(self, start: FloatArray, shares: FloatArray, values: Values) -> float:
        """Return 0: the feature is exact."""
        return 0.0


@dataclass(frozen=True, eq=False)
class LevelPart:
    """The constant terms at their weight: the covariance of any row with anything."""

    weight: float
    role: Role = "constant"

    def on(self, columns: Columns) -> "LevelPart":
        """Return itself."""
        return self

    def joined(self, later: "LevelPart") -> "LevelPart":
        """Return itself."""
        return self

    def at(self, shares: FloatArray) -> At:
        """Return the weight, which does not move with the candidate."""
        return At(self.weight, self.weight, lambda d_cross, d_prior: 0.0)

    def cells_at(self, shares: FloatArray) -> At:
        """Return the same of every cell."""
        return self.at(shares)

    def own(self) -> Sequence[tuple[FloatArray, FloatArray]]:
        """Return the weight for every row and cell."""
        return [(np.full((1, 1, 1), self.weight), np.full((1, 1), self.weight))]

    def cross_many(self, shares: FloatArray) -> float:
        """Return the weight."""
        return self.weight

    def prior_of_changes(self, start: FloatArray, shares: FloatArray) -> float:
        """Return 0: the level cancels."""
        return 0.0


@dataclass(frozen=True, eq=False)
class Further:
    """Terms that a fit lets in together once payoffs ask for them, with the name that a round's notes have for them."""

    name: str
    terms: tuple[Term, ...]


@dataclass(frozen=True, eq=False)
class Kernel:
    """The terms, the prior of the noise variance (in standardized payoffs), and the context weights p (C,).

    θ = log of (weights of all terms, lengths of the terms that have one, what situations have, noise).
    robust: whether payoffs are standardized by their middle half, so that a few very bad plans do not set the unit in
    which the noise and all weights have their priors. level: whether the unit is at least the size of a middle payoff,
    for payoffs whose changes are to be believed in shares of what is earned. situation: what makes rounds differ, None
    if nothing does. drifts: whether a fit asks for drift; a kernel that knows situations does not. further: terms
    that a fit lets in once payoffs ask for them; they stand behind the others then. afresh: whether every fit is also
    begun at the prior medians, and the better one kept. warps: whether a fit asks for warped payoffs.
    """

    name: str
    terms: tuple[Term, ...]
    noise: Hyperparameter
    weights: FloatArray
    robust: bool = False
    level: bool = False
    situation: SituationModel | None = None
    drifts: bool = False
    further: tuple[Further, ...] = ()
    afresh: bool = False
    warps: bool = False

    @cached_property
    def moving(self) -> list[int]:
        """The places of the terms that have a length, in the order of their lengths in θ."""
        return [index for index, term in enumerate(self.terms) if term.length is not None]

    @cached_property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """All hyperparameters in the order of θ."""
        lengths = [term.length for term in self.terms if term.length is not None]
        situated = () if self.situation is None else self.situation.hyperparameters
        return (*(term.weight for term in self.terms), *lengths, *situated, self.noise)

    @cached_property
    def start(self) -> FloatArray:
        """θ at the prior medians."""
        return np.log([hyperparameter.median for hyperparameter in self.hyperparameters])

    @cached_property
    def prior_sds(self) -> FloatArray:
        """Prior standard deviations of θ."""
        return np.array([hyperparameter.sd for hyperparameter in self.hyperparameters])

    @cached_property
    def bounds(self) -> FloatArray:
        """Lower and upper bounds of θ, (…, 2)."""
        return np.array([(hyperparameter.lower, hyperparameter.upper) for hyperparameter in self.hyperparameters])

    def values(self, theta: FloatArray) -> Values:
        """Return the numbers that θ stands for."""
        count = len(self.terms)
        first = count + len(self.moving)
        lengths = np.ones(count)
        lengths[self.moving] = np.exp(theta[count:first])
        situated = None if self.situation is None else self.situation.values(theta[first:-1])
        return Values(np.exp(theta[:count]), lengths, float(np.exp(theta[-1])), situated)

    def with_further(self, names: tuple[str, ...]) -> "Kernel":
        """Return the kernel with the further terms of these names, always the same object."""
        if not names:
            return self
        if names not in self._richer:
            more = [term for further in self.further if further.name in names for term in further.terms]
            self._richer[names] = replace(self, terms=(*self.terms, *more), further=())
        return self._richer[names]

    @cached_property
    def _richer(self) -> "dict[tuple[str, ...], Kernel]":
        return {}

    def carried_to(self, other: "Kernel", theta: FloatArray) -> FloatArray:
        """Return a θ of this kernel as one of a kernel that shares terms: others are at their medians."""
        known = dict(zip(self._labels, theta.tolist(), strict=True))
        return np.array([known.get(*wanted) for wanted in zip(other._labels, other.start.tolist(), strict=True)])

    @cached_property
    def _labels(self) -> list[tuple[str, object]]:
        """What every number of θ is of."""
        situated = () if self.situation is None else self.situation.hyperparameters
        weights = [("weight", term.name) for term in self.terms]
        lengths = [("length", self.terms[place].name) for place in self.moving]
        return [*weights, *lengths, *(("situation", place) for place in range(len(situated))), ("noise", None)]

    @cached_property
    def summands(self) -> tuple[Summand, ...]:
        """What all posteriors go through, constants first."""
        kinds: dict[type[Term], list[tuple[int, Term]]] = {}
        for place, term in enumerate(self.terms):
            kinds.setdefault(type(term), []).append((place, term))
        constants_first = sorted(kinds, key=lambda kind: kind is not Constant)
        return tuple(summand for kind in constants_first for summand in kind.summands(kinds[kind]))

    @cached_property
    def additive(self) -> bool:
        """Whether f = u(a) + v(c) + h(ξ): the structured posterior applies, section 4 of docs/theory.md."""
        roles = {term.role for term in self.terms}
        return {"actions", "distribution"} <= roles and "mixed" not in roles
