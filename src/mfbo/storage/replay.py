"""From a log of events to the rounds of a study."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mfbo.errors import DamageError, StorageError
from mfbo.population import Population
from mfbo.records import History, Round
from mfbo.storage import codec
from mfbo.storage.contract import Event
from mfbo.storage.soundness import require_sound, unreadable

ODD = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError)


def replayed(history: History, events: Sequence[Event]) -> History:
    """Return the history after these events; a round that no event concerns stays the same object."""
    rounds, told, seen = list(history.rounds), len(history.told), history.next_word
    for event in events:
        changed = after(event, rounds, told, seen, history.population)
        told += changed.state == "done"
        seen += changed.seen == seen
        rounds[event.number : event.number + 1] = [changed]
    return replace(history, rounds=tuple(rounds))


def after(event: Event, rounds: list[Round], told: int, seen: int, population: Population) -> Round:
    """Return the round that an event makes or changes; refuse a record that says something odd."""
    try:
        changed = _after(event, rounds, told, seen)
        require_sound(changed, population)
    except StorageError:
        raise
    except ODD as error:
        raise unreadable(event, f"{type(error).__name__}, {error}") from error
    return changed


def _after(event: Event, rounds: list[Round], told: int, seen: int) -> Round:
    new = event.kind in ("asked", "added")
    if not 0 <= event.number <= len(rounds) or new != (event.number == len(rounds)):
        raise DamageError(f"record {event.sequence}, {event.kind!r}, is out of order; `mfbo study doctor` says more")
    record = codec.from_text(event.body)
    if event.kind == "asked":
        return codec.plan_of(event.number, record, seen)
    if event.kind == "added":
        return _done(Round.past(event.number, codec.array_of(record["distribution"])), record, told, None)
    asked = rounds[event.number]
    if asked.state != "open":
        raise DamageError(f"record {event.sequence} ends plan {event.number} again; `mfbo study doctor` says more")
    if event.kind == "leased":
        return asked.leased(record["worker"], record["expires"], codec.array_of(record.get("start")), seen)
    if event.kind == "told":
        return _done(asked, record, told, seen)
    if event.kind == "failed":
        counted = codec.array_of(record.get("placed"))
        return asked.ended("failed", record.get("error", ""), placed=counted, seen=seen)
    if event.kind == "abandoned":
        return asked.ended("abandoned", record.get("error", ""))
    raise StorageError(f"record {event.sequence} is of an unknown kind {event.kind!r}: a newer mfbo wrote it")


def _done(asked: Round, record: dict[str, Any], told: int, seen: int | None) -> Round:
    feedback, realized = record["feedback"], record["realized"]
    if not isinstance(feedback, dict) or not isinstance(realized, dict):
        raise DamageError(f"the result of plan {asked.number} is not whole; `mfbo study doctor` says more")
    return asked.done(
        codec.feedback_of(feedback),
        codec.array_of(realized),
        told,
        late=bool(record["late"]),
        placed=codec.array_of(record.get("placed")),
        seen=seen,
    )
