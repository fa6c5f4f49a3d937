"""Files that are written whole or not at all, and only where a regular file is or can be."""

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from mfbo.errors import InvalidInputError
from mfbo.given_files import kind_of


def write_whole_file(path: Path, content: bytes) -> None:
    """Write to a new name beside it and rename when the last byte is on disk."""
    write_whole_files({path: content})


def write_whole_files(contents: Mapping[Path, bytes]) -> None:
    """Write all files; an error before the last byte is on disk leaves those that were there as they were.

    A link stays and its target is written; a file that is there keeps its mode and, where that is allowed, its owner.
    """
    waiting: list[tuple[Path, Path, Path]] = []
    try:
        for path, content in contents.items():
            with writing(path):
                target = writable_target(path)
                part = target.with_name(f".mfbo-{secrets.token_hex(8)}.part")  # nobody can put a file there first
                handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
                waiting.append((path, part, target))
                _fill(handle, content, target)
        for path, part, target in waiting:
            with writing(path):
                part.replace(target)
    finally:
        for _, part, _ in waiting:
            part.unlink(missing_ok=True)


def writable_target(path: Path) -> Path:
    """Return the regular file that is or will be at the end of all links; refuse a folder, a device, a pipe."""
    with suppress(FileNotFoundError):
        kind = kind_of(path.stat().st_mode)
        if kind is not None:
            raise InvalidInputError(f"{path} is {kind}, and only files are written; choose another name with --out")
    return path.resolve()


def make_folder(path: Path) -> None:
    """Make a folder with those above it; one that is there is fine, anything else is not."""
    with writing(path):
        for folder in (path, *path.parents):
            if folder.exists() and not folder.is_dir():
                kind = kind_of(folder.stat().st_mode) or "a file"
                raise InvalidInputError(f"{folder} is {kind}, not a folder; choose another with --out")
        path.mkdir(parents=True, exist_ok=True)


def _fill(handle: int, content: bytes, target: Path) -> None:
    """Write, give the file the owner and mode of the one it replaces, and wait until it is on disk."""
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        with suppress(FileNotFoundError):
            replaced = target.stat()
            if hasattr(os, "fchown"):
                with suppress(PermissionError):  # only root gives files away
                    os.fchown(handle, replaced.st_uid, replaced.st_gid)
                os.fchmod(handle, replaced.st_mode & 0o777)
        os.fsync(handle)  # a full or remote disk may say so only here


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Name the file that was meant, not the new one beside it, when it cannot be written."""
    try:
        yield
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error.strerror}") from error
    except InvalidInputError:
        raise
    except ValueError as error:  # a name with a null byte
        raise InvalidInputError(f"{str(path)!r} cannot be the name of a file: {error}") from error
