"""Saves what can be saved of a damaged SQLite store: sound records go into a new file, the old one becomes a backup."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mfbo.errors import MfboError
from mfbo.records import Lease, Plan
from mfbo.storage import codec
from mfbo.storage.checksums import checksum
from mfbo.storage.contract import Event
from mfbo.storage.rules import END
from mfbo.storage.sql import SqlStorage, free_name

STUDIES = "SELECT id, uid, name, created, description, events, rounds, ended, checksum FROM studies NOT INDEXED"
EVENTS = "SELECT study, sequence, number, step, kind, body, at, checksum FROM events"
ENDS = ("told", "failed", "abandoned", "added")


@dataclass
class Repair:
    """What came of it: where the old file is, what was done, what could not be saved."""

    backup: Path
    done: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def repair(file: str) -> Repair:
    """Write a sound store in place of a damaged one; the damaged files stay beside it under another name."""
    path = Path(file)
    outcome = Repair(free_name(path, "backup"))
    fresh = free_name(path, "repaired")
    for suffix in ("", "-wal"):
        if path.with_name(path.name + suffix).exists():
            shutil.copy2(path.with_name(path.name + suffix), outcome.backup.with_name(outcome.backup.name + suffix))
    made = SqlStorage(f"sqlite:///{fresh}")
    studies, events = _salvaged(_padded(path))
    if not studies:
        outcome.lost.append("no study could be read; the new file is empty")
    for study in studies:
        mine = sorted((row for row in events.values() if row[0] == study[0]), key=lambda row: row[1])
        _save_study(made, study, mine, outcome)
    made.close()
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
        fresh.with_name(fresh.name + suffix).unlink(missing_ok=True)
    os.replace(fresh, path)
    return outcome


def _padded(path: Path) -> Path:
    """Bring a file that was cut back to the length its header tells, with zeros: SQLite refuses it otherwise."""
    content = path.read_bytes()
    size = int.from_bytes(content[16:18], "big")
    expected = (65536 if size == 1 else size) * int.from_bytes(content[28:32], "big")
    if len(content) < expected < 100 * len(content) + 10**6:
        with path.open("ab") as file:
            file.write(bytes(expected - len(content)))
    return path


def _salvaged(path: Path) -> tuple[list[Any], dict[tuple[int, int], Any]]:
    """Return all rows that can be read: studies, and events by (study, sequence), not yet checked."""
    connection = sqlite3.connect(path)
    connection.text_factory = lambda raw: raw.decode("utf-8", errors="replace")
    try:
        studies = {row[0]: row for row in _readable(connection, STUDIES)}
        events: dict[tuple[int, int], Any] = {}
        # from both ends, and by the index: a damaged page hides what lies behind it
        for query in (f"{EVENTS} NOT INDEXED", f"{EVENTS} NOT INDEXED ORDER BY rowid DESC", EVENTS):
            for row in _readable(connection, query):
                if row[:2] not in events or not _is_sound(studies, events[row[:2]]):
                    events[row[:2]] = row
        sound = {key: row for key, row in events.items() if _is_sound(studies, row)}
        return list(studies.values()), sound
    finally:
        connection.close()


def _readable(connection: sqlite3.Connection, query: str) -> Iterator[Any]:
    try:
        yield from connection.execute(query)
    except (sqlite3.Error, OverflowError, ValueError):  # ValueError: text that is none
        return


def _is_sound(studies: dict[Any, Any], row: Any) -> bool:
    study = studies.get(row[0])
    return study is not None and row[-1] == checksum(study[1], *row[1:-1])


def _save_study(made: SqlStorage, study: Any, rows: list[Any], outcome: Repair) -> None:
    _, uid, name, created, description, expected, *_, whole = study
    counted = (len(rows), sum(row[3] == 0 for row in rows), sum(row[3] == END or row[4] == "added" for row in rows))
    if whole not in (checksum(*study[1:-1]), checksum(uid, name, created, description, *counted)):
        outcome.lost.append(f"study {name!r}: its description is damaged and cannot be restored")
        return
    try:
        made.create(name, description)
        events = [Event(row[1], row[2], row[4], row[5], row[6]) for row in rows]
        notes = _copy_events(made, name, description, events)
    except (MfboError, TypeError, ValueError, KeyError) as error:
        outcome.lost.append(f"study {name!r}: {error}")
        return
    missing = (expected if isinstance(expected, int) and expected < 10**9 else len(rows)) - len(rows)
    outcome.lost += [f"study {name!r}: {missing} records were damaged"] if missing > 0 else []
    outcome.lost += [f"study {name!r}: {note}" for note in notes]
    outcome.done.append(f"study {name!r}: {len(rows)} records saved")


def _copy_events(made: SqlStorage, name: str, description: str, events: list[Event]) -> list[str]:
    """Append the sound events in their order; a plan whose record is lost gets a stand-in. Return what that meant."""
    notes: list[str] = []
    shape = codec.population_of(codec.from_text(description)["population"]).shape
    rounds = 0
    for event in events:
        while rounds < event.number + (event.kind not in ("asked", "added")):
            result = next((each for each in events if each.number == rounds and each.kind == "told"), None)
            _stand_in(made, name, rounds, result, event, shape)
            told = "its result is kept" if result else "it counts as failed"
            notes.append(f"plan {rounds} was lost, {told}")
            rounds += 1
        lost_end = event.kind in ("failed", "abandoned", "leased") and _has_ended(made, name, event.number)
        if not lost_end:
            made.append(name, event.kind, event.number, event.body, event.at)
        rounds += event.kind in ("asked", "added")
    open_rounds = {e.number for e in events if e.kind == "asked"} - {e.number for e in events if e.kind in ENDS}
    if open_rounds:
        notes.append(f"open plans: {', '.join(map(str, sorted(open_rounds)))}; tell a result that was lost again")
    return notes


def _stand_in(
    made: SqlStorage, name: str, number: int, result: Event | None, event: Event, shape: tuple[int, int]
) -> None:
    distribution = np.full(shape, 1.0 / shape[1])
    if result is not None:
        distribution = codec.array_of(codec.from_text(result.body)["realized"])
    body = codec.to_text(codec.plan_record(Plan(number, distribution), {}, Lease()))
    made.append(name, "asked", number, body, event.at)
    if result is None:
        made.append(name, "failed", number, codec.to_text({"error": "the plan's record was damaged"}), event.at)


def _has_ended(made: SqlStorage, name: str, number: int) -> bool:
    return any(each.number == number and each.kind in ENDS for each in made.events(name))
