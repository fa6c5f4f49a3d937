"""What can be read of a damaged SQLite store, and the same records as a sound log."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mfbo.errors import MfboError
from mfbo.population import Population
from mfbo.records import History, Lease, Plan, Round
from mfbo.storage import codec
from mfbo.storage.codec import checksum
from mfbo.storage.contract import Draft, Event
from mfbo.storage.lost_changes import lost_actions, parts, stand_in
from mfbo.storage.recognition import START
from mfbo.storage.replay import ODD, Replay
from mfbo.storage.rules import END
from mfbo.storage.schema import VERSION_TABLE

VERSION = f"SELECT version_num FROM {VERSION_TABLE}"  # noqa: S608 (a name of our own)
STUDIES = "SELECT id, uid, name, created, description, events, rounds, ended, checksum FROM studies NOT INDEXED"
EVENTS = "SELECT study, sequence, number, step, kind, body, at, checksum FROM events"
ENDS = ("told", "failed", "abandoned")


@dataclass(frozen=True)
class SavedStudy:
    """A study with the events that make a sound log; lost: what could not be saved, in words."""

    uid: str
    name: str
    created: float
    description: str
    drafts: tuple[Draft, ...]
    records: int
    lost: tuple[str, ...]


@dataclass
class Salvage:
    """All studies that can be saved; lost: what is said of the others. version: of the schema, if it can be read."""

    studies: list[SavedStudy] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    version: str | None = None


def salvaged(copy: Path) -> Salvage:
    """Read a copy of a store, made for this: its length and first bytes are mended in it."""
    _mended(copy)
    connection = sqlite3.connect(copy)
    connection.text_factory = lambda raw: raw.decode("utf-8", errors="replace")
    try:
        versions = [row[0] for row in _readable(connection, VERSION)]
        found = Salvage(version=versions[0] if len(versions) == 1 else None)
        studies = {row[0]: row for row in _readable(connection, STUDIES)}
        events = _sound_events(connection, studies)
    finally:
        connection.close()
    mine: dict[Any, list[Any]] = defaultdict(list)
    for row in events.values():
        mine[row[0]].append(row)
    for study in studies.values():
        try:
            found.studies.append(_saved(study, sorted(mine[study[0]], key=lambda row: row[1])))
        except (MfboError, *ODD) as error:
            found.lost.append(f"study {study[2]!r}: {error}")
    return found


def _mended(copy: Path) -> None:
    """Give a file its first bytes back, and with zeros the length in its header: SQLite refuses it otherwise."""
    length = copy.stat().st_size
    with copy.open("r+b") as file:
        header = file.read(100)
        if not header.startswith(START):
            file.seek(0)
            file.write(START)
        size = int.from_bytes(header[16:18], "big")
        expected = (65536 if size == 1 else size) * int.from_bytes(header[28:32], "big")
        if length < expected < 100 * length + 10**6:
            file.truncate(expected)


def _sound_events(connection: sqlite3.Connection, studies: dict[Any, Any]) -> dict[tuple[Any, Any], Any]:
    """Return the rows whose checksum is right, by study and sequence."""
    sound: dict[tuple[Any, Any], Any] = {}
    # from both ends, and by the index: a damaged page hides what lies behind it
    for query in (f"{EVENTS} NOT INDEXED", f"{EVENTS} NOT INDEXED ORDER BY rowid DESC", EVENTS):
        for row in _readable(connection, query):
            study = studies.get(row[0])
            if row[:2] not in sound and study is not None and row[-1] == checksum(study[1], *row[1:-1]):
                sound[row[:2]] = row
    return sound


def _readable(connection: sqlite3.Connection, query: str) -> Iterator[Any]:
    try:
        yield from connection.execute(query)
    except (sqlite3.Error, OverflowError, ValueError):  # ValueError: text that is none
        return


def _saved(study: Any, rows: list[Any]) -> SavedStudy:
    _, uid, name, created, description, expected, *_, whole = study
    counted = (len(rows), sum(row[3] == 0 for row in rows), sum(row[3] == END or row[4] == "added" for row in rows))
    if whole not in (checksum(*study[1:-1]), checksum(uid, name, created, description, *counted)):
        raise ValueError("its description is damaged and cannot be restored")
    written = max(expected, len(rows)) if isinstance(expected, int) and expected < 10**9 else len(rows)
    log = _Log(codec.population_of(codec.from_text(description)["population"]))
    log.take_all([Event(row[1], row[2], row[4], row[5], row[6]) for row in rows], written)
    missing = written - log.records
    lost = [f"{missing} record{'s were' if missing > 1 else ' was'} damaged"] * (missing > 0) + log.notes
    steps = [row[3] for row in rows if row[4] == "changed"]
    if max(steps, default=0) > len(steps):
        lost.append("a change of fleet, limits or names was lost; look at the study, and edit it again")
    still_open = [str(asked.number) for asked in log.rounds if asked.state == "open"]
    if lost and still_open:
        lost.append(f"open plans: {', '.join(still_open)}; tell a result that was lost again")
    return SavedStudy(uid, name, created, description, tuple(log.drafts), log.records, tuple(lost))


class _Log:
    """A log that can be replayed, built from what is left of one."""

    def __init__(self, population: Population) -> None:
        self._replay = Replay(History(population))
        self.drafts: list[Draft] = []
        self.notes: list[str] = []
        self.records = 0
        self._ordered = True  # whether the positions of all actions are known

    @property
    def rounds(self) -> list[Round]:
        """The rounds so far."""
        return self._replay.rounds

    def take_all(self, events: list[Event], written: int) -> None:
        """Take events in their order; a plan whose record is lost gets a stand-in, what cannot follow is left out.

        written: how many there were, so that no record can speak of a later round.
        """
        ends = {event.number: event for event in events if event.kind in ENDS}
        last = -1
        for place, event in enumerate(events):
            if event.sequence > last + 1 and self._ordered:
                self._mend_actions(events[place:])
            last = event.sequence
            needed = event.number + (event.kind not in ("asked", "added"))
            while len(self.rounds) < needed <= written:
                self._stand_in(len(self.rounds), ends.get(len(self.rounds)), event.at)
            kept = self._keep(event)
            self.records += kept
            if not kept and event.kind == "changed":
                said = "in part" if [part for part in parts(event) if self._keep(part)] else "not"
                self.notes.append(f"a change could {said} be kept; look at the study, and edit it again")

    def _mend_actions(self, events: list[Event]) -> None:
        """Open what a lost change opened, closed and without its name, so that later records find their shape."""
        population = self._replay.population
        count = lost_actions(population, events)
        self._ordered = count is not None
        if count is None:
            self.notes.append("stations opened in damaged records, in an order that is not known: the rest is left out")
        elif count and self._keep(stand_in(population, count, events[0].at)):
            names = ", ".join(self._replay.population.actions[-count:])
            self.notes.append(
                f"a change was lost; what it opened is called {names} and is closed: edit the study again"
            )

    def _stand_in(self, number: int, end: Event | None, at: float) -> None:
        shape = self._replay.population.shape
        played = np.full(shape, 1.0 / shape[1])
        if end is not None and end.kind == "told":
            try:
                played = codec.array_of(codec.from_text(end.body)["realized"])
            except (MfboError, *ODD):
                end = None
        body = codec.to_text(codec.plan_record(Plan(number, played), {}, Lease()))
        if not self._keep(Event(0, number, "asked", body, at)):
            end, played = None, np.full(shape, 1.0 / shape[1])
            body = codec.to_text(codec.plan_record(Plan(number, played), {}, Lease()))
            self._keep(Event(0, number, "asked", body, at))
        if end is None:
            reason = codec.to_text({"error": "the plan's record was damaged"})
            self._keep(Event(0, number, "failed", reason, at))
        self.notes.append(f"plan {number} was lost, {'it counts as failed' if end is None else 'its result is kept'}")

    def _keep(self, event: Event) -> bool:
        try:
            self._replay.take(event)
        except MfboError:
            return False
        self.drafts.append(Draft(event.kind, event.number, event.body, event.at))
        return True
