"""A PostgreSQL server for the tests that need one: the machine's own binaries, on loopback, in a temporary folder."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
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
