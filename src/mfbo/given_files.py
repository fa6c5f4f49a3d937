"""Files that users give: regular ones only, never waited for, within bounds, in the encodings people have."""

import codecs
import io
import os
import re
import stat
from pathlib import Path
from typing import Any

from mfbo.errors import InvalidInputError, UnreadableFileError, warn

MOST_TEXT = 100_000_000  # bytes of a text that is held in memory as a whole: a row takes ten times its bytes there
MOST_LINE = 1_000_000
MOST_UNPACKED = 50_000_000_000  # a month of taxi trips has two billion bytes
MOST_GROWTH = 200  # tables shrink to a tenth; only what was made to burst shrinks to a thousandth
SMALL = 20_000_000  # so much a file of any size may hold
DELIMITERS = (";", "\t", ",")

_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_BLOCK = 1 << 16
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_NO_TEXT = re.compile("[\x00-\x08\x0e-\x1f\x7f]")


def kind_of(mode: int) -> str | None:
    """Return what a file that is not a regular one is called."""
    return next((name for test, name in _KINDS if test(mode)), None)


def open_given(path: Path) -> io.BufferedReader:
    """Open a regular file; a pipe, a socket, a device or a folder is refused at once."""
    try:
        kind = kind_of(path.stat().st_mode)
        file = None if kind else os.fdopen(os.open(path, os.O_RDONLY | _AT_ONCE), "rb")
    except OSError as error:
        raise UnreadableFileError(str(path), f"cannot be read: {error.strerror}") from error
    except ValueError as error:  # a name with a null byte
        raise UnreadableFileError(repr(str(path)), f"cannot be the name of a file: {error}") from error
    if file is not None:
        kind = kind_of(os.fstat(file.fileno()).st_mode)  # it may have been replaced meanwhile
    if file is None or kind is not None:
        raise UnreadableFileError(str(path), f"is {kind}, not a file; give a regular file")
    return file


def given_bytes(path: Path, most: int = MOST_TEXT) -> bytes:
    """Return the content of a file that is held in memory as a whole."""
    with open_given(path) as file:
        try:
            content = file.read(most + 1)
        except OSError as error:
            raise UnreadableFileError(str(path), f"cannot be read: {error.strerror}") from error
    if len(content) > most:
        raise UnreadableFileError(str(path), f"has more than {most:,} bytes")
    return content


def given_text(path: Path, most: int = MOST_TEXT) -> str:
    """Return the text of a file: UTF-8, UTF-16 with its mark, or else a Windows code page, of which it warns."""
    content = given_bytes(path, most)
    encoding = encoding_of(content)
    try:
        text = content.decode(encoding)
        if encoding == "cp1252" and _NO_TEXT.search(text):
            raise ValueError("it holds control characters")
    except ValueError as error:
        reason = f"is not text in UTF-8, UTF-16 or Windows-1252 ({error}); save it as CSV in UTF-8"
        raise UnreadableFileError(str(path), reason) from error
    _note(encoding, str(path))
    return text


def encoding_of(start: bytes, *, cut: bool = False) -> str:
    """Return the encoding that a text begins in; cut: whether more follows, perhaps in the middle of a letter."""
    if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start, final=not cut)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"


def _note(encoding: str, label: str) -> None:
    if encoding != "utf-8-sig":
        called = "UTF-16" if encoding == "utf-16" else "Windows-1252 (Western European)"
        warn(f"{label} is not UTF-8; it is read as {called}")


def delimiter_of(text: str) -> str:
    """Return what stands between the fields of a CSV, by its first line with anything in it."""
    lines = (line for line in io.StringIO(text[:MOST_LINE]) if line.strip())
    plain = re.sub(r'"[^"]*"', "", next(lines, ""))
    return max(DELIMITERS, key=lambda mark: (plain.count(mark), -DELIMITERS.index(mark)))


class Bounded(io.RawIOBase):
    """A stream of lines that ends with a refusal where it, or one of its lines, is longer than any table's.

    packed: bytes that the stream was unpacked from, None if it was not.
    """

    def __init__(self, stream: Any, label: str, packed: int | None = None) -> None:
        self._stream = stream
        self._label = label
        self._most = None if packed is None else most_unpacked(packed)
        self._read = 0
        self._line = 0

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read on, and count."""
        content: bytes = self._stream.read(len(buffer))
        buffer[: len(content)] = content
        self._read += len(content)
        newline = max(content.rfind(b"\n"), content.rfind(b"\r"))
        self._line = self._line + len(content) if newline < 0 else len(content) - newline - 1
        if self._most is not None and self._read > self._most:
            raise too_large(self._label, self._most)
        if self._line > MOST_LINE:
            raise InvalidInputError(f"{self._label} has a line of more than {MOST_LINE:,} bytes: that is not a table")
        return len(content)


def most_unpacked(packed: int) -> int:
    """Return how many bytes a packed file of this size may hold."""
    return min(max(SMALL, MOST_GROWTH * packed), MOST_UNPACKED)


def too_large(label: str, most: int) -> InvalidInputError:
    """Return the refusal of a packed file that holds more than its size makes believable."""
    return InvalidInputError(f"{label} unpacks to more than {most:,} bytes, far more than its size; unpack it yourself")


def bounded_text(stream: Any, label: str, packed: int | None = None) -> io.TextIOWrapper:
    """Return the text of a stream, line by line in constant memory; bytes that are not text become question marks."""
    buffered = io.BufferedReader(Bounded(stream, label, packed), _BLOCK)
    start = buffered.peek(_BLOCK)
    encoding = encoding_of(start, cut=len(start) >= _BLOCK)
    _note(encoding, label)
    return io.TextIOWrapper(buffered, encoding=encoding, errors="replace", newline="")
