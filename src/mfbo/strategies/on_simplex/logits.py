"""Plans as logits, (C, A): noted with the round that they led to, or read off what was played."""

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.records import Proposal, Round
from mfbo.simplex import softmax

LEAST_SHARE = 1e-6  # an action without agents has no finite logit: it counts as this share


def proposal_of_logits(logits: FloatArray, **notes: float) -> Proposal:
    """Return the softmax per context of logits (C, A), with the logits themselves among the notes."""
    numbers = {key: (float(value),) for key, value in notes.items()}
    return Proposal(softmax(logits), {"logits": tuple(logits.ravel().tolist()), **numbers})


def noted_logits(round: Round) -> FloatArray | None:
    """Return the logits (C, A) that a round was asked with; None if there were none or something else was played."""
    if len(round.notes.get("logits", ())) != round.plan.distribution.size:  # none, or actions opened since
        return None
    if round.realized is not None and not np.array_equal(round.realized, round.plan.realized):
        return None
    return np.array(round.notes["logits"]).reshape(round.plan.distribution.shape)


def logits_of(round: Round) -> FloatArray:
    """Return the noted logits (C, A), or log ξ of what was played, each row with mean 0."""
    noted = noted_logits(round)
    if noted is not None:
        return noted
    played = round.plan.distribution if round.realized is None else round.realized
    logs = np.log(np.maximum(played, LEAST_SHARE))
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))


def require_cells(population: Population, name: str, most: int) -> None:
    """Refuse a population with more cells (contexts × actions) than a strategy can do in reasonable time."""
    contexts, actions = population.shape
    if contexts * actions > most:
        raise InvalidInputError(
            f"strategy {name!r} searches at most {most} cells and the population has {contexts} contexts × {actions} "
            "actions: merge actions, or use 'default'"
        )
