"""What was counted and seen, from an operator's sheets: placements, payoffs by cell, payoffs of single agents."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.csv_reader import Faults, Sheet, SheetSource, at_least, collected, read_sheet, whole
from mfbo.population import Population
from mfbo.sheets.cells_of_rows import (
    COUNT,
    DOCKS,
    PAYOFF,
    STATION,
    Cell,
    by_cell,
    called,
    cells_of_rows,
    every_cell,
    need_rows,
    table_of,
    with_values,
)


@dataclass(frozen=True)
class CellPayoffs:
    """Mean payoffs by cell (context, action), only where somebody was seen, as ``study.tell(cells=…)`` takes them.

    counts: how many agents are behind each; None if the sheet does not say.
    """

    payoffs: dict[Cell, float]
    counts: dict[Cell, float] | None


def read_placed(path: SheetSource, population: Population, faults: Faults | None = None) -> FloatArray:
    """Read whole agents (C, A); every station must have its row, with 0 where nobody is.

    faults: where to note what is wrong; without it, it is raised.
    """
    with collected(faults) as found:
        sheet = read_sheet(path, found)
        cells = cells_of_rows(sheet, population)
        listed = by_cell(cells, sheet.numbers(sheet.need(*COUNT), at_least(0.0), whole))
        need_rows(sheet, population, every_cell(population), listed)
        table = table_of(with_values(listed), population)
        for context, total in zip(population.contexts, table.sum(axis=1), strict=True):
            if sheet.rows and total <= 0 and not found.found:
                found.add(sheet.label, None, None, f"nobody is placed in context {context!r}")
    return table


def read_docks(path: SheetSource, population: Population, faults: Faults | None = None) -> dict[str, int]:
    """Read how many agents each station holds; every station must have its row, and rows of others are passed over.

    faults: as in ``read_placed``.
    """
    with collected(faults) as found:
        sheet = read_sheet(path, found)
        names = sheet.texts(sheet.need(*STATION))
        docks = sheet.numbers(sheet.need(*DOCKS, called="'docks' or 'capacity'"), at_least(0.0), whole)
        sheet.once(names, None, lambda index: f"station {names[index]!r}")
        places = {name: (0, place) for place, name in enumerate(population.actions)}
        need_rows(sheet, population, every_cell(population), [places[name] for name in names if name in places])
    listed = zip(names, docks, strict=True)
    return {name: int(count) for name, count in listed if name in places and count is not None}


def read_cells(
    path: SheetSource, population: Population, planned: Any = None, faults: Faults | None = None
) -> CellPayoffs:
    """Read mean payoffs by cell, and how many agents are behind each if the sheet says so.

    planned: the plan's agents (C, A): where it has some, a row must be there, if only with an empty payoff. faults: as
    in ``read_placed``.
    """
    with collected(faults) as found:
        sheet = read_sheet(path, found)
        cells = cells_of_rows(sheet, population)
        listed = by_cell(cells, sheet.numbers(sheet.need(*PAYOFF), gaps=True))
        payoffs = with_values(listed)
        counts = _counts(sheet, cells, payoffs)
        if planned is not None:
            wanted = [(context, action) for context, action in np.argwhere(np.asarray(planned) > 0).tolist()]
            need_rows(sheet, population, wanted, listed, "where the plan has agents")
        if sheet.rows and not payoffs and not found.found:
            found.add(sheet.label, None, "payoff", "no payoff at all")
    return CellPayoffs(payoffs, counts)


def too_many_seen(seen: CellPayoffs, population: Population, placed: Any) -> str:
    """Say where more agents were seen than were placed (C, A); empty if nowhere, or if either is not known."""
    if placed is None:
        return ""
    for cell, count in (seen.counts or {}).items():
        if count > placed[cell]:
            return f"{called(population, cell)}: {count:g} agents were seen, and {placed[cell]:g} were placed"
    return ""


def _counts(sheet: Sheet, cells: list[Cell | None], payoffs: dict[Cell, float]) -> dict[Cell, float] | None:
    column = sheet.find(*COUNT)
    if column is None:
        return None
    counts = with_values(by_cell(cells, sheet.numbers(column, at_least(0.0), gaps=True)))
    for cell, line in zip(cells, sheet.lines, strict=True):
        if cell in payoffs and not counts.get(cell):
            sheet.faults.add(sheet.label, line, column, "is 0, though a payoff was seen")
    return counts


def read_agents(
    path: SheetSource, population: Population, faults: Faults | None = None
) -> list[tuple[int, int, float]]:
    """Read (context, action, payoff) of single agents, one a row, as ``study.tell(agents=…)`` takes them."""
    with collected(faults) as found:
        sheet = read_sheet(path, found)
        cells = cells_of_rows(sheet, population, unique=False)
        payoffs = sheet.numbers(sheet.need(*PAYOFF))
    seen = zip(cells, payoffs, strict=True)
    return [(*cell, payoff) for cell, payoff in seen if cell is not None and payoff is not None]
