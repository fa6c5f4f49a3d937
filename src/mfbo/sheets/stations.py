"""Who is placed, from an operator's sheets: stations with coordinates and docks, types of agents with their weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mfbo.csv_reader import Faults, Sheet, SheetSource, at_least, collected, read_sheet, whole, within_degrees
from mfbo.population import Population
from mfbo.sheets.cells_of_rows import CONTEXT, COUNT, STATION

DEGREES = {"longitude": 180.0, "latitude": 90.0}
COORDINATES = {"longitude": ("lon", "lng", "long"), "latitude": ("lat",), "x": (), "y": ()}


@dataclass(frozen=True)
class Stations:
    """The rows of a list of stations.

    names: (A,). features: columns of numbers (A,) by name. capacity: the most agents that each station holds, None
    where the sheet does not say; None instead of all of them if no column was asked for.
    """

    names: tuple[str, ...]
    features: Mapping[str, tuple[float, ...]]
    capacity: tuple[float | None, ...] | None

    @property
    def actions(self) -> Any:
        """What a population takes as its actions: names, or columns with the names among them."""
        return {"name": self.names, **self.features} if self.features else self.names


def read_stations(
    path: SheetSource,
    *,
    features: str | None = None,
    capacity: str | None = None,
    name_column: str | None = None,
    faults: Faults | None = None,
) -> Stations:
    """Read a row for each station.

    features: columns that make stations alike, with commas between them; coordinates if nothing is said. capacity:
    the column with the most agents a station holds. name_column: where the names stand, if not in one called name,
    station, action or place. faults: where to note what is wrong; without it, it is raised.
    """
    with collected(faults) as found:
        sheet = read_sheet(path, found)
        names = _names(sheet, ("name", *STATION) if name_column is None else (name_column.casefold(),))
        columns = {label: _feature(sheet, label, column) for label, column in _feature_columns(sheet, features).items()}
        docks = None
        if capacity is not None:
            docks = tuple(sheet.numbers(sheet.need(capacity.casefold()), at_least(0.0), whole, gaps=True))
    complete = {label: tuple(value for value in values if value is not None) for label, values in columns.items()}
    return Stations(names, complete, docks)


def read_contexts(
    path: SheetSource, *, name_column: str | None = None, faults: Faults | None = None
) -> dict[str, float]:
    """Read the types of agents with their weights, scaled to sum to 1; columns name, weight.

    name_column: where the names stand, if the file has that column. faults: as in ``read_stations``.
    """
    with collected(faults) as found:
        sheet = read_sheet(path, found)
        names = _names(sheet, (*(() if name_column is None else (name_column.casefold(),)), "name", *CONTEXT))
        weights = sheet.numbers(sheet.need("weight", "share", *COUNT), at_least(0.0))
        for line, weight in zip(sheet.lines, weights, strict=True):
            if weight == 0:
                found.add(sheet.label, line, "weight", "is 0: leave out a type that nobody has")
    total = sum(weight for weight in weights if weight is not None) or 1.0
    return {name: weight / total for name, weight in zip(names, weights, strict=False) if weight is not None}


def read_population(
    stations: SheetSource,
    contexts: SheetSource | None = None,
    size: int | None = None,
    *,
    features: str | None = None,
    capacity: str | None = None,
    move_budget: int | None = None,
    name_column: str | None = None,
) -> Population:
    """Read stations, and types of agents; refuse with all faults of both files at once.

    size: agents to place; None: shares only. move_budget: the most agents that may move in a round. The others as in
    ``read_stations`` and ``read_contexts``.
    """
    with collected(None) as faults:
        read = read_stations(stations, features=features, capacity=capacity, name_column=name_column, faults=faults)
        weights = None if contexts is None else read_contexts(contexts, name_column=name_column, faults=faults)
    return Population(read.actions, weights, size, capacity=read.capacity, move_budget=move_budget)


def _feature_columns(sheet: Sheet, features: str | None) -> dict[str, str]:
    """Return the columns of the features by name: those asked for, or coordinates if the file has them."""
    if features is not None:
        wanted = [name.strip().casefold() for name in features.split(",") if name.strip()]
        found = {name: sheet.need(name) for name in wanted}
    else:
        found = {name: sheet.find(name, *others) for name, others in COORDINATES.items()}
    return {name: column for name, column in found.items() if column is not None}


def _feature(sheet: Sheet, label: str, column: str | None) -> list[float | None]:
    """Return the numbers of a feature; longitudes and latitudes must be on the map."""
    meant = next((name for name, others in COORDINATES.items() if label in (name, *others)), label)
    return sheet.numbers(column, *([within_degrees(DEGREES[meant])] if meant in DEGREES else []))


def _names(sheet: Sheet, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names in the first of these columns, each once."""
    column = sheet.need(*columns, way_out="; --name-column COLUMN says which holds the names")
    names = sheet.texts(column)
    sheet.once(names, column, lambda index: repr(names[index]))
    return tuple(name for name in names if name is not None)


@dataclass(frozen=True)
class NewStations:
    """Stations that open: their features by name, None where a study's stations have none, and what each holds.

    capacity: the most agents of each by name, None where the sheet does not say; empty if no column was asked for.
    """

    features: dict[str, list[float] | None]
    capacity: dict[str, int | None]


def read_new_stations(path: SheetSource, population: Population, *, capacity: str | None = None) -> NewStations:
    """Read stations that open: their names, and the features that the study's stations have.

    capacity: the column with the most agents a station holds.
    """
    with collected(None) as faults:
        sheet = read_sheet(path, faults)
        names = sheet.texts(sheet.need(*STATION))
        sheet.once(names, None, lambda index: f"station {names[index]!r}")
        columns = [_feature(sheet, feature, sheet.need(feature)) for feature in population.feature_names]
        docks: list[float | None] = []
        if capacity is not None:
            docks = sheet.numbers(sheet.need(capacity.casefold()), at_least(0.0), whole, gaps=True)
    rows: list[Any] = [list(row) for row in zip(*columns, strict=True)] if columns else [None] * len(names)
    features = {name: row for name, row in zip(names, rows, strict=True) if name is not None}
    held = zip(names, docks, strict=False)
    return NewStations(features, {name: None if most is None else int(most) for name, most in held if name})
