"""An error means that nothing was stored; an answer means that it was. On real disks, files and servers."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

import psycopg
import pytest

from mfbo import Population, create_study, load_study
from mfbo.errors import ConflictError, RoundStateError, StorageError
from mfbo.storage import open_storage

POPULATION = Population(["a", "b", "c"], size=9)


def kinds(address):
    storage = open_storage(address, create=False)
    found = [(event.kind, event.number) for event in storage.events("one")]
    storage.close()
    return found


@pytest.fixture
def file(tmp_path):
    return tmp_path / "studies.db"


@pytest.fixture
def study(file):
    made = create_study(POPULATION, "random", storage=f"sqlite:///{file}", name="one")
    made.tell(made.ask(), 0.5)
    return made


FULL_DISK = """
import os, resource, sys
from mfbo import load_study
from mfbo.errors import StorageError
file = sys.argv[1]
study = load_study("one", f"sqlite:///{file}")
plans = [study.ask() for _ in range(30)]
size = os.path.getsize(file)
resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))  # the log may grow, the file may not
answered = raised = 0
for plan in plans:
    try:
        study.tell(plan, 1.0)
        answered += 1
    except StorageError as error:
        raised += 1
        assert "nothing was stored" in str(error) or "cannot be used" in str(error), error
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
stored = sum(each.state == "done" for each in load_study("one", f"sqlite:///{file}").rounds) - 1
print(answered, raised, stored)
"""


def test_a_tell_that_a_full_disk_refuses_is_not_stored(study, file):
    """What comes after the commit, moving the log into the file, is not part of the answer."""
    study.storage.close()
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, file], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    answered, raised, stored = map(int, done.stdout.split())
    assert answered + raised == 30
    assert stored == answered > 0


@pytest.mark.slow
def test_answers_are_true_at_two_hundred_moments_of_a_full_disk(tmp_path, run_script):
    result = run_script("full_disk_study.py", tmp_path, 200, 1, "limit")
    assert result["wrong"] == []
    assert sum(count for what, count in result["counts"].items() if "refused" in what) > 10
    assert sum(count for what, count in result["counts"].items() if "answered" in what) > 10


def deleted(file):
    file.unlink()


def replaced(file):
    shutil.copy(file, file.with_name("copy.db"))
    os.replace(file.with_name("copy.db"), file)


def made_again(file):
    file.unlink()
    create_study(POPULATION, "random", storage=f"sqlite:///{file}", name="one").storage.close()


def moved(file):
    file.rename(file.with_name("moved.db"))


@pytest.mark.parametrize("happens", [deleted, replaced, made_again, moved])
@pytest.mark.parametrize("closed", [False, True])
def test_a_store_that_is_gone_or_another_is_noticed_before_anything_is_acknowledged(study, file, happens, closed):
    plan = study.ask()
    if closed:
        study.storage.close()
    happens(file)
    for call in (lambda: study.tell(plan, 1.0), lambda: study.tell(plan, 1.0), study.ask, lambda: study.fail(1, "x")):
        with pytest.raises(StorageError, match=r"(deleted|replaced|no longer the one).*load (the study|it) again"):
            call()
    if file.exists():
        study.storage._database._pool.close()
        assert ("told", 1) not in kinds(f"sqlite:///{file}")


def test_a_link_that_leads_elsewhere_is_noticed(study, file, tmp_path):
    study.storage.close()
    other = tmp_path / "other.db"
    create_study(POPULATION, "random", storage=f"sqlite:///{other}", name="one").storage.close()
    link = tmp_path / "link.db"
    link.symlink_to(file)
    linked = load_study("one", f"sqlite:///{link}")
    link.unlink()
    link.symlink_to(other)
    with pytest.raises(StorageError, match="replaced"):
        linked.ask()


def test_a_log_that_is_deleted_is_noticed(study, file):
    file.with_name("studies.db-wal").unlink()
    with pytest.raises(StorageError, match="-wal"):
        study.ask()


def test_a_study_that_is_deleted_and_made_again_is_not_taken_for_the_old_one():
    storage = open_storage("memory")
    study = create_study(POPULATION, "random", storage=storage, name="one")
    plan = study.ask()
    storage.delete("one")
    other = create_study(POPULATION, "random", storage=storage, name="one")
    other.ask()
    other.ask()
    with pytest.raises(StorageError, match="load it again"):
        study.tell(plan, 1.0)
    assert [event.kind for event in storage.events("one")] == ["asked", "asked"]


class Cable:
    """A cable to a server that can be cut when a commit passes: before it, or before its answer."""

    def __init__(self, port):
        self.cut = None
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ends = []
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._port))
                self._ends += [client, server]
                threading.Thread(target=self._forward, args=(client, server, True), daemon=True).start()
                threading.Thread(target=self._forward, args=(server, client, False), daemon=True).start()

    def _forward(self, source, target, from_client):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if from_client and self.cut is not None and b"COMMIT\0" in data:
                    cut, self.cut = self.cut, None
                    if cut == "before the answer":
                        source.shutdown(socket.SHUT_RDWR)
                        target.sendall(data)
                        time.sleep(0.3)  # the server commits; nobody hears of it
                    break
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        for end in (self._listener, *self._ends):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@pytest.fixture
def cable(postgres_database):
    address = postgres_database()
    port = int(address.rpartition(":")[2].split("/")[0])
    made = Cable(port)
    made.address = address.replace(f":{port}/", f":{made.port}/")
    made.study = create_study(POPULATION, "random", storage=made.address, name="one")
    yield made
    made.study.storage.close()
    made.close()


def test_a_commit_whose_answer_is_lost_is_looked_up(cable):
    study = cable.study
    plan = study.ask()
    cable.cut = "before the answer"
    assert study.tell(plan, 1.0).state == "done"
    assert cable.cut is None
    assert kinds(cable.address) == [("asked", 0), ("told", 0)]
    with pytest.raises(RoundStateError):
        study.tell(plan, 1.0)
    cable.cut = "before the answer"
    create_study(POPULATION, "random", storage=study.storage, name="two")
    cable.cut = "before the answer"
    study.storage.delete("two")
    assert [each.name for each in study.storage.studies()] == ["one"]


def test_a_commit_that_never_came_to_the_server_is_an_error(cable):
    study = cable.study
    plan = study.ask()
    cable.cut = "before the commit"
    with pytest.raises(StorageError, match="nothing was stored"):
        study.tell(plan, 1.0)
    assert kinds(cable.address) == [("asked", 0)]
    assert study.tell(plan, 1.0).state == "done"


def test_a_lock_on_the_server_is_waited_for_within_bounds_and_said(postgres_database):
    address = postgres_database()
    study = create_study(POPULATION, "random", storage=address, name="one")
    plan = study.ask()
    with study.storage._database.transaction() as connection:
        assert connection.value("SHOW lock_timeout") == "1min"
        assert connection.value("SHOW statement_timeout") == "2min"
    hurried = load_study("one", f"{address}?options=-c%20lock_timeout%3D1000")
    with psycopg.connect(address.replace("+psycopg", "")) as other:
        other.execute("SELECT * FROM studies FOR UPDATE")
        started = time.monotonic()
        with pytest.raises(StorageError, match=r"held a lock for 1 s: try again, or end its session"):
            hurried.tell(plan, 1.0)
        assert time.monotonic() - started < 10
    assert hurried.tell(plan, 1.0).state == "done"
    impatient = f"{address}?options=-c%20statement_timeout%3D1000"
    with psycopg.connect(address.replace("+psycopg", "")) as other:
        other.execute("LOCK TABLE studies")
        with pytest.raises(StorageError, match=r"given up after 1 s"):
            load_study("one", impatient)
    hurried.storage.close()
    study.storage.close()


def test_a_server_that_does_not_answer_is_given_up_and_said():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        started = time.monotonic()
        with pytest.raises(StorageError, match=r"running and reachable\? \(waited \d+ s"):
            open_storage(f"postgresql://mfbo@127.0.0.1:{silent.getsockname()[1]}/x?connect_timeout=2")
        assert time.monotonic() - started < 20


def test_what_others_wrote_cannot_fail_a_tell_that_is_stored(file):
    """Another process's record between ours is odd; our tell is stored, so it is answered."""
    study = create_study(POPULATION, "random", storage=f"sqlite:///{file}", name="one")
    plan = study.ask()
    storage, extend = study.storage, study.storage.extend

    def beaten(name, drafts, *rest):
        if drafts[0].kind == "told":
            extend(name, [_draft("asked", 1, "{}")])
        return extend(name, drafts, *rest)

    storage.extend = beaten
    assert study.tell(plan, 0.25).payoff == 0.25
    assert kinds(f"sqlite:///{file}") == [("asked", 0), ("asked", 1), ("told", 0)]


