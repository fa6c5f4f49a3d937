"""Studies in an SQL database: an SQLite file on one machine, a PostgreSQL server for many.

*What an answer means.* A call that returns has stored what it says; one that raises has stored nothing. What can still
fail after the commit is not part of the answer, and a commit that failed on its way is looked up (decision 10).
"""

import logging
import os
import shutil
import sqlite3
import stat
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mfbo.errors import ConflictError, DamageError, InvalidInputError, StorageError, UnknownNameError
from mfbo.storage.addresses import read_address
from mfbo.storage.codec import checksum
from mfbo.storage.connections import Database
from mfbo.storage.contract import Draft, Event, EventKind, Finding, StudySummary
from mfbo.storage.drivers import WAIT, Connection, Row
from mfbo.storage.rules import END, UNSETTLING, check_expected, check_known, next_step
from mfbo.storage.schema import SCHEMA, is_older, migrate, require_newest, version_of
from mfbo.storage.shared_commits import INTERRUPTED, SharedCommits, UncertainCommitError, Waiting
from mfbo.validation import known_name

_log = logging.getLogger(__package__)
LOOK_AGAIN = 0.25  # seconds between looks while a server comes back
CREATION_LOCK = 0x6D66626F  # "mfbo": PostgreSQL's advisory lock around making tables and studies
STUDY = "SELECT * FROM studies WHERE name = :name"
EVENTS = "SELECT * FROM events WHERE study = :study AND sequence >= :start AND sequence < :end ORDER BY sequence"
UNSETTLED = (
    "SELECT max(sequence) FROM events WHERE study = :study AND sequence >= :known AND kind IN "  # noqa: S608 (our own)
    f"({', '.join(repr(kind) for kind in UNSETTLING)})"
)
STEPS = "SELECT step, kind FROM events WHERE study = :study AND number = :number"
GROW = "UPDATE studies SET events = :events, rounds = :rounds, ended = :ended, checksum = :checksum WHERE id = :id"
ORPHANS = "SELECT count(*) FROM events WHERE study NOT IN (SELECT id FROM studies)"


