"""Threads that wait share a commit: each is stored before it goes on, and a refused change stops no other."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from mfbo.errors import ConflictError, RoundStateError, StorageError
from mfbo.storage import open_storage
from mfbo.storage.shared_commits import SharedCommits, UncertainCommitError, Waiting
from mfbo.storage.sql import SqlStorage


class Writer(SqlStorage):
    """A storage whose transactions are those given; settle, wait: as in ``SharedCommits``."""

    def __init__(self, carried_out, settle=lambda: None, wait=60.0):
        self.carried_out, self._commits = carried_out, SharedCommits(settle, wait)

    def _carry_out(self, changes):
        self.carried_out([waiting.change for waiting in changes])

    def make(self, change):
        self._make_with_others(Waiting(change))


def all_made(changes):
    for change in changes:
        change(None)


class Transactions:
    """What was carried out together; the first one waits until it is let go, so that others gather."""

    def __init__(self, fail=None):
        self.groups, self.fail = [], fail
        self.begun, self.go_on = threading.Event(), threading.Event()

    def carried_out(self, changes):
        self.groups.append(len(changes))
        if not self.begun.is_set():
            self.begun.set()
            self.go_on.wait(60)
        elif self.fail is not None and len(changes) > 1:
            raise self.fail
        all_made(changes)


def gathered(transactions, writer, changes):
    """Make one change, and the others while it is being made; return what came of the others."""
    with ThreadPoolExecutor(len(changes) + 1) as pool:
        first = pool.submit(writer.make, lambda _: None)
        transactions.begun.wait(60)
        others = [pool.submit(writer.make, change) for change in changes]
        while len(writer._commits._waiting) < len(changes):
            pass
        transactions.go_on.set()
        first.result()
        return [other.exception() for other in others]


def test_those_who_wait_share_the_next_commit_and_the_file_is_settled_when_nobody_waits():
    transactions, settled, made = Transactions(), [], []
    writer = Writer(transactions.carried_out, lambda: settled.append(len(made)))
    changes = [lambda _, number=number: made.append(number) for number in range(5)]
    assert gathered(transactions, writer, changes) == [None] * 5
    assert transactions.groups == [1, 5]
    assert made == list(range(5))
    assert settled == [5]


def test_after_a_refusal_each_is_made_alone():
    transactions, made = Transactions(), []
    writer = Writer(transactions.carried_out)

    def refused(_):
        raise RoundStateError("told already")

    outcomes = gathered(transactions, writer, [lambda _: made.append("a"), refused, lambda _: made.append("b")])
    assert [type(outcome) for outcome in outcomes] == [type(None), RoundStateError, type(None)]
    assert {"a", "b"} <= set(made)
    assert transactions.groups == [1, 3, 1, 1, 1]


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_commit_that_failed_on_its_way_is_uncertain_for_all_of_them(interrupted):
    transactions = Transactions(KeyboardInterrupt() if interrupted else UncertainCommitError("the disk is gone"))
    writer = Writer(transactions.carried_out)
    outcomes = gathered(transactions, writer, [lambda _: None] * 3)
    kinds = [type(outcome) for outcome in outcomes]
    assert kinds.count(UncertainCommitError) == (2 if interrupted else 3)
    writer.make(lambda _: None)  # the next one finds nobody at work


def test_a_leader_that_is_interrupted_while_it_settles_stops_nobody():
    def interrupted():
        raise KeyboardInterrupt

    writer = Writer(lambda changes: None, interrupted)
    for _ in range(2):  # the second one would wait for the first for ever
        with pytest.raises(KeyboardInterrupt):
            writer.make(lambda _: None)


@pytest.mark.parametrize("leads", [False, True])
def test_a_thread_that_is_interrupted_while_it_waits_stops_nobody(leads, monkeypatch):
    made = []
    writer = Writer(all_made)
    commits = writer._commits
    monkeypatch.setattr(commits, "await_turn", _appended_and_interrupted(commits, leads))
    with pytest.raises(KeyboardInterrupt):
        writer.make(lambda _: made.append("never"))
    monkeypatch.undo()
    commits._is_led = commits._is_led and leads  # who led otherwise is done
    writer.make(lambda _: made.append("next"))
    assert made == ["next"]


def test_whoever_waits_for_too_long_goes_on_by_itself():
    made = []
    writer = Writer(all_made, wait=0.01)
    writer._commits._is_led = True  # by a thread that is lost
    writer.make(lambda _: made.append("mine"))
    assert made == ["mine"]


def _appended_and_interrupted(commits, leads):
    def wait(mine):
        commits._waiting.append(mine)
        mine.leads = commits._is_led = leads
        raise KeyboardInterrupt

    return wait


def test_a_conflict_of_one_study_leaves_the_records_of_the_others(tmp_path):
    storage = open_storage(f"sqlite:///{tmp_path}/studies.db")
    for number in range(6):
        storage.create(f"study {number}", "{}")

    def written(number):
        expected = 7 if number == 3 else 0  # nobody has written seven records
        return storage.append(f"study {number}", "asked", 0, "{}", 0.0, expected)

    ready = threading.Barrier(6)
    with ThreadPoolExecutor(6) as pool:
        outcomes = [pool.submit(lambda number=number: (ready.wait(60), written(number))) for number in range(6)]
        errors = [type(outcome.exception()) for outcome in outcomes]
    assert errors == [ConflictError if number == 3 else type(None) for number in range(6)]
    assert [len(storage.events(f"study {number}")) for number in range(6)] == [1, 1, 1, 0, 1, 1]


def test_an_interrupted_leader_leaves_what_was_not_stored_refused_as_such(tmp_path, monkeypatch):
    storage = open_storage(f"sqlite:///{tmp_path}/studies.db")
    storage.create("study", "{}")
    monkeypatch.setattr(storage, "_make_with_others", _interrupted)
    with pytest.raises(StorageError, match="nothing was stored"):
        storage.append("study", "asked", 0, "{}", 0.0)
    with pytest.raises(StorageError, match="nothing was stored"):
        storage.delete("study")


def _interrupted(mine):
    raise UncertainCommitError("the thread that stored this was interrupted")
