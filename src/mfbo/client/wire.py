"""Records as plain JSON values, and back to the bit: what the service sends and its clients read.

Tables are lists of rows (C, A); NaN, which JSON does not know, is null. Numbers are written so that they read back as
the same float. A strategy's notes stay with the service.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray, read_only
from mfbo.population import Limits, Population
from mfbo.records import Feedback, Lease, Plan, Round
from mfbo.study import Explanation, LogEntry, Prediction
from mfbo.study.outlook import Outlook

Record = dict[str, Any]


def table(values: Any) -> Any:
    """Return an array as lists, null for NaN; None stays None."""
    if values is None:
        return None
    array = np.asarray(values)
    if array.dtype.kind == "f" and np.isnan(array).any():
        return _with_null(array.tolist())
    return array.tolist()


def floats(values: Any) -> FloatArray | None:
    """Read an array of numbers; null is NaN."""
    return None if values is None else np.asarray(read_only(values))


def whole(values: Any) -> IntArray | None:
    """Read an array of whole numbers."""
    return None if values is None else np.asarray(read_only(values, np.int64))


def known_floats(values: Any) -> FloatArray:
    """Read an array of numbers that is always there."""
    return np.asarray(read_only(values))


def plan_record(plan: Plan) -> Record:
    """Return a plan in plain values."""
    arrays = {"distribution": table(plan.distribution), "allocation": table(plan.allocation)}
    return {"number": plan.number, **arrays, "assignment": table(plan.assignment)}


def plan_of(record: Mapping[str, Any], population: Population | None = None) -> Plan:
    """Read a plan; population: whose names it is shown with, if its shape is theirs."""
    distribution = known_floats(record["distribution"])
    labels = None if population is None or distribution.shape != population.shape else population.labels
    return Plan(record["number"], distribution, whole(record["allocation"]), whole(record["assignment"]), labels)


def feedback_record(feedback: Feedback) -> Record:
    """Return feedback in plain values."""
    return {
        "payoff": feedback.payoff,
        "agents": [list(agent) for agent in feedback.agents],
        "cells": table(feedback.cells),
        "counts": table(feedback.counts),
        "total": feedback.total,
    }


def feedback_of(record: Mapping[str, Any]) -> Feedback:
    """Read feedback."""
    agents = tuple((context, action, float(payoff)) for context, action, payoff in record["agents"])
    return Feedback(
        _float(record["payoff"]), agents, floats(record["cells"]), floats(record["counts"]), _float(record["total"])
    )


def round_record(one: Round) -> Record:
    """Return a round in plain values."""
    return {
        "plan": plan_record(one.plan),
        "state": one.state,
        "told": one.told,
        "payoff": one.as_told,
        "feedback": None if one.feedback is None else feedback_record(one.feedback),
        "realized": table(one.realized),
        "start": table(one.start),
        "placed": table(one.placed),
        "late": one.late,
        "added": one.added,
        "error": one.error,
        "correction": one.correction,
        "lease": {"worker": one.lease.worker, "expires": one.lease.expires, "former": list(one.lease.former)},
        "today": dict(one.today),
        "size": one.size,
        "weights": table(one.weights),
        "situation": dict(one.situation),
        "seen": one.seen,
        "counted": one.counted,
    }


def round_of(record: Mapping[str, Any], population: Population | None = None) -> Round:
    """Read a round; its strategy's notes are not with it. population: as in ``plan_of``."""
    lease = record["lease"]
    return Round(
        plan_of(record["plan"], population),
        state=record["state"],
        realized=floats(record["realized"]),
        feedback=None if record["feedback"] is None else feedback_of(record["feedback"]),
        told=record["told"],
        error=record["error"],
        added=record["added"],
        lease=Lease(lease["worker"], lease["expires"], tuple(lease["former"])),
        late=record["late"],
        start=whole(record["start"]),
        placed=whole(record["placed"]),
        seen=record["seen"],
        counted=record["counted"],
        correction=record["correction"],
        today=record["today"],
        size=record["size"],
        weights=floats(record["weights"]),
        situation=record["situation"],
    )


