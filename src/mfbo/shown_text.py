"""Texts that others wrote, made harmless where they are shown: on a terminal, in JSON, in a spreadsheet."""

import json
import re
import unicodedata
from typing import Any

LONGEST_SHOWN = 80  # letters of a text of a file in an error

_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))  # controls, marks without a shape, stray halves, line ends
_JOINERS = "\u200c\u200d"  # inside Persian words and some signs; they turn nothing around
_FORMULA = re.compile("'*[=+\\-@\t\r\n＝＋－＠]")
_DEFUSED = re.compile("'+[=+\\-@\t\r\n＝＋－＠]")


def shortened(text: str) -> str:
    """Return the beginning of a text that may be of any length."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def visible(text: str) -> str:
    r"""Return one line in which nothing acts on a terminal: \x1b stands for an escape, \n for a line's end."""
    if text.isprintable():
        return text
    return "".join(_escape(letter) if _is_hidden(letter) else letter for letter in text)


def json_text(record: Any, **options: Any) -> str:
    """Return a record as JSON without a letter that would act on a terminal; it reads back as the same record."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, **options)
    if text.isprintable():
        return text
    return "".join(_json_escape(letter) if _is_hidden(letter) and letter != "\n" else letter for letter in text)


def defused(value: Any) -> Any:
    """Return a field of a table for others: a text that a spreadsheet would run as a formula gets an apostrophe."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def as_written(text: str) -> str:
    """Return the text that ``defused`` took."""
    return text[1:] if text[:1] == "'" and _DEFUSED.match(text) else text


def _is_hidden(letter: str) -> bool:
    return unicodedata.category(letter) in _HIDDEN and letter not in _JOINERS


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape", "surrogatepass").decode("ascii")


def _json_escape(letter: str) -> str:
    return json.dumps(letter)[1:-1]
