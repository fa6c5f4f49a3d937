"""Settings written into a name: "mf-gp-ucb(multiplier=2)". They are the plain fields of the dataclass behind it."""

import math
import re
from dataclasses import fields, replace
from types import UnionType
from typing import Any, Literal, NewType, Union, get_args, get_origin, get_type_hints

from mfbo.errors import InvalidInputError, UnknownNameError

ImportPath = NewType("ImportPath", str)
"""A setting that says where something of the user's own is imported from, "module:attribute"."""

_NAME = re.compile(r"\s*([^()\s]+)\s*(?:\(([^()]*)\))?\s*")


def split_name(text: str) -> tuple[str, str | None]:
    """Return the name and what stands in parentheses behind it; a text that is not like this is all name."""
    found = _NAME.fullmatch(text)
    return (text, None) if found is None else (found[1], found[2])


def _read(name: str, text: str) -> dict[str, str]:
    settings: dict[str, str] = {}
    for part in text.split(","):
        key, equals, value = (side.strip() for side in part.partition("="))
        if not (key and equals and value) or key in settings:
            raise InvalidInputError(
                f"settings of {name} must be like (multiplier=2, kernel=joint), each once, not ({text})"
            )
        settings[key] = value
    return settings


def with_settings(made: Any, text: str) -> Any:
    """Return the strategy with these settings, which become part of its name in alphabetical order."""
    settings = _read(made.name, text)
    hints = {key: kinds for key, kinds in _setting_kinds(made).items() if kinds}
    values: dict[str, Any] = {}
    for key in sorted(settings):
        if key not in hints:
            raise UnknownNameError(f"{made.name} has no setting {key!r}; it has: {', '.join(hints) or 'none'}")
        values[key] = _setting(f"{key} of {made.name}", settings[key], hints[key])
    written = ",".join(f"{key}={_written(value)}" for key, value in values.items())
    return replace(made, **values, name=f"{made.name}({written})")


def _setting_kinds(made: Any) -> dict[str, tuple[Any, ...]]:
    """Return for every field what a text for it can be: bool, int, float, an import path, or one of some words."""
    hints = get_type_hints(type(made))
    settable = [field.name for field in fields(made) if field.init and field.name != "name"]
    return {name: tuple(kind for kind in _alternatives(hints[name]) if _is_simple(kind)) for name in settable}


def _alternatives(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) is Literal:
        return get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        return tuple(kind for part in get_args(hint) for kind in _alternatives(part))
    return (hint,)


def _is_simple(kind: Any) -> bool:
    return kind in (bool, int, float, ImportPath) or isinstance(kind, str)


def _setting(what: str, text: str, kinds: tuple[Any, ...]) -> Any:
    if text in kinds:
        return text
    if bool in kinds and text in ("true", "false"):
        return text == "true"
    if ImportPath in kinds and ":" in text:
        return ImportPath(text)
    for kind in (int, float):
        try:
            number = kind(text) if kind in kinds else math.nan
            finite = math.isfinite(number)
        except (ValueError, OverflowError):
            continue
        if finite and number >= 0:
            return number + 0  # -0 is another writing of 0
    wanted: dict[Any, str] = {bool: "true or false", int: "a whole number from 0", float: "a number from 0"}
    wanted[ImportPath] = "an import path (module:attribute)"
    named = " or ".join(wanted.get(kind, repr(kind)) for kind in kinds)
    raise InvalidInputError(f"{what} must be {named}, not {text!r}")


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value}".removesuffix(".0")
