"""Files that are written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mfbo.errors import InvalidInputError


def write_whole_file(path: Path, content: bytes) -> None:
    """Write to a temporary name beside it and rename when the last byte is on disk."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with writing(path):
        try:
            write_to_disk(part, content)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def write_to_disk(path: Path, content: bytes) -> None:
    """Write, and wait until it is on disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())  # a full or remote disk may say so only here


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Name the file that was meant, not the temporary one, when it cannot be written."""
    try:
        yield
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error.strerror}") from error
