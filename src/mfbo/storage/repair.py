"""Saves what can be saved of a damaged SQLite store: a new file with its sound records takes its place.

The store is locked against everybody, its bytes are copied into a backup and into a working copy, and the new file is
written beside, checked and synced. Up to the last step, the swap, any failure leaves the store as it was (decision 10).
"""

import os
import shutil
import sqlite3
import tempfile
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mfbo.errors import StorageError
from mfbo.storage.codec import checksum
from mfbo.storage.recognition import NO_STORE, is_store_content
from mfbo.storage.rules import END, next_step
from mfbo.storage.salvage import Salvage, SavedStudy, salvaged
from mfbo.storage.schema import SCHEMA
from mfbo.storage.sharing import alone
from mfbo.storage.sql import SqlStorage, free_name, require_usable

WAIT = 10.0  # seconds for other processes to finish what they are doing
MARGIN = 2**20  # bytes that must be free besides three copies of the store
BLOCK = 2**20
WORKSHOP = ".mfbo-repair-"


@dataclass
class Repair:
    """What came of it: where the old file is, what was done, what could not be saved."""

    backup: Path
    done: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def repair(file: str | Path) -> Repair:
    """Put a sound store in place of a damaged one; the old bytes stay beside it under another name.

    Refused: a store that is in use, that is not ours, of another version, or without room beside it.
    """
    require_usable(Path(file), create=False)
    path = Path(os.path.realpath(file))  # a link stays, and leads to the new file
    try:
        with alone(path, WAIT) as descriptor:
            _require_ours(path, descriptor)
            for left in path.parent.glob(f"{WORKSHOP}*"):  # of a repair that was killed: nobody else repairs here now
                shutil.rmtree(left, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix=WORKSHOP, dir=path.parent, ignore_cleanup_errors=True) as folder:
                return _swapped(path, descriptor, Path(folder))
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise StorageError(f"{path} cannot be repaired and is as it was: {reason}") from error


def _require_ours(path: Path, descriptor: int) -> None:
    """Refuse another program's file, a file with a second name, and a disk without room."""
    log = _beside(path, "-wal")  # a new store may have all its tables there still
    logged = log.read_bytes() if log.exists() else b""
    if not is_store_content(os.pread(descriptor, BLOCK, 0)) and not is_store_content(logged):
        raise StorageError(f"{path} {NO_STORE}")
    found = os.fstat(descriptor)
    if found.st_nlink > 1:
        raise StorageError(f"{path} cannot be repaired: it has another name (a hard link) that would keep the old file")
    needed = 3 * (found.st_size + _size(log)) + MARGIN
    free = shutil.disk_usage(path.parent).free
    if free < needed:
        raise StorageError(
            f"{path} cannot be repaired: that needs {needed / 1e6:.1f} MB beside it, and {free / 1e6:.1f} MB are free"
        )


def _swapped(path: Path, descriptor: int, folder: Path) -> Repair:
    """Do it all in a folder beside the store, then swap."""
    working = folder / "working.db"
    _copy(descriptor, working)
    _copy_log(path, working)
    salvage = salvaged(working)
    _require_savable(path, salvage)
    fresh = folder / "repaired.db"
    _write_store(fresh, salvage)
    _take_on(fresh, path)
    backup = free_name(path, "backup")
    try:
        _copy(descriptor, backup)
        _take_on(backup, path)
        _copy_log(path, backup)
        _sync(path.parent)
        _put_in_place(fresh, path, descriptor, folder)
    except BaseException:
        for suffix in ("", "-wal"):
            _beside(backup, suffix).unlink(missing_ok=True)
        raise
    done = [f"study {study.name!r}: {study.records} records saved" for study in salvage.studies]
    lost = [f"study {study.name!r}: {what}" for study in salvage.studies for what in study.lost]
    return Repair(backup, done, [*salvage.lost, *lost])


