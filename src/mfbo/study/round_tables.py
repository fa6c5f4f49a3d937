"""The rounds of a study as rows: one for each round, or one for each round and cell."""

from collections.abc import Sequence
from typing import Any

from mfbo.frames import columns_of, data_frame
from mfbo.population import Population
from mfbo.records import Plan, Round
from mfbo.simplex import uniform
from mfbo.situations import Situations

TEXTS = ("state", "worker", "error")  # columns that may hold nothing, and are of texts


def rounds_frame(
    rounds: Sequence[Round],
    population: Population,
    situations: Situations | None,
    library: str | None,
    *,
    cells: bool,
) -> Any:
    """Return rounds as a data frame; see ``Study.to_frame``."""
    rows = cell_rows(rounds, population, situations) if cells else round_rows(rounds, population, situations)
    columns = columns_of(rows)
    if not rows:
        example = Round(Plan(0, uniform(*population.shape)))
        columns = {name: [] for name in columns_of(round_rows([example], population, situations))}
    return data_frame(columns, library, TEXTS)


def round_rows(rounds: Sequence[Round], population: Population, situations: Situations | None) -> list[dict[str, Any]]:
    """Return one record for each round."""
    return [
        round_columns(one) | {"fleet": one.agents(population)} | _situation_columns(situations, one) for one in rounds
    ]


def cell_rows(rounds: Sequence[Round], population: Population, situations: Situations | None) -> list[dict[str, Any]]:
    """Return one record for each round and cell; the rounds' own columns are repeated."""
    rows = []
    for one, of_round in zip(rounds, round_rows(rounds, population, situations), strict=True):
        played = one.played
        for c, context in enumerate(population.contexts):
            for a, action in enumerate(population.actions):
                of_cell = {
                    "station": action,
                    "context": context,
                    "planned_agents": None if one.plan.allocation is None else int(one.plan.allocation[c, a]),
                    "placed_agents": None if one.placed is None else int(one.placed[c, a]),
                    "share": float(played[c, a]),
                    "cell_payoff": _cell_payoff(one, c, a),
                }
                rows.append({**of_round, **of_cell})
    return rows


def round_columns(one: Round) -> dict[str, Any]:
    """Return what is said of a round itself."""
    return {
        "round": one.number,
        "state": one.state,
        "told": one.told,
        "payoff": one.as_told,
        "late": one.late,
        "past_day": one.added,
        "worker": one.lease.worker,
        "error": one.error or None,
    }


def _situation_columns(situations: Situations | None, one: Round) -> dict[str, Any]:
    """Return a column for each situation as people write it; none in a study without them."""
    variables = () if situations is None else situations.variables
    return {
        f"situation_{variable.name}": variable.shown(one.situation[variable.name])
        if variable.name in one.situation
        else None
        for variable in variables
    }


def _cell_payoff(one: Round, context: int, action: int) -> float | None:
    """Return the mean payoff seen in a cell, of cells or of single agents."""
    feedback = one.feedback
    if feedback is None:
        return None
    if feedback.cells is not None:
        found = float(feedback.cells[context, action])
        return None if found != found else found
    seen = [payoff for c, a, payoff in feedback.agents if (c, a) == (context, action)]
    return sum(seen) / len(seen) if seen else None
