"""Numbers as people write them: with a point or a comma; what may mean two things is refused."""

import re
from math import isfinite

from mfbo.shown_text import shortened

COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+")
PERHAPS_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
POINT_OF_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")  # perhaps, where commas are decimal ones


def has_decimal_comma(text: str) -> bool:
    """Tell whether the comma of a number can only be a decimal one: that of "2,5" can, that of "1,250" need not."""
    return COMMA_NUMBER.fullmatch(text) is not None and PERHAPS_THOUSANDS.fullmatch(text) is None


def parsed_number(text: str, *, decimal_commas: bool) -> tuple[float | None, str | None]:
    """Return a finite number, or why the text is none; decimal_commas: whether that is what commas are."""
    shown = repr(shortened(text))
    if COMMA_NUMBER.fullmatch(text):
        if not decimal_commas:
            return None, f"{shown} may mean thousands or a decimal comma: write a point, or no separator"
        text = text.replace(",", ".")
    elif decimal_commas and POINT_OF_THOUSANDS.fullmatch(text):
        return None, f"{shown} may mean thousands, as there are decimal commas: write a comma, or no separator"
    try:
        value = None if "_" in text else float(text)  # Python would read 1_000
    except ValueError:
        value = None
    if value is None:
        way_out = ": write 0.85 for 85 %, or 85, every time alike" if text.endswith("%") else ""
        return None, f"{shown} is not a number{way_out}"
    return (value, None) if isfinite(value) else (None, f"{shown} is not finite")
