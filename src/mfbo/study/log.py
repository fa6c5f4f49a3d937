"""The log of a study in plain values: all that was ever said of it, as it was said."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mfbo.storage import Event, EventKind, codec

TABLES = ("agents", "cells")


@dataclass(frozen=True)
class LogEntry:
    """One event. plan: its number; None for a change of the whole study. at: seconds since 1970.

    said: what it says besides, in plain values: payoff (and "agents", "cells" if such were told), worker, error, late,
    "placed" if agents were counted.
    """

    sequence: int
    at: float
    kind: EventKind
    plan: int | None
    by: str = ""
    reason: str = ""
    said: dict[str, Any] = field(default_factory=dict)


def read_log(events: Sequence[Event]) -> list[LogEntry]:
    """Return the events of a study as entries, in their order."""
    return [_entry(event) for event in events]


def _entry(event: Event) -> LogEntry:
    record = codec.from_text(event.body)
    said = {
        key: record[key]
        for key in ("worker", "error", "late", "situation", "unknown", "today", "change")
        if record.get(key)
    }
    feedback = record.get("feedback")
    if isinstance(feedback, dict):
        said |= {key: feedback[key] for key in ("payoff", "total") if feedback.get(key) is not None}
        said |= {key: True for key in TABLES if feedback.get(key) is not None}
    counted = record.get("placed") or record.get("start")
    said |= {"placed": True} if counted or (event.kind == "amended" and record.get("realized")) else {}
    plan = event.number if event.number >= 0 else None
    return LogEntry(event.sequence, event.at, event.kind, plan, record.get("by", ""), record.get("reason", ""), said)
