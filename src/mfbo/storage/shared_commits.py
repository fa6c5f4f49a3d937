"""Threads that write to one SQLite file: one after another, and those who wait share the next commit.

A commit takes a disk some milliseconds, however much is in it. Whoever finds nobody at work carries out the changes of
all who wait, in one transaction; each of them goes on only after that commit. If one of the changes is refused, all are
undone, and each is made alone.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Lock
from typing import Any

from mfbo.errors import StorageError

MOST_TOGETHER = 64  # changes in one commit

Change = Callable[[Any], None]
"""What is done with a connection inside a transaction."""


class UncertainCommitError(StorageError):
    """A commit that failed on its way: only a look tells whether it happened."""


class WriteTurns:
    """The writers of one process, one after another; left to itself, SQLite lets each of them poll for its lock."""

    def __init__(self, wait: float) -> None:
        self._wait = wait
        self._lock = Lock()
        self._process = os.getpid()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for one's turn; whoever waits for too long goes on, and SQLite's own lock decides."""
        if os.getpid() != self._process:  # a forked child has turns of its own
            self._lock, self._process = Lock(), os.getpid()
        lock = self._lock
        has_turn = lock.acquire(timeout=self._wait)
        try:
            yield
        finally:
            if has_turn:
                lock.release()


class SharedCommits:
    """Changes of several threads in one transaction.

    carried_out: makes changes in one transaction, all or none. settle: called when nobody waits any more. wait: seconds
    after which a thread goes on by itself, and SQLite's own lock decides.
    """

    def __init__(
        self, carried_out: Callable[[Sequence[Change]], None], settle: Callable[[], None], wait: float
    ) -> None:
        self._carried_out = carried_out
        self._settle = settle
        self._wait = wait
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._lock = Lock()
        self._waiting: list[_Waiting] = []
        self._is_led = False
        self._process = os.getpid()

    def make(self, change: Change) -> None:
        """Make a change; it is stored when this returns.

        If this raises it was not, but for an ``UncertainCommitError`` or an interrupt: then only a look tells.
        """
        if os.getpid() != self._process:  # a forked child has no other threads
            self._begin_anew()
        mine = _Waiting(change)
        try:
            self._await_turn(mine)
            while not mine.is_taken:
                self._lead()
        except BaseException:
            self._withdraw(mine)
            raise
        if mine.error is not None:
            raise mine.error
        if not mine.is_done:
            self._carried_out([change])
            self._settle_if_nobody_waits()

    def _await_turn(self, mine: "_Waiting") -> None:
        """Wait until the change was made, or until its thread is to lead."""
        with self._lock:
            self._waiting.append(mine)
            mine.leads, self._is_led = not self._is_led, True
        while not mine.leads and not mine.woken.wait(self._wait):
            if not mine.is_taken:  # whoever leads is lost, or very slow
                return

    def _withdraw(self, mine: "_Waiting") -> None:
        """Wait no longer: the thread is interrupted. If it was to lead, another does."""
        with self._lock:
            if mine in self._waiting:
                self._waiting.remove(mine)
        if mine.leads and not mine.is_taken:
            self._hand_over()

    def _lead(self) -> None:
        """Carry out what waits, wake its threads, and let the next one lead."""
        with self._lock:
            group = self._waiting[:MOST_TOGETHER]
            del self._waiting[:MOST_TOGETHER]
        for one in group:
            one.is_taken = True
        try:
            self._make_together(group)
        finally:
            for one in group:
                one.woken.set()
            self._hand_over()

    def _make_together(self, group: "list[_Waiting]") -> None:
        try:
            self._carried_out([one.change for one in group])
        except UncertainCommitError as error:
            for one in group:
                one.error = UncertainCommitError(str(error))
        except Exception as error:
            if len(group) == 1:
                group[0].error = error
        except BaseException:  # whoever leads is interrupted: the others look what became of their changes
            for one in group:
                one.error = UncertainCommitError("the thread that stored this was interrupted")
            raise
        else:
            for one in group:
                one.is_done = True

    def _hand_over(self) -> None:
        try:
            self._settle_if_nobody_waits()
        finally:
            with self._lock:
                following = self._waiting[0] if self._waiting else None
                self._is_led = following is not None
                if following is not None:
                    following.leads = True
                    following.woken.set()

    def _settle_if_nobody_waits(self) -> None:
        if not self._waiting:
            self._settle()


class _Waiting:
    """A change that waits, and what became of it; neither done nor failed: it is to be made alone."""

    def __init__(self, change: Change) -> None:
        self.change = change
        self.woken = Event()
        self.leads = False  # its thread is to carry out what waits
        self.is_taken = False  # somebody carries it out, or has
        self.is_done = False
        self.error: Exception | None = None
