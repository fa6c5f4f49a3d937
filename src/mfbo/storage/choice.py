"""Which storage an address means: memory, an SQLite file, a PostgreSQL server, or an object that is one."""

from typing import Any

from mfbo.errors import InvalidInputError
from mfbo.storage.addresses import showable
from mfbo.storage.contract import Storage
from mfbo.storage.memory import MemoryStorage
from mfbo.validation import said

FORMS = '"memory", "sqlite:///file.db" or "postgresql+psycopg://user@host/database"'
_MEMBERS = ("address", "create", "studies", "description", "events", "append", "extend", "delete", "check", "close")


def open_storage(storage: Any, *, create: bool = True) -> Storage:
    """Return the storage at an address, or the object itself if it already is one.

    create: whether an SQLite file, or the tables of an empty database, may be made.
    """
    if not isinstance(storage, str):
        missing = [member for member in _MEMBERS if not hasattr(storage, member)]
        if missing or isinstance(storage, type):
            raise InvalidInputError(
                f"storage must be {FORMS}, or an object like mfbo.storage.Storage, not {showable(said(storage))}"
            )
        opened: Storage = storage
        return opened
    if storage == "memory":
        return MemoryStorage()
    scheme = storage.partition("://")[0]
    if scheme in ("sqlite", "postgresql+psycopg", "postgresql", "postgres"):
        from mfbo.storage.sql import SqlStorage

        return SqlStorage(storage, create=create)
    raise InvalidInputError(f"storage must be {FORMS}, not {showable(storage)!r}")
