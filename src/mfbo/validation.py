"""The one place that checks what users hand in; private functions trust what has passed here."""

import difflib
import math
from collections.abc import Iterable, Sequence
from itertools import islice
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError, UnknownNameError

Word = TypeVar("Word", bound=str)

SUM_TOLERANCE = 1e-6
EXACT_SUM = 1e-12
LARGEST_DEVIATION = 1e150
LARGEST_FEATURE = 1e150
SMALLEST_SHARE = 1e-15  # one agent of the largest population
LONGEST_SAID = 120  # letters of a value in an error
MOST_VALUES = 10_000_000
LARGEST_POPULATION = 10**15  # beyond it a float64 share no longer tells single agents apart


def said(value: Any) -> str:
    """Return a value as an error names it: briefly, even if it is huge or cannot say itself."""
    try:
        text = repr(value)
    except Exception:  # whatever a user's own class raises, or an integer of 5,000 digits
        return f"a {type(value).__name__}"
    return text if len(text) <= LONGEST_SAID else f"{text[:LONGEST_SAID]}…"


def listed(values: Any, name: str) -> list[Any]:
    """Return what is in a list, an array, a generator; refuse what cannot be gone through, or has no end."""
    try:
        found = list(islice(iter(values), MOST_VALUES + 1))
    except Exception as error:  # whatever a user's own class raises
        raise InvalidInputError(f"{name} must be a list, not {said(values)} ({error})") from error
    if len(found) > MOST_VALUES:
        raise InvalidInputError(f"{name} has more than {MOST_VALUES:,} values, or no end")
    return found


def is_missing(value: Any) -> bool:
    """Say whether a value is None, NaN, or another way in which data frames say that there is none."""
    try:
        return value is None or bool(value != value)
    except Exception:  # pandas' NA is neither equal to itself nor unequal
        return True


def plain_text(value: Any, name: str) -> str:
    """Return a text that every storage can keep."""
    if not isinstance(value, str):
        raise InvalidInputError(f"{name} must be text, not {said(value)}")
    if "\0" in value or not _is_unicode(value):
        raise InvalidInputError(f"{name} must be text without null or stray bytes, not {said(value)}")
    return str(value)


def carried_text(value: Any) -> str:
    """Return anything as a text that every storage can keep: stray bytes of foreign file names are written out."""
    try:
        text = str(value)
    except Exception:  # whatever a user's own class raises
        text = said(value)
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", r"\x00")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def finite_number(value: Any, name: str) -> float:
    """Return ``value`` as a float, or refuse NaN, infinities, text, booleans and arrays."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise InvalidInputError(f"{name} must be a number, not {said(value)}")
    try:
        number = float(value)
    except OverflowError:
        raise InvalidInputError(f"{name} must be a number of usual size, not a whole number this large") from None
    except Exception as error:  # whatever a user's own class raises
        raise InvalidInputError(f"{name} must be a number, not {said(value)} ({error})") from error
    if not math.isfinite(number):
        raise InvalidInputError(f"{name} must be finite, not {number}")
    return number


def whole_number(value: Any, name: str, least: int, most: int = LARGEST_POPULATION) -> int:
    """Return ``value`` as an int between ``least`` and ``most``."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidInputError(f"{name} must be a whole number, not {said(value)}")
    number = int(value)
    if not least <= number <= most:
        raise InvalidInputError(f"{name} must be between {least} and {most:.0e}, not {said(number)}")
    return number


def non_negative(value: Any, name: str) -> float:
    """Return ``value`` as a finite float that is at least zero."""
    number = finite_number(value, name)
    if number < 0:
        raise InvalidInputError(f"{name} must be at least 0, not {number}")
    return number


def standard_deviation(value: Any, name: str) -> float:
    """Return a standard deviation: at least 0, and its square a number."""
    number = non_negative(value, name)
    if number > LARGEST_DEVIATION:
        raise InvalidInputError(f"{name} must be below {LARGEST_DEVIATION:g}, not {number:g}: choose another unit")
    return number


def positive(value: Any, name: str) -> float:
    """Return ``value`` as a finite float above zero."""
    number = finite_number(value, name)
    if number <= 0:
        raise InvalidInputError(f"{name} must be above 0, not {number}")
    return number


def number_array(values: Any, name: str, shape: tuple[int, ...]) -> FloatArray:
    """Return ``values`` as a finite float array of exactly this shape."""
    array = as_numbers(values, name)
    if array.shape != shape:
        raise InvalidInputError(f"{name} must have shape {shape}, not {array.shape}")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InvalidInputError(f"{name} must be finite, but entry {where} is {array[where]}")
    return array


def feature_array(values: Any, name: str, shape: tuple[int, ...]) -> FloatArray:
    """Return features of this shape, whose differences and squares are numbers."""
    array = number_array(values, name, shape)
    if array.size and np.abs(array).max() > LARGEST_FEATURE:
        raise InvalidInputError(
            f"{name} must be below {LARGEST_FEATURE:g} in size, not {np.abs(array).max():g}: choose another unit"
        )
    return array


def as_numbers(values: Any, name: str) -> FloatArray:
    """Return ``values`` as a float array of any shape, or refuse text and ragged tables."""
    try:
        with np.errstate(over="ignore"):  # what is too large for a float becomes infinite, and is refused as that
            return np.array(values, dtype=np.float64)
    except Exception as error:  # text, ragged rows, integers of 400 digits, whatever a user's own class raises
        raise InvalidInputError(f"{name} must hold numbers only, in a table of full rows: {error}") from error


