"""Moves in the order in which a driver wants them: take where agents are too many, bring them nearby."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A station to stop at; x, y: where it is, equal for all if nobody knows. change: below 0 to take agents away."""

    name: str
    x: float
    y: float
    change: int


@dataclass(frozen=True)
class Visit:
    """One stop of the tour; place: None at the depot. change: what is left there (above 0) or taken.

    load: what is in the vehicle when it leaves.
    """

    place: Place | None
    change: int
    load: int


def tour(places: Sequence[Place], vehicle: int) -> list[Visit]:
    """Return the stops of one vehicle that holds so many agents: always the nearest stop where something can be done.

    It begins where most are to be taken. Where nothing else helps (agents that stand nowhere are to be placed, or more
    stand than are planned) it calls at the depot.
    """
    left = {place: place.change for place in places if place.change}
    visits: list[Visit] = []
    here: Place | None = None
    load = 0
    while left:
        useful = [place for place, change in left.items() if (change < 0 and load < vehicle) or (change > 0 < load)]
        if not useful:
            call = min(vehicle, sum(left.values())) if load == 0 else -load
            load += call
            visits.append(Visit(None, -call, load))
            continue
        place = _next(useful, left, here)
        change = min(left[place], load) if left[place] > 0 else max(left[place], load - vehicle)
        load -= change
        left[place] -= change
        if not left[place]:
            del left[place]
        visits.append(Visit(place, change, load))
        here = place
    return [*visits, Visit(None, load, 0)] if load else visits


def _next(useful: list[Place], left: dict[Place, int], here: Place | None) -> Place:
    """Return the first pick-up, or the nearest stop; of equally near ones, that with most to do."""
    if here is None:
        return min(useful, key=lambda place: (left[place], place.name))
    return min(useful, key=lambda place: (_distance(here, place), -abs(left[place]), place.name))


def _distance(one: Place, other: Place) -> float:
    return math.hypot(one.x - other.x, one.y - other.y)
