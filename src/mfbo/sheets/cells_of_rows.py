"""Which cell (context, action) each row of a sheet speaks of, and the values of those cells."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.csv_reader import Sheet
from mfbo.population import Population

STATION = ("station", "action", "name", "place")
CONTEXT = ("context", "type")
COUNT = ("agents", "count")
PAYOFF = ("payoff", "value")
DOCKS = ("docks", "capacity")

Cell = tuple[int, int]  # (context, action), as positions


def cells_of_rows(
    sheet: Sheet,
    population: Population,
    *,
    unique: bool = True,
    columns: Sequence[str] = STATION,
    kind: str = "station",
) -> list[Cell | None]:
    """Return the cell of every row, None where it is unknown.

    unique: whether a cell may have one row only. columns, kind: where its action stands, and what an action is called.
    """
    actions = sheet.positions(sheet.need(*columns), population.actions, kind)
    contexts: Sequence[int | None] = [0] * len(actions)
    if len(population.contexts) > 1 or sheet.find(*CONTEXT) is not None:
        contexts = sheet.positions(sheet.need(*CONTEXT), population.contexts, "context")
    cells: list[Cell | None] = []
    for context, action in zip(contexts, actions, strict=True):
        cells.append(None if context is None or action is None else (context, action))
    if unique:
        sheet.once(cells, None, lambda index: called(population, cells[index], kind))
    return cells


def by_cell(cells: Sequence[Cell | None], values: Sequence[float | None]) -> dict[Cell, float | None]:
    """Return the value of every cell that has a row, None where the row has no value."""
    return {cell: value for cell, value in zip(cells, values, strict=True) if cell is not None}


def with_values(listed: Mapping[Cell, float | None]) -> dict[Cell, float]:
    """Return the cells that have a value."""
    return {cell: value for cell, value in listed.items() if value is not None}


def table_of(values: Mapping[Cell, float], population: Population) -> FloatArray:
    """Return the values as a table (C, A), 0 in cells that have none."""
    table = np.zeros(population.shape)
    for cell, value in values.items():
        table[cell] = value
    return table


def every_cell(population: Population) -> list[Cell]:
    """Return all cells, context by context; without those of closed actions, of which a sheet need not speak."""
    contexts, closed = len(population.contexts), set(population.closed)
    actions = [place for place, name in enumerate(population.actions) if name not in closed]
    return [(context, action) for context in range(contexts) for action in actions]


def need_rows(
    sheet: Sheet, population: Population, wanted: Collection[Cell], listed: Collection[Cell], where: str = ""
) -> None:
    """Note the wanted cells that have no row; where: what asks for them."""
    if not sheet.rows or sheet.faults.lacks(sheet.label):
        return
    for cell in wanted:
        if cell not in listed:
            sheet.faults.add(sheet.label, None, None, f"no row for {called(population, cell)}{where and ' ' + where}")


def called(population: Population, cell: Cell | None, kind: str = "station") -> str:
    """Return what a cell is called in plain words."""
    if cell is None:
        return f"an unknown {kind}"
    context, action = cell
    place = f"{kind} {population.actions[action]!r}"
    return place if len(population.contexts) == 1 else f"{place} in context {population.contexts[context]!r}"
