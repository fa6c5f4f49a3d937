"""The kernel: a weighted sum of terms, each a static part times a stationary part, eqs. (4) and (5)."""

from dataclasses import dataclass, field

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.models.couplings import Coupling, Dense, Identity
from mfbo.models.features import Feature
from mfbo.models.radials import Radial


@dataclass(frozen=True)
class Hyperparameter:
    """A positive number to fit, with its log-normal prior (median, sd of the logarithm) and log bounds."""

    median: float
    sd: float
    lower: float = -14.0
    upper: float = 8.0


@dataclass(frozen=True, eq=False)
class LearnedCoupling:
    """S(ℓ) = exp(−D_c / 2ℓ²) ⊗ exp(−D_a / 2ℓ²) with a length ℓ to fit; None stands for the identity.

    actions: (A, A) squared distances or None; contexts: (C, C) squared distances or None.
    """

    actions: FloatArray | None
    contexts: FloatArray | None

    def matrices(self, length: float) -> tuple[Coupling, Coupling]:
        """Return S over actions and S over contexts at this length."""
        return _squared_exponential(self.actions, length), _squared_exponential(self.contexts, length)

    def gram(self, first: FloatArray, second: FloatArray, length: float) -> tuple[FloatArray, FloatArray]:
        """Return φ S φ′ and its derivative in log ℓ: (m, R, K), (n, R, K) → (m, n) each.

        Actions that no row touches are left out, so rows of single agents cost (rows)² and not A².
        """
        used = np.flatnonzero(np.any(second != 0, axis=(0, 1)))
        left, right = first[:, :, used], second[:, :, used]
        along_actions = _with_slope(None if self.actions is None else self.actions[np.ix_(used, used)], length)
        along_contexts = _with_slope(self.contexts, length)
        value = _pair(left, right, along_actions[0], along_contexts[0])
        slope = np.zeros_like(value)
        if along_actions[1] is not None:
            slope += _pair(left, right, along_actions[1], along_contexts[0])
        if along_contexts[1] is not None:
            slope += _pair(left, right, along_actions[0], along_contexts[1])
        return value, slope


@dataclass(frozen=True, eq=False)
class Term:
    """One summand: weight · scale · ⟨φ, S φ′⟩ · κ(d(ξ, ξ′) / ℓ).

    No feature: the static part is 1. No radial: the stationary part is 1. Three kinds cover everything: a channel
    (feature only), a stationary term (radial only), a static × stationary term (both); with neither, a constant.
    """

    name: str
    weight: Hyperparameter
    feature: Feature | None = None
    actions: Coupling = field(default_factory=Identity)
    contexts: Coupling = field(default_factory=Identity)
    learned: LearnedCoupling | None = None
    scale: float = 1.0
    radial: Radial | None = None
    length: Hyperparameter | None = None

    @property
    def fixed(self) -> bool:
        """Whether the Gram matrix depends on no hyperparameter but the weight."""
        return self.length is None

    def couplings(self, length: float) -> tuple[Coupling, Coupling]:
        """Return S over actions and S over contexts."""
        return (self.actions, self.contexts) if self.learned is None else self.learned.matrices(length)


@dataclass(frozen=True, eq=False)
class Kernel:
    """The terms, the prior of the noise variance (in standardized payoffs), and the context weights p (C,).

    robust: whether payoffs are standardized by their middle half, so that a few very bad plans do not set the unit in
    which the noise and all weights have their priors. level: whether the unit is at least the size of a middle payoff,
    for payoffs whose changes are to be believed in shares of what is earned.
    """

    name: str
    terms: tuple[Term, ...]
    noise: Hyperparameter
    weights: FloatArray
    robust: bool = False
    level: bool = False

    def __post_init__(self) -> None:
        """Number the lengths: θ = log of (weights of all terms, lengths of the terms that have one, noise)."""
        at = len(self.terms)
        positions: list[int | None] = []
        for term in self.terms:
            positions.append(None if term.length is None else at)
            at += term.length is not None
        object.__setattr__(self, "_length_positions", tuple(positions))

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """All hyperparameters in the order of θ."""
        lengths = [term.length for term in self.terms if term.length is not None]
        return (*(term.weight for term in self.terms), *lengths, self.noise)

    @property
    def start(self) -> FloatArray:
        """θ at the prior medians."""
        return np.log([each.median for each in self.hyperparameters])

    def weight_values(self, theta: FloatArray) -> FloatArray:
        """Return the weights of all terms, (J,)."""
        return np.asarray(np.exp(theta[: len(self.terms)]))

    def length_position(self, index: int) -> int | None:
        """Return where in θ the length of term ``index`` stands."""
        positions: tuple[int | None, ...] = self.__dict__["_length_positions"]
        return positions[index]

    def length_value(self, index: int, theta: FloatArray) -> float:
        """Return the length of term ``index`` (1 if it has none)."""
        position = self.length_position(index)
        return 1.0 if position is None else float(np.exp(theta[position]))

    def noise_value(self, theta: FloatArray) -> float:
        """Return the fitted noise variance."""
        return float(np.exp(theta[-1]))

    @property
    def additive(self) -> bool:
        """Whether f = u(a) + v(c) + h(ξ): the structured posterior applies, section 4 of docs/theory.md."""
        of_actions = any(term.feature is not None and term.feature.axis == "actions" for term in self.terms)
        of_distributions = any(term.radial is not None for term in self.terms)
        return of_actions and of_distributions and all(_additive(term) for term in self.terms)


def _additive(term: Term) -> bool:
    if term.feature is None:
        return True
    plain = term.feature.weighting.shape == "one" and term.feature.center is None
    return term.radial is None and plain and term.feature.axis != "cells"


def _squared_exponential(distances: FloatArray | None, length: float) -> Coupling:
    return Identity() if distances is None else Dense(np.exp(distances / (-2.0 * length * length)))


def _with_slope(distances: FloatArray | None, length: float) -> tuple[FloatArray | None, FloatArray | None]:
    if distances is None:
        return None, None
    value = np.exp(distances / (-2.0 * length * length))
    return value, value * (distances / (length * length))


def _pair(left: FloatArray, right: FloatArray, actions: FloatArray | None, contexts: FloatArray | None) -> FloatArray:
    coupled = left if actions is None else left @ actions
    if contexts is not None:
        coupled = contexts @ coupled
    return np.asarray(coupled.reshape(len(left), -1) @ right.reshape(len(right), -1).T)
