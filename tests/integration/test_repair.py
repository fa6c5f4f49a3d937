"""`doctor` says what a file is, and repairs only a damaged store of ours that nobody uses. Nothing is lost by it."""

import gc
import os
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from mfbo import Population, create_study, load_study
from mfbo.cli import main
from mfbo.errors import StorageError
from mfbo.records import Feedback, Lease, Plan, Round
from mfbo.storage import Draft, codec, open_storage
from mfbo.storage.codec import checksum
from mfbo.storage.repair import repair

POPULATION = Population(["a", "b", "c"], size=9)


def told(file, rounds=8):
    study = create_study(POPULATION, "random", storage=f"sqlite:///{file}", name="one")
    for number in range(rounds):
        study.tell(study.ask(), number / 3)
    study.storage.close()
    gc.collect()


def damage(file):
    """Change a record behind its checksum's back."""
    connection = sqlite3.connect(file)
    connection.execute("UPDATE events SET body = '{}' WHERE number = 3 AND kind = 'told'")
    connection.commit()
    connection.close()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "studies.db"
    told(path)
    damage(path)
    return path


@pytest.fixture
def doctor(capsys):
    def call(file, *options):
        with pytest.raises(SystemExit) as end:
            main(["study", "doctor", "--yes", "--storage", f"sqlite:///{file}", *options])
        said = capsys.readouterr()
        return end.value.code, said.out, said.err

    return call


def everything(folder):
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


def test_mode_owner_and_link_are_kept_and_the_backup_is_the_old_file(file, tmp_path, doctor):
    os.chmod(file, 0o600)
    if os.getuid() == 0:
        os.chown(file, 65534, 65534)
    owner = os.stat(file).st_uid
    old = file.read_bytes()
    link = tmp_path / "link.db"
    link.symlink_to("studies.db")
    code, out, err = doctor(link)
    assert (code, err) == (0, ""), out
    assert link.is_symlink()
    assert os.readlink(link) == "studies.db"
    (backup,) = tmp_path.glob("studies.db.backup-*")
    assert backup.read_bytes() == old
    for each in (file, backup):
        assert stat.S_IMODE(each.stat().st_mode) == 0o600
        assert each.stat().st_uid == owner
    assert [each.state for each in load_study("one", f"sqlite:///{link}").rounds] == ["done"] * 3 + ["open"] + [
        "done"
    ] * 4


def other_program(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE notes (text)")
    connection.execute("INSERT INTO notes VALUES ('mine')")
    connection.commit()
    connection.close()


def optuna_like(path):
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE studies (study_id INTEGER); CREATE TABLE alembic_version (version_num TEXT);"
        "INSERT INTO alembic_version VALUES ('v3.2.0.a')"
    )
    connection.close()


def csv_file(path):
    path.write_text("station,agents\n" + "Main St,3\n" * 400)


def newer_version(path):
    told(path)
    set_version(path, "0002")


def odd_version(path):
    told(path)
    set_version(path, "0000")


def set_version(path, version):
    connection = sqlite3.connect(path)
    connection.execute("UPDATE alembic_version SET version_num = ?", [version])
    connection.commit()
    connection.close()


def first_page_gone(path):
    told(path)
    path.write_bytes(bytes(4096) + path.read_bytes()[4096:])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (other_program, "another program"),
        (optuna_like, "another program"),
        (csv_file, "not a store of mfbo"),
        (newer_version, "schema version '0002'"),
        (odd_version, "schema version '0000'"),
        (first_page_gone, "not a store of mfbo"),
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.mkdir(), "is a folder"),
        (os.mkfifo, "not a regular file"),
        (lambda path: None, "does not exist"),
    ],
    ids=["sqlite", "optuna", "csv", "newer", "0000", "first page", "empty", "folder", "fifo", "missing"],
)
def test_what_is_no_damaged_store_is_called_what_it_is_and_left_alone(tmp_path, doctor, make, said):
    path = tmp_path / "x.db"
    make(path)
    before = everything(tmp_path) if not path.is_fifo() else None
    for options in ((), ("--json",)):
        code, out, err = doctor(path, *options)
        assert (code, out) == (2, "")
        assert said in err
        assert len(err.splitlines()) == 1
        assert "is damaged:" not in err
    if before is not None:
        assert everything(tmp_path) == before
        if path.is_file():
            with pytest.raises(StorageError, match=r"not a store|empty|version"):
                repair(path)
            assert everything(tmp_path) == before


