"""What goes wrong on a Dask cluster becomes a failed record or one clear error, and never an endless wait."""

import os

import pytest

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


@pytest.mark.parametrize(
    "address", ["nonsense", "", "tcp://", "http://127.0.0.1:1", "tcp://127.0.0.1:abc", "inproc://x", "x.json", "LOCAL"]
)
def test_an_address_that_can_be_none_is_refused_at_once(tmp_path, address):
    with pytest.raises(InvalidInputError, match="an address like tcp"):
        run_suite(SUITE, tmp_path / "results", dask=address)
