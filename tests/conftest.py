"""A PostgreSQL server for the tests that need one: the machine's own binaries, on loopback, in a temporary folder."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import pytest


def _binary(name):
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / name).exists():
            return str(folder / name)
    found = shutil.which(name)
    assert found, f"{name} is missing: apt-get install postgresql (.ci/run does it)"
    return found


def _as_user():
    """PostgreSQL refuses to run as root: then its own user, or nobody, runs it."""
    if os.getuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    return {"user": "postgres" if "postgres" in names else "nobody"}


class PostgresServer:
    """A server of our own that can be killed and started again."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="mfbo-pg-", dir="/tmp"))
        user = _as_user()
        if user:
            shutil.chown(self.folder, user["user"])
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._run = {"check": True, "capture_output": True, "timeout": 120, "cwd": self.folder, **user}
        self._data = str(self.folder / "data")
        initialize = [_binary("initdb"), "-D", self._data, "-U", "mfbo", "-A", "trust", "-E", "UTF8", "--no-sync"]
        subprocess.run(initialize, **self._run)
        self.address = f"postgresql+psycopg://mfbo@127.0.0.1:{self.port}"

    def start(self):
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder} -c fsync=off"
        start = [_binary("pg_ctl"), "-D", self._data, "-w", "-o", options, "-l", str(self.folder / "log"), "start"]
        return subprocess.run(
            start, **{**self._run, "check": False, "capture_output": False, "stdout": subprocess.DEVNULL}
        )

    def kill(self):
        """End the server as a power cut would: nothing is written down, nobody is told."""
        os.kill(int((self.folder / "data" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    def stop(self):
        subprocess.run([_binary("pg_ctl"), "-D", self._data, "-m", "immediate", "stop"], **self._run)
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server():
    server = PostgresServer()
    server.start().check_returncode()
    try:
        yield server.address
    finally:
        server.stop()


@pytest.fixture
def killable_server():
    """Give a server of the test's own, running."""
    server = PostgresServer()
    server.start().check_returncode()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def postgres_database(postgres_server):
    """Make new empty databases and return their addresses."""
    import psycopg

    def make():
        name = f"t{uuid.uuid4().hex}"
        plain = postgres_server.replace("+psycopg", "")
        with psycopg.connect(f"{plain}/postgres", autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return f"{postgres_server}/{name}"

    return make


class ServedStorage:
    """`mfbo serve` in a process of its own, on a port that stays the same when it is killed and started again."""

    def __init__(self, storage, *options):
        self.storage = storage
        self._options = options
        self.url = ""
        self.start()

    def start(self):
        port = self.url.rpartition(":")[2] or "0"
        command = [sys.executable, "-m", "mfbo", "serve", "--storage", self.storage, "--port", port, *self._options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **ONE_THREAD})
        line = self.process.stdout.readline()
        assert " at http://" in line, f"the service did not start: {line!r}"
        self.url = line.rpartition(" at ")[2].split()[0].rstrip("/")

    def kill(self):
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        """Ask it to stop, and return how it ended."""
        self.process.terminate()
        try:
            code = self.process.wait(60)
        finally:
            self.process.kill()
            self.process.stdout.close()
        return code


ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def serve():
    """Start services: serve(storage address, options of `mfbo serve` …)."""
    started = []

    def start(storage, *options):
        started.append(ServedStorage(storage, *options))
        return started[-1]

    yield start
    for service in started:
        if service.process.poll() is None:
            service.kill()