def _require_savable(path: Path, salvage: Salvage) -> None:
    if salvage.version not in (None, SCHEMA):
        raise StorageError(
            f"{path} has schema version {salvage.version!r}, this mfbo repairs {SCHEMA!r} and leaves it as it is;"
            " update mfbo, or restore a backup"
        )
    if not salvage.studies:
        why = f" ({'; '.join(salvage.lost)})" if salvage.lost else ""
        raise StorageError(f"{path}: no study can be read{why}; it is left as it is: restore a backup")


def _write_store(fresh: Path, salvage: Salvage) -> None:
    """Write the sound records, check all of them, and wait until they are on disk."""
    address = f"sqlite:///{fresh}"
    SqlStorage(address).close()
    connection = sqlite3.connect(fresh)
    try:
        with connection:
            for number, study in enumerate(salvage.studies, start=1):
                _write_study(connection, number, study)
    finally:
        connection.close()
    made = SqlStorage(address, create=False)
    findings = made.check()
    made.close()
    if findings:
        raise StorageError(f"the repaired store is not sound ({findings[0].problem}); nothing was changed")
    with fresh.open("rb") as file:
        os.fsync(file.fileno())


def _write_study(connection: sqlite3.Connection, number: int, study: SavedStudy) -> None:
    steps: dict[int, list[tuple[int, str]]] = defaultdict(list)
    rows: list[tuple[Any, ...]] = []
    rounds = ended = 0
    for sequence, draft in enumerate(study.drafts):
        step = next_step(draft.kind, draft.number, rounds, steps[draft.number])
        steps[draft.number].append((step, draft.kind))
        rounds += step == 0
        ended += step == END or draft.kind == "added"
        fields = (sequence, draft.number, step, draft.kind, draft.body, draft.at)
        rows.append((number, *fields, checksum(study.uid, *fields)))
    row = (study.uid, study.name, study.created, study.description, len(rows), rounds, ended)
    connection.execute("INSERT INTO studies VALUES (?,?,?,?,?,?,?,?,?)", (number, *row, checksum(*row)))
    connection.executemany("INSERT INTO events VALUES (?,?,?,?,?,?,?,?)", rows)


def _put_in_place(fresh: Path, path: Path, descriptor: int, folder: Path) -> None:
    """Swap, if the name still leads to the locked file. The old log goes first: it would be read as the new file's."""
    if not os.path.samestat(os.stat(path), os.fstat(descriptor)):
        raise StorageError(f"{path} was replaced while it was being repaired; nothing was changed")
    log, old_log = _beside(path, "-wal"), folder / "old-wal"
    if log.exists():
        os.replace(log, old_log)
    try:
        _beside(path, "-shm").unlink(missing_ok=True)
        os.replace(fresh, path)
    except BaseException:
        if old_log.exists():
            os.replace(old_log, log)
        raise
    with suppress(OSError):  # it has happened: nothing after this may say otherwise
        _sync(path.parent)


def _take_on(file: Path, model: Path) -> None:
    """Give a file the owner, mode and attributes of another."""
    wanted = os.stat(model)
    try:
        os.chown(file, wanted.st_uid, wanted.st_gid)
    except PermissionError as error:
        raise StorageError(f"{model} cannot be repaired by this user, who may not keep its owner and group") from error
    shutil.copystat(model, file)
    os.utime(file)


def _copy(descriptor: int, target: Path) -> None:
    """Copy the bytes of an open file, and wait until they are on disk."""
    made = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(made, "wb") as copy:
        position = 0
        while block := os.pread(descriptor, BLOCK, position):
            copy.write(block)
            position += len(block)
        copy.flush()
        os.fsync(copy.fileno())


def _copy_log(path: Path, target: Path) -> None:
    log = _beside(path, "-wal")
    if not log.exists():
        return
    descriptor = os.open(log, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _copy(descriptor, _beside(target, "-wal"))
    finally:
        os.close(descriptor)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _beside(file: Path, suffix: str) -> Path:
    return file.with_name(file.name + suffix)


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
