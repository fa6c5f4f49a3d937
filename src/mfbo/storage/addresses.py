"""Addresses of databases, read (an SQLite file, or a PostgreSQL server) and shown without their secrets."""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from mfbo.errors import InvalidInputError

HIDDEN = "***"
SECRET = re.compile(r"pass|pwd|secret|token", re.IGNORECASE)
_USER = re.compile(r"^([^:@/?]*):.*@", re.DOTALL)
_NO_PORT = re.compile(r"^([^:@/?\[]*):(?!\d+(?:[/?]|$))[^@/?]+$")  # a password whose host was forgotten
_SETTING = re.compile(r"""([\w%.+\-]+)(\s*=\s*)('(?:[^'\\]|\\.)*'|"[^"]*"|[^&;\s]*)""")


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


def showable(address: object) -> str:
    """Return an address as outputs and errors may show it, however it is written: what may be a password is hidden.

    Rather too much is hidden than too little: an address that cannot be read has its password anywhere.
    """
    text = str(address)
    scheme, mark, rest = text.partition("://")
    if not mark:
        scheme, rest = "", text
    if scheme.casefold() != "sqlite" or not rest.startswith("/"):  # a file's name may hold any character
        rest = _USER.sub(rf"\1:{HIDDEN}@", rest)  # up to the last @: a password may hold any character
        rest = _NO_PORT.sub(rf"\1:{HIDDEN}", rest)
    return scheme + mark + _SETTING.sub(_hidden, rest)


def _hidden(setting: re.Match[str]) -> str:
    return f"{setting[1]}{setting[2]}{HIDDEN}" if SECRET.search(unquote(setting[1])) else setting[0]
