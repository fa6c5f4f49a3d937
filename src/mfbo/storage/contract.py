"""The contract of a storage: a study is a description and a log of events that only ever grows.

*Events.* Every ask, tell, failure, abandonment, change of lease, correction and change of the study is one event,
appended in one transaction: when ``append`` returns it is kept, and when it raises nothing of it is. ``extend`` does
the same for several at once. Nothing is changed or removed, except a whole study by ``delete``. ``sequence`` counts the
events of a study from 0 without gaps, ``number`` names the round; a change of the whole study has the number −1.

*Rules* (``rules.py``), kept by the storage itself, whoever writes: rounds are numbered 0, 1, 2 … in the order of
asks; a round ends once; only what was told is amended, only what was told or failed is withdrawn, only what was
withdrawn is reinstated; a draft that says what its writer knew (``Draft.known``) is refused if the study was changed
or corrected since. An append that breaks them raises ``ConflictError`` (another was first) or ``RoundStateError`` (told
twice), and the log is unchanged.

*Threads.* All methods may be called from several threads. *Processes.* ``sqlite`` and ``postgresql`` may be used by
any number of processes, after a fork too; ``memory`` belongs to its process. *Ownership.* Texts handed in and out are
plain JSON; no caller can change what is stored by changing an object. Loading never runs code.

*Damage.* Each record carries a SHA-256 checksum of its whole content; a record that does not match, a missing record
or an unreadable file raises ``DamageError``. A store that cannot be reached, or was deleted or replaced under a running
study, raises another ``StorageError``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

EventKind = Literal[
    "asked", "added", "leased", "told", "failed", "abandoned", "amended", "withdrawn", "reinstated", "changed"
]
"""A plan was given; a past day was brought along; a plan changed hands; the three ends of a round; what was told was
corrected, never happened, or did happen after all; and the study itself changed from then on."""


@dataclass(frozen=True)
class Event:
    """One entry of a study's log; body: JSON text, see ``codec``; at: seconds since 1970."""

    sequence: int
    number: int
    kind: EventKind
    body: str
    at: float


@dataclass(frozen=True)
class Draft:
    """An event that is to be stored; its sequence is given by the storage.

    known: the writer knows all events before this sequence; refused if one from there on changes or corrects the study.
    None: it does not matter.
    """

    kind: EventKind
    number: int
    body: str
    at: float
    known: int | None = None


@dataclass(frozen=True)
class StudySummary:
    """What a list of studies says of each; events: entries of its log, by which a change is seen."""

    name: str
    created: float
    rounds: int
    ended: int
    events: int = 0


@dataclass(frozen=True)
class Finding:
    """Something that ``check`` found wrong: in which study (None: in the store itself), and what."""

    study: str | None
    problem: str


class Storage(Protocol):
    """Keeps studies; see the rules at the top of this module."""

    @property
    def address(self) -> str:
        """The address as errors and lists show it, without a password."""
        ...

    def create(self, name: str, description: str) -> None:
        """Add a study with a JSON description; refuse a name that exists."""
        ...

    def studies(self) -> list[StudySummary]:
        """List all studies by name."""
        ...

    def description(self, name: str) -> str:
        """Return the JSON description of a study."""
        ...

    def events(self, name: str, start: int = 0) -> list[Event]:
        """Return the events of a study from sequence ``start`` on."""
        ...

    def append(self, name: str, kind: EventKind, number: int, body: str, at: float, expected: int | None = None) -> int:
        """Add an event and return its sequence; ``expected``: only if it will be this one."""
        ...

    def extend(self, name: str, drafts: Sequence[Draft], expected: int | None = None) -> int:
        """Add several events, all or none, and return the sequence of the first; ``expected``: only if it is this."""
        ...

    def delete(self, name: str) -> None:
        """Remove a study with all its events."""
        ...

    def check(self) -> list[Finding]:
        """Look at everything that is stored; an empty list means that all of it is as it was written."""
        ...

    def close(self) -> None:
        """Let go of files and connections; the next call opens them again."""
        ...
