"""Who uses the file of a store: the gate that repair closes, SQLite's own lock, and whether it is still the same file.

SQLite finds its log by name, so a file that is swapped while someone has the old one open would be given the new one's
log. Whoever opens a store therefore passes a gate, a shared lock on the folder; repair closes the gate, takes SQLite's
lock on the file as well, and only then has it alone. The file itself is never opened here for a look: closing it would
drop the locks of this process's other connections (POSIX).
"""

import errno
import gc
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mfbo.errors import StorageError

PAUSE = 0.02
LOCK_BYTES = (0x40000000, 512)  # where SQLite locks a file: pending, reserved, shared
_FLOCK = "@hhqqi0q"  # struct flock of Linux: type, whence, start, length, process

Identity = tuple[int, int]
"""Device and inode."""


def identity_of(file: Path) -> Identity | None:
    """Return which file a name leads to, links followed; None if there is none."""
    try:
        found = os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def require_same(file: Path, opened: Identity) -> None:
    """Refuse a file that is no longer the one that was opened."""
    now = identity_of(file)
    if now != opened:
        happened = "deleted" if now is None else "replaced by another file (restored, or repaired)"
        raise StorageError(
            f"{file} was {happened} while it was open; nothing was stored in it: load the study again by its address"
        )


@contextmanager
def through_gate(file: Path, wait: float) -> Iterator[None]:
    """Hold the gate open, so that no repair begins; wait for one that has begun."""
    folder = _opened_folder(file)
    if folder is None:
        yield
        return
    try:
        _flocked(folder, exclusive=False, wait=wait, file=file)  # where there are no such locks, repair is refused
        yield
    finally:
        os.close(folder)


@contextmanager
def alone(file: Path, wait: float) -> Iterator[int]:
    """Close the gate and lock a file as SQLite does, so that nobody else reads or writes it; give a descriptor of it.

    file: no link. Refuse with the process that has it open.
    """
    refused = f"{file} cannot be repaired: "
    folder = _opened_folder(file)
    if folder is None:
        raise StorageError(f"{refused}its folder cannot be opened")
    try:
        if not _flocked(folder, exclusive=True, wait=wait, file=file):
            raise StorageError(
                f"{refused}its file system has no locks; copy the store to a local disk and repair it there"
            )
        if _open_here(file):
            gc.collect()  # connections of storages that nobody has any more
            if _open_here(file):
                raise StorageError(f"{refused}it is in use by this very process; close its storages first")
        try:
            descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError as error:
            raise StorageError(f"{refused}{error.strerror}") from error
        try:
            holder = _sqlite_locked(descriptor)
            if holder is not None:
                raise StorageError(f"{refused}it is in use by {holder}; stop it and try again")
            yield descriptor
        finally:
            os.close(descriptor)
    finally:
        os.close(folder)


def _opened_folder(file: Path) -> int | None:
    try:
        return os.open(os.path.dirname(os.path.realpath(file)), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


def _flocked(folder: int, *, exclusive: bool, wait: float, file: Path) -> bool:
    """Lock a folder; False where that is not possible at all, an error when others hold it for too long."""
    try:
        import fcntl
    except ImportError:  # Windows, where a file that is open cannot be replaced
        return False
    deadline = time.monotonic() + wait
    kind = (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB
    while True:
        try:
            fcntl.flock(folder, kind)
            return True
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                return False
        if time.monotonic() > deadline:
            doing = "in use by other processes" if exclusive else "being repaired by another process"
            raise StorageError(f"{file} is {doing}: waited {wait:.0f} s, nothing was done; try again later")
        time.sleep(PAUSE)


def _sqlite_locked(descriptor: int) -> str | None:
    """Take SQLite's exclusive lock with an open file; return who prevents it."""
    import fcntl

    lock: Any = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, *LOCK_BYTES, 0)
    set_lock, get_lock = getattr(fcntl, "F_OFD_SETLK", None), getattr(fcntl, "F_OFD_GETLK", None)
    try:
        if set_lock is None:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, LOCK_BYTES[1], LOCK_BYTES[0])
        else:  # unlike lockf's it sees other locks of this process too, and lasts until this descriptor is closed
            fcntl.fcntl(descriptor, set_lock, lock)
        return None
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
    if get_lock is None:
        return "another process"
    return process_name(struct.unpack(_FLOCK, fcntl.fcntl(descriptor, get_lock, lock))[4])


def process_name(process: int) -> str:
    """Return what the system tells of a process."""
    if process <= 0:
        return "another process"
    try:
        command = Path(f"/proc/{process}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return f"process {process}"
    return f"process {process} ({command})"


def _open_here(file: Path) -> bool:
    """Tell whether this process has a file open; where the system does not say, the lock will."""
    wanted = identity_of(file)
    try:
        numbers = os.listdir("/proc/self/fd")
    except OSError:
        return False
    for number in numbers:
        try:
            found = os.stat(f"/proc/self/fd/{number}")
        except OSError:
            continue
        if (found.st_dev, found.st_ino) == wanted:
            return True
    return False
