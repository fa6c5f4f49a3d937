"""From what callers say to what the library takes: CSV texts read, nested placements unfolded."""

from typing import Any

from mfbo.client import wire
from mfbo.csv_reader import SheetText
from mfbo.errors import InvalidInputError, never_asked
from mfbo.own_parts import is_import_path
from mfbo.population import Population
from mfbo.serve.api.words import CreateWords, SeenWords, Words, by_cell
from mfbo.serve.refusals import MissingError
from mfbo.sheets import Faults, read_agents, read_cells, read_placed, read_stations
from mfbo.study import Study, create_study
from mfbo.validation import said as quoted

_CELLS = ("placed", "distribution", "cells", "counts", "fixed", "start")
_OF_POPULATION = ("actions", "contexts", "size", "weights", "capacity", "minimum", "forbidden", "fixed", "move_budget")
_TEXTS = ("stations_csv", "capacity_column", "placed_csv", "start_csv", "agents_csv", "cells_csv")


def arguments(words: Words, *left_out: str) -> dict[str, Any]:
    """Return what was said as arguments of the library."""
    said = words.given(*left_out, *_TEXTS)
    return {key: by_cell(value) if key in _CELLS else value for key, value in said.items()}


def require_plan(study: Study, number: int) -> None:
    """Refuse an address of a plan that the study has not."""
    if not 0 <= number < len(study.rounds):
        raise MissingError(never_asked(number, len(study.rounds)))


def seen(study: Study, number: int, words: SeenWords, *left_out: str) -> dict[str, Any]:
    """Return what was seen of a plan as ``tell`` and ``amend`` take it; refuse with the faults of all files."""
    found, faults = arguments(words, *left_out), Faults()
    planned: Any = study.rounds[number].plan.allocation
    if words.placed_csv is not None:
        _only_once(words, "placed")
        planned = _placed_of(study, words.placed_csv, faults)
        totals = planned.sum(axis=1, keepdims=True)
        if study.population.size is None:
            found["distribution"] = planned / (totals + (totals == 0))
        else:
            found["placed"] = planned
    if words.cells_csv is not None:
        _only_once(words, "cells")
        cells = read_cells(SheetText("the file of cells", words.cells_csv), study.population, planned, faults)
        found |= {"cells": cells.payoffs, "counts": cells.counts}
    if words.agents_csv is not None:
        _only_once(words, "agents")
        found["agents"] = read_agents(SheetText("the file of agents", words.agents_csv), study.population, faults)
    faults.report()
    return found


def counted(study: Study, words: Any, *left_out: str) -> dict[str, Any]:
    """Return what was said with where agents were counted, as values or as CSV text."""
    found = arguments(words, *left_out)
    if words.placed_csv is not None:
        _only_once(words, "placed")
        faults = Faults()
        found["placed"] = _placed_of(study, words.placed_csv, faults)
        faults.report()
    return found


def created(words: CreateWords, storage: Any) -> Study:
    """Make a study; its strategy must be one of the service's own: an import path would run what it names."""
    if is_import_path(words.strategy):
        raise InvalidInputError(f"strategy must be a name from `mfbo strategies`, not {quoted(words.strategy)}")
    population = _population(words)
    settings = arguments(words, "name", "population", "strategy", *_OF_POPULATION)
    for key, text in (("placed", words.placed_csv), ("start", words.start_csv)):
        if text is not None:
            _only_once(words, key)
            settings[key] = read_placed(SheetText(f"the file of {key}", text), population)
    return create_study(population, words.strategy, storage=storage, name=words.name, **settings)


def _population(words: CreateWords) -> Population:
    said = arguments(words, *(set(type(words).model_fields) - set(_OF_POPULATION)))
    given = [key for key in ("population", "actions", "stations_csv") if getattr(words, key) is not None]
    if len(given) != 1:
        raise InvalidInputError(f"give one of population, actions and stations_csv, not {', '.join(given) or 'none'}")
    if words.population is not None:
        if said:
            raise InvalidInputError(f"population says it all: leave out {', '.join(said)}")
        return _recorded(words.population)
    if words.stations_csv is None:
        return Population(said.pop("actions"), **said)
    sheet = SheetText("the file of stations", words.stations_csv)
    stations = read_stations(sheet, capacity=words.capacity_column)
    docks = {} if stations.capacity is None else {"capacity": stations.capacity}
    return Population(stations.actions, **{**docks, **said})


def _recorded(record: Any) -> Population:
    try:
        population = wire.population_of({"closed": (), "all_open": None, **record})
        return population if population.limits is None else population.with_limits(population.limits)
    except InvalidInputError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        what = f"{type(error).__name__}, {error}"
        raise InvalidInputError(f"population is not as GET …/studies/NAME shows one: {what}") from error


def _placed_of(study: Study, text: str, faults: Faults) -> Any:
    return read_placed(SheetText("the file of placed agents", text), study.population, faults)


def _only_once(words: Any, key: str) -> None:
    if getattr(words, key) is not None:
        raise InvalidInputError(f"{key} is given twice: leave out {key} or {key}_csv")
