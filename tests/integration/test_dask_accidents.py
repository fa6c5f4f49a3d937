"""What goes wrong on a Dask cluster becomes a failed record or one clear error, and never an endless wait."""

import os
import time

import pytest
from distributed import LocalCluster

from mfbo.errors import InvalidInputError
from mfbo.experiments import Batch, Suite, benchmark, run_suite
from mfbo.experiments.cells import play

SUITE = Suite("four", (Batch(("swarm",), ("random",), (0, 1, 2, 3), (2,)),))


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_deadly_cell_fails_alone(tmp_path, monkeypatch, jobs):
    def deadly(cell):  # nested, so that it travels to the workers by value
        if cell.settings.seed == 1:
            os._exit(9)
        return play(cell)

    monkeypatch.setattr(benchmark, "play", deadly)
    monkeypatch.setattr(benchmark, "LOOK_EVERY", 0.05)  # sees the moments without workers until the nanny starts new
    outcome = run_suite(SUITE, tmp_path / "results", jobs=jobs, dask="local")
    assert (outcome.played, len(outcome.failed)) == (4, 1)
    assert outcome.failed[0]["cell"]["seed"] == 1
    assert "worker died" in outcome.failed[0]["error"]["message"]


@pytest.mark.slow
def test_workers_that_cannot_run_a_cell_are_said_and_finished_cells_kept(tmp_path, monkeypatch):
    def unable(cell):
        if cell.settings.seed == 3:
            raise ModuleNotFoundError("No module named 'mfbo'")
        return play(cell)

    monkeypatch.setattr(benchmark, "play", unable)
    with pytest.raises(InvalidInputError, match="could not run swarm-random-T2-seed3: ModuleNotFoundError"):
        run_suite(SUITE, tmp_path / "results", jobs=1, dask="local")
    monkeypatch.undo()
    assert run_suite(SUITE, tmp_path / "results", jobs=1).found >= 1


@pytest.mark.slow
@pytest.mark.parametrize("accident", ["workers", "scheduler"])
def test_a_lost_cluster_is_said_and_finished_cells_kept(tmp_path, monkeypatch, accident):
    def slow_but_the_first(cell):
        if cell.settings.seed > 0:
            time.sleep(60)
        return play(cell)

    def lose(done, chosen, record):
        if record is not None and accident == "workers":
            cluster.scale(0)
        elif record is not None:
            cluster.close()

    monkeypatch.setattr(benchmark, "play", slow_but_the_first)
    monkeypatch.setattr(benchmark, "LOOK_EVERY", 0.2)
    monkeypatch.setattr(benchmark, "WORKERS_WITHIN", 1)
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster,
        pytest.raises(InvalidInputError, match="no workers left, or its scheduler does not answer"),
    ):
        run_suite(SUITE, tmp_path / "results", dask=cluster.scheduler_address, progress=lose)
    monkeypatch.undo()
    assert run_suite(SUITE, tmp_path / "results", jobs=1).found == 1


@pytest.mark.parametrize(
    "address", ["nonsense", "", "tcp://", "http://127.0.0.1:1", "tcp://127.0.0.1:abc", "inproc://x", "x.json", "LOCAL"]
)
def test_an_address_that_can_be_none_is_refused_at_once(tmp_path, address):
    with pytest.raises(InvalidInputError, match="an address like tcp"):
        run_suite(SUITE, tmp_path / "results", dask=address)
