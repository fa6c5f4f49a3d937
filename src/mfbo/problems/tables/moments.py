"""Moments of trip records, to the second, in every spelling; dates with slashes are read month first and day first."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray

DAY_SECONDS = 86_400
UNREADABLE = float("nan")

_CLOCK = r"(\d{1,2}):(\d{2})(?::(\d{2}(?:[.,]\d*)?))?"
_ISO = re.compile(rf"(\d{{4}})([-/])(\d{{1,2}})\2(\d{{1,2}})[ T]+{_CLOCK}")
_SLASHED = re.compile(rf"(\d{{1,2}})([/.-])(\d{{1,2}})\2(\d{{4}}|\d{{2}}),? +{_CLOCK} ?([AaPp][Mm])?$")


class Moments:
    """Reads columns of time stamps as seconds since the day 0 of ``date.toordinal``; local time, no zones applied.

    Known spellings: ``YYYY-MM-DD HH:MM[:SS[.ffff]]`` (also with slashes, or a ``T``), and ``M/D/YYYY H:MM[:SS]`` with
    or without AM/PM, or day first. Which of the two comes first a single stamp often does not tell, so both readings
    are returned; the caller decides when the whole file has been seen. Between points the day comes first.
    """

    def __init__(self) -> None:
        self._days: dict[str, int] = {}  # '2020-11-30' → seconds at its midnight
        self._slashed: dict[tuple[str, str, str], tuple[float, float]] = {}

    def column(self, texts: Sequence[Any]) -> tuple[FloatArray, FloatArray | None]:
        """Return (month-first reading (n,), day-first reading (n,) or None if no stamp has one); NaN: unreadable."""
        days, values = self._days, []
        other: dict[int, float] = {}
        for text in texts:
            try:
                hour, minute, second = int(text[11:13]), int(text[14:16]), float(text[17:] or 0)
                if not (hour < 24 and minute < 60 and 0 <= second < 61 and text[13] == ":"):
                    raise ValueError  # the slow way decides
                values.append(days[text[:10]] + 3600 * hour + 60 * minute + second)
            except (KeyError, ValueError, TypeError, IndexError):
                first, last = self._read(text)
                if last is not None:
                    other[len(values)] = last
                values.append(first)
        month_first = np.array(values, dtype=np.float64)
        if not other:
            return month_first, None
        day_first = month_first.copy()
        day_first[list(other)] = list(other.values())
        return month_first, day_first

    def _read(self, value: Any) -> tuple[float, float | None]:
        """Return one stamp's (month-first reading, day-first reading or None if the spelling leaves no choice)."""
        text = "" if value is None else str(value).strip()
        found = _ISO.match(text)
        if found:
            year, _, month, day, hour, minute, second = found.groups()
            midnight = _midnight(int(year), int(month), int(day))
            if midnight == midnight:
                self._days[text[:10]] = int(midnight)
            return midnight + _seconds(hour, minute, second), None
        found = _SLASHED.match(text)
        if not found:
            return UNREADABLE, None
        one, sign, two, year, *clock = found.groups()
        if sign == ".":
            one, two = two, one
        key = (one, two, year)
        if key not in self._slashed:
            full = int(year) + 2000 * (len(year) == 2)
            self._slashed[key] = _midnight(full, int(one), int(two)), _midnight(full, int(two), int(one))
        seconds = _seconds(*clock)
        month_first, day_first = self._slashed[key]
        if sign == ".":
            return month_first + seconds, None
        return month_first + seconds, day_first + seconds


def _midnight(year: int, month: int, day: int) -> float:
    try:
        return float(date(year, month, day).toordinal() * DAY_SECONDS)
    except ValueError:  # the 31st of February: unreadable, and counted as such by the caller
        return UNREADABLE


def _seconds(hour: str, minute: str, second: str | None, half: str | None = None) -> float:
    hours = int(hour) if half is None else int(hour) % 12 + 12 * (half.lower() == "pm")
    if hours > 23 or int(minute) > 59:
        return UNREADABLE
    return 3600.0 * hours + 60.0 * int(minute) + (float(second.replace(",", ".")) if second else 0.0)
