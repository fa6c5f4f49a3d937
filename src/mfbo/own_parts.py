"""Strategies and problems of a user's own: by import path ("mypkg.mine:Mine"), or registered by an installed package.

A package registers them as entry points; nothing of it is imported before it is used::

    [project.entry-points."mfbo.strategies"]
    mine = "mypkg.mine:Mine"
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from mfbo.errors import MfboError, UnknownNameError

GROUPS = {"strategy": "mfbo.strategies", "problem": "mfbo.problems"}


def is_import_path(name: Any) -> bool:
    """Tell whether a name says where a part is imported from, "module:attribute"."""
    return isinstance(name, str) and ":" in name


def imported(path: str, kind: str) -> Callable[..., Any]:
    """Return what makes a part: the class or function at an import path."""
    module, _, attribute = path.partition(":")
    try:
        found: Any = import_module(module)
        for name in attribute.split("."):
            found = getattr(found, name)
    except MfboError:  # an optional library is missing, which the error says
        raise
    except Exception as error:  # whatever the user's own module raises
        raise UnknownNameError(
            f"{kind} {path!r} cannot be imported ({type(error).__name__}: {error}); write module:attribute, of an "
            "installed package or of a folder in PYTHONPATH"
        ) from error
    if not callable(found):
        raise UnknownNameError(f"{kind} {path!r} is not a class or a function that makes one")
    maker: Callable[..., Any] = found
    return maker


@cache
def registered(kind: str) -> dict[str, EntryPoint]:
    """Return the parts of a kind that installed packages register; of two with one name, the first package's."""
    found = sorted(entry_points(group=GROUPS[kind]), key=lambda point: (point.name, package_of(point)))
    return {point.name: point for point in reversed(found)}


def package_of(point: EntryPoint) -> str:
    """Return the name of the package that registers an entry point."""
    return "" if point.dist is None else point.dist.name
