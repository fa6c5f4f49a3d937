"""What operators' systems say, for studies: stations and bikes of a GBFS feed, rides of a day's trip file."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from mfbo.cli.output import bytes_progress, counted, say
from mfbo.errors import InvalidInputError
from mfbo.gbfs import Feed, read_gbfs
from mfbo.population import Population
from mfbo.problems.day_rides import DayRides, day_rides
from mfbo.problems.forecasts import RULES, shared_out
from mfbo.problems.tables import Trips, parse_columns, read_trips
from mfbo.problems.tables.days import iso
from mfbo.problems.tables.trip_files import told_record
from mfbo.validation import known_name, said

MOST_NAMED = 20  # oddities of a feed that are said one by one


def feed_population(source: str, size: int | None, move_budget: int | None) -> tuple[Population, dict[str, int] | None]:
    """Return the population of a feed and its current placement; size None takes all bikes the feed has.

    Stations that do not rent keep the bikes that stand there, until a feed says that they rent (``feed_day``) or the
    study is edited.
    """
    feed = _read_feed(source)
    bikes = None if feed.placed is None else sum(feed.placed.values())
    if size is None and not bikes:
        raise InvalidInputError(f"{source} says of no bike where it is; say how many there are with --agents")
    limits: dict[str, Any] = {} if move_budget is None else {"move_budget": move_budget}
    if feed.capacity or feed.closed:
        limits["capacity"] = feed.capacity | feed.closed
    if feed.closed:
        limits["minimum"] = feed.closed
    return Population(feed.columns, size=size or bikes, **limits), feed.placed


def feed_day(source: str, population: Population) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """Return today's bikes by station, for the stations of a study, and what is otherwise today.

    Stations that do not rent keep their bikes; one that did not when the study was made, and does now, has its docks.
    Stations that the study does not have are named, those that the feed does not have refused.
    """
    feed = _read_feed(source)
    if feed.placed is None:
        raise InvalidInputError(f"{source} has no station_status: it does not say where bikes are")
    missing = [name for name in population.actions if name not in feed.placed]
    if missing:
        raise InvalidInputError(f"{source} does not know {said(missing[0])} ({len(missing)} of the study's stations)")
    others = sum(count for name, count in feed.placed.items() if name not in population.actions)
    if others:
        say(f"{others} bikes of the feed stand at stations that are not in the study", error=True)
    return {name: feed.placed[name] for name in population.actions}, _limits_of_day(feed, population)


def _limits_of_day(feed: Feed, population: Population) -> dict[str, dict[str, int]]:
    """Return the capacity and the minimum of stations that are closed in a feed, or no longer closed."""
    limits, docks = population.limits, feed.capacity
    pinned = [] if limits is None else np.array(population.actions)[limits.least == limits.most].tolist()
    capacity, minimum = {}, {}
    for name in (name for name in population.actions if name not in population.closed):
        if name in feed.closed:
            capacity[name] = minimum[name] = feed.closed[name]
        elif name in pinned and name in docks:
            capacity[name], minimum[name] = docks[name], 0
    return {"capacity": capacity, "minimum": minimum} if capacity else {}


def _read_feed(source: str) -> Feed:
    """Read a feed, and name what is odd about it: wrong numbers, stations that are closed or hold too much."""
    feed = read_gbfs(source)
    lines = list(feed.faults)
    lines += [f"{said(name)} has {bikes} bikes at {docks} docks" for name, (bikes, docks) in feed.overfull.items()]
    lines += [
        f"{said(name)} is closed; its bikes stay: {count}" if count else f"{said(name)} is closed"
        for name, count in feed.closed.items()
    ]
    for line in lines[:MOST_NAMED]:
        say(f"feed: {line}", error=True)
    if len(lines) > MOST_NAMED:
        say(f"feed: {len(lines) - MOST_NAMED} more of this kind", error=True)
    return feed


def told_day(path: Path, population: Population, columns: str | None, day: str | None, *, silent: bool) -> DayRides:
    """Return the rides of a day's trip file at the study's stations, and say what was read."""
    trips = given_trips([path], columns, silent=silent)
    rides = day_rides(trips, population.actions, None if day is None else _ordinal(day))
    if rides.elsewhere:
        say(f"{rides.elsewhere} rides started at stations that are not in the study; they are not counted", error=True)
    return rides


def given_trips(paths: Sequence[Path], columns: str | None, *, stations: Path | None = None, silent: bool) -> Trips:
    """Read trip files with a bar, and say what was read, what was skipped and why."""
    label = paths[0].name if len(paths) == 1 else f"{len(paths)} files"
    named = None if columns is None else parse_columns(columns)
    with bytes_progress(label, silent=silent) as advance:
        trips = read_trips(paths, stations, columns=named, progress=advance)
    if not silent:
        first, last = iso(trips.dates[0]), iso(trips.dates[-1])
        told = "; ".join(f"{what}: {count:,}" for what, count in told_record(trips.details))
        say(
            f"{label}: {told}; {counted(len(trips.dates), 'day')} from {first} to {last},"
            f" {counted(len(trips.stations), 'station')}",
            error=True,
        )
    return trips


def forecast(paths: Sequence[Path], population: Population, rule: str, *, silent: bool) -> dict[str, int]:
    """Return the plan that a rule makes of past trips, by station, for a study's stations and fleet.

    Bikes that must stay where they are (at closed stations) do, and the rule shares out the others.
    """
    if population.size is None or population.shape[0] > 1:
        raise InvalidInputError("a forecast places whole agents of one kind: give their number with --agents")
    known_name(rule, "rule", list(RULES))
    trips = given_trips(paths, None, silent=silent)
    shared = [name for name in population.actions if name in trips.stations]
    if not shared:
        raise InvalidInputError(f"no trip of {paths[0]} starts at a station of the study; names must be the same")
    others = len(trips.stations) - len(shared)
    if others and not silent:
        say(f"{others} stations of the trips are not in the study; their trips are left out", error=True)
    limits = population.limits
    weights = dict.fromkeys(population.actions, 0.0) | dict(
        zip(shared, RULES[rule](trips.at(shared)).tolist(), strict=True)
    )
    least = None if limits is None else np.maximum(limits.lower[0], limits.least)
    most = None if limits is None else np.minimum(limits.upper[0], limits.most)
    plan = shared_out(np.array([*weights.values()]), population.size, least, most)
    return dict(zip(population.actions, plan.tolist(), strict=True))


def _ordinal(text: str) -> int:
    try:
        return date.fromisoformat(text).toordinal()
    except ValueError:
        raise InvalidInputError(f"{said(text)} is not a day; write it like 2020-11-30") from None
