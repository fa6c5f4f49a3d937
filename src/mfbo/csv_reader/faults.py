"""What is wrong with users' files: noted by line and column while they are read, and reported all at once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from mfbo.errors import FaultyFileError

MOST_FAULTS = 40

Reason = str | Callable[[], str]


@dataclass(frozen=True)
class Fault:
    """One fault; line and column are None where it is not that of a line or a column.

    reason: what is wrong, or what finds it out when it is shown, if that takes time.
    """

    file: str
    line: int | None
    column: str | None
    reason: Reason
    lacks_column: bool = False

    @property
    def order(self) -> tuple[str, bool, bool, int]:
        """Where it is said: a missing column first, the cause of much else; a file as a whole after its lines."""
        return self.file, not self.lacks_column, self.line is None, self.line or 0

    def __str__(self) -> str:
        place = "" if self.line is None else f", line {self.line}"
        place += "" if self.column is None else f", column {self.column!r}"
        return f"{self.file}{place}: {self.reason if isinstance(self.reason, str) else self.reason()}"


@dataclass
class Faults:
    """What is wrong with some files, until somebody asks."""

    found: list[Fault] = field(default_factory=list)
    _without_column: set[str] = field(default_factory=set)
    _of_lines: set[Fault] = field(default_factory=set)

    def add(self, file: str, line: int | None, column: str | None, reason: Reason) -> None:
        """Note a fault."""
        self.found.append(Fault(file, line, column, reason))

    def add_once(self, file: str, line: int, reason: str) -> None:
        """Note what is wrong with a line as a whole, however often it is found."""
        fault = Fault(file, line, None, reason)
        if fault not in self._of_lines:
            self._of_lines.add(fault)
            self.found.append(fault)

    def lack(self, file: str, reason: str) -> None:
        """Note that a file lacks a column it needs."""
        self._without_column.add(file)
        self.found.append(Fault(file, None, None, reason, lacks_column=True))

    def lacks(self, file: str) -> bool:
        """Say whether a column is missing, so that what the rows lack is not a fault of its own."""
        return file in self._without_column

    def report(self) -> None:
        """Raise one error with all faults, if there are any, in the order of the lines."""
        if self.found:
            raise self.error()

    def error(self) -> FaultyFileError:
        """Return the error that says them all, or the first of very many."""
        ordered = sorted(self.found, key=lambda fault: fault.order)
        lines = [str(fault) for fault in ordered[:MOST_FAULTS]]
        more = [f"… and {len(ordered) - MOST_FAULTS} more faults"] if len(ordered) > MOST_FAULTS else []
        return FaultyFileError((*lines, *more))


@contextmanager
def collected(faults: Faults | None) -> Iterator[Faults]:
    """Give the faults to note in: the caller's, who reports those of several files together, or else new ones.

    New ones are reported at the end, if nothing was raised before.
    """
    found = Faults() if faults is None else faults
    yield found
    if faults is None:
        found.report()