def _draft(kind, number, body):
    from mfbo.storage import Draft

    return Draft(kind, number, body, 0.0)


IMPORTS = """
import os, sys, time
from pathlib import Path
from mfbo.cli.study_commands import ImportDays
from mfbo.cli.study_import import import_days
start = time.monotonic() + 0.5
children = []
for _ in range(4):
    children.append(os.fork())
    if children[-1] == 0:
        time.sleep(start - time.monotonic())
        import_days(ImportDays("one", Path(sys.argv[1]), storage=sys.argv[2]))
        sys.stdout.flush()
        os._exit(0)
sys.exit(sum(os.waitpid(child, 0)[1] for child in children))
"""


def test_imports_of_one_file_at_the_same_time_give_each_day_once(file, tmp_path):
    create_study(POPULATION, "random", storage=f"sqlite:///{file}", name="one").storage.close()
    rows = [
        f"{day},{station},{1 + (day * place) % 5},{day / 7}" for day in range(40) for place, station in enumerate("abc")
    ]
    (tmp_path / "past.csv").write_text("day,station,agents,payoff\n" + "\n".join(rows))
    command = [sys.executable, "-c", IMPORTS, tmp_path / "past.csv", f"sqlite:///{file}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(re.findall(r"(\d+) past days added", done.stdout)) == ["0", "0", "0", "40"]
    payoffs = [each.payoff for each in load_study("one", f"sqlite:///{file}").rounds]
    assert payoffs == [day / 7 for day in range(40)]


def test_days_come_in_once_however_often_and_a_doubled_day_twice():
    study = create_study(POPULATION, "random")
    days = [([0.2, 0.3, 0.5], 1.0), ([0.2, 0.3, 0.5], 1.0), ([0.2, 0.5, 0.3], 1.0), ([0.2, 0.3, 0.5], 2.0)]
    assert [each.number for each in study.add_missing(days)] == [0, 1, 2, 3]
    nearly = [([share + 1e-13, 0.8 - share - 1e-13, 0.2], 1.0) for share in (0.5,)]
    assert study.add_missing(days) == []
    assert len(study.add_missing([*days, *days[:1], *nearly])) == 2
    assert [each.told for each in study.rounds] == list(range(6))


def test_several_events_are_stored_all_or_none(file):
    storage = open_storage(f"sqlite:///{file}")
    storage.create("one", "{}")
    with pytest.raises(ConflictError):
        storage.extend("one", [_draft("asked", 0, "{}"), _draft("asked", 2, "{}")])
    assert storage.events("one") == []
