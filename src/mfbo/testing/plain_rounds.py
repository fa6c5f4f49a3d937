"""Rounds as plain numbers and back, as a database or a file would keep them: what is not in here is forgotten."""

from typing import Any

import numpy as np

from mfbo.arrays import read_only
from mfbo.records import Feedback, Plan, Round


def plain_round(round: Round) -> dict[str, Any]:
    """Return a round in what JSON can hold."""
    feedback = round.feedback or Feedback()
    return {
        "number": round.number,
        "distribution": round.plan.distribution.tolist(),
        "allocation": _listed(round.plan.allocation),
        "assignment": _listed(round.plan.assignment),
        "notes": {key: list(values) for key, values in round.notes.items()},
        "state": round.state,
        "realized": _listed(round.realized),
        "payoff": feedback.payoff,
        "agents": [list(seen) for seen in feedback.agents],
        "cells": _listed(feedback.cells),
        "counts": _listed(feedback.counts),
        "told": round.told,
        "error": round.error,
        "added": round.added,
        "start": _listed(round.start),
        "placed": _listed(round.placed),
        "seen": round.seen,
    }


def round_from_plain(stored: dict[str, Any]) -> Round:
    """Return the round that was stored."""
    plan = Plan(
        stored["number"],
        read_only(stored["distribution"]),
        _array(stored["allocation"], np.int64),
        _array(stored["assignment"], np.int32),
    )
    agents = tuple((int(context), int(action), payoff) for context, action, payoff in stored["agents"])
    feedback = Feedback(stored["payoff"], agents, _array(stored["cells"]), _array(stored["counts"]))
    return Round(
        plan,
        {key: tuple(values) for key, values in stored["notes"].items()},
        stored["state"],
        _array(stored["realized"]),
        feedback if stored["state"] == "done" else None,
        stored["told"],
        stored["error"],
        stored["added"],
        start=_array(stored["start"], np.int64),
        placed=_array(stored["placed"], np.int64),
        seen=stored["seen"],
    )


def _listed(array: Any) -> Any:
    return None if array is None else array.tolist()


def _array(values: Any, dtype: Any = np.float64) -> Any:
    return None if values is None else read_only(values, dtype)
