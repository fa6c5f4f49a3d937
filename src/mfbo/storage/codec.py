"""Records as JSON text and back, to the bit, and their checksums. Arrays travel as base64 of their bytes; no pickle.

Numbers outside arrays are written as Python writes them, which reads back to the same float.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mfbo.errors import DamageError, StorageError
from mfbo.population import CellLabels, Change, Limits, Population
from mfbo.records import Feedback, Lease, Notes, Plan, Round
from mfbo.situations import Situation, Situations

_TYPES: dict[str, np.dtype[Any]] = {"f8": np.dtype("<f8"), "i8": np.dtype("<i8"), "i4": np.dtype("<i4")}


def to_text(record: Mapping[str, Any]) -> str:
    """Return a record as one line of JSON, the same for the same record."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def checksum(*fields: Any) -> str:
    """Return SHA-256 over all fields of a record, each written as ``repr`` with its length before it."""
    digest = hashlib.sha256()
    for field in fields:
        text = field.encode() if isinstance(field, str) else repr(field).encode()
        digest.update(b"%d:" % len(text))
        digest.update(text)
    return digest.hexdigest()


def from_text(text: str) -> dict[str, Any]:
    """Read a record; the checksum vouches for the text, so a fault here is one of the program that wrote it."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: also a whole number of thousands of digits
        raise DamageError(f"a record is not JSON: {error}; `mfbo study doctor` says more") from error
    if not isinstance(record, dict):
        raise DamageError("a record is not a JSON object; `mfbo study doctor` says more")
    return record


def array_record(values: Any, kind: str = "f8") -> dict[str, Any] | None:
    """Return an array as its shape and bytes; None stays None."""
    if values is None:
        return None
    array = np.ascontiguousarray(values, dtype=_TYPES[kind])
    return {"shape": list(array.shape), kind: base64.b64encode(array.tobytes()).decode()}


def array_of(record: Mapping[str, Any] | None) -> Any:
    """Read an array; it cannot be written to."""
    if record is None:
        return None
    kind = next((key for key in record if key in _TYPES), None)
    if kind is None:
        raise ValueError("an array without its numbers")
    array = np.frombuffer(base64.b64decode(record[kind], validate=True), _TYPES[kind]).reshape(record["shape"])
    return array.astype(array.dtype.newbyteorder("="), copy=False)  # still read-only unless the machine is big-endian


def population_record(population: Population) -> dict[str, Any]:
    """Return a population in plain values."""
    limits = population.limits
    return {
        "actions": list(population.actions),
        "features": array_record(population.features),
        "feature_names": list(population.feature_names),
        "contexts": list(population.contexts),
        "weights": array_record(population.weights),
        "context_features": array_record(population.context_features),
        "size": population.size,
        "limits": None if limits is None else limits.to_record(),
    }


def population_of(record: Mapping[str, Any]) -> Population:
    """Read a population; the arrays are those that were stored, to the bit."""
    for names in (record["actions"], record["contexts"], record["feature_names"]):
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise TypeError("a name is not a text")
    features = array_of(record["features"])
    if features is not None and not features.shape[1]:
        features = None  # no columns say nothing
    if (0 if features is None else features.shape[1]) != len(record["feature_names"]):
        raise ValueError("features and their names differ in number")
    population = Population.kept(
        record["actions"],
        record["contexts"],
        record["size"],
        features=features,
        feature_names=record["feature_names"],
        weights=array_of(record["weights"]),
        context_features=array_of(record["context_features"]),
    )
    if record["limits"] is not None:
        return population.with_limits(Limits.from_record(record["limits"]))
    return population


def situations_record(situations: Situations | None) -> list[dict[str, Any]] | None:
    """Return a declaration of situations in plain values; None stays None."""
    return None if situations is None else [variable.to_record() for variable in situations.variables]


def plan_record(
    plan: Plan,
    notes: Notes,
    lease: Lease,
    start: Any = None,
    *,
    today: Change | None = None,
    situation: Situation | None = None,
) -> dict[str, Any]:
    """Return what is stored when a plan is given; the number stands beside it.

    start: agents as counted then. today: what is otherwise on that day. situation: what is known of the round.
    """
    return {
        "distribution": array_record(plan.distribution),
        "allocation": array_record(plan.allocation, "i8"),
        "assignment": array_record(plan.assignment, "i4"),
        "notes": {key: [_plain(value) for value in values] for key, values in notes.items()},
        **lease_record(lease, start),
        **({"today": dict(today)} if today else {}),
        **_situation(situation),
    }


def plan_of(number: int, record: Mapping[str, Any], seen: int = 0, labels: CellLabels | None = None) -> Round:
    """Read an open round; seen: see ``Round``; labels: of the population it was made for."""
    shares, counts, single = (array_of(record[key]) for key in ("distribution", "allocation", "assignment"))
    notes = {key: tuple(values) for key, values in record["notes"].items()}
    lease = Lease(record["worker"], record["expires"])
    today = record.get("today", {})
    if not isinstance(today, dict) or not isinstance(today.get("size"), int | None):
        raise TypeError("what was otherwise on that day cannot be read")
    start, situation = array_of(record.get("start")), record.get("situation")
    plan = Plan(number, shares, counts, single, labels)
    return Round.asked(plan, notes, lease, start, seen, today=today, situation=situation)


def lease_record(lease: Lease, start: Any = None) -> dict[str, Any]:
    """Return who holds a plan until when; start: agents as counted then."""
    return {"worker": lease.worker, "expires": lease.expires, **_counted("start", start)}


def result_record(done: Round) -> dict[str, Any]:
    """Return what is stored when a plan is told."""
    return {
        "feedback": feedback_record(done.feedback or Feedback()),
        "realized": array_record(done.realized),
        "late": done.late,
        **_counted("placed", done.placed),
        **_situation(done.situation),
    }


def past_record(past: Round) -> dict[str, Any]:
    """Return what is stored of a day that was played outside the study; its size only if the fleet was another."""
    size = {} if past.size is None else {"size": past.size}
    return {"distribution": array_record(past.plan.distribution), **result_record(past), **size}


def end_record(ended: Round) -> dict[str, Any]:
    """Return what is stored when a plan ends without a result."""
    return {"error": ended.error, **_counted("placed", ended.placed)}


def correction_record(by: str, reason: str) -> dict[str, Any]:
    """Return who corrects something, and why."""
    return {"by": by, "reason": reason}


def change_record(by: str, reason: str, change: Change) -> dict[str, Any]:
    """Return what is stored when the study changes from now on."""
    return {**correction_record(by, reason), "change": dict(change)}


def amendment_record(
    by: str,
    reason: str,
    feedback: Feedback | None,
    played: Any = None,
    placed: Any = None,
    *,
    situation: Situation | None = None,
    unknown: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what is stored when a told plan is amended; None: that part stays. unknown: what is not known any more."""
    return {
        **correction_record(by, reason),
        "feedback": None if feedback is None else feedback_record(feedback),
        "realized": array_record(played),
        **_counted("placed", placed),
        **_situation(situation),
        **({"unknown": list(unknown)} if unknown else {}),
    }


