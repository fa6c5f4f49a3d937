"""How commands speak: tables and progress for people, JSON for programs."""

import json as jsonlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

PLAIN_STEPS = 10


def print_json(record: Any) -> None:
    """Print one JSON value on standard output."""
    print(jsonlib.dumps(record, ensure_ascii=False))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table; numbers are right-aligned."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        numeric = all(isinstance(row[index], int | float) for row in rows)
        table.add_column(column, justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(shown(value) for value in row))
    console = Console()
    if not console.is_terminal:  # a pipe or a file has no width to wrap at
        console = Console(width=200)
    console.print(table)


def shown(value: Any) -> str:
    """Return a value as a table shows it."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


@contextmanager
def progress(label: str, total: int, *, silent: bool) -> Iterator[Callable[[int, float], None]]:
    """Give a callback (done, best value): a bar on a terminal, a few plain lines otherwise, nothing when silent.

    All of it goes to standard error.
    """
    if silent:
        yield lambda done, best: None
    elif sys.stderr.isatty():
        with _bar(label, total) as advance:
            yield advance
    else:
        yield lambda done, best: _plain_line(label, total, done, best)


@contextmanager
def _bar(label: str, total: int) -> Iterator[Callable[[int, float], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("best {task.fields[best]:.6g}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total, best=float("nan"))
        yield lambda done, best: bar.update(task, completed=done, best=best)


def _plain_line(label: str, total: int, done: int, best: float) -> None:
    if done % max(total // PLAIN_STEPS, 1) == 0 or done == total:
        print(f"{label}: round {done} of {total}, best {best:.6g}", file=sys.stderr, flush=True)