def population_record(population: Population) -> Record:
    """Return a population in plain values."""
    limits, all_open = population.limits, population.all_open
    return {
        "actions": list(population.actions),
        "features": table(population.features),
        "feature_names": list(population.feature_names),
        "contexts": list(population.contexts),
        "weights": table(population.weights),
        "context_features": table(population.context_features),
        "size": population.size,
        "limits": None if limits is None else limits.to_record(),
        "closed": list(population.closed),
        "all_open": None if all_open is None else all_open.to_record(),
    }


def population_of(record: Mapping[str, Any]) -> Population:
    """Read a population, to the bit."""
    columns: dict[str, Any] = {"name": record["actions"]}
    features = floats(record["features"])
    for position, name in enumerate(record["feature_names"]):
        columns[name] = None if features is None else features[:, position]
    weights = known_floats(record["weights"])
    types = record["context_features"]
    population = Population(columns, record["contexts"], record["size"], weights=weights, context_features=types)
    limits, all_open = record["limits"], record["all_open"]
    return population.replaced(
        weights=weights,  # as they are: divided by their sum again they lose a bit
        limits=None if limits is None else Limits.from_record(limits),
        closed=tuple(record["closed"]),
        all_open=None if all_open is None else Limits.from_record(all_open),
    )


def prediction_record(prediction: Prediction) -> Record:
    """Return a prediction in plain values."""
    cells = {"cell_mean": table(prediction.cell_mean), "cell_sd": table(prediction.cell_sd)}
    return {"mean": float(prediction.mean), "sd": float(prediction.sd), **cells}


def prediction_of(record: Mapping[str, Any]) -> Prediction:
    """Read a prediction."""
    cells = known_floats(record["cell_mean"]), known_floats(record["cell_sd"])
    return Prediction(float(record["mean"]), float(record["sd"]), *cells)


def explanation_record(explanation: Explanation) -> Record:
    """Return an explanation in plain values."""
    return {
        **prediction_record(explanation),
        "distribution": table(explanation.distribution),
        "gain": table(explanation.gain),
        "gain_sd": table(explanation.gain_sd),
        "source": table(explanation.source),
        "unit": explanation.unit,
    }


def explanation_of(record: Mapping[str, Any], population: Population) -> Explanation:
    """Read an explanation of a plan for a population."""
    said = prediction_of(record)
    plan, gain, gain_sd = (known_floats(record[key]) for key in ("distribution", "gain", "gain_sd"))
    source = np.asarray(read_only(record["source"], np.int64))
    return Explanation(said.mean, said.sd, said.cell_mean, said.cell_sd, plan, gain, gain_sd, source, population)


def outlook_record(outlook: Outlook) -> Record:
    """Return an outlook in plain values; low and high: the 10 % and 90 % quantiles of every round's gain."""
    low, high = outlook.between()
    return {
        "feedback": outlook.feedback,
        "status_quo": float(outlook.status_quo),
        "noise": float(outlook.noise),
        "gains": table(outlook.gains),
        "mean": table(outlook.mean),
        "low": table(low),
        "high": table(high),
        "dominated_by_noise": bool(outlook.dominated_by_noise),
    }


def outlook_of(record: Mapping[str, Any]) -> Outlook:
    """Read an outlook."""
    gains = known_floats(record["gains"])
    return Outlook(record["feedback"], float(record["status_quo"]), gains, float(record["noise"]))


def log_record(entry: LogEntry) -> Record:
    """Return an entry of the log in plain values."""
    words = {"plan": entry.plan, "by": entry.by, "reason": entry.reason, "said": entry.said}
    return {"sequence": entry.sequence, "at": entry.at, "kind": entry.kind, **words}


def _float(value: Any) -> float | None:
    return None if value is None or value != value else float(value)


def _with_null(values: Any) -> Any:
    if isinstance(values, list):
        return [_with_null(value) for value in values]
    return None if values != values else values
