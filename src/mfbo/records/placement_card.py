"""What a card says of a placement: where most agents are, as words, as a table, and on a small map."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.cards import CardTable, bar_list, in_short, place_dots
from mfbo.cards.card import ROWS
from mfbo.population import CellLabels

NAMED = 3  # actions in a line of text


def called(labels: CellLabels | None, shape: tuple[int, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of contexts and actions; their positions if nobody named them."""
    if labels is not None:
        return labels.contexts, labels.actions
    return tuple(str(place) for place in range(shape[0])), tuple(str(place) for place in range(shape[1]))


def spread(labels: CellLabels | None, shares: FloatArray, counts: IntArray | None) -> str:
    """Say how many agents are at how many actions, and where most of them are."""
    names, totals = called(labels, shares.shape)[1], _totals(labels, shares, counts)
    order = np.argsort(-totals, kind="stable")[:NAMED]
    most = [f"{in_short(names[place])} {_said(totals[place], counts)}" for place in order.tolist()]
    more = ", …" if len(names) > NAMED else ""
    agents = "shares" if counts is None else f"{int(counts.sum()):,} agents"
    return f"{agents} at {len(names):,} action{'s' * (len(names) != 1)}: {', '.join(most)}{more}"


def placement_table(labels: CellLabels | None, shares: FloatArray, counts: IntArray | None) -> CardTable:
    """Return the fullest cells."""
    contexts, actions = called(labels, shares.shape)
    amounts = shares if counts is None else counts
    order = np.argsort(-amounts, axis=None, kind="stable")[:ROWS]
    rows = []
    for context, action in zip(*np.unravel_index(order, shares.shape), strict=True):
        named = (actions[action],) if len(contexts) == 1 else (contexts[context], actions[action])
        agents: tuple[Any, ...] = () if counts is None else (int(counts[context, action]),)
        rows.append((*named, f"{100 * shares[context, action]:.3g} %", *agents))
    columns = ("context",) * (len(contexts) > 1) + ("action", "share") + ("agents",) * (counts is not None)
    return CardTable(columns, tuple(rows), shares.size - len(rows))


def placement_drawings(
    labels: CellLabels | None, shares: FloatArray, counts: IntArray | None
) -> tuple[Callable[[], str], ...]:
    """Return a map if it is known where actions lie, bars of the fullest ones otherwise."""
    totals, names = _totals(labels, shares, counts), called(labels, shares.shape)[1]
    if labels is not None and labels.places is not None:
        return (partial(place_dots, labels.places, totals, names, geographic=labels.geographic),)
    order = np.argsort(-totals, kind="stable")[: NAMED * 4]
    return (partial(bar_list, [names[place] for place in order.tolist()], totals[order]),)


def _totals(labels: CellLabels | None, shares: FloatArray, counts: IntArray | None) -> FloatArray:
    """Return the agents at each action, or their share of all agents, (A,)."""
    if counts is not None:
        return np.asarray(counts.sum(axis=0))
    weights = np.full(len(shares), 1.0 / len(shares)) if labels is None else labels.weights
    return np.asarray(weights @ shares)


def _said(total: Any, counts: IntArray | None) -> str:
    return f"{100 * total:.3g} %" if counts is None else f"{int(total):,}"
