"""Tables built with the options of the command line; without options, the project's own recipe."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mfbo.cli.data_options import (
    ALL,
    BuildOptions,
    Family,
    family_of,
    parse_box,
    parse_weeks,
    recorded_command,
    table_names,
)
from mfbo.cli.trip_options import stations_table
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


def build_tables(name: str, raw: Sequence[Path], options: BuildOptions, progress: Progress) -> dict[str, Table]:
    """Build the table (for nyc: the three tables) of this name; options have passed ``check_fit``."""
    if not options.given:
        return build_named(name, raw, progress=progress)
    return _BUILDERS[family_of(name)](name, raw, options, progress)


def _taxi(name: str, raw: Sequence[Path], options: BuildOptions, progress: Progress) -> dict[str, Table]:
    names = table_names(name, options)
    grids = [NYC_GRIDS[each] for each in names] if options.grid is None else [parse_grid(options.grid)]
    commands = [recorded_command(each if options.grid is None else name, raw, options) for each in names]
    chosen: dict[str, Any] = _days(options)
    if options.box is not None:
        chosen["box"] = parse_box(options.box)
    if options.hours is not None:
        chosen["hours"] = options.hours
    tables = build_taxi_grids(raw, grids, taxi_filter(**chosen), commands=commands, progress=progress)
    return dict(zip(names, tables, strict=True))


def _bikes(name: str, raw: Sequence[Path], options: BuildOptions, progress: Progress) -> dict[str, Table]:
    if name in OWN_TRIPS:
        usual = TAXI_DAYS if name == "taxi-zones" else ALL_DAYS
        origin = NYC_TLC if name == "taxi-zones" else USER_FILES
        command = recorded_command(name, raw, options)
        return {name: stations_table(raw, options, usual, command=command, origin=origin, progress=progress)}
    given = None if options.stations is None else Path(options.stations)
    trips, stations = trips_and_stations(name, list(raw), given)
    bay_area = name == "bay-area-bike"
    chosen: dict[str, Any] = (_BAY_AREA_DAYS if bay_area else {}) | _days(options)
    chosen |= {} if options.hours is None else {"hours": options.hours}
    chosen |= {} if options.columns is None else {"columns": parse_columns(options.columns)}
    if options.city is not None:
        chosen["city"] = None if options.city == ALL else options.city
    command = recorded_command(name, raw, options)
    origin = BAY_AREA if bay_area else LOUVELO
    return {name: build_bikes(trips, stations, **chosen, command=command, origin=origin, progress=progress)}


def _days(options: BuildOptions) -> dict[str, Any]:
    """Return the given options on days and method, as the builders take them."""
    plain = {"weekdays": options.weekdays, "first_day": options.first_day, "method": options.method}
    chosen: dict[str, Any] = {option: value for option, value in plain.items() if value is not None}
    return chosen if options.weeks is None else chosen | {"weeks": parse_weeks(options.weeks)}


def _ports(name: str, raw: Sequence[Path], options: BuildOptions, progress: Progress) -> dict[str, Table]:
    count = CHOSEN_PORTS if options.count is None else options.count
    seed = whole_number(PORTS_SEED if options.seed is None else options.seed, "seed", 0)
    everything = build_ports(raw, command=recorded_command(name, raw, options), progress=progress)
    return {table_names(name, options)[0]: some_ports(everything, count, seed)}


_BUILDERS: dict[Family, Callable[[str, Sequence[Path], BuildOptions, Progress], dict[str, Table]]] = {
    "taxi": _taxi,
    "bikes": _bikes,
    "ports": _ports,
}
