"""Trip files on the command line: the options that choose days and columns, and the tables made of them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from mfbo.cli.data_options import ALL, parse_box, parse_weeks
from mfbo.errors import InvalidInputError
from mfbo.problems.tables import (
    DemandTable,
    Origin,
    Progress,
    build_bikes,
    build_taxi,
    file_kind,
    load_demand,
    parse_columns,
    parse_grid,
)
from mfbo.problems.tables.provenance import USER_FILES
from mfbo.problems.tables.rawfiles import sources
from mfbo.problems.tables.recipes import ALL_DAYS, NYC_GRIDS, TAXI_DAYS
from mfbo.problems.tables.trip_layouts import layout_of

_POINTS_ONLY = ("box", "grid")
_STATIONS_ONLY = ("stations", "city", "columns")


@dataclass(frozen=True)
class TripChoices:
    """What is chosen of raw trips, the same for `data build` and for `run --data`."""

    box: str | None
    grid: str | None
    weekdays: str | None
    hours: str | None
    first_day: str | None
    weeks: str | None
    method: str | None
    stations: Path | None
    city: str | None
    columns: str | None

    @staticmethod
    def of(options: Any) -> "TripChoices":
        """Take them from the options of a command."""
        return TripChoices(*(getattr(options, field.name) for field in fields(TripChoices)))

    @property
    def chosen(self) -> dict[str, Any]:
        """Those that were chosen, in their order."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def demand_of(problem: str, data: Path, options: TripChoices, progress: Progress) -> DemandTable | Path:
    """Return the demand that a user's file holds, with the options of `mfbo data build`; a table stays a path.

    Bike trips are counted on all days, taxi trips on weekdays from 15:00 to 18:00, unless the options say otherwise.
    """
    kind = None if options.columns is not None else file_kind(data)
    if kind in (None, "bike trips"):
        return stations_table([data], options, ALL_DAYS, progress=progress)
    if kind != "taxi trips":
        if options.chosen:
            flag = next(iter(options.chosen)).replace("_", "-")
            raise InvalidInputError(f"--{flag} chooses among trips, but {data} holds a {kind}; leave it out")
        load_demand(data)
        return data
    if _has_zones(data):
        return stations_table([data], options, TAXI_DAYS, progress=progress)
    _refuse(options, _STATIONS_ONLY, f"{data} holds taxi trips with coordinates")
    chosen: dict[str, Any] = chosen_days(options)
    if options.hours is not None:
        chosen["hours"] = options.hours
    if options.box is not None:
        chosen["box"] = parse_box(options.box)
    grid = parse_grid(options.grid) if options.grid is not None else NYC_GRIDS.get(problem, (12, 20))
    return build_taxi(data, grid=grid, **chosen, progress=progress)


def stations_table(
    raw: Sequence[Path],
    options: TripChoices,
    usual: dict[str, Any],
    *,
    command: str | None = None,
    origin: Origin = USER_FILES,
    progress: Progress | None = None,
) -> DemandTable:
    """Build the demand of stations or zones; ``usual`` holds what is chosen where no option is given."""
    _refuse(options, _POINTS_ONLY, "trips from station to station are not cut into a grid")
    chosen = usual | chosen_days(options)
    if options.hours is not None:
        chosen["hours"] = options.hours
    if options.columns is not None:
        chosen["columns"] = parse_columns(options.columns)
    city = None if options.city == ALL else options.city
    return build_bikes(raw, options.stations, city=city, **chosen, command=command, origin=origin, progress=progress)


def _has_zones(path: Path) -> bool:
    try:
        return any(layout_of(source).zones for source in sources(path))
    except InvalidInputError:
        return False  # points, or nothing that has stations: the builder of grids says what is wrong


def chosen_days(options: Any) -> dict[str, Any]:
    """Return the chosen options on days and method, as the builders take them."""
    plain = {"weekdays": options.weekdays, "first_day": options.first_day, "method": options.method}
    chosen: dict[str, Any] = {option: value for option, value in plain.items() if value is not None}
    return chosen if options.weeks is None else chosen | {"weeks": parse_weeks(options.weeks)}


def _refuse(options: TripChoices, unfit: Sequence[str], why: str) -> None:
    wrong = [option for option in options.chosen if option in unfit]
    if wrong:
        raise InvalidInputError(f"--{wrong[0]} does not fit: {why}")
