"""The command line in a folder of its own, scripts that say what they found, and a real Dask cluster."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

DASK = [sys.executable, "-m", "dask"]


@dataclass(frozen=True)
class Cluster:
    """The address of a scheduler with two workers, and their processes."""

    address: str
    scheduler: subprocess.Popen
    workers: tuple[subprocess.Popen, subprocess.Popen]


@contextlib.contextmanager
def started(arguments):
    """Start a process in a group of its own and end the group."""
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture(name="started")
def started_fixture():
    return started


@pytest.fixture
def cluster(tmp_path):
    """Both workers are registered: a busy machine takes its time for that."""
    from distributed import Client

    file = tmp_path / "scheduler.json"
    scheduler = ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"]
    worker = ["worker", "--nthreads", "1", "--no-dashboard", "--local-directory", str(tmp_path)]
    with (
        started([*DASK, *scheduler, "--scheduler-file", file]) as first,
        started([*DASK, *worker, "--scheduler-file", file]) as second,
        started([*DASK, *worker, "--scheduler-file", file]) as third,
    ):
        with Client(scheduler_file=str(file), timeout=120, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=120)
            address = client.scheduler.address
        yield Cluster(address, first, (second, third))


@pytest.fixture
def mfbo_command(tmp_path, monkeypatch, capsys):
    """Run a command in a folder of its own; return exit code, standard output and standard error."""
    from mfbo.cli import main

    monkeypatch.chdir(tmp_path)

    def command(*arguments):
        with pytest.raises(SystemExit) as end:
            main([*map(str, arguments)])
        said = capsys.readouterr()
        return end.value.code, said.out, said.err

    return command


@pytest.fixture
def run_script():
    """Run one of the scripts beside the tests and return what it found."""

    def run(name, *arguments, timeout=1500):
        done = subprocess.run(
            [sys.executable, Path(__file__).parent / name, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run
