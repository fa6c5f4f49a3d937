"""What a day's trips say of the plan that was played: rides started, in all and at each station."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.errors import InvalidInputError
from mfbo.problems.tables.days import iso
from mfbo.problems.tables.trip_table import Trips
from mfbo.validation import known_name, said

DAY_MEASURES = ("rides", "minutes")


@dataclass(frozen=True, eq=False)
class DayRides:
    """Rides of one day. day: its ordinal. started, arrived: per action (A,). elsewhere: rides from other stations.

    minutes: ridden from the study's stations, as far as rides have an end.
    """

    day: int
    started: IntArray
    arrived: IntArray
    elsewhere: int
    minutes: float

    def payoff(self, measure: str = "rides") -> float:
        """Return all rides that started at a station of the study, or the minutes that they took."""
        known_name(measure, "measure", DAY_MEASURES)
        return self.minutes if measure == "minutes" else float(self.started.sum())


@dataclass(frozen=True, eq=False)
class StationHints:
    """What stations saw, as ``study.tell`` takes it beside a payoff: rides per bike placed there, (1, A).

    A station without bikes saw none of its own: NaN, as cells say it. counts: the bikes behind each.
    """

    cells: FloatArray
    counts: FloatArray


def station_hints(started: IntArray, bikes: IntArray) -> StationHints:
    """Return the hints of rides that started (A,) where so many bikes (A,) were placed in the morning."""
    counts = bikes[None].astype(np.float64)
    return StationHints(np.where(counts > 0, started / np.maximum(counts, 1.0), np.nan), counts)


def day_rides(trips: Trips, actions: Sequence[str], day: int | None = None) -> DayRides:
    """Count the rides of a day at the study's actions, by name; ``day`` (ordinal) is needed if there are several."""
    if day is None and len(trips.dates) > 1:
        first, last = iso(trips.dates[0]), iso(trips.dates[-1])
        raise InvalidInputError(
            f"the trips are of {len(trips.dates)} days, {first} to {last};"
            " say which day the plan was played on (--day, or day=)"
        )
    one = trips if day is None else trips.on([day])
    places = {name: place for place, name in enumerate(actions)}
    position = np.array([*(places.get(name, -1) for name in one.stations), -1])  # the last entry is what −1 finds
    started, arrived = position[one.origins], position[one.destinations]
    if not (started >= 0).any():
        raise InvalidInputError(
            f"no trip starts at a station of the study: the trips have {said(one.stations[0])}, the study has "
            f"{said(actions[0])}; names must be the same"
        )
    here, there = (np.bincount(where[where >= 0], minlength=len(actions)) for where in (started, arrived))
    lengths = np.nan_to_num(np.maximum(one.ends - one.starts, 0.0))[started >= 0]
    return DayRides(one.dates[0], here, there, int((started < 0).sum()), float(lengths.sum() / 60))
