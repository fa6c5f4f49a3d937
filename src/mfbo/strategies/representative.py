"""Rounds as Algorithm 1 of the paper reads them: one representative agent's cell, what it saw, and the empirical ξ."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.population import Population
from mfbo.records import Feedback, History, Round
from mfbo.seeding import derived_generator

NOTE = "representative"
REMEMBERED = 4096  # rounds; the model keeps its factor only for the very same ones


def drawn_notes(rng: np.random.Generator) -> dict[str, tuple[float, ...]]:
    """Return the note that decides which agent will represent the round: a uniform number."""
    return {NOTE: (float(rng.uniform()),)}


def with_representatives(history: History) -> History:
    """Return the history with every told round reduced to its representative agent."""
    rounds = tuple(
        _represented(asked, history.population) if asked.state == "done" else asked for asked in history.rounds
    )
    return replace(history, rounds=rounds)


@lru_cache(maxsize=REMEMBERED)
def _represented(done: Round, population: Population) -> Round:
    """Return a told round with one agent's payoff.

    Who: one of the agents whose payoffs were told, or else one of those that played, each with equal chance. What it
    saw: its own payoff, or if none was told the mean of its cell, or else the population's.
    """
    feedback = done.feedback
    if feedback is None:
        raise AssertionError(f"round {done.number} has no result")  # told rounds have one
    if feedback.agents:
        chosen = feedback.agents[int(_uniform(done) * len(feedback.agents))]
    elif feedback.cells is not None and feedback.counts is not None:
        context, action = _drawn_cell(feedback.counts, done)
        chosen = (context, action, float(feedback.cells[context, action]))
    elif feedback.payoff is not None:
        chosen = (*_drawn_cell(done.joint_shares(done.played, population), done), feedback.payoff)
    else:
        raise AssertionError("feedback holds something")  # checked at its birth
    return replace(done, feedback=Feedback(agents=(chosen,)))


def _drawn_cell(weights: FloatArray, done: Round) -> tuple[int, int]:
    """Return the cell (context, action) at which the cumulative weights (C, A) pass the round's uniform number."""
    heaped = np.cumsum(weights)
    cell = int(np.searchsorted(heaped, _uniform(done) * heaped[-1], side="right"))
    context, action = divmod(min(cell, weights.size - 1), weights.shape[1])
    return context, action


def _uniform(done: Round) -> float:
    """Return the round's noted number; a round asked by another strategy has one by its own number."""
    if NOTE in done.notes:
        return float(done.notes[NOTE][0])
    return float(derived_generator(0, NOTE, done.number).uniform())
