"""Transactions on a database: waited for within bounds, on the file that was opened, with our errors.

SQLite runs in WAL mode with full synchronization; a write takes the file's write lock at its beginning, so it waits
for others instead of failing half-way. On a server connecting, locks and statements have time limits.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import Lock
from typing import Any

from mfbo.errors import ConflictError, DamageError, InvalidInputError, MfboError, StorageError
from mfbo.storage.addresses import Address
from mfbo.storage.drivers import CONNECT_SECONDS, WAIT, Connection, Driver, PostgresDriver, SqliteDriver
from mfbo.storage.recognition import NO_STORE, is_store
from mfbo.storage.shared_commits import UncertainCommitError, WriteTurns
from mfbo.storage.sharing import PAUSE, Identity, identity_of, require_same, through_gate

MOST_IDLE = 5  # connections kept for the next transactions
_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")
_REASONS = {  # what SQLite says in two words, and the way out; anything else it says of a file is damage
    "SQLITE_FULL": "the disk is full; make room and try again",
    "SQLITE_IOERR": "is the disk full, or failing? `mfbo study doctor` looks closer",
    "SQLITE_READONLY": "it, or its folder, is read-only for this user; SQLite writes beside the file too",
    "SQLITE_CANTOPEN": "may this user read and write it, and its folder?",
    "SQLITE_PERM": "this user may not open it",
    "SQLITE_AUTH": "this user may not open it",
    "SQLITE_NOMEM": "there is not enough memory",
    "SQLITE_INTERRUPT": "try again",
}


class Pool:
    """Connections that wait for their next transaction; several threads may take and give back.

    A forked child makes connections of its own: it must not speak through its parent's.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._idle: list[Any] = []
        self._lock = Lock()
        self._process = os.getpid()

    def __del__(self) -> None:
        """Close what nobody will use again, so that SQLite moves its log into the file."""
        self.close()

    def taken(self, connected: Callable[[], Any]) -> Any:
        """Return a connection that works; connected: makes a new one."""
        if os.getpid() != self._process:
            self._idle, self._lock, self._process = [], Lock(), os.getpid()
        while True:
            with self._lock:
                raw = self._idle.pop() if self._idle else None
            if raw is None:
                return connected()
            if self._driver.is_alive(raw):
                return raw
            self.discard(raw)

    def give_back(self, raw: Any) -> None:
        """Keep a connection for the next transaction, whatever was left undone on it; a broken one is closed."""
        try:
            raw.rollback()
        except self._driver.errors:
            self.discard(raw)
            return
        with self._lock:
            if len(self._idle) < MOST_IDLE:
                self._idle.append(raw)
                return
        self.discard(raw)

    def discard(self, raw: Any) -> None:
        """Close a connection; what was committed on it stays so, whatever it says now."""
        with suppress(*self._driver.errors):
            raw.close()

    def close(self) -> None:
        """Close what lies idle."""
        if os.getpid() != self._process:
            return
        with self._lock:
            idle, self._idle = self._idle, []
        for raw in idle:
            self.discard(raw)


