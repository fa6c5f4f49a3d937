"""A study's rounds, in step with a storage that other processes may write to as well."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mfbo.errors import ConflictError
from mfbo.records import History, Lease, Round
from mfbo.storage import EventKind, Storage, codec
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

    @property
    def rounds(self) -> tuple[Round, ...]:
        """All rounds that are known here."""
        return self.history.rounds

    def refresh(self) -> None:
        """Read what others did."""
        if self.storage is None:
            return
        events = self.storage.events(self.name, self._seen)
        if events:
            self._keep(replayed(self.rounds, events))
            self._seen += len(events)

    def add_open(self, asked: Round) -> bool:
        """Add a plan; False if another process asked first, and then what it did is known."""
        try:
            self._write("asked", asked, codec.plan_record(asked.plan, asked.notes, asked.lease))
        except ConflictError:
            self.refresh()
            return False
        return True

    def lease(self, asked: Round, worker: str | None, expires: float | None) -> bool:
        """Give an open plan to another holder; False if another process was first."""
        former = asked.lease
        lease = Lease(worker, expires, (*former.former, former.worker))
        try:
            self._write("leased", replace(asked, lease=lease), codec.lease_record(lease), expected=self._seen)
        except ConflictError:
            self.refresh()
            return False
        return True

    def add_done(self, past: Round) -> Round:
        """Add a round that was played outside the study."""
        while True:
            numbered = replace(past, plan=replace(past.plan, number=len(self.rounds)), told=len(self.history.told))
            record = {"distribution": codec.array_record(past.plan.distribution), **codec.result_record(past)}
            try:
                return self._write("added", numbered, record)
            except ConflictError:
                self.refresh()

    def end(self, ended: Round) -> Round:
        """Replace an open round by itself with its result, or failed, or abandoned."""
        if ended.state == "done":
            return self._write("told", ended, codec.result_record(ended))
        return self._write("failed" if ended.state == "failed" else "abandoned", ended, {"error": ended.error})

    def _write(self, kind: EventKind, changed: Round, record: Mapping[str, Any], expected: int | None = None) -> Round:
        if self.storage is not None:
            text = codec.to_text(record)
            sequence = self.storage.append(self.name, kind, changed.number, text, time.time(), expected)
            if sequence != self._seen:  # others wrote in between: take everything in the order of the log
                self.refresh()
                return self.rounds[changed.number]
            self._seen += 1
        rounds = self.rounds
        self._keep((*rounds[: changed.number], changed, *rounds[changed.number + 1 :]))
        return changed

    def _keep(self, rounds: tuple[Round, ...]) -> None:
        self.history = replace(self.history, rounds=rounds)
