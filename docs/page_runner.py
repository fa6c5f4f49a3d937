"""Run a page's blocks as its reader would: files are written, Python and commands run, and what they show is kept.

A block ```` ```text stations.csv ```` is a file of that name; ``python`` blocks share their names, and the last
expression is shown as in a notebook; of ``console`` blocks the lines ``$ mfbo …`` are run. `docs/conf.py` puts what
they show below the blocks of a page, figures included, and tests/integration runs the same pages.
"""

import ast
import io
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from mfbo.cli import main
from mfbo.plotting import save_figure

BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Shown:
    """What one block of a page shows: text, perhaps none, and the files of its figures."""

    text: str = ""
    figures: tuple[Path, ...] = ()


def run_page(source: str, folder: Path) -> list[Shown]:
    """Run all blocks of a Markdown page in a folder, and return what each of them shows."""
    names: dict[str, Any] = {"__name__": "page"}
    shown = []
    with chdir(folder), _importable(folder):
        for number, (kind, name, code) in enumerate(BLOCK.findall(source)):
            if name:
                Path(name).write_text(code, encoding="utf-8")
                shown.append(Shown())
            elif kind == "python":
                shown.append(_python(code, names, folder / f"figure-{number}"))
            else:
                shown.append(_commands(code) if kind == "console" else Shown())
    return shown


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let the page import the modules that it writes."""
    sys.path.insert(0, str(folder))
    before = set(sys.modules)
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]


def _python(code: str, names: dict[str, Any], picture: Path) -> Shown:
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with redirect_stdout(printed):
        exec(compile(tree, "page", "exec"), names)  # noqa: S102 – the page's own code
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "page", "eval"), names)  # noqa: S307
    if isinstance(value, Figure):
        return Shown(printed.getvalue(), (save_figure(value, picture)[1],))
    return Shown(printed.getvalue() + ("" if value is None else f"{value!r}\n"))


def _commands(block: str) -> Shown:
    """Run ``$ mfbo …`` lines; the block shows what they print, and the pictures that they name."""
    printed = io.StringIO()
    for line in re.findall(r"^\$ mfbo (.*)$", block, flags=re.MULTILINE):
        with redirect_stdout(printed), redirect_stderr(printed):
            try:
                main(shlex.split(line, comments=True))
            except SystemExit as end:
                if end.code:
                    raise RuntimeError(f"mfbo {line}\n{printed.getvalue()}") from end
    figures = re.findall(r"^picture: (.*\.svg)$", printed.getvalue(), flags=re.MULTILINE)
    return Shown(printed.getvalue(), tuple(Path(figure).resolve() for figure in figures))
