"""What goes wrong on a Dask cluster becomes a failed record or one clear error, and never an endless wait."""

import os
import signal
import time

import dask
import pytest
from distributed import LocalCluster

from mfbo.errors import InvalidInputError
from mfbo.experiments import Batch, Suite, dask_cluster, run_suite
from mfbo.experiments.suite_runs import play

SUITE = Suite("four", (Batch(("swarm",), ("random",), (0, 1, 2, 3), (2,)),))
LOST = "no workers left, or its scheduler does not answer"


@pytest.fixture(autouse=True)
def no_endless_wait():
    """End the whole run instead: what is tested here would otherwise hang for ever when it breaks."""
    signal.alarm(300)
    yield
    signal.alarm(0)


@pytest.fixture
def impatient(monkeypatch):
    """Look at the workers often, so that the moments without any are met, and give up soon."""
    monkeypatch.setattr(dask_cluster, "LOOK_EVERY", 0.05)
    monkeypatch.setattr(dask_cluster, "RESULT_WITHIN", 0.5)
    monkeypatch.setattr(dask_cluster, "WORKERS_WITHIN", 1)


def one_worker():
    return LocalCluster(n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0")


def finished(folder):
    """Return how many runs a folder holds, found by the run that plays the rest."""
    return run_suite(SUITE, folder, jobs=1).found


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_deadly_run_fails_alone(tmp_path, monkeypatch, jobs):
    def deadly(run):  # nested, so that it travels to the workers by value
        if run.settings.seed == 1:
            os._exit(9)
        return play(run)

    monkeypatch.setattr(dask_cluster, "play", deadly)
    monkeypatch.setattr(dask_cluster, "LOOK_EVERY", 0.05)  # sees the moments without workers until the nanny starts new
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "100 ms"}):  # our cluster must not heed it
        outcome = run_suite(SUITE, tmp_path / "results", jobs=jobs, dask="local")
    assert (outcome.played, len(outcome.failed)) == (4, 1)
    assert outcome.failed[0].identity.seed == 1
    assert "worker died" in outcome.failed[0].error.message


@pytest.mark.slow
def test_workers_that_cannot_play_a_run_are_said_and_finished_runs_stay(tmp_path, monkeypatch):
    def unable(run):
        if run.settings.seed == 3:
            raise ModuleNotFoundError("No module named 'mfbo'")
        return play(run)

    monkeypatch.setattr(dask_cluster, "play", unable)
    with pytest.raises(InvalidInputError, match="could not run swarm-random-T2-seed3: ModuleNotFoundError"):
        run_suite(SUITE, tmp_path / "results", jobs=1, dask="local")
    monkeypatch.undo()
    assert finished(tmp_path / "results") == 3


@pytest.mark.slow
@pytest.mark.parametrize("accident", ["workers", "scheduler"])
def test_a_lost_cluster_is_said_and_finished_runs_stay(tmp_path, monkeypatch, impatient, accident):
    def slow_but_the_first(run):
        if run.settings.seed > 0:
            time.sleep(600)
        return play(run)

    def lose(done, chosen, record):
        if record is not None and accident == "workers":
            cluster.scale(0)
        elif record is not None:
            cluster.close()

    monkeypatch.setattr(dask_cluster, "play", slow_but_the_first)
    with one_worker() as cluster, pytest.raises(InvalidInputError, match=LOST):
        run_suite(SUITE, tmp_path / "results", dask=cluster.scheduler_address, progress=lose)
    monkeypatch.undo()
    assert finished(tmp_path / "results") == 1


@pytest.mark.slow
def test_results_that_die_with_their_worker_before_they_are_fetched_are_no_endless_wait(tmp_path, impatient):
    def lose(done, chosen, record):
        if record is not None:
            time.sleep(3)  # the other runs finish meanwhile, and their results wait on the worker
            cluster.scale(0)

    with one_worker() as cluster, pytest.raises(InvalidInputError, match=LOST):
        run_suite(SUITE, tmp_path / "results", dask=cluster.scheduler_address, progress=lose)
    assert 1 <= finished(tmp_path / "results") <= 3


@pytest.mark.slow
def test_a_result_that_dies_with_its_worker_is_played_again_by_the_next(tmp_path, monkeypatch):
    def lose(done, chosen, record):
        if record is not None and done == 1:
            time.sleep(3)
            (nanny,) = cluster.workers.values()
            os.kill(nanny.pid, signal.SIGKILL)

    monkeypatch.setattr(dask_cluster, "RESULT_WITHIN", 0.5)
    with one_worker() as cluster:
        outcome = run_suite(SUITE, tmp_path / "results", dask=cluster.scheduler_address, progress=lose)
    assert (outcome.played, outcome.failed) == (4, ())


@pytest.mark.slow
def test_a_frozen_scheduler_is_said(tmp_path, impatient, cluster):
    def freeze(done, chosen, record):
        if record is not None:
            cluster.scheduler.send_signal(signal.SIGSTOP)

    with pytest.raises(InvalidInputError, match=LOST):
        run_suite(SUITE, tmp_path / "results", dask=cluster.address, progress=freeze)
    assert 1 <= finished(tmp_path / "results") <= 3


@pytest.mark.parametrize(
    "address", ["nonsense", "", "tcp://", "http://127.0.0.1:1", "tcp://127.0.0.1:abc", "inproc://x", "x.json", "LOCAL"]
)
def test_an_address_that_can_be_none_is_refused_at_once(tmp_path, address):
    with pytest.raises(InvalidInputError, match="an address like tcp"):
        run_suite(SUITE, tmp_path / "results", dask=address)
