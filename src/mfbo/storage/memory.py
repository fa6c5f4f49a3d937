"""Studies in the memory of one process: for tests, and for trying things out."""

import threading
import time
from collections.abc import Sequence

from mfbo.errors import InvalidInputError
from mfbo.storage.contract import Draft, Event, EventKind, Finding, StudySummary
from mfbo.storage.rules import END, UNSETTLING, check_expected, check_known, next_step
from mfbo.validation import known_name


class MemoryStorage:
    """Keeps studies until it is dropped."""

    address = "memory"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._studies: dict[str, tuple[str, float]] = {}
        self._events: dict[str, list[Event]] = {}
        self._steps: dict[str, dict[int, list[tuple[int, str]]]] = {}  # of each study, by round
        self._unsettled: dict[str, int] = {}  # the sequence of each study's last change or correction

    def create(self, name: str, description: str) -> None:
        """Add a study; refuse a name that exists."""
        with self._lock:
            if name in self._studies:
                raise InvalidInputError(f"the study {name!r} already exists in {self.address}; choose another name")
            self._studies[name] = (description, time.time())
            self._events[name] = []
            self._steps[name] = {}
            self._unsettled[name] = -1

    def studies(self) -> list[StudySummary]:
        """List all studies by name."""
        with self._lock:
            found = []
            for name in sorted(self._studies):
                steps = self._steps[name]
                ended = sum(last == END or kind == "added" for taken in steps.values() for last, kind in taken)
                made, events = self._studies[name][1], len(self._events[name])
                found.append(StudySummary(name, made, _rounds(steps), ended, events))
            return found

    def description(self, name: str) -> str:
        """Return the JSON description of a study."""
        with self._lock:
            return self._studies[self._known(name)][0]

    def events(self, name: str, start: int = 0) -> list[Event]:
        """Return the events of a study from sequence ``start`` on."""
        with self._lock:
            return self._events[self._known(name)][start:]

    def append(self, name: str, kind: EventKind, number: int, body: str, at: float, expected: int | None = None) -> int:
        """Add an event and return its sequence; ``expected``: only if it will be this one."""
        return self.extend(name, [Draft(kind, number, body, at)], expected)

    def extend(self, name: str, drafts: Sequence[Draft], expected: int | None = None) -> int:
        """Add several events, all or none, and return the sequence of the first."""
        with self._lock:
            log, steps = self._events[self._known(name)], self._steps[name]
            check_expected(expected, len(log))
            changed: dict[int, list[tuple[int, str]]] = {}
            rounds, unsettled = _rounds(steps), self._unsettled[name]
            for sequence, draft in enumerate(drafts, start=len(log)):
                check_known(draft.known, unsettled)
                earlier = changed.get(draft.number, steps.get(draft.number, []))
                step = next_step(draft.kind, draft.number, rounds, earlier)
                changed[draft.number] = [*earlier, (step, draft.kind)]
                rounds += step == 0
                unsettled = sequence if draft.kind in UNSETTLING else unsettled
            steps.update(changed)
            self._unsettled[name] = unsettled
            first = len(log)
            log += [Event(first + n, draft.number, draft.kind, draft.body, draft.at) for n, draft in enumerate(drafts)]
            return first

    def delete(self, name: str) -> None:
        """Remove a study with all its events."""
        with self._lock:
            del self._studies[self._known(name)], self._events[name], self._steps[name], self._unsettled[name]

    def check(self) -> list[Finding]:
        """Find nothing wrong: memory has no file that could be damaged."""
        return []

    def close(self) -> None:
        """Keep everything: there is nothing to let go of."""

    def _known(self, name: str) -> str:
        return known_name(name, "study", sorted(self._studies))


def _rounds(steps: dict[int, list[tuple[int, str]]]) -> int:
    return sum(number >= 0 for number in steps)
