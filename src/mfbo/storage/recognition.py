"""Is a file a store of ours? Told from its first bytes, which hold the tables' definitions, damaged or not."""

import re
from pathlib import Path

from mfbo.errors import InvalidInputError

START = b"SQLite format 3\0"
_FIRST_BYTES = 65536
_TABLES = (
    re.compile(rb"CREATE TABLE studies \(\s*id INTEGER NOT NULL,\s*uid TEXT NOT NULL"),
    re.compile(rb"CREATE TABLE events \(\s*study INTEGER NOT NULL,\s*sequence INTEGER NOT NULL"),
)
NO_STORE = (
    "is not a store of mfbo, or one without its first page; `mfbo study doctor` leaves it alone: name another file,"
    " or restore a backup"
)


def is_store(file: Path) -> bool:
    """Tell whether a file was written by mfbo; one of the two definitions is enough, the other may be damaged."""
    try:
        with file.open("rb") as content:
            return is_store_content(content.read(_FIRST_BYTES))
    except OSError:
        return False


def refuse_store(file: Path) -> None:
    """Refuse to write over a file of studies; a new one may have its tables in its log still."""
    if is_store(file) or is_store(file.with_name(f"{file.name}-wal")):
        raise InvalidInputError(f"{file} is a store of studies, which would be lost; choose another name with --out")


def is_store_content(content: bytes) -> bool:
    """Tell the same from the file's first bytes."""
    return any(table.search(content) for table in _TABLES)
