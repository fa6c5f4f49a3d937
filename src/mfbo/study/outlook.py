"""What further rounds are expected to bring: the strategy plays against draws from what it believes now.

Each simulation is a draw from the posterior by the chain rule: a round's payoff is drawn from what is believed after
all payoffs before it, told, and believed from then on. Hyperparameters are refitted as in the study itself.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError
from mfbo.records import Feedback, History, Plan, Round
from mfbo.seeding import derived_generator
from mfbo.simplex import uniform
from mfbo.study.whole_plans import Placing

FeedbackTold = Literal["payoff", "cells"]


@dataclass(frozen=True, eq=False)
class Outlook:
    """What rounds to come are expected to earn, in the payoff's own unit.

    status_quo: what it is believed to earn. gains: of the plan played in every round to come against it, in every
    simulation, (simulations, rounds). noise: standard deviation of one round's payoff around its plan's own.
    """

    feedback: FeedbackTold
    status_quo: float
    gains: FloatArray
    noise: float

    @property
    def mean(self) -> FloatArray:
        """The expected gain of every round, (rounds,)."""
        return np.asarray(self.gains.mean(axis=0))

    def between(self, low: float = 0.1, high: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Return two quantiles of the gain of every round, (rounds,) each."""
        bounds = np.quantile(self.gains, [low, high], axis=0)
        return bounds[0], bounds[1]

    @property
    def dominated_by_noise(self) -> bool:
        """Whether one round's noise is larger than all that these rounds are expected to gain."""
        return self.noise > float(self.mean.max(initial=0.0))


def looked_out(
    strategy: Any,
    history: History,
    placing: Placing,
    rounds: int,
    simulations: int,
    feedback: FeedbackTold,
    progress: Callable[[int], None] | None,
) -> Outlook:
    """Simulate; ``progress(simulations done)`` is called after each."""
    if not hasattr(strategy, "belief"):
        raise InvalidInputError(f"strategy {strategy.name!r} has no model to look ahead with; use 'default'")
    start = _status_quo(history)
    belief = strategy.belief(strategy.as_modeled(history))
    noise = belief.note.fit.scale * belief.noise_variance**0.5
    earned = strategy.posterior(history).population(start).mean
    gains = np.empty((simulations, rounds))
    for number in range(simulations):
        rng = derived_generator(placing.seed, "outlook", number)
        gains[number] = _simulated(strategy, history, placing, start, noise, feedback, rng, rounds)
        if progress is not None:
            progress(number + 1)
    return Outlook(feedback, earned, gains, noise)


def _simulated(
    strategy: Any,
    history: History,
    placing: Placing,
    start: FloatArray,
    noise: float,
    feedback: FeedbackTold,
    rng: np.random.Generator,
    rounds: int,
) -> FloatArray:
    """Return what every round to come brings against the status quo as one draw turns out, (rounds,)."""
    closed = tuple(asked if asked.state != "open" else asked.ended("abandoned") for asked in history.rounds)
    world = replace(history, rounds=closed)
    plans: list[FloatArray] = []
    for _ in range(rounds):
        proposal = strategy.propose(world, rng)
        plan = placing.plan(proposal, world, strategy.name)
        told = _drawn(strategy.posterior(world), plan, noise, feedback, rng)
        asked = Round(plan, dict(proposal.notes), situation=world.situation)
        done = asked.done(told, plan.realized, world.next_told, seen=world.next_word)
        world = world.after(done)
        plans.append(plan.realized)
    return np.asarray(strategy.posterior(world).changes(start, np.stack(plans))[0])


def _drawn(posterior: Any, plan: Plan, noise: float, feedback: FeedbackTold, rng: np.random.Generator) -> Feedback:
    if feedback == "payoff":
        moments = posterior.population(plan.realized)
        return Feedback(float(rng.normal(moments.mean, (moments.variance + noise**2) ** 0.5)))
    cells = posterior.cells(plan.realized)
    counts = np.ones(plan.realized.shape) if plan.allocation is None else plan.allocation.astype(np.float64)
    spread = np.sqrt(cells.variance + noise**2 / np.maximum(counts, 1.0))
    payoffs = rng.normal(cells.mean, spread)
    seen = plan.realized > 0
    return Feedback(cells=np.where(seen, payoffs, np.nan), counts=np.where(seen, np.maximum(counts, 1.0), 0.0))


def _status_quo(history: History) -> FloatArray:
    """Return what gains are counted from: the plan named, or else the first that was told."""
    if history.status_quo is not None:
        return history.status_quo
    return history.told[0].played if history.told else uniform(*history.population.shape)
