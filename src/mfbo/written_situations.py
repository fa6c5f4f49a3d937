"""Situations as people write them in one line: `day=weekend,rain=0.3`, and `day=weekday|weekend,rain=number`."""

from typing import Any

from mfbo.csv_reader import parsed_number
from mfbo.errors import InvalidInputError
from mfbo.situations import Situations, SituationVariable

WRITTEN = "day=weekend,rain=0.3"
DECLARED = "day=weekday|weekend,rain=number,date=time,requests=number:after"


def situation_of_text(text: str | None, situations: Situations | None) -> dict[str, Any] | None:
    """Read what is said of a round; numbers become numbers, a name without a value is unknown."""
    if text is None:
        return None
    found: dict[str, Any] = {}
    for name, value in _pairs(text, "--situation", WRITTEN):
        variable = None if situations is None else situations.by_name.get(name)
        found[name] = None if not value else value_of_text(value, variable)
    return found


def value_of_text(text: str, variable: SituationVariable | None, *, decimal_commas: bool = False) -> str | float:
    """Return a number for a variable that is one and a text that reads so; any other text as it is."""
    if variable is None or variable.kind != "number":
        return text
    if decimal_commas:
        number, _ = parsed_number(text, decimal_commas=True)
        return text if number is None else number
    try:
        return float(text)
    except ValueError:
        return text  # the study says what is wrong with it


def declaration_of_text(text: str | None) -> dict[str, Any] | None:
    """Read a declaration: categories with a bar between them, number or time; `:after` for what is known later."""
    if text is None:
        return None
    declared: dict[str, Any] = {}
    for name, value in _pairs(text, "--situations", DECLARED):
        if name in declared:
            raise InvalidInputError(f"--situations names {name!r} twice")
        kind, _, known = value.partition(":")
        categories = kind.split("|")
        declared[name] = {
            "kind": kind if len(categories) == 1 else [category.strip() for category in categories],
            "known": known.strip() or "before",
        }
    return declared


def _pairs(text: str, option: str, example: str) -> list[tuple[str, str]]:
    pairs = []
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            raise InvalidInputError(f"{option} must look like {example}, not {text!r}")
        pairs.append((name.strip(), value.strip()))
    return pairs
