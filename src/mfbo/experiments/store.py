"""A folder of results: the plan in suite.json, one file per cell, each written whole or not at all."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mfbo.errors import InvalidInputError
from mfbo.experiments.cells import FORMAT, Cell, canonical
from mfbo.experiments.suites import Suite
from mfbo.given_files import given_bytes
from mfbo.whole_files import make_folder, write_whole_file

PLAN = "suite.json"
CELLS = "cells"


@dataclass(frozen=True)
class StoredPlan:
    """A plan as suite.json keeps it: its hash, its description, and the label of every cell by its key."""

    hash: str
    description: dict[str, Any]
    cells: dict[str, str]


class ResultStore:
    """The results of one plan. Several processes may write into one folder: files are renamed into place.

    A file that is cut off or altered fails its own digest and counts as not there, so its cell is run again.
    """

    def __init__(self, folder: Path) -> None:
        """Name the folder; nothing is read or written yet."""
        self.folder = folder

    def open_for(self, suite: Suite) -> None:
        """Make the folder and keep the plan in it; refuse a folder that holds another plan."""
        target = self.folder / PLAN
        make_folder(self.folder / CELLS)
        if target.exists():
            held = self.plan()
            if held.hash != suite.hash:
                raise InvalidInputError(
                    f"{self.folder} holds results of the plan {held.description['name']!r} ({held.hash}), not of "
                    f"{suite.name!r} ({suite.hash}) as it is now; choose another folder by --out"
                )
            return
        cells = {cell.key: cell.label for cell in suite.cells}
        record = {"format": FORMAT, "hash": suite.hash, "suite": suite.description(), "cells": cells}
        write_whole_file(target, (json.dumps(record, indent=1, ensure_ascii=False) + "\n").encode())

    def plan(self) -> StoredPlan:
        """Return the plan whose results these are."""
        path = self.folder / PLAN
        if not path.exists():
            raise InvalidInputError(
                f"{self.folder} holds no benchmark results (no {PLAN}); make some by mfbo benchmark --out {self.folder}"
            )
        try:
            record = json.loads(given_bytes(path))
            suite = {**record["suite"], "name": str(record["suite"]["name"])}
            return StoredPlan(str(record["hash"]), suite, dict(record["cells"]))
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise InvalidInputError(f"{path} is damaged; choose another folder by --out, or remove the file") from error

    def read(self, cell: Cell) -> dict[str, Any] | None:
        """Return the record of a cell, or None if there is none or it is damaged."""
        return self._read(cell.label, cell.key)

    def records(self) -> list[dict[str, Any]]:
        """Return the sound records there are of the plan's cells, in the order of the plan."""
        found = (self._read(label, key) for key, label in self.plan().cells.items())
        return [record for record in found if record is not None]

    def write(self, record: dict[str, Any]) -> dict[str, Any]:
        """Keep a record and return what is kept: a failed one never replaces one that another process finished."""
        held = self._read(record["label"], record["key"]) if record["state"] == "failed" else None
        if held is not None and held["state"] == "done":
            return held
        body = canonical(record)
        line = f'{{"sha256":"{_digest(body)}","record":{body}}}\n'
        write_whole_file(self._path(record["label"], record["key"]), line.encode())
        return record

    def _path(self, label: str, key: str) -> Path:
        return self.folder / CELLS / f"{label}-{key}.json"

    def _read(self, label: str, key: str) -> dict[str, Any] | None:
        try:
            held = json.loads(given_bytes(self._path(label, key)))
            record = dict(held["record"])
            sound = held["sha256"] == _digest(canonical(record)) and record["format"] == FORMAT and record["key"] == key
        except (OSError, ValueError, KeyError, TypeError, RecursionError):  # missing, cut off, altered
            return None
        return record if sound else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
