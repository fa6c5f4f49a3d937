"""The results folder: whole files, damage seen, one suite per folder."""

import json

import numpy as np
import pytest

import mfbo
from mfbo.errors import InvalidInputError
from mfbo.experiments import Batch, ResultStore, Suite
from mfbo.experiments.run_records import FailedRun, RunError
from mfbo.experiments.suite_runs import play


@pytest.fixture
def filled(tmp_path, tiny_suite):
    store = ResultStore(tmp_path / "results")
    store.open_for(tiny_suite)
    for run in tiny_suite.runs:
        store.write(play(run))
    return store


def test_what_was_written_is_read_bit_for_bit(tmp_path, tiny_suite):
    store = ResultStore(tmp_path)
    store.open_for(tiny_suite)
    record = play(tiny_suite.runs[0])
    store.write(record)
    assert store.read(tiny_suite.runs[0]) == record
    assert store.read(tiny_suite.runs[1]) is None
    assert [record.key for record in store.records()] == [tiny_suite.runs[0].key]


def test_a_record_says_where_it_comes_from(filled):
    record = filled.records()[0]
    assert record.origin.mfbo == mfbo.__version__
    assert record.origin.packages["numpy"] == np.__version__
    assert len(record.result.values) == record.result.rounds_played == 3


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.99])
def test_a_file_cut_off_counts_as_not_there(filled, tiny_suite, keep):
    path = next((filled.folder / "runs").glob("*seed0*.json"))
    path.write_bytes(path.read_bytes()[: int(keep * path.stat().st_size)])
    assert filled.read(tiny_suite.runs[0]) is None
    assert filled.read(tiny_suite.runs[1]) is not None


def test_one_changed_digit_is_seen(filled, tiny_suite):
    path = next((filled.folder / "runs").glob("*seed0*.json"))
    text = path.read_text()
    best = str(filled.read(tiny_suite.runs[0]).result.best_value)
    path.write_text(text.replace(best, best[:4] + ("1" if best[4] != "1" else "2") + best[5:]))
    assert filled.read(tiny_suite.runs[0]) is None


def test_a_file_under_the_name_of_another_run_is_not_taken_for_it(filled, tiny_suite):
    first, second = (next((filled.folder / "runs").glob(f"*seed{seed}*.json")) for seed in (0, 1))
    first.write_bytes(second.read_bytes())
    assert filled.read(tiny_suite.runs[0]) is None


def test_the_same_suite_may_be_opened_again_and_another_is_refused(filled, tiny_suite):
    filled.open_for(tiny_suite)
    filled.open_for(Suite("renamed", tiny_suite.batches))
    with pytest.raises(InvalidInputError, match=r"'tiny'.*--out"):
        filled.open_for(Suite("other", (Batch(("swarm",), ("random",), (0, 1), (4,)),)))


def test_a_folder_without_a_suite_or_with_a_damaged_one_is_refused(tmp_path, tiny_suite):
    with pytest.raises(InvalidInputError, match="no benchmark results"):
        ResultStore(tmp_path).suite()
    (tmp_path / "suite.json").write_text('{"hash": "12')
    with pytest.raises(InvalidInputError, match="damaged"):
        ResultStore(tmp_path).open_for(tiny_suite)


def test_a_failure_does_not_replace_what_another_process_finished(filled, tiny_suite):
    run = tiny_suite.runs[0]
    done = filled.read(run)
    late = FailedRun(done.identity, done.origin, 1.0, RunError("E", "", ""))
    assert filled.write(late) == done
    assert filled.read(run) == done


def test_a_file_of_brackets_counts_as_not_there(filled, tiny_suite):
    run = tiny_suite.runs[0]
    (filled.folder / "runs" / f"{run.label}-{run.key}.json").write_text("[" * 100_000, encoding="utf-8")
    assert filled.read(run) is None


def test_no_temporary_file_is_left(filled):
    assert not list(filled.folder.rglob("*.part"))
    assert json.loads((filled.folder / "suite.json").read_text())["runs"]


def test_a_folder_that_cannot_be_made_is_said(tmp_path, tiny_suite):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInputError, match="is a file, not a folder"):
        ResultStore(tmp_path / "file").open_for(tiny_suite)


def test_a_file_in_place_of_a_folder_holds_no_results(tmp_path):
    (tmp_path / "afile").write_text("", encoding="utf-8")
    with pytest.raises(InvalidInputError, match="holds no benchmark results"):
        ResultStore(tmp_path / "afile").suite()
