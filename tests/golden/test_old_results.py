"""A results folder of the first version, when runs were called cells, is reported on, continued and archived.

``old_results`` was written by mfbo 0.1.0 at commit 403fcbe; nothing writes it any more.
"""

import json
import lzma
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from mfbo.errors import InvalidInputError
from mfbo.experiments import Batch, ResultStore, Suite, run_suite
from mfbo.experiments.report_tables import tables
from mfbo.experiments.results import load_results
from mfbo.experiments.run_records import FailedRun, FinishedRun
from mfbo.experiments.store import ARCHIVE, SUITE, archived
from mfbo.experiments.suite_runs import play

OLD = Path(__file__).parent / "old_results"
SUITE_OF_OLD = Suite(
    "old",
    (
        Batch(("swarm",), ("random",), (0, 1), (3,)),
        Batch(("arena",), ("random",), (0,), (3,), allocation="sampled", context_allocation="sampled"),
        Batch(("swarm",), ("turbo",), (0,), (2,), ("inf",)),
    ),
)


@pytest.fixture
def old(tmp_path):
    shutil.copytree(OLD, tmp_path / "old")
    return ResultStore(tmp_path / "old")


@pytest.fixture
def archive(tmp_path, old):
    """Return a folder that holds nothing but what a report brings along."""
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / ARCHIVE).write_bytes(archived(old.records()))
    (tmp_path / "archive" / SUITE).write_bytes(old.suite().to_json())
    return ResultStore(tmp_path / "archive")


def untimed(record):
    """Return a record without what differs from one moment to the other, its numbers to what other machines round."""
    if isinstance(record, FailedRun):
        return [record.identity, record.error.type]
    found = vars(replace(record.result, seconds=0.0, ask_seconds=0.0)) | {"gain": record.information_gain}
    return [record.identity, {name: rounded(value) for name, value in found.items()}]


def rounded(value):
    """Return numbers to ten digits: the last bits are those of a processor."""
    if isinstance(value, tuple):
        return tuple(map(rounded, value))
    return float(f"{value:.10g}") if isinstance(value, float) else value


def test_old_records_are_what_the_same_runs_give_today(old):
    records = old.records()
    assert [untimed(record) for record in records] == [untimed(play(run)) for run in SUITE_OF_OLD.runs]
    assert [type(record) for record in records].count(FinishedRun) == 3


def test_the_keys_of_runs_and_suites_are_still_the_old_ones(old):
    assert old.suite().hash == SUITE_OF_OLD.hash == "b221866a4cf569ae"
    assert list(old.suite().runs) == [run.key for run in SUITE_OF_OLD.runs]
    assert [batch["context_allocation"] for batch in old.suite().batches] == ["quota", "sampled", "quota"]


def test_an_old_folder_is_continued_where_it_was_left(old):
    lost = next((old.folder / "cells").glob("swarm-random-T3-seed1*"))
    lost.unlink()
    outcome = run_suite(SUITE_OF_OLD, old.folder)
    assert (outcome.chosen, outcome.found, outcome.played) == (4, 3, 1)
    assert (old.folder / "runs" / lost.name).exists()


def test_an_archive_holds_every_bit_and_gives_the_same_tables(old, archive):
    assert archive.records() == old.records()
    assert [table.to_csv() for table in tables(load_results(archive))] == [
        table.to_csv() for table in tables(load_results(old))
    ]
    assert archived(archive.records()) == (archive.folder / ARCHIVE).read_bytes()


def test_a_benchmark_continues_from_an_archive(archive):
    outcome = run_suite(SUITE_OF_OLD, archive.folder, retry_failed=True)
    assert (outcome.chosen, outcome.found, outcome.played) == (4, 3, 1)


def test_a_damaged_archive_is_said_and_a_damaged_line_counts_as_not_there(archive):
    path = archive.folder / ARCHIVE
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    with pytest.raises(InvalidInputError, match=r"runs\.jsonl\.xz is damaged"):
        ResultStore(archive.folder).records()
    lines = lzma.decompress(whole).decode().splitlines()
    lines[1] = json.dumps({**json.loads(lines[1]), "sha256": "0"})
    path.write_bytes(lzma.compress("\n".join(lines).encode()))
    assert len(ResultStore(archive.folder).records()) == 3


def test_an_archive_that_unpacks_to_far_too_much_is_refused(archive):
    (archive.folder / ARCHIVE).write_bytes(lzma.compress(b" " * 30_000_000))
    with pytest.raises(InvalidInputError, match="unpacks to more than"):
        ResultStore(archive.folder).records()
