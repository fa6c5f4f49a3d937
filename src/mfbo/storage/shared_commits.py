"""Threads that write to one SQLite file: one after another, and those who wait share the next commit.

A commit takes a disk some milliseconds, however much is in it. Whoever finds nobody at work carries out the changes of
all who wait, in one transaction; each of them goes on only after that commit. If one of the changes is refused, all are
undone, and each is made alone. ``SqlStorage`` carries out what the thread that leads takes here.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any

from mfbo.errors import StorageError

MOST_TOGETHER = 64  # changes in one commit
INTERRUPTED = "the thread that stored this was interrupted"

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


@dataclass(eq=False)
class Waiting:
    """A change that waits, and what became of it; neither done nor failed: it is to be made alone.

    leads: whether its thread is to carry out what waits. is_taken: whether somebody carries it out, or has.
    """

    change: Change
    woken: Event = field(default_factory=Event)
    leads: bool = False
    is_taken: bool = False
    is_done: bool = False
    error: Exception | None = None


class SharedCommits:
    """Changes of several threads that wait for one transaction.

    settle: called when nobody waits any more. wait: seconds after which a thread goes on by itself, and SQLite's own
    lock decides.
    """

    def __init__(self, settle: Callable[[], None], wait: float) -> None:
        self._settle = settle
        self._wait = wait
        self._lock = Lock()
        self._waiting: list[Waiting] = []
        self._is_led = False
        self._process = os.getpid()

    def await_turn(self, mine: Waiting) -> None:
        """Wait until a change was taken up by another thread and made, or until its own thread is to lead."""
        if os.getpid() != self._process:  # a forked child has no other threads
            self._lock, self._waiting, self._is_led, self._process = Lock(), [], False, os.getpid()
        with self._lock:
            self._waiting.append(mine)
            mine.leads, self._is_led = not self._is_led, True
        while not mine.leads and not mine.woken.wait(self._wait):
            if not mine.is_taken:  # whoever leads is lost, or very slow
                return

    def withdraw(self, mine: Waiting) -> None:
        """Wait no longer: the thread is interrupted. If it was to lead, another does."""
        with self._lock:
            if mine in self._waiting:
                self._waiting.remove(mine)
        if mine.leads and not mine.is_taken:
            self._hand_over()

    def take(self) -> list[Waiting]:
        """Return what waits, for the thread that leads to make in one transaction, all or none; ``finish`` follows."""
        with self._lock:
            group = self._waiting[:MOST_TOGETHER]
            del self._waiting[:MOST_TOGETHER]
        for one in group:
            one.is_taken = True
        return group

    def finish(self, group: list[Waiting], error: BaseException | None) -> None:
        """Say what became of changes, wake their threads, and let the next one lead; error: None if all are stored."""
        uncertain = None if error is None or isinstance(error, Exception) else INTERRUPTED
        uncertain = str(error) if isinstance(error, UncertainCommitError) else uncertain
        try:
            for one in group:
                one.is_done = error is None
                if uncertain is not None:  # each looks what became of its own
                    one.error = UncertainCommitError(uncertain)
                elif isinstance(error, Exception) and len(group) == 1:
                    one.error = error
        finally:
            for one in group:
                one.woken.set()
            self._hand_over()

    def _hand_over(self) -> None:
        try:
            self.settle_if_nobody_waits()
        finally:
            with self._lock:
                following = self._waiting[0] if self._waiting else None
                self._is_led = following is not None
                if following is not None:
                    following.leads = True
                    following.woken.set()

    def settle_if_nobody_waits(self) -> None:
        """Settle, unless a change is about to be made after which that is due again."""
        if not self._waiting:
            self._settle()
