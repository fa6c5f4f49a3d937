"""Sees when all agents get one and the same payoff: then each of them tells the population payoff itself."""

from dataclasses import replace

from mfbo.records import History, Round

SAME = 1e-9  # relative difference of two payoffs up to which they count as one


def with_shared_payoffs(history: History) -> History:
    """Return the history with every agent's and cell's payoff told as the population payoff, if all agents share it.

    It takes a round in which two payoffs were told, and no round in which two differ: one exception, and the history
    is returned as it is.
    """
    told = [each for each in history.rounds if each.state == "done"]
    if not any(each.payoff_range.told > 1 for each in told) or not all(map(_is_shared, told)):
        return history
    return replace(history, rounds=tuple(each.as_system if each.state == "done" else each for each in history.rounds))


def _is_shared(each: Round) -> bool:
    told = each.payoff_range
    return told.highest - told.lowest <= SAME * max(abs(told.lowest), abs(told.highest))
