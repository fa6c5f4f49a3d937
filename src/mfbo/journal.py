"""A study's changes in a storage's log, which other processes may write to as well."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mfbo.arrays import IntArray
from mfbo.errors import ConflictError, DamageError, StorageError
from mfbo.records import History, Round
from mfbo.storage import Draft, Event, EventKind, Storage, codec
from mfbo.storage.replay import replayed


@dataclass(frozen=True)
class KnownLog:
    """A history, how many events of the log it holds, and the newest of them."""

    history: History
    seen: int
    last: Event | None


class Journal:
    """Writes every change to the storage first, and only then into the history that it returns.

    It knows how much of the log the history holds: give it the one that it returned last. One thread at a time may use
    it; several processes, each with its own journal, may share a study.
    """

    def __init__(self, storage: Storage, name: str) -> None:
        self.storage = storage
        self.name = name
        self._seen = 0
        self._last: Event | None = None  # the newest that was seen: the log that is read next must go on from it

    def known(self, history: History) -> KnownLog:
        """Return how much of the log is known, with the history that says so."""
        return KnownLog(history, self._seen, self._last)

    def take(self, history: History, known: KnownLog) -> History:
        """Return the history of another journal of this study, if that one knows more of the log than this one."""
        if known.seen <= self._seen:
            return history
        self._seen, self._last = known.seen, known.last
        return known.history

    def refresh(self, history: History) -> History:
        """Return the history with what others did."""
        last = [] if self._last is None else [self._last]
        events = self.storage.events(self.name, self._seen - len(last))
        if events[: len(last)] != last:
            raise StorageError(
                f"study {self.name!r} in {self.storage.address} is no longer the one that was loaded: it was restored"
                " from a backup, or deleted and made again; load it again"
            )
        new = events[len(last) :]
        if not new:
            return history
        grown = replayed(history, new)
        self._seen += len(new)
        self._last = new[-1]
        return grown

    def ask(self, history: History, asked: Round) -> tuple[History, bool]:
        """Add a plan; False if another process asked first, and then the history has what it did.

        The same if the study was changed or corrected meanwhile: the plan was made without knowing that.
        """
        day = {"today": asked.today, "situation": asked.situation}
        record = codec.plan_record(asked.plan, asked.notes, asked.lease, asked.start, **day)
        try:
            return self._written(history, "asked", asked, record, known=self._seen)[0], True
        except ConflictError as conflict:
            return self._caught_up(history, conflict), False

    def lease(self, history: History, leased: Round, start: IntArray | None) -> tuple[History, bool]:
        """Give an open plan to another holder, or anew; False as in ``ask``. start: agents, if counted just now."""
        record = codec.lease_record(leased.lease, start)
        try:
            return self._written(history, "leased", leased, record, expected=self._seen)[0], True
        except ConflictError as conflict:
            return self._caught_up(history, conflict), False

    def add(self, history: History, days: Sequence[Round]) -> tuple[History, bool]:
        """Add past days, all or none; False as in ``ask``."""
        at = time.time()
        drafts = [Draft("added", past.number, codec.to_text(codec.past_record(past)), at) for past in days]
        try:
            self.storage.extend(self.name, drafts, expected=self._seen)
        except ConflictError as conflict:
            return self._caught_up(history, conflict), False
        self._seen += len(drafts)
        self._last = Event(self._seen - 1, drafts[-1].number, "added", drafts[-1].body, at)
        return history.with_past(days), True

    def end(self, history: History, ended: Round) -> tuple[History, Round]:
        """Replace an open round by itself with its result, or failed, or abandoned."""
        if ended.state == "done":
            return self._written(history, "told", ended, codec.result_record(ended))
        kind: EventKind = "failed" if ended.state == "failed" else "abandoned"
        return self._written(history, kind, ended, codec.end_record(ended))

    def correct(self, history: History, kind: EventKind, number: int, record: dict[str, Any]) -> tuple[History, bool]:
        """Add a correction of a round, or a change of the study; False as in ``ask``."""
        body, at = codec.to_text(record), time.time()
        corrected = replayed(history, [Event(self._seen, number, kind, body, at)])  # refuses before anything is stored
        try:
            self.storage.append(self.name, kind, number, body, at, self._seen)
        except ConflictError as conflict:
            return self._caught_up(history, conflict), False
        self._last = Event(self._seen, number, kind, body, at)
        self._seen += 1
        return corrected, True

    def _caught_up(self, history: History, conflict: ConflictError) -> History:
        """Read what another wrote first; if there is nothing, trying again would go on for ever."""
        seen = self._seen
        history = self.refresh(history)
        if self._seen == seen:
            raise DamageError(f"{conflict}, but there is nothing new; `mfbo study doctor` says more") from conflict
        return history

    def _written(
        self,
        history: History,
        kind: EventKind,
        changed: Round,
        record: dict[str, Any],
        *,
        expected: int | None = None,
        known: int | None = None,
    ) -> tuple[History, Round]:
        body, at = codec.to_text(record), time.time()
        sequence = self.storage.extend(self.name, [Draft(kind, changed.number, body, at, known)], expected)
        if sequence == self._seen:
            self._seen += 1
            self._last = Event(sequence, changed.number, kind, body, at)
            return history.after(changed), changed
        try:  # others wrote in between: take everything in the order of the log
            grown = self.refresh(history)
        except StorageError:  # it is stored: reading the others' records is the next call's business
            return history, changed
        return grown, grown.rounds[changed.number]
