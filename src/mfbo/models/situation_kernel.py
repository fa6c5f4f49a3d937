"""Situations in the kernel: how alike two rounds are, and what that makes of the covariance of plans, eq. (34).

  K = (1 + ρ k_b) / (1 + ρ) ∘ K_plan + a k_all

k_b compares what is known when a plan is made, k_all everything: the first factor lets the best plan differ between
situations that share what they have in common, the second term is the level of a day, whatever the plan. Both are
products over variables: numbers and times are compared by an RBF with a length of their own, categories by equality,
softened by a length. An unknown value stands for all values at once: its covariance with another is the mean over what
is usual, so the kernel stays positive semidefinite. Rows of one round share their situation, known or not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from mfbo.arrays import BoolArray, FloatArray
from mfbo.models.hyperparameters import Hyperparameter
from mfbo.situations import Situation, Situations

DIFFERENCE, LEVEL, LENGTH = Hyperparameter(1.0, 1.5), Hyperparameter(0.3, 1.5), Hyperparameter(1.0, 1.0, -4.0, 4.0)
SAME = 1e-9  # spread of a variable, relative to its size, that is rounding
FARTHEST = 1e9  # difference of two numbers in units; all beyond are equally unlike
NO_ROUND = -1.0  # the round of a candidate: equal to no round that was told


def encoded_situation(situations: Situations, situation: Situation, number: float = NO_ROUND) -> FloatArray:
    """Return a situation as rows carry it, (V + 1,): NaN where unknown; the number of its round stands last."""
    return np.append(situations.encoded(situation), number)


@dataclass(frozen=True, eq=False)
class SituationScale:
    """What is usual for each variable, (V,) each: its center, the unit in which its length is learned, its spread."""

    center: FloatArray
    unit: FloatArray
    spread: FloatArray

    @staticmethod
    def of(encoded: FloatArray, units: FloatArray) -> "SituationScale":
        """Look at situations (n, V), NaN where unknown; units: 0 where a variable's own spread is its unit."""
        count = encoded.shape[1]
        center, spread = np.zeros(count), np.ones(count)
        for variable in range(count):
            values = encoded[~np.isnan(encoded[:, variable]), variable]
            if len(values):
                center[variable] = values.mean()
                found = float(values.std())
                spread[variable] = found if found > SAME * float(np.abs(values).max()) else 1.0
        unit = np.where(units > 0, units, spread)
        return SituationScale(center, unit, spread / unit)


@dataclass(frozen=True, eq=False)
class SituationValues:
    """The hyperparameters: ρ, the weight a of the level, and one length per variable (V,)."""

    difference: float
    level: float
    lengths: FloatArray


@dataclass(frozen=True, eq=False)
class Likeness:
    """How alike some pairs are, (…).

    before, every: k_b and k_all. relative: for each variable, the derivative of their logarithm in log ℓ. in_before:
    positions of the variables that k_b compares.
    """

    values: SituationValues
    before: FloatArray
    every: FloatArray
    relative: list[FloatArray]
    in_before: tuple[int, ...]

    @cached_property
    def factor(self) -> FloatArray:
        """What the covariance of plans is multiplied by, (1 + ρ k_b) / (1 + ρ)."""
        difference = self.values.difference
        return np.asarray((1.0 + difference * self.before) / (1.0 + difference))

    @cached_property
    def level(self) -> FloatArray:
        """What two rounds have in common whatever their plans, a k_all."""
        return self.values.level * self.every

    def covariance(self, plan: Any) -> FloatArray:
        """Return K of these pairs; plan: K_plan, (…)."""
        return np.asarray(self.factor * plan + self.level)

    def gradient(self, pull: FloatArray, plan: FloatArray) -> FloatArray:
        """Return ⟨pull, dK⟩ in log ρ, log a and the log lengths, (2 + V,); pull, plan: of packed pairs (N,)."""
        difference = self.values.difference
        share = difference / (1.0 + difference)
        by_plan, by_level = pull * plan, pull * self.level
        of_lengths = by_level + share * by_plan * self.before
        found = [share / (1.0 + difference) * float(by_plan @ (self.before - 1.0)), float(by_level.sum())]
        for position, slope in enumerate(self.relative):
            found.append(float((of_lengths if position in self.in_before else by_level) @ slope))
        return np.array(found)


class _Compared(Protocol):
    """One variable of some pairs, as far as no length changes it."""

    def at(self, length: float) -> tuple[FloatArray, FloatArray]:
        """Return k_v and the derivative of its logarithm in log ℓ."""
        ...