def correction_text(what: str, record: Mapping[str, Any]) -> str:
    """Return a correction in words: what was done, by whom, why."""
    by, reason = record["by"], record["reason"]
    if not isinstance(by, str) or not isinstance(reason, str):
        raise TypeError("author and reason must be texts")
    return what + f" by {by}" * bool(by) + f": {reason}" * bool(reason)


def _counted(key: str, counts: Any) -> dict[str, Any]:
    """Return counted agents under a key that records of older programs do not have; nothing if nobody counted."""
    return {} if counts is None else {key: array_record(counts, "i8")}


def _situation(situation: Situation | None) -> dict[str, Any]:
    """Return what is known of a round under a key that records of older programs do not have; nothing if nothing is."""
    return {"situation": dict(situation)} if situation else {}


def feedback_record(feedback: Feedback) -> dict[str, Any]:
    """Return feedback in plain values."""
    places = [(context, action) for context, action, _ in feedback.agents]
    return {
        "payoff": feedback.payoff,
        "agents": array_record(places, "i8") if places else None,
        "agent_payoffs": array_record([payoff for _, _, payoff in feedback.agents]) if places else None,
        "cells": array_record(feedback.cells),
        "counts": array_record(feedback.counts),
        **({} if feedback.total is None else {"total": feedback.total}),
    }


def feedback_of(record: Mapping[str, Any]) -> Feedback:
    """Read feedback."""
    agents: tuple[tuple[int, int, float], ...] = ()
    if record["agents"] is not None:
        places, payoffs = array_of(record["agents"]).tolist(), array_of(record["agent_payoffs"]).tolist()
        agents = tuple((context, action, payoff) for (context, action), payoff in zip(places, payoffs, strict=True))
    payoff, total = record["payoff"], record.get("total")
    return Feedback(
        None if payoff is None else float(payoff),
        agents,
        array_of(record["cells"]),
        array_of(record["counts"]),
        None if total is None else float(total),
    )


def _plain(value: Any) -> int | float | str:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool) or not isinstance(plain, int | float | str):
        raise StorageError(f"a strategy's notes must hold numbers and words, not {value!r}")
    return plain
