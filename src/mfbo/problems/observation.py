"""What is seen of a problem after a plan: system payoff, some agents' payoffs or cell means, with noise if wanted."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.errors import InvalidInputError
from mfbo.problems.problem import Problem
from mfbo.records import Feedback, Plan
from mfbo.seeding import derived_generator
from mfbo.validation import standard_deviation

Kind = Literal["system", "agents", "cells"]
MOST_AGENTS = 1_000_000  # each is a row of its own: beyond this, tell cell means
LARGEST_COUNTED = 10**9  # up to here agents are drawn without replacement; beyond, the difference cannot be seen


@dataclass(frozen=True)
class FeedbackKind:
    """Which kind of feedback, and from how many agents ("agents" only)."""

    kind: Kind
    agents: int = 0

    def __post_init__(self) -> None:
        """Refuse agents without a number."""
        if self.kind == "agents" and self.agents < 1:
            raise InvalidInputError(f"feedback of agents needs at least one of them, not {self.agents}")

    @staticmethod
    def parse(text: str) -> "FeedbackKind":
        """Read "system", "cells" or "agents:N"."""
        if text == "system":
            return FeedbackKind("system")
        if text == "cells":
            return FeedbackKind("cells")
        kind, _, count = text.partition(":")
        if kind == "agents" and count.isdecimal() and len(count) < 20 and 0 < int(count) <= MOST_AGENTS:
            return FeedbackKind("agents", int(count))
        raise InvalidInputError(
            f"feedback must be system, cells or agents:N with N at least 1 and at most {MOST_AGENTS}, not {text!r}"
        )

    def __str__(self) -> str:
        """Give the text that parses to this."""
        return f"agents:{self.agents}" if self.kind == "agents" else self.kind


@dataclass(frozen=True, eq=False)
class Observer:
    """Answers plans of one problem with one kind of feedback; ``noise`` is the sd of every told payoff.

    The answer to a plan depends on the seed and the plan's number alone.
    """

    problem: Problem
    kind: FeedbackKind
    noise: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what the problem cannot give."""
        standard_deviation(self.noise, "noise")
        if self.kind.kind not in self.problem.feedback:
            offered = ", ".join(self.problem.feedback)
            raise InvalidInputError(
                f"problem {self.problem.name!r} gives no {self.kind.kind!r} feedback, only {offered}"
            )

    def __call__(self, plan: Plan) -> Feedback:
        """Return what is seen after the plan was carried out."""
        rng = derived_generator(self.seed, "feedback", plan.number)
        shares = self.problem.shares(plan)
        size = None if plan.allocation is None else self.problem.population.size
        if self.kind.kind == "system":
            value = self.problem.payoff_of(plan).population(shares, size)
            return Feedback(payoff=value + self.noise * rng.standard_normal())
        payoffs = self.problem.payoff_of(plan).cells(shares, size)
        if self.kind.kind == "agents":
            return self._agents(plan, shares, payoffs, rng)
        return self._cells(plan, shares, payoffs, rng)

    def _agents(self, plan: Plan, shares: FloatArray, payoffs: FloatArray, rng: np.random.Generator) -> Feedback:
        """Draw N agents (without replacement when they can be counted) and tell their own payoffs."""
        if plan.allocation is None:
            counts = rng.multinomial(self.kind.agents, shares.ravel())
        else:
            asked = min(self.kind.agents, int(plan.allocation.sum()))
            counts = _drawn(plan.allocation.ravel(), asked, rng)
        cells = np.repeat(np.arange(shares.size), counts)
        seen = payoffs.ravel()[cells] + self.noise * rng.standard_normal(len(cells))
        actions = shares.shape[1]
        rows = zip(cells, seen, strict=True)
        return Feedback(agents=tuple((int(cell) // actions, int(cell) % actions, float(y)) for cell, y in rows))

    def _cells(self, plan: Plan, shares: FloatArray, payoffs: FloatArray, rng: np.random.Generator) -> Feedback:
        """Tell the mean payoff of every cell somebody is in; the noise of a mean shrinks with its count."""
        counts = np.asarray(shares > 0, dtype=np.float64) if plan.allocation is None else plan.allocation.astype(float)
        noise = self.noise * rng.standard_normal(shares.shape) / np.sqrt(np.maximum(counts, 1.0))
        return Feedback(cells=np.where(counts > 0, payoffs + noise, np.nan), counts=counts)


def _drawn(counts: IntArray, asked: int, rng: np.random.Generator) -> IntArray:
    """Count how many of ``asked`` agents, drawn without replacement, are in each cell with these counts."""
    if counts.sum() >= LARGEST_COUNTED:
        return np.asarray(rng.multinomial(asked, counts / counts.sum()))
    return np.asarray(rng.multivariate_hypergeometric(counts, asked, method="marginals"))
