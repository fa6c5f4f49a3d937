"""From a log of events to the rounds of a study."""

from collections.abc import Iterable
from dataclasses import replace

from mfbo.errors import StorageError
from mfbo.records import Lease, Plan, Round
from mfbo.storage import codec
from mfbo.storage.contract import Event

_ENDS = {"failed": "failed", "abandoned": "abandoned"}


def replayed(rounds: Iterable[Round], events: Iterable[Event]) -> tuple[Round, ...]:
    """Return the rounds after these events; a round that no event concerns stays the same object."""
    kept = list(rounds)
    told = sum(each.state == "done" for each in kept)
    for event in events:
        changed = _after(event, kept, told)
        told += changed.state == "done"
        if event.number == len(kept):
            kept.append(changed)
        else:
            kept[event.number] = changed
    return tuple(kept)


def _after(event: Event, rounds: list[Round], told: int) -> Round:
    new = event.kind in ("asked", "added")
    if event.number > len(rounds) or new != (event.number == len(rounds)):
        raise StorageError(f"record {event.sequence}, {event.kind!r}, is out of order; `mfbo study doctor` says more")
    record = codec.from_text(event.body)
    if event.kind == "asked":
        return codec.plan_of(event.number, record)
    if event.kind == "added":
        past = Round(Plan(event.number, codec.array_of(record["distribution"])), added=True)
        return _done(past, record, told)
    asked = rounds[event.number]
    if asked.state != "open":
        raise StorageError(f"record {event.sequence} ends plan {event.number} again; `mfbo study doctor` says more")
    if event.kind == "leased":
        lease = Lease(record["worker"], record["expires"], (*asked.lease.former, asked.lease.worker))
        return replace(asked, lease=lease)
    if event.kind == "told":
        return _done(asked, record, told)
    if event.kind in _ENDS:
        return asked.ended("failed" if event.kind == "failed" else "abandoned", record.get("error", ""))
    raise StorageError(f"record {event.sequence} is of an unknown kind {event.kind!r}: a newer mfbo wrote it")


def _done(asked: Round, record: dict[str, object], told: int) -> Round:
    feedback, realized = record["feedback"], record["realized"]
    if not isinstance(feedback, dict) or not isinstance(realized, dict):
        raise StorageError(f"the result of plan {asked.number} is not whole; `mfbo study doctor` says more")
    return replace(
        asked,
        state="done",
        feedback=codec.feedback_of(feedback),
        realized=codec.array_of(realized),
        told=told,
        late=bool(record["late"]),
    )
