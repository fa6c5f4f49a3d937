"""The one place that checks what users hand in; private functions trust what has passed here."""

import difflib
import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError, UnknownNameError

SUM_TOLERANCE = 1e-6
EXACT_SUM = 1e-12
LARGEST_DEVIATION = 1e150
LARGEST_POPULATION = 10**15  # beyond it a float64 share no longer tells single agents apart


def finite_number(value: Any, name: str) -> float:
    """Return ``value`` as a float, or refuse NaN, infinities, text, booleans and arrays."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise InvalidInputError(f"{name} must be a number, not {value!r}")
    try:
        number = float(value)
    except OverflowError:
        raise InvalidInputError(f"{name} must be a number of usual size, not a whole number this large") from None
    if not math.isfinite(number):
        raise InvalidInputError(f"{name} must be finite, not {number}")
    return number


def whole_number(value: Any, name: str, least: int, most: int = LARGEST_POPULATION) -> int:
    """Return ``value`` as an int between ``least`` and ``most``."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidInputError(f"{name} must be a whole number, not {value!r}")
    number = int(value)
    if not least <= number <= most:
        raise InvalidInputError(f"{name} must be between {least} and {most:.0e}, not {number}")
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


def as_numbers(values: Any, name: str) -> FloatArray:
    """Return ``values`` as a float array of any shape, or refuse text and ragged tables."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{name} must hold numbers only, in a table of full rows: {error}") from error


def distribution_array(values: Any, name: str, contexts: int, actions: int) -> FloatArray:
    """Return a (C, A) distribution: at least 0, each row summing to 1 (one row may be given flat)."""
    if contexts == 1 and np.shape(as_numbers(values, name)) == (actions,):
        values = [values]
    checked = number_array(values, name, (contexts, actions))
    if (checked < 0).any():
        where = tuple(int(i) for i in np.argwhere(checked < 0)[0])
        raise InvalidInputError(f"{name} must be at least 0, but entry {where} is {checked[where]}")
    sums = checked.sum(axis=1)
    if (np.abs(sums - 1) > SUM_TOLERANCE).any():
        row = int(np.argmax(np.abs(sums - 1)))
        raise InvalidInputError(f"{name}: each row must sum to 1, but row {row} sums to {sums[row]:.9g}")
    exact = (np.abs(sums - 1) <= EXACT_SUM).all()  # dividing again would change bits of what was already checked
    return checked if exact else np.asarray(checked / sums[:, None])


def share_array(values: Any, name: str, count: int) -> FloatArray:
    """Return ``count`` positive shares that sum to 1."""
    shares = number_array(values, name, (count,))
    if (shares <= 0).any():
        raise InvalidInputError(f"{name} must all be above 0, not {shares.min():.6g}; leave out a context nobody has")
    if abs(shares.sum() - 1) > SUM_TOLERANCE:
        raise InvalidInputError(f"{name} must sum to 1, not {shares.sum():.9g}")
    return np.asarray(shares / shares.sum())


def unique_names(values: Iterable[Any], name: str) -> tuple[str, ...]:
    """Return names as strings: at least one, none empty, none twice."""
    given = tuple(values)
    for position, value in enumerate(given):
        if value is None or value != value:  # NaN is how data frames say that a name is missing
            raise InvalidInputError(f"{name}: the name at position {position} is missing ({value})")
    names = tuple(str(value) for value in given)
    if not names:
        raise InvalidInputError(f"{name} must not be empty")
    seen: set[str] = set()
    for position, each in enumerate(names):
        if not each.strip():
            raise InvalidInputError(f"{name}: the name at position {position} is empty")
        if each in seen:
            raise InvalidInputError(f"{name} must be unique, but {each!r} appears twice")
        seen.add(each)
    return names


def known_name(value: Any, kind: str, names: Sequence[str]) -> str:
    """Return ``value`` if it is one of ``names``; otherwise say which one was probably meant."""
    if value in names:
        return str(value)
    close = difflib.get_close_matches(str(value), names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known: {_shortened(names)}"
    raise UnknownNameError(f"unknown {kind} {value!r}; {hint}")


def _shortened(names: Sequence[str], most: int = 12) -> str:
    listed = ", ".join(names[:most])
    return listed if len(names) <= most else f"{listed}, … ({len(names)} in all)"