def test_upgrade_refuses_a_version_that_never_was(tmp_path, capsys):
    odd_version(tmp_path / "x.db")
    with pytest.raises(SystemExit):
        main(["study", "upgrade", "--storage", f"sqlite:///{tmp_path / 'x.db'}"])
    assert "schema version '0000'" in capsys.readouterr().err


def test_a_server_that_cannot_be_reached_is_not_damaged(capsys):
    with pytest.raises(SystemExit) as end:
        main(["study", "doctor", "--json", "--storage", "postgresql://mfbo@127.0.0.1:1/x"])
    said = capsys.readouterr()
    assert (end.value.code, said.out) == (2, "")
    assert "is the server running and reachable?" in said.err


READ_ONLY = """
import contextlib, os, sys
from mfbo.cli import main

def run(command):
    try:
        main(["study", command, "--storage", f"sqlite:///{file}"])
    except SystemExit as end:
        return end.code

file = sys.argv[1]
for command in ("list", "doctor"):  # first as root: the other user may not read the libraries
    with contextlib.redirect_stdout(None):
        assert run(command) == 0
for mode, folder_mode in ((0o444, 0o555), (0o000, 0o755), (0o666, 0o000)):
    os.chmod(file, mode)
    os.chmod(os.path.dirname(file), folder_mode)
    child = os.fork()
    if child == 0:
        os.setgid(65534)
        os.setuid(65534)
        codes = [run("list"), run("doctor")]
        sys.stderr.flush()
        os._exit(codes != [2, 2])
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_store_that_this_user_may_not_use_is_not_damaged(tmp_path):
    """A read-only file and folder, a file without permissions, a folder without permissions."""
    folder = tmp_path / "locked"
    folder.mkdir()
    told(folder / "x.db")
    for parent in (tmp_path, *tmp_path.parents[:3]):
        os.chmod(parent, parent.stat().st_mode | 0o055)
    arguments = [sys.executable, "-c", READ_ONLY, folder / "x.db"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stderr.splitlines()) == 6, done.stderr
    assert "damaged" not in done.stderr + done.stdout
    for line in done.stderr.splitlines():
        assert any(words in line for words in ("read-only", "ermission", "may this user")), line


def test_a_store_in_use_is_refused_with_the_process_that_uses_it(file, tmp_path, doctor):
    code = f"""
import sys
from mfbo.storage import open_storage
storage = open_storage("sqlite:///{file}", create=False)
storage.studies()
print("open", flush=True)
sys.stdin.read()
"""
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    holder.stdout.readline()
    before = file.read_bytes()
    code, out, err = doctor(file)
    assert (code, out) == (2, "")
    assert f"in use by process {holder.pid}" in err
    assert file.read_bytes() == before
    holder.communicate()
    assert doctor(file)[0] == 0


def test_a_store_that_this_process_uses_is_refused(file):
    storage = open_storage(f"sqlite:///{file}", create=False)
    storage.studies()
    with pytest.raises(StorageError, match="in use by this very process"):
        repair(file)
    storage.close()
    repair(file)


def test_a_study_that_was_loaded_before_a_repair_must_be_loaded_again(file):
    study = create_study(POPULATION, "random", storage=f"sqlite:///{file}", name="two")
    plan = study.ask()
    study.storage.close()
    repair(file)
    with pytest.raises(StorageError, match=r"repaired.*load the study again"):
        study.tell(plan, 1.0)
    load_study("two", f"sqlite:///{file}").tell(plan, 1.0)


def test_a_file_with_a_second_name_is_refused(file, tmp_path):
    os.link(file, tmp_path / "second.db")
    with pytest.raises(StorageError, match="hard link"):
        repair(file)


def test_records_left_in_the_log_are_saved_and_backed_up(tmp_path):
    """A killed process leaves its records in SQLite's log beside the file."""
    source, file = tmp_path / "source.db", tmp_path / "studies.db"
    study = create_study(POPULATION, "random", storage=f"sqlite:///{source}", name="one")
    study.storage._database.checkpoint = lambda: None
    for number in range(5):
        study.tell(study.ask(), number / 3)
    for suffix in ("", "-wal"):
        shutil.copy(f"{source}{suffix}", f"{file}{suffix}")
    log = (tmp_path / "studies.db-wal").read_bytes()
    assert len(log) > 10_000
    outcome = repair(file)
    assert outcome.backup.with_name(outcome.backup.name + "-wal").read_bytes() == log
    assert len(load_study("one", f"sqlite:///{file}").history.told) == 5


