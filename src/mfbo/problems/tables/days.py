"""Days and hours of trip records: reading them fast, naming weekdays and hours, choosing consecutive weeks."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from mfbo.errors import InvalidInputError
from mfbo.validation import whole_number

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_ISO = re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})[ T](\d{1,2}):")
_AMERICAN = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4}|\d{2}),? +(\d{1,2}):\d{2}(?::\d{2})? ?([AaPp][Mm])?$")
_KEY = 14  # "2016-02-28 02:" tells the day and the hour, which is all that a demand table needs


class Clock:
    """Reads (day, weekday, hour) from the time stamps of trip files, and remembers the first and the last day.

    Known spellings: ``YYYY-MM-DD HH:MM…``, ``YYYY/MM/DD HH:MM…`` (LouVelo; a ``T`` may stand for the space) and
    ``M/D/YYYY H:MM`` with or without AM/PM (early Bay Area files). Time zones are not applied: all of these files
    give local time. Millions of rows share a few thousand hours, so each hour is parsed once.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int, int]] = {}
        self.first_day: int | None = None
        self.last_day: int | None = None

    def read(self, text: str) -> tuple[int, int, int] | None:
        """Return (day as its proleptic ordinal, weekday with Monday = 0, hour), or None if it cannot be read."""
        moment = self._known.get(text[:_KEY])
        if moment is None:
            text = text.strip()
            key = text[:_KEY]
            moment = self._known.get(key) or self._parse(text)
            if moment is not None and _ISO.match(key):
                self._known[key] = moment
        return moment

    def _parse(self, text: str) -> tuple[int, int, int] | None:
        parts = _date_parts(text)
        if parts is None:
            return None
        year, month, day_of_month, hour = parts
        try:
            day = date(year, month, day_of_month)
        except ValueError:  # the 31st of February: unreadable, and counted as such by the caller
            return None
        if hour > 23:
            return None
        ordinal = day.toordinal()
        self.first_day = ordinal if self.first_day is None else min(self.first_day, ordinal)
        self.last_day = ordinal if self.last_day is None else max(self.last_day, ordinal)
        return ordinal, day.weekday(), hour


def _date_parts(text: str) -> tuple[int, int, int, int] | None:
    found = _ISO.match(text)
    if found:
        year, _, month, day, hour = found.groups()
        return int(year), int(month), int(day), int(hour)
    found = _AMERICAN.match(text)
    if not found:
        return None
    month, day, year, hour, half = found.groups()
    hours = int(hour) if half is None else int(hour) % 12 + 12 * (half.lower() == "pm")
    return int(year) + 2000 * (len(year) == 2), int(month), int(day), hours


def weekday_numbers(days: str | int | Iterable[str | int]) -> tuple[int, ...]:
    """Return weekdays as sorted numbers, Monday = 0: from 5, "saturday", "sat", "mon-fri", "mon,wed" or a list."""
    chosen: set[int] = set()
    for part in days.split(",") if isinstance(days, str) else [days] if isinstance(days, int) else days:
        if isinstance(part, str) and "-" in part:
            first, last = (_weekday(end) for end in part.split("-", 1))
            chosen.update((first + step) % 7 for step in range((last - first) % 7 + 1))
        else:
            chosen.add(_weekday(part))
    if not chosen:
        raise InvalidInputError("weekdays must name at least one day, for example 'mon-fri'")
    return tuple(sorted(chosen))


def _weekday(day: str | int) -> int:
    if isinstance(day, str):
        name = day.strip().lower()
        matches = [number for number, full in enumerate(WEEKDAYS) if len(name) >= 3 and full.startswith(name)]
        if len(matches) == 1:
            return matches[0]
    elif not isinstance(day, bool) and 0 <= day <= 6:
        return int(day)
    raise InvalidInputError(f"{day!r} is not a weekday; give monday … sunday, mon … sun, or 0 (Monday) … 6 (Sunday)")


