"""The page to tell what a plan brought, and to correct it later."""

from typing import Any

import numpy as np

from mfbo.records import Feedback, Round
from mfbo.serve.pages.views.fleet import STATES, shown_payoff, situation_fields, situation_words, summary
from mfbo.serve.pages.views.today import open_round, otherwise
from mfbo.study import LogEntry, Study

LATEST = 20  # rounds that are listed unless all are wanted


def tell(study: Study, plan: int | None = None, *, every: bool = False) -> dict[str, Any]:
    """Return everything of the page; plan: which one, the latest open one by default; every: list all rounds."""
    asked = open_round(study, plan)
    listed = study.rounds if every else study.rounds[-LATEST:]
    times = _times(study.log())
    return {
        "study": summary(study),
        "plan": None if asked is None else _plan(study, asked),
        "open": [{"number": one.number, "worker": one.lease.worker} for one in study.history.open],
        "rounds": [_row(study, one, times) for one in reversed(listed)],
        "hidden": len(study.rounds) - len(listed),
    }


def _plan(study: Study, asked: Round) -> dict[str, Any]:
    return {
        "number": asked.number,
        "state": asked.state,
        "is_open": asked.state == "open",
        "kind": "number" if asked.feedback is None or asked.payoff is not None else "table",
        "shape": study.population.shape,
        "payoff": asked.as_told if asked.state == "done" else None,
        "worker": asked.lease.worker,
        "situation": situation_fields(study, "after", dict(asked.situation)),
        "cells": _cells(study, asked),
        "otherwise": otherwise(asked.today),
        "whole": asked.plan.allocation is not None,
    }


def _cells(study: Study, asked: Round) -> list[dict[str, Any]]:
    """Return a row for each cell: what was planned, placed and seen there."""
    population, feedback = study.population, asked.feedback or Feedback()
    placed = asked.plan.allocation if asked.placed is None else asked.placed
    rows = []
    for c, a in np.ndindex(population.shape):
        planned = 0 if asked.plan.allocation is None else int(asked.plan.allocation[c, a])
        empty = population.actions[a] in population.closed and not planned
        if empty:
            continue
        rows.append(
            {
                "c": int(c),
                "a": int(a),
                "context": population.contexts[c],
                "station": population.actions[a],
                "planned": planned,
                "placed": 0 if placed is None else int(placed[c, a]),
                "payoff": None if feedback.cells is None or np.isnan(feedback.cells[c, a]) else feedback.cells[c, a],
                "seen": None if feedback.counts is None else int(feedback.counts[c, a]),
            }
        )
    return rows


def _row(study: Study, one: Round, times: dict[int, float]) -> dict[str, Any]:
    return {
        "number": one.number,
        "state": "past day" if one.added else STATES[one.state],
        "late": one.late,
        "payoff": shown_payoff(study, one) if one.state in ("done", "withdrawn") and one.feedback is not None else None,
        "at": times.get(one.number),
        "worker": one.lease.worker,
        "situation": situation_words(study, one),
        "note": one.correction or one.error or ", ".join(otherwise(one.today)),
        "can": _possible(one),
    }


def _possible(one: Round) -> list[str]:
    """Return what can be done with a round now."""
    if one.state == "open":
        return ["tell", "abandon"]
    if one.state == "done":
        return ["amend", "withdraw"]
    return {"failed": ["withdraw"], "withdrawn": ["reinstate"]}.get(one.state, [])


def _times(log: list[LogEntry]) -> dict[int, float]:
    """Return when every round got its last word."""
    return {entry.plan: entry.at for entry in log if entry.plan is not None}
