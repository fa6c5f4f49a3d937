"""Tables built with the options of the command line; without options, the project's own recipe."""

from collections.abc import Callable
from typing import Any

from mfbo.cli.data_commands import Build
from mfbo.cli.data_options import ALL, Family, family_of, parse_box, recorded_command, table_names
from mfbo.cli.trip_options import TripChoices, chosen_days, stations_table
from mfbo.problems.tables import (
    Progress,
    Table,
    build_bikes,
    build_named,
    build_ports,
    build_taxi_grids,
    parse_columns,
    parse_grid,
    taxi_filter,
)
from mfbo.problems.tables.bikes import BAY_AREA, LOUVELO
from mfbo.problems.tables.provenance import USER_FILES
from mfbo.problems.tables.recipes import (
    ALL_DAYS,
    CHOSEN_PORTS,
    NYC_GRIDS,
    OWN_TRIPS,
    PORTS_SEED,
    TAXI_DAYS,
    some_ports,
    trips_and_stations,
)
from mfbo.problems.tables.taxi import NYC_TLC
from mfbo.validation import whole_number

# What the recipe of the Bay Area fixes; an option on the command line goes before it.
_BAY_AREA_DAYS = {"city": "San Francisco", "first_day": "2014-05-03"}


def build_tables(options: Build, progress: Progress) -> dict[str, Table]:
    """Build the table (for nyc: the three tables) of this name; options have passed ``check_fit``."""
    if not options.chosen:
        return build_named(options.name, options.raw, progress=progress)
    return _BUILDERS[family_of(options.name)](options, progress)


def _taxi(options: Build, progress: Progress) -> dict[str, Table]:
    names = table_names(options)
    grids = [NYC_GRIDS[name] for name in names] if options.grid is None else [parse_grid(options.grid)]
    commands = [recorded_command(options, name if options.grid is None else None) for name in names]
    chosen: dict[str, Any] = chosen_days(options)
    if options.box is not None:
        chosen["box"] = parse_box(options.box)
    if options.hours is not None:
        chosen["hours"] = options.hours
    tables = build_taxi_grids(options.raw, grids, taxi_filter(**chosen), commands=commands, progress=progress)
    return dict(zip(names, tables, strict=True))


def _bikes(options: Build, progress: Progress) -> dict[str, Table]:
    if options.name in OWN_TRIPS:
        zones = options.name == "taxi-zones"
        usual, origin = (TAXI_DAYS, NYC_TLC) if zones else (ALL_DAYS, USER_FILES)
        choices, command = TripChoices.of(options), recorded_command(options)
        table = stations_table(options.raw, choices, usual, command=command, origin=origin, progress=progress)
        return {options.name: table}
    trips, stations = trips_and_stations(options.name, list(options.raw), options.stations)
    bay_area = options.name == "bay-area-bike"
    chosen: dict[str, Any] = (_BAY_AREA_DAYS if bay_area else {}) | chosen_days(options)
    if options.hours is not None:
        chosen["hours"] = options.hours
    if options.columns is not None:
        chosen["columns"] = parse_columns(options.columns)
    if options.city is not None:
        chosen["city"] = None if options.city == ALL else options.city
    command = recorded_command(options)
    origin = BAY_AREA if bay_area else LOUVELO
    return {options.name: build_bikes(trips, stations, **chosen, command=command, origin=origin, progress=progress)}


def _ports(options: Build, progress: Progress) -> dict[str, Table]:
    count = CHOSEN_PORTS if options.count is None else options.count
    seed = whole_number(PORTS_SEED if options.seed is None else options.seed, "seed", 0)
    everything = build_ports(options.raw, command=recorded_command(options), progress=progress)
    return {table_names(options)[0]: some_ports(everything, count, seed)}


_BUILDERS: dict[Family, Callable[[Build, Progress], dict[str, Table]]] = {
    "taxi": _taxi,
    "bikes": _bikes,
    "ports": _ports,
}