def hour_numbers(hours: str | int | Iterable[int]) -> tuple[int, ...]:
    """Return hours of the day as sorted numbers: "15-18" is 15:00 up to 18:00, that is 15, 16 and 17."""
    if isinstance(hours, str):
        return _hours_of_text(hours)
    chosen = {hours} if isinstance(hours, int) else set(hours)
    wrong = [hour for hour in chosen if isinstance(hour, bool) or not isinstance(hour, int) or not 0 <= hour <= 23]
    if wrong or not chosen:
        raise InvalidInputError(f"hours must be whole numbers from 0 to 23, not {wrong or 'none at all'}")
    return tuple(sorted(chosen))


def _hours_of_text(text: str) -> tuple[int, ...]:
    chosen: set[int] = set()
    for part in text.split(","):
        found = re.fullmatch(r" *(\d{1,2})(?: *- *(\d{1,2}))? *", part)
        first = int(found[1]) if found else 24
        last = int(found[2]) if found and found[2] else first + 1
        if first > 23 or last > 24 or last == first:
            raise InvalidInputError(f"{part!r} is not a span of hours; write 15-18 for 15:00 up to 18:00")
        chosen.update((first + step) % 24 for step in range((last - first) % 24 or 24))
    return tuple(sorted(chosen))


class Seen(Protocol):
    """Whoever has seen the days of the files: a ``Clock``, for one."""

    first_day: int | None
    last_day: int | None


@dataclass(frozen=True)
class Weeks:
    """Which days a table is made of: some weekdays, of all weeks or of consecutive ones. Make it with ``weeks_of``.

    weekdays: numbers, Monday = 0; first_day: a day's ordinal, or None for the first day with a pickup; weeks: how
    many from there on, or None for all up to the last day with a pickup.
    """

    weekdays: tuple[int, ...]
    first_day: int | None
    weeks: int | None

    def days(self, pickup_days: Sequence[int], seen: Seen) -> tuple[int, ...]:
        """Return the days (ordinals), given those with pickups and who has seen the days of the files.

        Weeks that the files do not cover are refused: a mean over fewer days would be another table.
        """
        if not pickup_days:
            return ()
        start = min(pickup_days) if self.first_day is None else self.first_day
        end = max(pickup_days) if self.weeks is None else start + 7 * self.weeks - 1
        days = tuple(day for day in range(start, end + 1) if (day - 1) % 7 in self.weekdays)  # day 1 was a Monday
        first, last = seen.first_day or 1, seen.last_day or 1
        inside = [day for day in days if first <= day <= last]
        if self.weeks is not None and len(inside) < len(days):
            raise InvalidInputError(
                f"{self.weeks} weeks from {iso(start)} end on {iso(end)}, but the files hold trips from {iso(first)} "
                f"to {iso(last)}: {len(inside)} of {len(days)} days; ask for fewer weeks, start elsewhere, or add files"
            )
        return days

    def as_details(self) -> dict[str, object]:
        """Return the choice of days for a table's details."""
        return {
            "weekdays": [WEEKDAYS[day] for day in self.weekdays],
            "first_day": None if self.first_day is None else iso(self.first_day),
            "weeks": self.weeks,
        }


def weeks_of(weekdays: str | int | Iterable[str | int], first_day: str | date | None, weeks: int | None) -> Weeks:
    """Return a checked choice of days; ``first_day`` as a date or like 2014-05-03."""
    if weeks is not None:
        whole_number(weeks, "weeks", 1, most=10_000)
    if first_day is None or isinstance(first_day, date):
        start = first_day
    else:
        try:
            start = date.fromisoformat(first_day)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(f"first_day must be a day like 2014-05-03, not {first_day!r}") from error
    return Weeks(weekday_numbers(weekdays), None if start is None else start.toordinal(), weeks)


def iso(day: int) -> str:
    """Return a day given as ordinal in the form 2014-05-03."""
    return date.fromordinal(day).isoformat()
