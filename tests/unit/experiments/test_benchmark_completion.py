"""Workers that die: what has a result is kept, the rest runs again, and a deadly cell becomes a failed record."""

import pytest

from mfbo.experiments import Batch, Cell, RunSettings, Suite, run_suite
from mfbo.experiments.benchmark import complete
from mfbo.experiments.cells import play

CELLS = Suite("four", (Batch(("swarm",), ("random",), (0, 1, 2, 3), (2,)),)).cells


class Death(Exception):
    pass


def completed(engine, cells=CELLS):
    kept = []
    complete(engine, cells, kept.append, (Death,))
    return kept


def test_a_worker_that_dies_once_costs_no_cell():
    calls = []

    def engine(cells):
        calls.append(len(cells))
        for position, cell in enumerate(cells):
            if len(calls) == 1 and position == 2:
                raise Death
            yield play(cell)

    kept = completed(engine)
    assert [record["key"] for record in kept] == [cell.key for cell in CELLS]
    assert calls == [4, 2]


def test_a_deadly_cell_fails_alone():
    def engine(cells):
        if any(cell.settings.seed == 1 for cell in cells):
            raise Death("out of memory")
        yield from map(play, cells)

    kept = {record["cell"]["seed"]: record for record in completed(engine)}
    assert [kept[seed]["state"] for seed in range(4)] == ["done", "failed", "done", "done"]
    assert "worker died" in kept[1]["error"]["message"]


def test_the_rest_runs_together_again_once_the_deadly_cell_is_found():
    sizes = []

    def engine(cells):
        sizes.append(len(cells))
        if any(cell.settings.seed == 0 for cell in cells):
            raise Death
        yield from map(play, cells)

    assert len(completed(engine)) == 4
    assert sizes == [4, 4, 4, 1, 3]


def test_a_changed_data_file_fails_its_cells(tmp_path):
    table = tmp_path / "demand.csv"
    table.write_text("name,demand,x,y\na,1,0,0\nb,2,1,0\nc,3,0,1\n", encoding="utf-8")
    cell = Cell(RunSettings("louvelo", "random", 2, data=str(table)))
    assert play(cell)["state"] == "done"
    table.write_text("name,demand,x,y\na,1,0,0\nb,2,1,0\n", encoding="utf-8")
    assert "is not what it was" in play(cell)["error"]["message"]


def test_other_errors_are_not_swallowed():
    def engine(cells):
        raise RuntimeError("a mistake of ours")
        yield

    with pytest.raises(RuntimeError, match="mistake"):
        completed(engine)


def test_a_run_that_raises_is_a_record_with_its_error():
    record = play(Cell(RunSettings("swarm", "teleportation", 2)))
    assert record["state"] == "failed"
    assert record["error"]["type"] == "UnknownNameError"
    assert "teleportation" in record["error"]["message"]
    assert "Traceback" in record["error"]["traceback"]


def test_a_time_limit_ends_a_run_after_a_round_and_says_so():
    result = play(Cell(RunSettings("swarm", "random", 50), time_limit=1e-9))["result"]
    assert result["rounds_played"] == len(result["trace"]) == 1
    assert result["time_limited"]
    full = play(Cell(RunSettings("swarm", "random", 5), time_limit=60.0))["result"]
    assert full["rounds_played"] == 5
    assert not full["time_limited"]


def test_jobs_below_one_are_refused_before_anything_is_written(tmp_path, tiny_suite):
    with pytest.raises(ValueError, match="jobs"):
        run_suite(tiny_suite, tmp_path / "results", jobs=0)
    assert not (tmp_path / "results").exists()
