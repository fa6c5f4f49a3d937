"""What users tell, checked: payoffs, agents, cells, counts, assignments."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray, read_only
from mfbo.errors import InvalidInputError
from mfbo.population import Population, cells_by_name
from mfbo.validation import (
    LARGEST_POPULATION,
    as_numbers,
    finite_number,
    listed,
    number_array,
    said,
)

LARGEST_PAYOFF = 1e150  # its square must still be a number
FEWEST_COUNTED = 1e-6  # a mean over fewer agents says nothing, and its noise would not be a number
PAYOFF_COLUMNS = ("payoff", "cell_payoff")  # of a data frame of cells
COUNT_COLUMNS = ("count", "agents")

AgentPayoffs = tuple[tuple[int, int, float], ...]


def read_feedback(
    population: Population, payoff: Any, agents: Any, cells: Any, counts: Any
) -> tuple[float | None, AgentPayoffs, FloatArray | None, FloatArray | None]:
    """Return payoff, agents, cells and counts as ``Feedback`` keeps them, or refuse them all."""
    if payoff is None and agents is None and cells is None:
        raise InvalidInputError("nothing was told: give payoff=, agents= or cells=")
    if counts is not None and cells is None:
        raise InvalidInputError("counts= says how many agents are behind each cell mean: give cells= too")
    number = None if payoff is None else _payoff(payoff, "payoff")
    agent_payoffs = () if agents is None else _read_agents(agents, population)
    means = None if cells is None else _read_cells(cells, population)
    return number, agent_payoffs, means, None if means is None else _read_counts(counts, means, population)


def _payoff(value: Any, name: str) -> float:
    try:
        number = finite_number(value, name)
    except InvalidInputError as error:
        hint = "a round without a usable result is told as failed, with the reason"
        raise InvalidInputError(f"{error}; {hint}") from None
    if abs(number) > LARGEST_PAYOFF:
        raise InvalidInputError(f"{name} must be below {LARGEST_PAYOFF:g} in size, not {number:g}: choose another unit")
    return number


def _read_agents(agents: Any, population: Population) -> tuple[tuple[int, int, float], ...]:
    if not isinstance(agents, Iterable) or isinstance(agents, str):
        raise InvalidInputError(f"agents must be a list of (context, action, payoff), not {said(agents)}")
    rows = []
    for position, entry in enumerate(listed(agents, "agents")):
        is_row = isinstance(entry, Iterable) and not isinstance(entry, str)
        parts = tuple(listed(entry, f"agents[{position}]")) if is_row else ()
        if len(parts) == 2 and len(population.contexts) == 1:
            parts = (0, *parts)
        if len(parts) != 3:
            raise InvalidInputError(f"agents[{position}] must be (context, action, payoff), not {said(entry)}")
        context = population.context_index(parts[0])
        action = population.action_index(parts[1])
        rows.append((context, action, _payoff(parts[2], f"agents[{position}] payoff")))
    if not rows:
        raise InvalidInputError("agents must hold at least one (context, action, payoff)")
    return tuple(rows)


def _by_cell(table: Any, population: Population, name: str, columns: tuple[str, ...]) -> FloatArray:
    """Read a (C, A) table, a flat row for one context, or numbers by name; see ``cells_by_name``."""
    named = cells_by_name(table, population.contexts, population.actions, name, columns)
    if named is None:
        array = as_numbers(table, name)
        return array[None, :] if array.shape == (population.shape[1],) and population.shape[0] == 1 else array
    cells = np.full(population.shape, np.nan)
    for (context, action), value in named.items():
        called = (population.contexts[context], population.actions[action])
        cells[context, action] = finite_number(value, f"{name}[{said(called)}]")
    return cells


def _read_cells(cells: Any, population: Population) -> FloatArray:
    table = _by_cell(cells, population, "cells", PAYOFF_COLUMNS)
    if table.shape != population.shape:
        raise InvalidInputError(f"cells must have shape {population.shape}, not {table.shape}")
    if (np.abs(table[~np.isnan(table)]) > LARGEST_PAYOFF).any():
        raise InvalidInputError(f"cells must be finite, below {LARGEST_PAYOFF:g}, or NaN where nobody was seen")
    if np.isnan(table).all():
        raise InvalidInputError("cells must hold at least one mean payoff")
    return np.asarray(read_only(table))


def _read_counts(counts: Any, cells: FloatArray, population: Population) -> FloatArray:
    seen = ~np.isnan(cells)
    if counts is None:
        return np.asarray(read_only(np.where(seen, 1.0, 0.0)))
    told = _by_cell(counts, population, "counts", COUNT_COLUMNS)
    table = number_array(np.where(np.isnan(told), 0.0, told), "counts", population.shape)
    if (table[seen] <= 0).any():
        raise InvalidInputError("counts must be above 0 wherever cells holds a mean payoff")
    if (table[seen] < FEWEST_COUNTED).any() or (table[seen] > LARGEST_POPULATION).any():
        odd = table[seen][(table[seen] < FEWEST_COUNTED) | (table[seen] > LARGEST_POPULATION)][0]
        raise InvalidInputError(f"counts must be between {FEWEST_COUNTED:g} and {LARGEST_POPULATION:.0e}, not {odd:g}")
    return np.asarray(read_only(np.where(seen, table, 0.0)))


def read_assignment(values: Any, population: Population) -> IntArray:
    """Check the actions of all single agents, (M,)."""
    size = population.size
    if size is None:
        raise InvalidInputError("an assignment places single agents: give the population a size")
    actions = np.asarray(values)
    if actions.shape != (size,) or not np.issubdtype(actions.dtype, np.integer):
        raise InvalidInputError(f"assignment must hold {size} whole numbers, not {actions.dtype} of {actions.shape}")
    if actions.min() < 0 or actions.max() >= population.shape[1]:
        raise InvalidInputError(f"assignment must hold actions from 0 to {population.shape[1] - 1}")
    return actions
