"""Workers that die: what has a result is kept, the rest runs again, and a deadly run becomes a failed record."""

import pytest

from mfbo.experiments import Batch, RunSettings, Suite, SuiteRun, run_suite
from mfbo.experiments.suite_runner import complete
from mfbo.experiments.suite_runs import play

RUNS = Suite("four", (Batch(("swarm",), ("random",), (0, 1, 2, 3), (2,)),)).runs


class Death(Exception):
    pass


def completed(engine, runs=RUNS):
    records = []
    complete(engine, runs, records.append, (Death,))
    return records


def test_a_worker_that_dies_once_costs_no_run():
    calls = []

    def engine(runs):
        calls.append(len(runs))
        for position, run in enumerate(runs):
            if len(calls) == 1 and position == 2:
                raise Death
            yield play(run)

    records = completed(engine)
    assert [record.key for record in records] == [run.key for run in RUNS]
    assert calls == [4, 2]


def test_a_deadly_run_fails_alone():
    def engine(runs):
        if any(run.settings.seed == 1 for run in runs):
            raise Death("out of memory")
        yield from map(play, runs)

    by_seed = {record.identity.seed: record for record in completed(engine)}
    assert [by_seed[seed].state for seed in range(4)] == ["done", "failed", "done", "done"]
    assert "worker died" in by_seed[1].error.message


def test_the_rest_runs_together_again_once_the_deadly_run_is_found():
    sizes = []

    def engine(runs):
        sizes.append(len(runs))
        if any(run.settings.seed == 0 for run in runs):
            raise Death
        yield from map(play, runs)

    assert len(completed(engine)) == 4
    assert sizes == [4, 4, 4, 1, 3]


def test_a_changed_data_file_fails_its_runs(tmp_path):
    table = tmp_path / "demand.csv"
    table.write_text("name,demand,x,y\na,1,0,0\nb,2,1,0\nc,3,0,1\n", encoding="utf-8")
    run = SuiteRun(RunSettings("louvelo", "random", 2, data=str(table)))
    assert play(run).state == "done"
    table.write_text("name,demand,x,y\na,1,0,0\nb,2,1,0\n", encoding="utf-8")
    assert "is not what it was" in play(run).error.message


def test_other_errors_are_not_swallowed():
    def engine(runs):
        raise RuntimeError("a mistake of ours")
        yield

    with pytest.raises(RuntimeError, match="mistake"):
        completed(engine)


def test_a_run_that_raises_is_a_record_with_its_error():
    record = play(SuiteRun(RunSettings("swarm", "teleportation", 2)))
    assert record.state == "failed"
    assert record.error.type == "UnknownNameError"
    assert "teleportation" in record.error.message
    assert "Traceback" in record.error.traceback


def test_a_time_limit_ends_a_run_after_a_round_and_says_so():
    result = play(SuiteRun(RunSettings("swarm", "random", 50), time_limit=1e-9)).result
    assert result.rounds_played == len(result.trace) == 1
    assert result.time_limited
    full = play(SuiteRun(RunSettings("swarm", "random", 5), time_limit=60.0)).result
    assert full.rounds_played == 5
    assert not full.time_limited


def test_jobs_below_one_are_refused_before_anything_is_written(tmp_path, tiny_suite):
    with pytest.raises(ValueError, match="jobs"):
        run_suite(tiny_suite, tmp_path / "results", jobs=0)
    assert not (tmp_path / "results").exists()