def distribution_array(values: Any, name: str, contexts: int, actions: int) -> FloatArray:
    """Return a (C, A) distribution: at least 0, each row summing to 1 (one row may be given flat)."""
    if contexts == 1 and np.shape(as_numbers(values, name)) == (actions,):
        values = [values]
    checked = number_array(values, name, (contexts, actions))
    if (checked < 0).any():
        where = tuple(int(i) for i in np.argwhere(checked < 0)[0])
        raise InvalidInputError(f"{name} must be at least 0, but entry {where} is {checked[where]}")
    with np.errstate(over="ignore"):
        sums = checked.sum(axis=1)
    if (np.abs(sums - 1) > SUM_TOLERANCE).any():
        row = int(np.argmax(np.abs(sums - 1)))
        raise InvalidInputError(f"{name}: each row must sum to 1, but row {row} sums to {sums[row]:.9g}")
    exact = (np.abs(sums - 1) <= EXACT_SUM).all()  # dividing again would change bits of what was already checked
    return checked if exact else np.asarray(checked / sums[:, None])


def share_array(values: Any, name: str, count: int) -> FloatArray:
    """Return ``count`` positive shares that sum to 1."""
    shares = number_array(values, name, (count,))
    if (shares <= SMALLEST_SHARE).any():
        least = 0 if shares.min() <= 0 else SMALLEST_SHARE
        raise InvalidInputError(
            f"{name} must all be above {least:g}, not {shares.min():.6g}; leave out a context nobody has"
        )
    with np.errstate(over="ignore"):
        total = shares.sum()
    if abs(total - 1) > SUM_TOLERANCE:
        raise InvalidInputError(f"{name} must sum to 1, not {total:.9g}")
    return np.asarray(shares / shares.sum())


def unique_names(values: Iterable[Any], name: str) -> tuple[str, ...]:
    """Return names as strings: at least one, none empty, none twice."""
    found = listed(values, name)
    for position, value in enumerate(found):
        if is_missing(value):
            raise InvalidInputError(f"{name}: the name at position {position} is missing ({said(value)})")
        if isinstance(value, bytes | bytearray | memoryview):
            raise InvalidInputError(f"{name}: the name at position {position} is bytes, not text: decode it first")
    names = tuple(_name(value, f"{name}: the name at position {position}") for position, value in enumerate(found))
    if not names:
        raise InvalidInputError(f"{name} must not be empty")
    seen: set[str] = set()
    for position, text in enumerate(names):
        if not text.strip():
            raise InvalidInputError(f"{name}: the name at position {position} is empty")
        if text in seen:
            raise InvalidInputError(f"{name} must be unique, but {said(text)} appears twice")
        seen.add(text)
    return names


def _name(value: Any, what: str) -> str:
    try:
        text = str(value)
    except Exception as error:  # whatever a user's own class raises
        raise InvalidInputError(f"{what} cannot be said: {error}") from error
    if not _is_unicode(text):
        raise InvalidInputError(f"{what}, {said(text)}, has a stray byte that is not a letter: mend the encoding")
    return text


def place_of(value: Any, kind: str, names: Sequence[str]) -> int:
    """Return the position of what a user calls by name or by position: a text is a name, a whole number a position.

    The two never meet: the position 2 is the third name even if another is called "2".
    """
    if isinstance(value, str):
        return list(names).index(known_name(value, kind, names))
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)  # arrays of numbers hold positions as floats
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise UnknownNameError(f"unknown {kind} {said(value)}: give a name (text) or a position (whole number)")
    position = int(value)
    if not 0 <= position < len(names):
        is_name = 0 <= position < LARGEST_POPULATION and str(position) in names
        hint = f"; for the name write {str(position)!r}" if is_name else ""
        raise InvalidInputError(f"{kind} index must be between 0 and {len(names) - 1}, not {said(position)}{hint}")
    return position


def by_label(values: Any) -> Any:
    """Return a data frame's column as the mapping that its labels make, if they are names; anything else as it is."""
    labels = getattr(values, "index", None)
    if labels is None or callable(labels) or not hasattr(values, "to_list"):
        return values
    keys = list(labels)
    if not any(isinstance(key, str | tuple) for key in keys):
        return values  # numbered rows: their order counts
    if len(set(keys)) < len(keys):
        twice = next(key for position, key in enumerate(keys) if key in keys[:position])
        raise InvalidInputError(f"the label {said(twice)} of the column is there twice")
    return dict(zip(keys, values.to_list(), strict=True))


def known_name(value: Any, kind: str, names: Sequence[Word]) -> Word:
    """Return ``value`` if it is one of ``names``; otherwise say which one was probably meant."""
    if isinstance(value, str) and value in names:
        return names[names.index(value)]
    close = difflib.get_close_matches(value[:LONGEST_SAID], names, n=1) if isinstance(value, str) else []
    hint = f"did you mean {close[0]!r}?" if close else f"known: {_shortened(names)}"
    raise UnknownNameError(f"unknown {kind} {said(value)}; {hint}")


def _shortened(names: Sequence[str], most: int = 12) -> str:
    listed = ", ".join(names[:most])
    return listed if len(names) <= most else f"{listed}, … ({len(names)} in all)"
