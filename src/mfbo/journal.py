"""A study's rounds, in step with a storage that other processes may write to as well."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mfbo.arrays import IntArray
from mfbo.errors import ConflictError, DamageError, StorageError
from mfbo.records import History, Lease, Round
from mfbo.storage import Draft, Event, EventKind, Storage, codec
from mfbo.storage.replay import replayed


class Journal:
    """Keeps the history; each change is written to the storage first, and only then seen here.

    Without a storage it keeps the history alone. One thread at a time may use it; several processes, each with its
    own journal, may share a study.
    """

    def __init__(self, history: History, storage: Storage | None = None, name: str = "") -> None:
        self.history = history
        self.storage = storage
        self.name = name
        self._seen = 0
        self._last: Event | None = None  # the newest that was seen: the log that is read next must go on from it

    @property
    def rounds(self) -> tuple[Round, ...]:
        """All rounds that are known here."""
        return self.history.rounds

    def refresh(self) -> None:
        """Read what others did."""
        if self.storage is None:
            return
        known = [] if self._last is None else [self._last]
        events = self.storage.events(self.name, self._seen - len(known))
        if events[: len(known)] != known:
            raise StorageError(
                f"study {self.name!r} in {self.storage.address} is no longer the one that was loaded: it was restored"
                " from a backup, or deleted and made again; load it again"
            )
        new = events[len(known) :]
        if new:
            self._keep(replayed(self.rounds, new, self.history.population))
            self._seen += len(new)
            self._last = new[-1]

    def add_open(self, asked: Round) -> bool:
        """Add a plan; False if another process asked first, and then what it did is known."""
        try:
            self._write("asked", asked, codec.plan_record(asked.plan, asked.notes, asked.lease, asked.start))
        except ConflictError as conflict:
            self._catch_up(conflict)
            return False
        return True

    def lease(self, asked: Round, worker: str | None, expires: float | None, start: IntArray | None = None) -> bool:
        """Give an open plan to another holder, or anew; False if another process was first.

        start: where agents stand now, if they were counted.
        """
        former = asked.lease
        lease = Lease(worker, expires, (*former.former, former.worker))
        try:
            leased = replace(asked, lease=lease).counted(start, self.history.next_word)
            self._write("leased", leased, codec.lease_record(lease, start), expected=self._seen)
        except ConflictError as conflict:
            self._catch_up(conflict)
            return False
        return True

    def add_done(self, days: Sequence[Round]) -> Sequence[Round] | None:
        """Add rounds that were played outside the study, all or none, numbered here; None if another was first."""
        rounds, told = len(self.rounds), len(self.history.told)
        numbered = [
            replace(past, plan=replace(past.plan, number=rounds + n), told=told + n) for n, past in enumerate(days)
        ]
        at = time.time()
        drafts = [Draft("added", past.number, codec.to_text(_added_record(past)), at) for past in numbered]
        if self.storage is not None and drafts:
            try:
                self.storage.extend(self.name, drafts, expected=self._seen)
            except ConflictError as conflict:
                self._catch_up(conflict)
                return None
            self._seen += len(drafts)
            self._last = Event(self._seen - 1, drafts[-1].number, "added", drafts[-1].body, at)
        self._keep((*self.rounds, *numbered))
        return numbered

    def end(self, ended: Round) -> Round:
        """Replace an open round by itself with its result, or failed, or abandoned."""
        if ended.state == "done":
            return self._write("told", ended, codec.result_record(ended))
        return self._write("failed" if ended.state == "failed" else "abandoned", ended, codec.end_record(ended))

    def _catch_up(self, conflict: ConflictError) -> None:
        """Read what another wrote first; if there is nothing, trying again would go on for ever."""
        seen = self._seen
        self.refresh()
        if self._seen == seen:
            raise DamageError(f"{conflict}, but there is nothing new; `mfbo study doctor` says more") from conflict

    def _write(self, kind: EventKind, changed: Round, record: Mapping[str, Any], expected: int | None = None) -> Round:
        if self.storage is not None:
            draft = Draft(kind, changed.number, codec.to_text(record), time.time())
            sequence = self.storage.append(self.name, kind, draft.number, draft.body, draft.at, expected)
            if sequence != self._seen:  # others wrote in between: take everything in the order of the log
                try:
                    self.refresh()
                except StorageError:  # it is stored: reading the others' records is the next call's business
                    return changed
                return self.rounds[changed.number]
            self._seen += 1
            self._last = Event(sequence, draft.number, kind, draft.body, draft.at)
        rounds = self.rounds
        self._keep((*rounds[: changed.number], changed, *rounds[changed.number + 1 :]))
        return changed

    def _keep(self, rounds: tuple[Round, ...]) -> None:
        self.history = replace(self.history, rounds=rounds)


def _added_record(past: Round) -> dict[str, Any]:
    return {"distribution": codec.array_record(past.plan.distribution), **codec.result_record(past)}
