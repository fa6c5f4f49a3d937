"""A record of trips: who rode from where to where and when, with the stations they began at."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray, read_only
from mfbo.errors import InvalidInputError
from mfbo.problems.tables.days import iso
from mfbo.problems.tables.demand_table import checked_details
from mfbo.problems.tables.moments import DAY_SECONDS
from mfbo.validation import as_numbers, said, unique_names

ELSEWHERE = -1  # the destination of a trip that ends at no station of the table, or not at all


@dataclass(frozen=True, eq=False)
class Trips:
    """n trips between A stations, in order of day and time.

    stations: names (A). coordinates: longitude and latitude (A, 2), or None where the files do not say. days: the day
    of the start as its ordinal (n,). starts, ends: seconds since that day's midnight (n,); the end is NaN if there is
    none, and may lie on a later day. origins, destinations: positions in ``stations`` (n,), −1 for a destination that
    is none of them. details: what was read and skipped, and why.
    """

    stations: tuple[str, ...]
    coordinates: FloatArray | None
    days: IntArray
    starts: FloatArray
    origins: IntArray
    ends: FloatArray
    destinations: IntArray
    details: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        names = unique_names(self.stations, "stations")
        count = len(self.days)
        if not count:
            raise InvalidInputError("there are no trips")
        columns = {name: as_numbers(getattr(self, name), name) for name in _COLUMNS}
        for name, values in columns.items():
            _check_column(name, values, count, len(names))
        order = np.lexsort((columns["starts"], columns["days"]))
        for name, values in columns.items():
            kind = np.int64 if name in _WHOLE else np.float64
            object.__setattr__(self, name, read_only(values[order], kind))
        object.__setattr__(self, "stations", names)
        object.__setattr__(self, "details", checked_details(self.details))
        if self.coordinates is not None:
            places = as_numbers(self.coordinates, "coordinates")
            if places.shape != (len(names), 2):
                raise InvalidInputError(f"coordinates must have shape ({len(names)}, 2), not {places.shape}")
            object.__setattr__(self, "coordinates", read_only(places))

    def __len__(self) -> int:
        return len(self.days)

    @cached_property
    def dates(self) -> tuple[int, ...]:
        """The days with a trip, as ordinals, in order."""
        return tuple(np.unique(self.days).tolist())

    def on(self, days: Iterable[int]) -> "Trips":
        """Return the trips of some days (ordinals) between the same stations."""
        chosen = np.isin(self.days, np.fromiter(days, dtype=np.int64))
        if not chosen.any():
            first, last = iso(self.dates[0]), iso(self.dates[-1])
            raise InvalidInputError(f"no trip is on one of these days; there are trips from {first} to {last}")
        return replace(self, **{name: getattr(self, name)[chosen] for name in _COLUMNS})

    def between(self, first: str | date, last: str | date) -> "Trips":
        """Return the trips of the days from ``first`` to ``last``, both included."""
        start, end = _ordinal(first), _ordinal(last)
        return self.on(day for day in self.dates if start <= day <= end)

    def at(self, stations: Sequence[str]) -> "Trips":
        """Return the trips that start at some stations, which become the stations in this order."""
        names = unique_names(stations, "stations")
        missing = [name for name in names if name not in self.stations]
        if missing:
            raise InvalidInputError(f"no trip starts at {said(missing[0])}; leave it out, or check its name")
        positions = np.array([self.stations.index(name) for name in names])
        renumbered = np.full(len(self.stations) + 1, ELSEWHERE)  # the last entry is what −1 finds
        renumbered[positions] = np.arange(len(names))
        columns = {name: getattr(self, name) for name in _COLUMNS}
        columns |= {"origins": renumbered[self.origins], "destinations": renumbered[self.destinations]}
        inside = columns["origins"] >= 0
        places = None if self.coordinates is None else self.coordinates[positions]
        chosen = {name: values[inside] for name, values in columns.items()}
        return Trips(names, places, **chosen, details=self.details)


_COLUMNS = ("days", "starts", "origins", "ends", "destinations")
_WHOLE = ("days", "origins", "destinations")


def _check_column(name: str, values: FloatArray, count: int, stations: int) -> None:
    if values.shape != (count,):
        raise InvalidInputError(f"{name} must have shape ({count},), one for each trip, not {values.shape}")
    least, most = {
        "days": (1, date.max.toordinal()),
        "starts": (0, np.nextafter(DAY_SECONDS, 0)),
        "origins": (0, stations - 1),
        "ends": (-np.inf, np.inf),
        "destinations": (ELSEWHERE, stations - 1),
    }[name]
    wrong = ~((values >= least) & (values <= most))
    if name == "ends":
        wrong &= ~np.isnan(values)
    if name in _WHOLE:
        wrong |= values != np.floor(values)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise InvalidInputError(f"{name}: entry {at} is {values[at]:g}, but must lie between {least:g} and {most:g}")


def _ordinal(day: str | date) -> int:
    if isinstance(day, date):
        return day.toordinal()
    try:
        return date.fromisoformat(day).toordinal()
    except (TypeError, ValueError):
        raise InvalidInputError(f"{said(day)} is not a day; write it like 2020-11-30") from None
