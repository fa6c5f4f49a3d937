"""A PostgreSQL server for the tests that need one: the machine's own binaries, on loopback, in a temporary folder."""

import os
import pwd
import shutil
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


@pytest.fixture(scope="session")
def postgres_server():
    folder = Path(tempfile.mkdtemp(prefix="mfbo-pg-", dir="/tmp"))
    user = _as_user()
    if user:
        shutil.chown(folder, user["user"])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    run = {"check": True, "capture_output": True, "timeout": 120, "cwd": folder, **user}
    data = str(folder / "data")
    subprocess.run([_binary("initdb"), "-D", data, "-U", "mfbo", "-A", "trust", "-E", "UTF8", "--no-sync"], **run)
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
    start = [_binary("pg_ctl"), "-D", data, "-w", "-o", options, "-l", str(folder / "log"), "start"]
    subprocess.run(start, **{**run, "capture_output": False, "stdout": subprocess.DEVNULL})
    try:
        yield f"postgresql+psycopg://mfbo@127.0.0.1:{port}"
    finally:
        subprocess.run([_binary("pg_ctl"), "-D", data, "-m", "immediate", "stop"], **run)
        shutil.rmtree(folder, ignore_errors=True)


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