def test_a_record_that_says_something_odd_is_left_out_by_repair(tmp_path, doctor):
    file = tmp_path / "studies.db"
    told(file, 5)
    connection = sqlite3.connect(file)
    uid = connection.execute("SELECT uid FROM studies").fetchone()[0]
    row = connection.execute("SELECT sequence, number, step, kind, at FROM events WHERE kind = 'told'").fetchall()[2]
    whole = checksum(uid, *row[:4], '{"feedback":{}}', row[4])
    connection.execute(
        "UPDATE events SET body = ?, checksum = ? WHERE sequence = ?", ['{"feedback":{}}', whole, row[0]]
    )
    connection.commit()
    connection.close()
    code, out, _ = doctor(file)
    assert code == 0, out
    assert [each.state for each in load_study("one", f"sqlite:///{file}").rounds] == [
        "done",
        "done",
        "open",
        "done",
        "done",
    ]


def test_without_room_nothing_happens(file, tmp_path, monkeypatch):
    before = everything(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))  # a disk that fills while repair writes
    try:
        with pytest.raises(StorageError, match="as it was"):
            repair(file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert everything(tmp_path) == before
    full = shutil._ntuple_diskusage(10**9, 10**9, 0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    with pytest.raises(StorageError, match=r"needs \d+\.\d MB beside it, and 0\.0 MB are free"):
        repair(file)
    assert everything(tmp_path) == before


def test_three_thousand_rounds_are_repaired_in_seconds(tmp_path):
    file = tmp_path / "long.db"
    stations = Population([f"station {n}" for n in range(35)], size=300)
    storage = create_study(stations, "random", storage=f"sqlite:///{file}", name="long").storage
    rng = np.random.default_rng(0)
    drafts = []
    for number, shares in enumerate(rng.dirichlet(np.ones(35), size=(3000, 1))):
        asked = Round(Plan(number, shares, rng.multinomial(300, shares[0])[None, :]))
        done = asked.done(Feedback(number / 7), asked.plan.realized, number)
        drafts.append(Draft("asked", number, codec.to_text(codec.plan_record(asked.plan, {}, Lease())), 0.0))
        drafts.append(Draft("told", number, codec.to_text(codec.result_record(done)), 0.0))
    storage.extend("long", drafts)
    storage.close()
    gc.collect()
    started = time.process_time()
    outcome = repair(file)
    assert time.process_time() - started < 20
    assert outcome.done == ["study 'long': 6000 records saved"]
    assert outcome.lost == []
    assert len(open_storage(f"sqlite:///{file}").events("long")) == 6000


@pytest.mark.slow
def test_repair_beside_writing_processes_loses_no_acknowledged_tell(tmp_path, run_script):
    result = run_script("repaired_study.py", tmp_path, 20, 1)
    assert result["missing"] == []
    assert result["doctor"] == []
    assert result["repaired"] > 0
    assert result["refused"] > 0
    assert result["acknowledged"] > 20