@dataclass(frozen=True, eq=False)
class SituationPairs:
    """Pairs of situations, prepared for any lengths.

    compared: the variables. before: positions of those that are known when a plan is made. same: whether both are of
    one round, (…).
    """

    compared: Sequence[_Compared]
    before: tuple[int, ...]
    same: BoolArray

    def at(self, values: SituationValues) -> Likeness:
        """Compare at these hyperparameters."""
        before, after = np.ones(self.same.shape), np.ones(self.same.shape)
        relative = []
        for position, variable in enumerate(self.compared):
            part, slope = variable.at(float(values.lengths[position]))
            relative.append(np.where(self.same, 0.0, slope))
            if position in self.before:
                before = before * part
            else:
                after = after * part
        every = np.where(self.same, 1.0, before * after)
        return Likeness(values, np.where(self.same, 1.0, before), every, relative, self.before)


@dataclass(frozen=True, eq=False)
class SituationModel:
    """What a kernel knows of situations.

    categories: how many each variable has, 0 for numbers and times. units: (V,), as in ``SituationScale.of``. before:
    positions of the variables that are known when a plan is made.
    """

    categories: tuple[int, ...]
    units: FloatArray
    before: tuple[int, ...]

    @staticmethod
    def of(situations: Situations) -> "SituationModel":
        """Read a declaration; times are measured in months, numbers by their spread."""
        variables = situations.variables
        return SituationModel(
            tuple(len(variable.categories) for variable in variables),
            np.array([0.0 if variable.kind == "number" else 1.0 for variable in variables]),
            tuple(place for place, variable in enumerate(variables) if variable.known == "before"),
        )

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """ρ, a and the lengths, in the order in which θ holds them."""
        return (DIFFERENCE, LEVEL, *(LENGTH for _ in self.categories))

    def values(self, theta: FloatArray) -> SituationValues:
        """Return the numbers that their part of θ stands for, (2 + V,)."""
        numbers = np.exp(theta)
        return SituationValues(float(numbers[0]), float(numbers[1]), numbers[2:])

    def unknown(self, number: float = NO_ROUND) -> FloatArray:
        """Return a situation of which nothing is known, as rows carry it, (V + 1,)."""
        return np.append(np.full(len(self.categories), np.nan), number)

    def scale(self, rows: FloatArray) -> SituationScale:
        """Return what is usual for rows (n, V + 1)."""
        return SituationScale.of(rows[:, :-1], self.units)

    def pairs(self, first: FloatArray, second: FloatArray, scale: SituationScale) -> SituationPairs:
        """Prepare pairs of rows, (…, V + 1) both, broadcasting."""
        compared: list[_Compared] = []
        for position, count in enumerate(self.categories):
            left, right = first[..., position], second[..., position]
            if count:
                compared.append(_Categories.of(left, right, count))
            else:
                unit = scale.unit[position]
                compared.append(_Numbers.of(left / unit, right / unit, scale, position))
        same = (first[..., -1] == second[..., -1]) & (first[..., -1] != NO_ROUND)
        return SituationPairs(compared, self.before, same)


@dataclass(frozen=True, eq=False)
class _Categories:
    """1 for equal categories, e = exp(−1/ℓ²) for others, the mean of both if one is unknown."""

    same: BoolArray
    unknown: BoolArray
    count: int

    @staticmethod
    def of(left: FloatArray, right: FloatArray, count: int) -> "_Categories":
        return _Categories(left == right, np.isnan(left) | np.isnan(right), count)

    def at(self, length: float) -> tuple[FloatArray, FloatArray]:
        inverse = 1.0 / (length * length)
        other = float(np.exp(-inverse))
        mean = (1.0 + (self.count - 1) * other) / self.count
        of_mean = 2.0 * inverse * (self.count - 1) * other / (self.count * mean)
        return (
            np.asarray(np.where(self.unknown, mean, np.where(self.same, 1.0, other))),
            np.asarray(np.where(self.unknown, of_mean, np.where(self.same, 0.0, 2.0 * inverse))),
        )


@dataclass(frozen=True, eq=False)
class _Numbers:
    """exp(−(s − s′)²/2ℓ²), averaged over what is usual, a normal distribution, where a value is unknown.

    squared: (s − s′)², the center in the place of what is unknown. added: variance of what is unknown; 0 if nothing is.
    """

    squared: FloatArray
    added: FloatArray | float

    @staticmethod
    def of(left: FloatArray, right: FloatArray, scale: SituationScale, position: int) -> "_Numbers":
        left_unknown, right_unknown = np.isnan(left), np.isnan(right)
        center = scale.center[position] / scale.unit[position]
        difference = np.where(left_unknown, center, left) - np.where(right_unknown, center, right)
        difference = np.clip(difference, -FARTHEST, FARTHEST)
        if not left_unknown.any() and not right_unknown.any():
            return _Numbers(difference * difference, 0.0)
        averaged = left_unknown.astype(np.float64) + right_unknown
        return _Numbers(difference * difference, averaged * float(scale.spread[position]) ** 2)

    def at(self, length: float) -> tuple[FloatArray, FloatArray]:
        squared_length = length * length
        width = squared_length + self.added
        reach = squared_length / width
        value = np.sqrt(reach) * np.exp(self.squared / (-2.0 * width))
        return np.asarray(value), np.asarray(1.0 - reach + reach * self.squared / width)