class SqlStorage:
    """Keeps studies in a database; see ``contract`` for what holds for threads and processes."""

    def __init__(self, address: str, *, create: bool = True) -> None:
        """Open the database; make the tables if ``create`` allows it and there are none."""
        read = read_address(address)
        self.address = read.shown
        self.file = read.file
        if self.file is not None:
            require_usable(self.file, create=create)
        self._database = Database(read)
        self._commits = SharedCommits(self._database.checkpoint, WAIT)
        try:
            with self._database.reported():
                self._version = self._prepare(create)
        except BaseException:
            self._database.close()
            raise

    def create(self, name: str, description: str) -> None:
        """Add a study; refuse a name that exists."""
        fields = {"uid": uuid.uuid4().hex, "name": name, "created": time.time(), "description": description}
        values = {**fields, "events": 0, "rounds": 0, "ended": 0}

        def add(connection: Connection) -> None:
            self._lock_creation(connection)
            connection.insert("studies", [{**values, "checksum": checksum(*values.values())}])

        try:
            self._change(add, lambda connection: self._uid(connection, name) == fields["uid"])
        except ConflictError:
            raise InvalidInputError(f"the study {name!r} already exists in {self.address}; choose another") from None

    def studies(self) -> list[StudySummary]:
        """List all studies by name."""
        with self._transaction() as connection:
            rows = [self._checked_study(row) for row in connection.rows("SELECT * FROM studies")]
        found = [StudySummary(row.name, row.created, row.rounds, row.ended, row.events) for row in rows]
        return sorted(found, key=lambda summary: summary.name)

    def description(self, name: str) -> str:
        """Return the JSON description of a study."""
        with self._transaction() as connection:
            return str(self._study(connection, name).description)

    def events(self, name: str, start: int = 0) -> list[Event]:
        """Return the events of a study from sequence ``start`` on."""
        with self._transaction() as connection:
            study = self._study(connection, name)
            rows = connection.rows(EVENTS, study=study.id, start=start, end=study.events)
        found = [self._checked_event(study, row) for row in rows]
        if [event.sequence for event in found] != list(range(start, study.events)):
            raise self._database.damage(f"study {name!r} has {len(found)} of {max(study.events - start, 0)} records")
        return found

    def append(self, name: str, kind: EventKind, number: int, body: str, at: float, expected: int | None = None) -> int:
        """Add an event and return its sequence; ``expected``: only if it will be this one."""
        return self.extend(name, [Draft(kind, number, body, at)], expected)

    def extend(self, name: str, drafts: Sequence[Draft], expected: int | None = None) -> int:
        """Add several events, all or none, and return the sequence of the first."""
        rows: list[dict[str, Any]] = []

        def add(connection: Connection) -> None:
            study = self._study(connection, name, lock=True)
            check_expected(expected, study.events)
            rows[:] = self._new_rows(connection, study, drafts)
            connection.insert("events", rows)
            grown = {
                "events": study.events + len(rows),
                "rounds": study.rounds + sum(row["step"] == 0 for row in rows),
                "ended": study.ended + sum(row["step"] == END or row["kind"] == "added" for row in rows),
            }
            whole = checksum(study.uid, study.name, study.created, study.description, *grown.values())
            connection.run(GROW, id=study.id, **grown, checksum=whole)

        self._change(add, lambda connection: bool(rows) and self._has(connection, name, rows))
        return int(rows[0]["sequence"])

    def delete(self, name: str) -> None:
        """Remove a study with all its events."""
        uid = ""

        def remove(connection: Connection) -> None:
            nonlocal uid
            study = self._study(connection, name, lock=True)
            uid = study.uid
            connection.run("DELETE FROM events WHERE study = :id", id=study.id)
            connection.run("DELETE FROM studies WHERE id = :id", id=study.id)

        self._change(remove, lambda connection: uid != "" and self._uid(connection, name) != uid)

    def check(self) -> list[Finding]:
        """Look at everything that is stored; also at pages and indexes of an SQLite file."""
        findings = []
        try:
            if self.file is not None:
                with self._transaction() as connection:
                    said = connection.column("PRAGMA integrity_check(20)")
                findings += [Finding(None, str(line)) for line in said if line != "ok"]
            with self._transaction() as connection:
                names = [str(name) for name in connection.column("SELECT name FROM studies")]
                lost = connection.value(ORPHANS)
            findings += [Finding(None, f"{lost} records belong to no study")] if lost else []
        except DamageError as error:
            return [*findings, Finding(None, str(error))]
        for name in names:
            try:
                self.events(name)
            except DamageError as error:
                findings.append(Finding(name, str(error)))
            except UnknownNameError:  # another process has just deleted it
                continue
        return findings

    def upgrade(self) -> Path | None:
        """Bring the tables up to date; return the backup that was made of an SQLite file, if there was need."""
        if not is_older(self._version):
            require_newest(self._version, self.address)
            return None
        backup = self.back_up()
        with self._database.transaction(write=True) as connection:
            migrate(connection)
        _log.info("the tables were brought from version %s to %s", self._version, SCHEMA)
        self._version = SCHEMA
        return backup

    def back_up(self) -> Path | None:
        """Copy an SQLite file as it is now, write-ahead log included; None for a server, which has its own ways."""
        if self.file is None:
            return None
        target = free_name(self.file, "backup")
        with self._database.reported():
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            source, copy = sqlite3.connect(self.file), sqlite3.connect(target)
            try:
                source.backup(copy)
                shutil.copymode(self.file, target)
            except BaseException:
                target.unlink()
                raise
            finally:
                source.close()
                copy.close()
        return target

    def close(self) -> None:
        """Close all connections; the next call opens them again."""
        self._database.close()

    def _prepare(self, create: bool) -> str:
        """Return the schema version, after making the tables if there are none."""
        with self._database.transaction() as connection:
            version = version_of(connection)
        if version is None:
            if not create:
                raise DamageError("it holds no studies (it is empty, or was cut); see `mfbo study doctor`")
            with self._database.transaction(write=True) as connection:
                self._lock_creation(connection)
                if version_of(connection) is None:
                    migrate(connection)
        self._database.keep_log()
        return SCHEMA if version is None else version

    def _lock_creation(self, connection: Connection) -> None:
        if self.file is None:
            connection.value("SELECT pg_advisory_xact_lock(:key)", key=CREATION_LOCK)

    @contextmanager
    def _transaction(self, *, write: bool = False) -> Iterator[Connection]:
        """Give a connection inside a transaction on a store of the newest schema."""
        require_newest(self._version, self.address)
        with self._database.transaction(write=write) as connection:
            yield connection

    def _change(self, change: Callable[[Connection], None], is_done: Callable[[Connection], bool]) -> None:
        """Make a change; if the commit fails on its way, look whether the change is there.

        change: may be called again, after a transaction that was undone. is_done: looks, after waiting for whoever is
        still at work on the study: a server may go on without us.
        """
        require_newest(self._version, self.address)
        mine = Waiting(change)
        try:
            if self.file is None:  # a server lets changes of several studies happen at once
                self._carry_out([mine])
            else:
                self._make_with_others(mine)
            return
        except UncertainCommitError as error:
            failed = error
            _log.info("whether a change was stored is looked up")
        deadline, done = time.monotonic() + WAIT, False
        while True:
            try:
                self._database.close()
                with self._transaction(write=True) as connection:
                    done = is_done(connection)
                break
            except UncertainCommitError:  # of a transaction that changed nothing: what was seen is so
                break
            except UnknownNameError:  # the study itself was deleted meanwhile
                break
            except StorageError as error:
                if time.monotonic() > deadline or isinstance(error, DamageError):
                    raise StorageError(
                        f"{failed}; whether it was stored is not known, and cannot be looked up ({error}):"
                        " look once it can be reached again, before you repeat it"
                    ) from error
                time.sleep(LOOK_AGAIN)
        if not done:
            raise StorageError(f"{failed} (nothing was stored)") from failed

    def _make_with_others(self, mine: Waiting) -> None:
        """Make a change in one transaction with those of other threads that wait; it is stored when this returns.

        If this raises it was not, but for an ``UncertainCommitError`` or an interrupt: then only a look tells.
        """
        try:
            self._commits.await_turn(mine)
            while not mine.is_taken:
                self._lead()
        except BaseException:
            self._commits.withdraw(mine)
            raise
        if mine.error is not None:
            raise mine.error
        if not mine.is_done:
            self._carry_out([mine])
            self._commits.settle_if_nobody_waits()

    def _lead(self) -> None:
        """Carry out the changes of all threads that wait; what is refused is for each of them to find out."""
        group = self._commits.take()
        error: BaseException | None = UncertainCommitError(INTERRUPTED)  # until it is known to be otherwise
        try:
            self._carry_out(group)
            error = None
        except BaseException as raised:
            error = raised
            if not isinstance(raised, Exception):
                raise
        finally:
            self._commits.finish(group, error)

    def _carry_out(self, changes: Sequence[Waiting]) -> None:
        with self._database.transaction(write=True) as connection:
            for waiting in changes:
                waiting.change(connection)

    def _uid(self, connection: Connection, name: str) -> str | None:
        """Return which study has a name, after all who make or change it are done."""
        self._lock_creation(connection)
        found = connection.rows(STUDY + connection.driver.for_update, name=name)
        return str(found[0].uid) if found else None

    def _has(self, connection: Connection, name: str, rows: Sequence[dict[str, Any]]) -> bool:
        """Tell whether the last of these records is there, after all who change the study are done."""
        study = self._study(connection, name, lock=True)
        last = rows[-1]
        there = "SELECT checksum FROM events WHERE study = :study AND sequence = :sequence"
        return bool(connection.value(there, study=study.id, sequence=last["sequence"]) == last["checksum"])

    def _new_rows(self, connection: Connection, study: Row, drafts: Sequence[Draft]) -> list[dict[str, Any]]:
        """Return drafts as rows, if the rules allow each after the ones before it."""
        rounds, rows = study.rounds, []
        steps: dict[int, list[tuple[int, str]]] = {}
        for sequence, draft in enumerate(drafts, start=study.events):
            if draft.known is not None:
                latest = connection.value(UNSETTLED, study=study.id, known=draft.known)
                check_known(draft.known, -1 if latest is None else int(latest))
            if draft.number not in steps:
                earlier = connection.rows(STEPS, study=study.id, number=draft.number)
                steps[draft.number] = [(row.step, row.kind) for row in earlier]
            step = next_step(draft.kind, draft.number, rounds, steps[draft.number])
            steps[draft.number].append((step, draft.kind))
            rounds += step == 0
            values = {"number": draft.number, "step": step, "kind": draft.kind, "body": draft.body, "at": draft.at}
            whole = checksum(study.uid, sequence, *values.values())
            rows.append({"study": study.id, "sequence": sequence, "checksum": whole, **values})
        return rows

    def _study(self, connection: Connection, name: str, *, lock: bool = False) -> Row:
        found = connection.rows(STUDY + connection.driver.for_update if lock else STUDY, name=name)
        if not found:  # say so only if the table agrees with its index, and no name is damaged
            names = [self._checked_study(row).name for row in connection.rows("SELECT * FROM studies")]
            if name in names:
                raise self._database.damage(f"the index does not know the study {name!r}")
            known_name(name, "study", sorted(names))
            raise AssertionError("known_name refuses")
        return self._checked_study(found[0])

    def _checked_study(self, row: Row) -> Row:
        fields = (row.uid, row.name, row.created, row.description, row.events, row.rounds, row.ended)
        if row.checksum != checksum(*fields):
            raise self._database.damage(f"the record of study {row.name!r} does not match its checksum")
        return row

    def _checked_event(self, study: Row, row: Row) -> Event:
        fields = (row.sequence, row.number, row.step, row.kind, row.body, row.at)
        if row.checksum != checksum(study.uid, *fields):
            raise self._database.damage(f"record {row.sequence} of study {study.name!r} does not match its checksum")
        return Event(row.sequence, row.number, row.kind, row.body, row.at)


def require_usable(file: Path, *, create: bool) -> None:
    """Refuse what is not a file of studies at first sight, and say what it is."""
    try:
        found = os.stat(file)
    except FileNotFoundError:
        if create:
            return
        raise StorageError(f"{file} does not exist; `mfbo study create` makes it") from None
    except OSError as error:
        raise StorageError(f"{file} cannot be used: {error.strerror}") from error
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "not a regular file"
        raise StorageError(f"{file} is {kind}; name a file of studies")
    if found.st_size == 0 and not create:
        raise StorageError(
            f"{file} is empty and holds no studies, which `mfbo study doctor` cannot change; "
            "restore a backup, or delete it and `mfbo study create` makes it anew"
        )


def free_name(file: Path, purpose: str) -> Path:
    """Return a name beside a file that nothing has yet, with the time in it."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    names = (file.with_name(f"{file.name}.{purpose}-{stamp}{'-' * bool(n)}{n or ''}") for n in range(1000))
    return next(name for name in names if not name.exists())