class Database:
    """Gives transactions; threads may use it at once, and a forked child gets connections of its own."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.file = address.file
        self.opened: Identity | None = None  # the file of the first connection; later ones must have the same
        self.driver: Driver = PostgresDriver(address) if self.file is None else SqliteDriver(address)
        self._pool = Pool(self.driver)
        self._turns = WriteTurns(WAIT)
        self._in_log_mode = False

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[Connection]:
        """Give a connection inside a transaction; commit at the end if nothing was raised.

        ``UncertainCommitError``: the commit itself failed.
        """
        with self.reported(), ExitStack() as stack:
            if self.file is not None:
                if write:
                    stack.enter_context(self._turns.turn())
                stack.enter_context(through_gate(self.file, WAIT))
            connection = self._begun(write)
            stack.callback(self._pool.give_back, connection.raw)
            if write:
                self._require_same()
            yield connection
            if not write:
                return  # closing ends it
            try:
                connection.raw.commit()
            except self.driver.errors as error:
                raise UncertainCommitError(self._explained(error)) from error
            self._require_same()

    def checkpoint(self) -> None:
        """Move what was written from SQLite's log into the file itself, as far as nobody is in the way.

        A log that is cut or damaged loses its last records without a word; the file is checked. What was committed is
        kept either way, so a checkpoint that fails (a full disk, a reader in the way) is left to the next one.
        """
        if self.file is None:
            return
        with suppress(Exception), through_gate(self.file, 0.0):
            raw = self._pool.taken(self._connected)
            try:
                raw.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            finally:
                self._pool.give_back(raw)

    def keep_log(self) -> None:
        """Switch an SQLite file to write-ahead logging, for good; a file of another program is never changed so."""
        if self.file is None:
            return
        with self.reported(), through_gate(self.file, WAIT):
            raw = self._pool.taken(self._connected)
            try:
                logs_already = raw.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
                self._in_log_mode = logs_already or raw.execute("PRAGMA journal_mode=WAL").fetchone()[0] == "wal"
            finally:
                self._pool.give_back(raw)

    def close(self) -> None:
        """Close all connections; the next transaction opens them again."""
        if self.file is None:
            self._pool.close()
            return
        with through_gate(self.file, WAIT):  # the last one moves the log into the file
            self._pool.close()

    def damage(self, what: str) -> DamageError:
        """Return the error for content that is not what was written."""
        way_out = "`mfbo study doctor` says more and repairs what it can"
        return DamageError(f"{self.address.place} is damaged: {what}; {way_out}")

    @contextmanager
    def reported(self) -> Iterator[None]:
        """Turn the database's errors into ours, with the place and the way out."""
        place = self.address.place
        started = time.monotonic()
        try:
            yield
        except self.driver.conflicts as error:
            raise ConflictError(f"{place}: another process was first ({_reason(error)})") from error
        except self.driver.errors as error:
            raise self._kind(error)(self._explained(error, time.monotonic() - started)) from error
        except UnicodeEncodeError as error:
            bad = repr(error.object)
            raise InvalidInputError(f"{bad[:80]} holds a stray byte and cannot be stored; write it anew") from None
        except OSError as error:
            raise StorageError(f"{place} cannot be used: {error.strerror or error}") from error
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(error, MfboError):
                raise
            raise self.damage(f"a field has the wrong type ({error})") from error
        except StorageError as error:
            if place in str(error):
                raise
            raise type(error)(f"{place}: {error}") from error

    def _require_same(self) -> None:
        """Refuse to go on with a file that was deleted or replaced, or whose log was."""
        if self.file is None or self.opened is None:
            return
        require_same(self.file, self.opened)
        real = os.path.realpath(self.file)
        if not (os.path.exists(f"{real}-wal") and os.path.exists(f"{real}-shm")) and self._in_log_mode:
            raise StorageError(f"the files {real}-wal and -shm were deleted while it was open; load the study again")

    def _connected(self) -> Any:
        """Return a new connection; to a file, only if it is and stays the one that was opened first."""
        if self.file is None:
            return self.driver.connected()
        before = identity_of(self.file)
        if self.opened is not None:
            require_same(self.file, self.opened)  # a missing file would be made anew, and empty
        raw = self.driver.connected()
        now = identity_of(self.file)
        if now is None or now != (before or now):
            self._pool.discard(raw)
            raise StorageError(f"{self.file} was deleted or replaced while it was being opened; try again")
        self.opened = now
        return raw

    def _begun(self, write: bool) -> Connection:
        """Return a connection whose transaction has begun; another's write is waited for."""
        deadline = time.monotonic() + WAIT
        while True:
            raw = None
            try:
                raw = self._pool.taken(self._connected)
                self.driver.begin(raw, write=write)
                return Connection(raw, self.driver)
            except self.driver.errors as error:
                if raw is not None:
                    self._pool.give_back(raw)
                if not _code(error).startswith(_BUSY) or time.monotonic() > deadline:
                    raise
                time.sleep(PAUSE)

    def _kind(self, error: Exception) -> type[StorageError]:
        return DamageError if self._is_damage(_code(error)) else StorageError

    def _is_damage(self, code: str) -> bool:
        """Tell damage from a disk, a user or a lock in the way, and from a file that never was a store."""
        if self.file is None or code.startswith((*_BUSY, *_REASONS)):
            return code == "SQLITE_IOERR_SHORT_READ"
        return code != "SQLITE_NOTADB" or is_store(self.file)

    def _explained(self, error: Exception, waited: float = 0.0) -> str:
        place, code, reason = self.address.place, _code(error), self.address.without_secrets(_reason(error))
        if self._is_damage(code):
            return str(self.damage(reason))
        if code == "SQLITE_NOTADB":
            return f"{place} {NO_STORE}"
        if code.startswith(_BUSY):
            return f"{place} is in use: another process did not end its work within {waited:.0f} s; try again later"
        for beginning, way_out in _REASONS.items():
            if code.startswith(beginning):
                return f"{place} cannot be used: {reason}: {way_out}"
        if self.file is not None:
            return f"{place} cannot be used: {reason}"
        return f"{place} cannot be used: {reason}; {_server_hint(code, waited)}"


def _code(error: Exception) -> str:
    return getattr(error, "sqlite_errorname", None) or getattr(error, "sqlstate", None) or ""


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _server_hint(code: str, waited: float) -> str:
    if code == "55P03":
        return f"another process has held a lock for {waited:.0f} s: try again, or end its session on the server"
    if code == "57014":
        return f"it was given up after {waited:.0f} s: is the server overloaded? Try again"
    return f"is the server running and reachable? (waited {waited:.0f} s; connecting may take {CONNECT_SECONDS} s)"
