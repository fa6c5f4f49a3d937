"""How commands speak: tables and progress for people, JSON for programs."""

import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mfbo.errors import MfboWarning
from mfbo.shown_text import json_text, visible

PLAIN_STEPS = 10
STANDARD_OUTPUT = Path("-")


def print_json(record: Any) -> None:
    """Print one JSON value on standard output."""
    print(json_text(record))


def say(line: str, *, error: bool = False) -> None:
    """Print one line of text, on standard error if it is not a result; names in it cannot act on the terminal."""
    print(visible(line), file=sys.stderr if error else sys.stdout, flush=error)


def counted(number: int, one: str) -> str:
    """Return so many of something in words: 1 round, 2 rounds."""
    return f"{number} {one}{'s' * (number != 1)}"


def write_out(out: Path, content: bytes) -> None:
    """Write what --out asks for: a whole file, or standard output for "-"."""
    from mfbo.whole_files import write_whole_file

    if out != STANDARD_OUTPUT:
        check_out(out)
        write_whole_file(out, content)
    elif sys.stdout.isatty():
        for line in content.decode().split("\n")[:-1]:
            say(line)
    else:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()


def check_out(out: Path) -> None:
    """Refuse what cannot be written before any work is done."""
    from mfbo.storage.recognition import refuse_store
    from mfbo.whole_files import writable_target

    if out != STANDARD_OUTPUT:
        refuse_store(writable_target(out))


class SpokenNotes(logging.Handler):
    """What the library warns of or logs as an error while a command runs, on standard error, each once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Say it."""
        self.say(record.getMessage())

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Say what is warned of and logged inside; other libraries' warnings go where they went before."""
        shown, logger = warnings.showwarning, logging.getLogger("mfbo")

        def say(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, MfboWarning):
                self.say(str(message))
            else:
                shown(message, category, *place, **more)

        with warnings.catch_warnings():
            warnings.simplefilter("always", MfboWarning)
            warnings.showwarning = say
            logger.addHandler(self)
            try:
                yield
            finally:
                logger.removeHandler(self)

    def say(self, note: str) -> None:
        """Say a note that was not said before."""
        if note not in self._said:
            self._said.add(note)
            print_note(note, silent=False)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table; numbers are right-aligned."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        numeric = all(isinstance(row[index], int | float) for row in rows)
        table.add_column(visible(column), justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(shown(value) for value in row))
    console = Console(markup=False, emoji=False)  # names in brackets are names
    if not console.is_terminal:  # a pipe or a file has no width to wrap at
        console = Console(width=200, markup=False, emoji=False)
    words = title.lstrip("\n")
    above = title[: len(title) - len(words)]
    console.print(above + visible(words), style="bold", soft_wrap=True)  # a table's own title would wrap at its width
    console.print(table)


def print_note(note: str, *, silent: bool) -> None:
    """Print what a user should know of a problem, in one line on standard error."""
    if note and not silent:
        say(f"note: {note}", error=True)


def shown(value: Any) -> str:
    """Return a value as a table shows it."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return visible(str(value))


@contextmanager
def progress(
    label: str, total: int, *, silent: bool, unit: str = "round", value: str = "best"
) -> Iterator[Callable[[int, float], None]]:
    """Give a callback (done, value): a bar on a terminal, a few plain lines otherwise, nothing when silent.

    unit: what is counted. value: what the value is; none is shown if it has no name. All of it goes to standard error.
    """
    if silent:
        yield lambda done, best: None
    elif sys.stderr.isatty():
        with _bar(label, total, value) as advance:
            yield advance
    else:
        yield lambda done, reached: _plain_line(label, total, done, f", {value} {reached:.6g}" if value else "", unit)


@contextmanager
def _bar(label: str, total: int, value: str) -> Iterator[Callable[[int, float], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn(value and f"{value} {{task.fields[reached]:.6g}}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(visible(label), total=total, reached=float("nan"))
        yield lambda done, reached: bar.update(task, completed=done, reached=reached)


def _plain_line(label: str, total: int, done: int, reached: str, unit: str) -> None:
    if done % max(total // PLAIN_STEPS, 1) == 0 or done == total:
        say(f"{label}: {unit} {done} of {total}{reached}", error=True)


@contextmanager
def bytes_progress(label: str, *, silent: bool) -> Iterator[Callable[[int, int], None]]:
    """Give a callback (bytes read, bytes in all) for the reading of files; shown where and how ``progress`` is."""
    if silent:
        yield lambda done, total: None
    elif sys.stderr.isatty():
        with _bytes_bar(label) as advance:
            yield advance
    else:
        yield _PlainBytes(label)


@contextmanager
def _bytes_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(visible(label), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class _PlainBytes:
    """One line on standard error for each tenth of the bytes."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._tenths = 0

    def __call__(self, done: int, total: int) -> None:
        tenths = PLAIN_STEPS * done // max(total, 1)
        if tenths > self._tenths:
            self._tenths = tenths
            say(f"{self._label}: read {done / 1e6:.1f} of {total / 1e6:.1f} MB", error=True)


@contextmanager
def runs_progress(label: str, *, silent: bool) -> Iterator[Callable[[int, int, Any], None]]:
    """Give a callback (runs done, runs in all, last record) for a benchmark; shown where and how ``progress`` is."""
    if silent:
        yield lambda done, total, record: None
    elif sys.stderr.isatty():
        with _runs_bar(label) as advance:
            yield advance
    else:
        yield _PlainRuns(label)


@contextmanager
def _runs_bar(label: str) -> Iterator[Callable[[int, int, Any], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", markup=False),
        TextColumn("{task.fields[last]}", markup=False),
    )
    clock = _TimeLeft()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(visible(label), total=None, left="", last="")

        def advance(done: int, total: int, record: Any) -> None:
            last = "" if record is None else visible(record.label)
            bar.update(task, completed=done, total=total, left=clock(done, total), last=last)

        yield advance


class _PlainRuns:
    """One line on standard error for each run."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._clock = _TimeLeft()

    def __call__(self, done: int, total: int, record: Any) -> None:
        left = self._clock(done, total)
        if record is None:
            text = f"{self._label}: {done} of {total} runs found finished"
        else:
            state = "" if record.state == "done" else ", FAILED"
            took = f"({record.seconds:.1f} s)"
            text = f"{self._label}: {done} of {total}, {record.label}{state} {took}{left and ', ' + left}"
        say(text, error=True)


class _TimeLeft:
    """The time left if the runs to come are like those of this session; those found finished took none."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._found: int | None = None

    def __call__(self, done: int, total: int) -> str:
        if self._found is None:
            self._found = done
        played = done - self._found
        if played == 0 or done == total:
            return ""
        left = (time.monotonic() - self._started) / played * (total - done)
        return f"{left / 60:.0f} min left" if left >= 90 else f"{left:.0f} s left"
