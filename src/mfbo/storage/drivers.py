"""SQLite's and PostgreSQL's own libraries behind one interface: named parameters in, rows with named fields out.

A library over both costs every command half a second to load (decision 11); our statements are a dozen.
"""

import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Protocol

from mfbo.errors import MissingExtraError
from mfbo.storage.addresses import Address

WAIT = 60.0  # seconds for another process to finish its write
CONNECT_SECONDS = 10
STATEMENT_SECONDS = 120
SILENCE_SECONDS = 60  # after which a server whose network is gone is given up

Row = Any
"""A row with its columns as attributes."""

_PARAMETER = re.compile(r"(?<!:):(\w+)")


class Driver(Protocol):
    """What differs between the two databases.

    errors, conflicts: the library's errors, and those of a row that is there already. for_update: what makes a SELECT
    wait for whoever changes its rows. counter: the type of a column that counts by itself.
    """

    errors: tuple[type[Exception], ...]
    conflicts: tuple[type[Exception], ...]
    for_update: str
    counter: str

    def connected(self) -> Any:
        """Return a new connection."""
        ...

    def begin(self, raw: Any, *, write: bool) -> None:
        """Begin a transaction."""
        ...

    def is_alive(self, raw: Any) -> bool:
        """Tell whether a connection that lay idle can still be used."""
        ...

    def written(self, statement: str) -> str:
        """Return a statement with :named parameters as the library wants it."""
        ...

    def tables(self, connection: "Connection") -> list[str]:
        """Return the names of all tables."""
        ...


@dataclass(frozen=True, eq=False)
class Connection:
    """A connection of a driver's library inside a transaction."""

    raw: Any
    driver: Driver

    def rows(self, statement: str, **values: Any) -> list[Row]:
        """Return all rows of a query."""
        cursor = self.raw.execute(self.driver.written(statement), values)
        names = [column[0] for column in cursor.description]
        return [SimpleNamespace(**dict(zip(names, row, strict=True))) for row in cursor.fetchall()]

    def column(self, statement: str, **values: Any) -> list[Any]:
        """Return the first column of a query."""
        return [row[0] for row in self.raw.execute(self.driver.written(statement), values).fetchall()]

    def value(self, statement: str, **values: Any) -> Any:
        """Return the first field of the first row; None if there is none."""
        return next(iter(self.column(statement, **values)), None)

    def run(self, statement: str, **values: Any) -> None:
        """Run a statement that answers nothing."""
        self.raw.execute(self.driver.written(statement), values)

    def insert(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add rows that all have the same columns."""
        filled = list(rows)
        names = ", ".join(filled[0])
        parameters = ", ".join(f":{name}" for name in filled[0])
        statement = f"INSERT INTO {table} ({names}) VALUES ({parameters})"  # noqa: S608 (names of our own tables)
        self.raw.cursor().executemany(self.driver.written(statement), filled)


class SqliteDriver:
    """Python's own SQLite."""

    errors: tuple[type[Exception], ...] = (sqlite3.Error,)
    conflicts: tuple[type[Exception], ...] = (sqlite3.IntegrityError,)
    for_update = ""  # a write has the file's write lock from its beginning
    counter = "INTEGER"

    def __init__(self, address: Address) -> None:
        self._file = address.file

    def connected(self) -> sqlite3.Connection:
        """Return a new connection, whose transactions begin where we say so."""
        raw = sqlite3.connect(str(self._file), timeout=WAIT, isolation_level=None, check_same_thread=False)
        try:
            if raw.execute("PRAGMA page_count").fetchone()[0] == 0:  # new; a file with content is first looked at
                raw.execute("PRAGMA journal_mode=WAL")
            for pragma in ("synchronous=FULL", "foreign_keys=ON", "cell_size_check=ON"):
                raw.execute(f"PRAGMA {pragma}")
        except BaseException:
            raw.close()
            raise
        return raw

    def begin(self, raw: sqlite3.Connection, *, write: bool) -> None:
        """Begin a transaction; a write takes the file's write lock."""
        raw.execute("BEGIN IMMEDIATE" if write else "BEGIN")

    def is_alive(self, raw: sqlite3.Connection) -> bool:
        """A file does not go away by itself; one that was replaced is noticed elsewhere."""
        return True

    def written(self, statement: str) -> str:
        """Return the statement as it is."""
        return statement

    def tables(self, connection: Connection) -> list[str]:
        """Return the names of all tables."""
        query = "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'"
        return connection.column(query)


class PostgresDriver:
    """psycopg, with time limits on connecting, on locks and on statements."""

    for_update = " FOR UPDATE"
    counter = "SERIAL"

    def __init__(self, address: Address) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtraError('PostgreSQL needs psycopg: pip install "mfbo[postgres]"') from error
        self._psycopg = psycopg
        self.errors: tuple[type[Exception], ...] = (psycopg.Error,)
        self.conflicts: tuple[type[Exception], ...] = (psycopg.IntegrityError,)
        self._address = address

    def connected(self) -> Any:
        """Return a new connection; who sets the server's limits in the address knows better than we."""
        limits = {"connect_timeout": CONNECT_SECONDS, "keepalives_idle": 30, "tcp_user_timeout": 1000 * SILENCE_SECONDS}
        addressed = self._address.settings
        settings: dict[str, Any] = {key: value for key, value in limits.items() if key not in addressed}
        raw = self._psycopg.connect(self._address.url, **settings)
        raw.isolation_level = self._psycopg.IsolationLevel.READ_COMMITTED
        if "options" not in addressed:
            for setting, seconds in (
                ("lock_timeout", WAIT),
                ("statement_timeout", STATEMENT_SECONDS),
                ("idle_in_transaction_session_timeout", STATEMENT_SECONDS),  # frees the locks of a client that is gone
            ):
                raw.execute(f"SET {setting} = '{seconds:.0f}s'")
            raw.commit()
        return raw

    def begin(self, raw: Any, *, write: bool) -> None:
        """Nothing to do: psycopg begins a transaction at its first statement."""

    def is_alive(self, raw: Any) -> bool:
        """Ask the server."""
        try:
            raw.execute("SELECT 1")
            raw.rollback()
        except self.errors:
            return False
        return True

    def written(self, statement: str) -> str:
        """Return the statement with psycopg's own parameters."""
        return _PARAMETER.sub(r"%(\1)s", statement)

    def tables(self, connection: Connection) -> list[str]:
        """Return the names of all tables of the schema in use."""
        return connection.column("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
