"""The way of one `ask` and one `tell` through the code: files, functions, depth, and hops back and forth.

    python benchmarks/walk.py                             # swarm, population payoffs, the seventh round
    python benchmarks/walk.py --feedback cells --list     # every function on the way too, file by file

A function counts once however often it is called. What stands inside another function (a comprehension, a lambda, a
pullback) is read with that function and counts as a part of it: so the count is the same on every version of Python.
Constructors that dataclasses write do not count. Depth is the most frames of mfbo on the stack at once. A hop goes from
a function of one file to a function of another; it is a hop back if the file it leads to is still waiting for an answer
further down the stack. Both are counted once for each pair of files. Nothing is measured in seconds: the machine does
not matter.
"""

import argparse
import contextlib
import csv
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import mfbo
from mfbo.cli.app import app
from mfbo.problems import FeedbackKind, Observer
from mfbo.study import create_study

PACKAGE = str(Path(mfbo.__file__).parent) + os.sep
STATIONS = 12


@dataclass
class Walk:
    """What a call went through: (file, function) pairs, pairs of files, the most frames at once."""

    functions: set[tuple[str, str]] = field(default_factory=set)
    hops: set[tuple[str, str]] = field(default_factory=set)
    hops_back: set[tuple[str, str]] = field(default_factory=set)
    depth: int = 0

    @property
    def files(self) -> set[str]:
        """The files on the way."""
        return {file for file, _ in self.functions}

    def enter(self, stack: list[str], file: str, function: str) -> None:
        """Note a call of a function while functions of these files wait."""
        self.functions.add((file, function))
        self.depth = max(self.depth, len(stack) + 1)
        if stack and stack[-1] != file:
            self.hops.add((stack[-1], file))
            if file in stack:
                self.hops_back.add((stack[-1], file))


@contextlib.contextmanager
def walked() -> Iterator[Walk]:
    """Note every function of mfbo that is called inside."""
    walk = Walk()
    stack: list[str] = []

    def look(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(PACKAGE):
            return
        if event == "return":
            if stack:
                stack.pop()
            return
        file = code.co_filename.removeprefix(PACKAGE)
        walk.enter(stack, file, code.co_qualname.split(".<locals>")[0])
        stack.append(file)

    sys.setprofile(look)
    try:
        yield walk
    finally:
        sys.setprofile(None)


def in_python(problem_name: str, feedback: str, strategy: str, rounds: int) -> dict[str, Walk]:
    """Return the walks of ask and tell in a study of the library."""
    problem = mfbo.make_problem(problem_name)
    observer = Observer(problem, FeedbackKind.parse(feedback))
    study = create_study(problem.population, strategy)
    for _ in range(rounds - 1):
        plan = study.ask()
        study.tell(plan, observer(plan))
    with walked() as asking:
        plan = study.ask()
    seen = observer(plan)
    with walked() as telling:
        study.tell(plan, seen)
    return {"ask": asking, "tell": telling}


def on_command_line(strategy: str, rounds: int) -> dict[str, Walk]:
    """Return the walks of `mfbo study ask` and `mfbo study tell`, told population payoffs; imports are done before."""
    with tempfile.TemporaryDirectory() as folder:
        stations, store = Path(folder) / "stations.csv", f"sqlite:///{Path(folder) / 'walk.db'}"
        with stations.open("w", newline="", encoding="utf-8") as opened:
            table = csv.writer(opened)
            table.writerows([("name", "x", "y"), *((f"s{n}", n % 4, n // 4) for n in range(STATIONS))])
        where = ["--storage", store]
        settings = ["--actions", str(stations), "--agents", "60", "--strategy", strategy]
        _command(["study", "create", "walk", *settings, *where])
        ask = ["study", "ask", "walk", *where]
        for number in range(rounds - 1):
            _command(ask)
            _command(["study", "tell", "walk", "--plan", str(number), "--payoff", str(number % 5), *where])
        with walked() as asking:
            _command(ask)
        with walked() as telling:
            _command(["study", "tell", "walk", "--plan", str(rounds - 1), "--payoff", "7", *where])
    return {"mfbo study ask": asking, "mfbo study tell": telling}


def _command(words: list[str]) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        app(words, standalone_mode=False)


def describe(name: str, walk: Walk, *, every_function: bool) -> None:
    """Print one walk."""
    print(
        f"{name}: {len(walk.files)} files, {len(walk.functions)} functions, depth {walk.depth}, "
        f"{len(walk.hops)} hops, {len(walk.hops_back)} of them back"
    )
    for left, led_to in sorted(walk.hops_back):
        print(f"    back: {left} → {led_to}")
    if every_function:
        for file in sorted(walk.files):
            print(f"    {file}: {', '.join(sorted(function for at, function in walk.functions if at == file))}")


def main() -> None:
    """Print the four walks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problem", default="swarm")
    parser.add_argument("--feedback", default="system", help="system, cells or agents:N; the command line tells system")
    parser.add_argument("--strategy", default="default")
    parser.add_argument("--round", type=int, default=7, help="which round is looked at, counted from 1")
    parser.add_argument("--list", action="store_true", help="print every function")
    options = parser.parse_args()
    walks = in_python(options.problem, options.feedback, options.strategy, options.round)
    walks |= on_command_line(options.strategy, options.round)
    for name, walk in walks.items():
        describe(name, walk, every_function=options.list)


if __name__ == "__main__":
    main()
