"""Addresses of databases, read: an SQLite file, or a PostgreSQL server."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from mfbo.errors import InvalidInputError
from mfbo.storage.showing import HIDDEN, SECRET, showable


@dataclass(frozen=True)
class Address:
    """Where a database is; file: of SQLite, None for a server.

    url: of a server, as its own library reads it. settings: names of what stands behind its "?". secrets: what no
    message may hold.
    """

    shown: str
    file: Path | None = None
    url: str = ""
    settings: frozenset[str] = frozenset()
    secrets: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """How errors call it."""
        return self.shown if self.file is None else str(self.file)

    def without_secrets(self, text: str) -> str:
        """Return a text of another program without the address's secrets."""
        for secret in self.secrets:
            text = text.replace(secret, HIDDEN)
        return text


def read_address(address: str) -> Address:
    """Read the address of an SQLite file or of a PostgreSQL server."""
    scheme, _, rest = address.partition("://")
    shown = showable(address)
    if scheme == "sqlite":
        return Address(shown, _sqlite_file(rest, shown))
    url = f"postgresql://{rest}"
    parts = _split(url, shown)
    settings = parse_qsl(parts.query, keep_blank_values=True)
    password = parts.password or ""
    found = (password, unquote(password), *(value for key, value in settings if SECRET.search(key)))
    secrets = tuple(secret for secret in found if len(secret) > 2)
    return Address(shown, None, url, frozenset(key for key, _ in settings), secrets)


def _split(url: str, shown: str) -> SplitResult:
    try:
        parts = urlsplit(url.replace("#", "%23"))
        _ = parts.port  # a port that is not a number is refused only here
    except ValueError:  # its message holds parts of the address
        raise InvalidInputError(
            f"the storage address {shown!r} cannot be read: write scheme://user@host:port/database, the port a number"
        ) from None
    return parts


def _sqlite_file(rest: str, shown: str) -> Path:
    path, mark, _ = rest.partition("?")
    name = path.removeprefix("/")
    if mark:
        raise InvalidInputError(
            f"{shown!r}: the address of an SQLite file takes no settings; leave out everything after ?"
        )
    if name == path or not name or name == ":memory:":
        raise InvalidInputError(f'{shown!r} names no file: write "sqlite:///file.db", or "memory"')
    if "\0" in name:
        raise InvalidInputError(f"{shown!r} holds a NUL character; no file can be called so")
    file = Path(name)
    if not file.absolute().parent.is_dir():
        raise InvalidInputError(f"the folder {file.absolute().parent} does not exist; make it first")
    return file
