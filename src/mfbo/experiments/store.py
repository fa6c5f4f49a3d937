"""A folder of results: the suite in suite.json, one file per run, each written whole or not at all.

``runs.jsonl.xz`` holds the lines of many runs in one small file: a report brings it along, and a folder that has only
this file and suite.json can be reported on, and continued.
"""

import io
import json
import lzma
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mfbo.errors import InvalidInputError
from mfbo.experiments.identities import FIRST_WORDS
from mfbo.experiments.run_records import FORMAT, AnyRun, FailedRun, FinishedRun, line_of, record_of
from mfbo.experiments.suite_runs import SuiteRun
from mfbo.experiments.suites import Suite
from mfbo.given_files import given_bytes, most_unpacked
from mfbo.whole_files import make_folder, write_whole_file

SUITE = "suite.json"
RUNS = "runs"
FIRST_RUNS = "cells"  # as the first version called both the folder and the list in suite.json
ARCHIVE = "runs.jsonl.xz"


@dataclass(frozen=True)
class StoredSuite:
    """A suite as suite.json keeps it: its hash, its texts, its batches, and the label of every run by its key."""

    hash: str
    name: str
    summary: str
    protocol: str
    batches: tuple[Mapping[str, Any], ...]
    runs: Mapping[str, str]

    @staticmethod
    def of(suite: Suite) -> "StoredSuite":
        """Return what is kept of a suite."""
        described = suite.description()
        texts = (suite.name, suite.summary, suite.protocol)
        return StoredSuite(suite.hash, *texts, tuple(described["runs"]), {run.key: run.label for run in suite.runs})

    def to_json(self) -> bytes:
        """Return the content of suite.json."""
        described = {"name": self.name, "summary": self.summary, "protocol": self.protocol, "runs": self.batches}
        record = {"format": FORMAT, "hash": self.hash, "suite": described, "runs": self.runs}
        return (json.dumps(record, indent=1, ensure_ascii=False) + "\n").encode()


class ResultStore:
    """The results of one suite. Several processes may write into one folder: files are renamed into place.

    A file that is cut off or altered fails its own digest and counts as not there, so its run is played again.
    """

    def __init__(self, folder: Path) -> None:
        """Name the folder; nothing is read or written yet."""
        self.folder = folder

    def open_for(self, suite: Suite) -> None:
        """Make the folder and keep the suite in it; refuse a folder that holds another suite."""
        make_folder(self.folder / RUNS)
        if not (self.folder / SUITE).exists():
            write_whole_file(self.folder / SUITE, StoredSuite.of(suite).to_json())
            return
        held = self.suite()
        if held.hash != suite.hash:
            raise InvalidInputError(
                f"{self.folder} holds results of the suite {held.name!r} ({held.hash}), not of "
                f"{suite.name!r} ({suite.hash}) as it is now; choose another folder with --out"
            )

    def suite(self) -> StoredSuite:
        """Return the suite whose results these are."""
        path = self.folder / SUITE
        if not path.exists():
            raise InvalidInputError(
                f"{self.folder} holds no benchmark results (no {SUITE}); make some with mfbo benchmark --out "
                f"{self.folder}"
            )
        try:
            return _suite_of(json.loads(given_bytes(path)))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidInputError(
                f"{path} is damaged; choose another folder with --out, or remove the file"
            ) from error

    def read(self, run: SuiteRun) -> AnyRun | None:
        """Return the record of a run, or None if there is none or it is damaged."""
        return self._read(run.label, run.key)

    def records(self) -> list[AnyRun]:
        """Return the sound records there are of the suite's runs, in the order of the suite."""
        found = (self._read(label, key) for key, label in self.suite().runs.items())
        return [record for record in found if record is not None]

    def write(self, record: AnyRun) -> AnyRun:
        """Keep a record and return what is kept: a failed one never replaces one that another process finished."""
        held = self._read(record.label, record.key) if isinstance(record, FailedRun) else None
        if isinstance(held, FinishedRun):
            return held
        write_whole_file(self.folder / RUNS / _file_name(record.label, record.key), line_of(record).encode())
        return record

    def _read(self, label: str, key: str) -> AnyRun | None:
        for folder in (RUNS, FIRST_RUNS):
            try:
                record = record_of(json.loads(given_bytes(self.folder / folder / _file_name(label, key))))
            except (OSError, ValueError, RecursionError):  # missing, cut off, altered
                continue
            if record is not None and record.key == key:
                return record
        return self._archived.get(key)

    @cached_property
    def _archived(self) -> dict[str, AnyRun]:
        """The records of runs.jsonl.xz by their keys; none without that file."""
        path = self.folder / ARCHIVE
        if not path.exists():
            return {}
        packed = given_bytes(path)
        most = most_unpacked(len(packed))
        try:
            with lzma.open(io.BytesIO(packed)) as file:
                lines = file.read(most + 1)
            if len(lines) > most:
                raise ValueError(f"it unpacks to more than {most:,} bytes")
            records = [record_of(json.loads(line)) for line in lines.splitlines()]
        except (lzma.LZMAError, EOFError, ValueError, RecursionError) as error:
            raise InvalidInputError(f"{path} is damaged ({error}); fetch it again, or remove it") from error
        return {record.key: record for record in records if record is not None}


def archived(records: Iterable[AnyRun]) -> bytes:
    """Return the content of runs.jsonl.xz: the lines of all runs, with every bit of their values."""
    return lzma.compress("".join(line_of(record) for record in records).encode())


def _suite_of(record: Mapping[str, Any]) -> StoredSuite:
    described = record["suite"]
    today = {first: now for now, first in FIRST_WORDS.items()}
    batches = tuple({today.get(key, key): value for key, value in batch.items()} for batch in described["runs"])
    name, summary, protocol = (str(described[key]) for key in ("name", "summary", "protocol"))
    runs = record[RUNS] if RUNS in record else record[FIRST_RUNS]
    return StoredSuite(str(record["hash"]), name, summary, protocol, batches, dict(runs))


def _file_name(label: str, key: str) -> str:
    return f"{label}-{key}.json"
