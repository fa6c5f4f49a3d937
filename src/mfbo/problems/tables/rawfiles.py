"""Raw official files as streams of the few columns wanted: CSV, gzip, zip and parquet, in constant memory."""

import csv
import gzip
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import IO, Any, BinaryIO

from mfbo.errors import InvalidInputError
from mfbo.given_files import bounded_text, delimiter_of, kind_of, most_unpacked, open_given, too_large
from mfbo.problems.tables.columns import Rows, Source, plain
from mfbo.problems.tables.parquet import parquet_source

Progress = Callable[[int, int], None]
PathsLike = str | PathLike[str] | Sequence[str | PathLike[str]]

CHUNK_ROWS = 2_000  # small enough for the processor cache: 10,000 rows at a time took a third longer

DEEPEST = 1  # archives inside archives


@dataclass
class Meter:
    """Tells the caller's progress bar how many bytes of all files have been read."""

    total: int
    progress: Progress | None
    before: int = 0
    shown: int = -1

    def at(self, position: int) -> None:
        """Report the position inside the current file; a bar never runs backward."""
        done = min(max(self.before + position, self.shown), self.total)
        if self.progress is not None and done != self.shown:
            self.shown = done
            self.progress(done, self.total)

    def end_file(self, size: int) -> None:
        """Report a whole file as read."""
        self.at(size)
        self.before += size


@dataclass
class CsvSource:
    """A CSV stream whose header has been read; ``columns`` are its plain names."""

    label: str
    columns: tuple[str, ...]
    lines: Iterator[str]
    delimiter: str
    advance: Callable[[], None]

    def chunks(self, wanted: Sequence[str]) -> Iterator[tuple[Rows, int]]:
        """Yield chunks of rows, see ``Source``; blank lines are nothing, short lines are counted."""
        positions = [self.columns.index(name) for name in wanted]
        pick = itemgetter(*positions)
        last = max(positions)
        rows_left = _split(self.lines, self.delimiter, last)
        while True:
            with reading(self.label):
                rows = next(rows_left, None)
            if rows is None:
                return
            whole = [pick(row) for row in rows if len(row) > last]
            short = sum(1 for row in rows if len(row) <= last and any(row))
            self.advance()
            yield whole, short


def _split(lines: Iterator[str], delimiter: str, last: int) -> Iterator[list[list[str]]]:
    """Yield chunks of rows, split at least up to the field number ``last``; blank lines give rows without text.

    Official trip files have no quotes: cutting their lines at the first commas takes a third of the time that the
    CSV reader needs for all fields. From the first quote on, the CSV reader takes over.
    """
    while chunk := list(islice(lines, CHUNK_ROWS)):
        if any('"' in line for line in chunk):
            reader = csv.reader(chain(chunk, lines), delimiter=delimiter, skipinitialspace=True)
            while rows := list(islice(reader, CHUNK_ROWS)):
                yield rows
            return
        yield [line.rstrip("\r\n ").split(delimiter, last + 1) for line in chunk]


@contextmanager
def reading(label: str) -> Iterator[None]:
    """Turn what the decompressors and the CSV reader raise into one refusal that names the file."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, NotImplementedError) as error:
        raise InvalidInputError(f"{label} is truncated or damaged ({error}); download it again") from error
    except csv.Error as error:
        raise InvalidInputError(f"{label} is not a readable CSV table ({error}); download it again") from error


def sources(paths: PathsLike, progress: Progress | None = None) -> Iterator[Source]:
    """Open raw files one after the other and yield the tables in them; what a file is, its first bytes decide.

    A source must be read before the next one is asked for. ``progress`` gets (bytes done, bytes in all).
    """
    files = checked_paths(paths)
    sizes = [path.stat().st_size for path in files]
    meter = Meter(sum(sizes), progress)
    for path, size in zip(files, sizes, strict=True):
        with open_given(path) as file:
            yield from _tables_in(path, file, size, meter)
        meter.end_file(size)


def checked_paths(paths: PathsLike) -> tuple[Path, ...]:
    """Return the paths of existing files, each once and none empty."""
    files = (Path(paths),) if isinstance(paths, str | PathLike) else tuple(Path(path) for path in paths)
    if not files:
        raise InvalidInputError("no raw file was given; name at least one")
    seen: set[Path] = set()
    for path in files:
        if not path.is_file():
            kind = kind_of(path.stat().st_mode) if path.exists() else None
            reason = "does not exist" if kind is None else f"is {kind}; give a regular file"
            raise InvalidInputError(f"{path} {'is a folder; name the files in it' if path.is_dir() else reason}")
        if path.stat().st_size == 0:
            raise InvalidInputError(f"{path} is empty; download it again")
        if path.resolve() in seen:
            raise InvalidInputError(f"{path} is given twice; its trips would be counted twice")
        seen.add(path.resolve())
    return files


def _tables_in(path: Path, file: BinaryIO, size: int, meter: Meter) -> Iterator[Source]:
    start = file.read(4)
    file.seek(0)

    def advance() -> None:
        meter.at(file.tell())

    if start[:2] == b"\x1f\x8b":
        yield _csv_source(str(path), gzip.GzipFile(fileobj=file), advance, size)
    elif start == b"PAR1":
        yield parquet_source(str(path), file, size, lambda share: meter.at(int(share * size)))
    elif start[:2] == b"PK":
        yield from _csv_members(str(path), file, advance, size)
    else:
        yield _csv_source(str(path), file, advance)


def _csv_members(
    label: str, file: IO[bytes], advance: Callable[[], None], size: int, depth: int = 0
) -> Iterator[Source]:
    """Yield the tables in an archive, and in archives inside it: years are published as archives of months."""
    with reading(label):
        archive = zipfile.ZipFile(file)
    wanted = (".csv", ".txt", ".zip") if depth < DEEPEST else (".csv", ".txt")
    members = [
        member
        for member in archive.infolist()
        if member.filename.lower().endswith(wanted) and not member.filename.startswith("__MACOSX/")
    ]
    tables = [member for member in members if not member.filename.lower().endswith(".txt")]
    members = tables or members  # beside tables a .txt is a readme or a licence
    if not members:
        held = ", ".join(archive.namelist()[:5]) or "nothing"
        raise InvalidInputError(f"{label} holds no .csv file but {held}; unpack it and give the table itself")
    for member in members:
        inside = f"{label}: {member.filename}"
        if member.flag_bits & 0x1:
            raise InvalidInputError(f"{inside} is locked with a password; unpack it first")
        if member.file_size > most_unpacked(size):
            raise too_large(inside, most_unpacked(size))
        with reading(inside):
            stream = archive.open(member)
        with stream:
            if member.filename.lower().endswith(".zip"):
                yield from _csv_members(inside, stream, advance, size, depth + 1)
            else:
                yield _csv_source(inside, stream, advance, size)


def _csv_source(label: str, stream: Any, advance: Callable[[], None], packed: int | None = None) -> CsvSource:
    """Read the header of a CSV stream; packed: the size of the file it is unpacked from, None if it is not."""
    with reading(label):
        text = bounded_text(stream, label, packed)
        first = next((line for line in text if line.strip()), "")
        delimiter = delimiter_of(first)
        rows = csv.reader(chain([first], text), delimiter=delimiter)
        header = next((row for row in rows if any(field.strip() for field in row)), None)
    if header is None:
        raise InvalidInputError(f"{label} is empty; download it again")
    if header[0].lstrip().startswith("<"):
        raise InvalidInputError(f"{label} is a web page, not a table; download the file itself")
    return CsvSource(label, tuple(plain(name) for name in header), text, delimiter, advance)
