"""Studies in an SQL database: an SQLite file on one machine, a PostgreSQL server for many.

SQLite runs in WAL mode with full synchronization; a write takes the file's write lock at its beginning, so it waits
for others instead of failing half-way. PostgreSQL locks the row of the study.
"""

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from mfbo.errors import ConflictError, InvalidInputError, MfboError, MissingExtraError, StorageError
from mfbo.storage.checksums import checksum
from mfbo.storage.contract import Event, EventKind, Finding, StudySummary
from mfbo.storage.rules import END, check_expected, next_step
from mfbo.storage.schema import migrate, require_newest, version_of
from mfbo.storage.tables import SCHEMA, events, studies
from mfbo.validation import known_name

WAIT = 60.0  # seconds for another process to finish its write
PAUSE = 0.02
CREATION_LOCK = 0x6D66626F  # "mfbo": PostgreSQL's advisory lock around making the tables

Row = sa.Row[Any]


class SqlStorage:
    """Keeps studies in a database; see ``contract`` for what holds for threads and processes."""

    def __init__(self, address: str, *, create: bool = True) -> None:
        """Open the database; make the tables if ``create`` allows it and there are none."""
        try:
            url = sa.make_url(address)
        except SQLAlchemyError as error:
            raise InvalidInputError(f"storage address {address!r} cannot be read: {error}") from None
        if url.drivername == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        self.address = url.render_as_string(hide_password=True)
        self.file = _sqlite_file(url, address)
        self._engine = _engine(url)
        self._process = os.getpid()
        if self.file is not None and not create and not self.file.is_file():
            raise StorageError(f"{self.file} does not exist; `mfbo study create` makes it")
        with self._reported():
            self._version = self._prepare(create)

    def create(self, name: str, description: str) -> None:
        """Add a study; refuse a name that exists."""
        fields = {"uid": uuid.uuid4().hex, "name": name, "created": time.time(), "description": description}
        values = {**fields, "events": 0, "rounds": 0, "ended": 0}
        try:
            with self._transaction(write=True) as connection:
                connection.execute(studies.insert().values(**values, checksum=checksum(*values.values())))
        except ConflictError:
            raise InvalidInputError(f"the study {name!r} already exists in {self.address}; choose another") from None

    def studies(self) -> list[StudySummary]:
        """List all studies by name."""
        with self._transaction() as connection:
            rows = [self._checked_study(row) for row in connection.execute(sa.select(studies))]
        found = [StudySummary(row.name, row.created, row.rounds, row.ended) for row in rows]
        return sorted(found, key=lambda each: each.name)

    def description(self, name: str) -> str:
        """Return the JSON description of a study."""
        with self._transaction() as connection:
            return str(self._study(connection, name).description)

    def events(self, name: str, start: int = 0) -> list[Event]:
        """Return the events of a study from sequence ``start`` on."""
        with self._transaction() as connection:
            study = self._study(connection, name)
            wanted = sa.select(events).where(
                events.c.study == study.id, events.c.sequence >= start, events.c.sequence < study.events
            )
            rows = connection.execute(wanted.order_by(events.c.sequence)).all()
        found = [self._checked_event(study, row) for row in rows]
        if [each.sequence for each in found] != list(range(start, study.events)):
            raise self._damage(f"study {name!r} has {len(found)} of {max(study.events - start, 0)} records")
        return found

    def append(self, name: str, kind: EventKind, number: int, body: str, at: float, expected: int | None = None) -> int:
        """Add an event and return its sequence; ``expected``: only if it will be this one."""
        with self._transaction(write=True) as connection:
            study = self._study(connection, name, lock=True)
            check_expected(expected, study.events)
            mine = events.c.study == study.id
            earlier = connection.execute(sa.select(events.c.step, events.c.kind).where(mine, events.c.number == number))
            step = next_step(kind, number, study.rounds, [(row.step, row.kind) for row in earlier])
            sequence = int(study.events)
            values = {"number": number, "step": step, "kind": kind, "body": body, "at": at}
            whole = checksum(study.uid, sequence, *values.values())
            connection.execute(events.insert().values(study=study.id, sequence=sequence, checksum=whole, **values))
            grown = {
                "events": sequence + 1,
                "rounds": study.rounds + (step == 0),
                "ended": study.ended + (step == END or kind == "added"),
            }
            whole = checksum(study.uid, study.name, study.created, study.description, *grown.values())
            connection.execute(studies.update().where(studies.c.id == study.id).values(**grown, checksum=whole))
        self._checkpoint()
        return sequence

    def delete(self, name: str) -> None:
        """Remove a study with all its events."""
        with self._transaction(write=True) as connection:
            study = self._study(connection, name, lock=True)
            connection.execute(events.delete().where(events.c.study == study.id))
            connection.execute(studies.delete().where(studies.c.id == study.id))

    def check(self) -> list[Finding]:
        """Look at everything that is stored; also at pages and indexes of an SQLite file."""
        findings = []
        try:
            if self.file is not None:
                with self._transaction() as connection:
                    said = connection.exec_driver_sql("PRAGMA integrity_check(20)").scalars().all()
                findings += [Finding(None, str(each)) for each in said if each != "ok"]
            with self._transaction() as connection:
                names = [str(each) for each in connection.execute(sa.select(studies.c.name)).scalars()]
                orphans = sa.select(sa.func.count()).where(events.c.study.not_in(sa.select(studies.c.id)))
                lost = connection.execute(orphans.select_from(events)).scalar()
            findings += [Finding(None, f"{lost} records belong to no study")] if lost else []
        except MfboError as error:
            return [*findings, Finding(None, str(error))]
        for name in names:
            try:
                self.events(name)
            except MfboError as error:
                findings.append(Finding(name, str(error)))
        return findings

    def upgrade(self) -> Path | None:
        """Bring the tables up to date; return the backup that was made of an SQLite file, if there was need."""
        if not (self._version.isdecimal() and self._version < SCHEMA):
            require_newest(self._version, self.address)
            return None
        backup = self.back_up()
        with self._connected(write=True) as connection:
            migrate(connection)
        self._version = SCHEMA
        return backup

    def back_up(self) -> Path | None:
        """Copy an SQLite file as it is now, write-ahead log included; None for a server, which has its own ways."""
        if self.file is None:
            return None
        import sqlite3

        target = free_name(self.file, "backup")
        with self._reported(), sqlite3.connect(self.file) as source, sqlite3.connect(target) as copy:
            source.backup(copy)
        source.close()
        copy.close()
        return target

    def close(self) -> None:
        """Close all connections; the next call opens them again."""
        self._engine.dispose()

    def _prepare(self, create: bool) -> str:
        """Return the schema version, after making the tables if there are none."""
        with self._connected() as connection:
            version = version_of(connection)
        if version is not None:
            return version
        if not create:
            raise StorageError("it holds no studies (it is empty, or was cut); see `mfbo study doctor`")
        with self._connected(write=True) as connection:
            if self.file is None:
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(CREATION_LOCK)))
            if version_of(connection) is None:
                migrate(connection)
        return SCHEMA

    @contextmanager
    def _transaction(self, *, write: bool = False) -> Iterator[sa.Connection]:
        """Give a connection inside a transaction on a store of the newest schema."""
        require_newest(self._version, self.address)
        with self._connected(write=write) as connection:
            yield connection

    @contextmanager
    def _connected(self, *, write: bool = False) -> Iterator[sa.Connection]:
        if os.getpid() != self._process:  # a forked child must not speak through its parent's connections
            self._engine.dispose(close=False)
            self._process = os.getpid()
        with self._reported():
            connection = self._begun(write)
            try:
                yield connection
                connection.commit()
            finally:
                connection.close()

    def _begun(self, write: bool) -> sa.Connection:
        """Return a connection whose transaction has begun; another's write is waited for."""
        deadline = time.monotonic() + WAIT
        while True:
            connection = None
            try:
                connection = self._engine.connect().execution_options(mfbo_write=write)
                connection.begin()
                return connection
            except sa.exc.OperationalError as error:
                if connection is not None:
                    connection.close()
                if "locked" not in str(error.orig) or time.monotonic() > deadline:
                    raise
                time.sleep(PAUSE)

    def _checkpoint(self) -> None:
        """Move what was written from the log into the file itself, as far as nobody is in the way.

        A log that is cut or damaged loses its last records without a word; the file is checked.
        """
        if self.file is None:
            return
        raw = self._engine.raw_connection()
        try:
            raw.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)")
        except Exception as error:
            if "locked" not in str(error):
                raise StorageError(f"{self.file}: {error}; `mfbo study doctor` says what is wrong") from error
        finally:
            raw.close()

    def _study(self, connection: sa.Connection, name: str, *, lock: bool = False) -> Row:
        wanted = sa.select(studies).where(studies.c.name == name)
        if lock and self.file is None:
            wanted = wanted.with_for_update()
        row = connection.execute(wanted).one_or_none()
        if row is None:  # say so only if the table agrees with its index, and no name is damaged
            names = [self._checked_study(each).name for each in connection.execute(sa.select(studies))]
            if name in names:
                raise self._damage(f"the index does not know the study {name!r}")
            known_name(name, "study", sorted(names))
            raise AssertionError("known_name refuses")
        return self._checked_study(row)

    def _checked_study(self, row: Row) -> Row:
        fields = (row.uid, row.name, row.created, row.description, row.events, row.rounds, row.ended)
        if row.checksum != checksum(*fields):
            raise self._damage(f"the record of study {row.name!r} does not match its checksum")
        return row

    def _checked_event(self, study: Row, row: Row) -> Event:
        fields = (row.sequence, row.number, row.step, row.kind, row.body, row.at)
        if row.checksum != checksum(study.uid, *fields):
            raise self._damage(f"record {row.sequence} of study {study.name!r} does not match its checksum")
        return Event(row.sequence, row.number, row.kind, row.body, row.at)

    def _damage(self, what: str) -> StorageError:
        place = self.address if self.file is None else str(self.file)
        return StorageError(f"{place} is damaged: {what}; `mfbo study doctor` says more and repairs what it can")

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Turn the database's errors into ours, with the file and the way out."""
        place = self.address if self.file is None else str(self.file)
        try:
            yield
        except IntegrityError as error:
            raise ConflictError(f"{place}: another process was first ({error.orig})") from error
        except SQLAlchemyError as error:
            reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
            hint = "`mfbo study doctor` says what is wrong" if self.file else "is the server running and reachable?"
            raise StorageError(f"{place} cannot be used: {reason}; {hint}") from error
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(error, MfboError):
                raise
            raise self._damage(f"a field has the wrong type ({error})") from error
        except StorageError as error:
            if place in str(error):
                raise
            raise type(error)(f"{place}: {error}") from error


def free_name(file: Path, purpose: str) -> Path:
    """Return a name beside a file that nothing has yet, with the time in it."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    names = (file.with_name(f"{file.name}.{purpose}-{stamp}{'-' * bool(n)}{n or ''}") for n in range(1000))
    return next(name for name in names if not name.exists())


def _sqlite_file(url: sa.URL, address: str) -> Path | None:
    if url.get_backend_name() != "sqlite":
        return None
    if not url.database or url.database == ":memory:":
        raise InvalidInputError(f'{address!r} names no file: write "sqlite:///file.db", or "memory"')
    file = Path(url.database)
    if not file.absolute().parent.is_dir():
        raise InvalidInputError(f"the folder {file.absolute().parent} does not exist; make it first")
    return file


def _engine(url: sa.URL) -> sa.Engine:
    if url.get_backend_name() != "sqlite":
        try:
            return sa.create_engine(url, pool_pre_ping=True, isolation_level="READ COMMITTED")
        except ImportError as error:
            raise MissingExtraError('PostgreSQL needs psycopg: pip install "mfbo[postgres]"') from error
    engine = sa.create_engine(url, connect_args={"timeout": WAIT})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say so
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "cell_size_check=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    write = connection.get_execution_options().get("mfbo_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
