"""What callers say, as records: the shape is documented here, and whether it can be right is the library's to say."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

_NUMBERS = {"type": "array", "items": {"type": "number"}}
_TABLE = {"type": "array", "items": _NUMBERS}
_SEEN = {"type": "array", "items": {"type": "array", "items": {"type": ["number", "null"]}}}
_BY_NAME = {"type": "object", "additionalProperties": {"type": "number"}}
_BY_CELL = {"type": "object", "additionalProperties": _BY_NAME}
_NULL = {"type": "null"}
_NAME_OR_PLACE = {"type": ["string", "integer"]}


def _one_of(*shapes: dict[str, Any]) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [*shapes, _NULL]})


Placement = Annotated[Any, _one_of(_TABLE, _NUMBERS, _BY_NAME, _BY_CELL)]
"""Whole agents or shares: rows of contexts, one row, {action: number} or {context: {action: number}}."""

SeenCells = Annotated[Any, _one_of(_SEEN, _NUMBERS, _BY_NAME, _BY_CELL)]
"""Mean payoffs of cells, null where nobody was seen; otherwise as a placement."""

Number = Annotated[Any, WithJsonSchema({"type": ["number", "null"]})]
Whole = Annotated[Any, WithJsonSchema({"type": ["integer", "null"]})]
Situation = Annotated[Any, _one_of({"type": "object", "additionalProperties": {"type": ["string", "number", "null"]}})]
Actions = Annotated[Any, _one_of({"type": "array", "items": _NAME_OR_PLACE})]
PerAction = Annotated[
    Any,
    _one_of(
        {"type": "number"},
        {"type": "array", "items": {"type": ["number", "null"]}},
        {"type": "object", "additionalProperties": {"type": ["number", "null"]}},
    ),
]
AgentPayoffs = Annotated[Any, _one_of({"type": "array", "items": {"type": "array", "items": {}}})]
Anything = Annotated[Any, WithJsonSchema({})]
CsvText = Annotated[str | None, Field(description="The text of a CSV file.")]


class Words(BaseModel):
    """What a caller says; a word that is not known is refused."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, hide_input_in_errors=True)

    def given(self, *left_out: str) -> dict[str, Any]:
        """Return what was said, without what was not, as arguments of the library."""
        return {key: getattr(self, key) for key in self.model_fields_set if key not in left_out}


class CreateWords(Words):
    """A new study: a name, who is placed, and the settings of ``mfbo.create_study``."""

    name: str
    population: Annotated[Any, Field(description="As GET …/studies/{name} shows it; instead of the next ten.")] = None
    actions: Annotated[
        Any, Field(description="Names, {name: [features]}, or columns {name: [names], x: [numbers], …}.")
    ] = None
    stations_csv: CsvText = None
    capacity_column: str | None = None
    contexts: Annotated[Any, Field(description="Types of agents: names, or {name: weight}.")] = None
    weights: Anything = None
    size: Whole = None
    capacity: PerAction = None
    minimum: PerAction = None
    forbidden: Annotated[Any, Field(description="Actions, or [context, action] pairs, that hold nobody.")] = None
    fixed: Placement = None
    move_budget: Whole = None
    placed: Placement = None
    placed_csv: CsvText = None
    allow_misfit: bool = False
    strategy: str = "default"
    seed: Whole = 0
    noise: Number = None
    allocation: str = "quota"
    context_allocation: str = "quota"
    lease_seconds: Annotated[Number, Field(description="null: for ever")] = 172_800.0
    aim: str = "find"
    start: Placement = None
    start_csv: CsvText = None
    risk: Annotated[Number, Field(description="null: anything is risked")] = 0.05
    situations: Annotated[Any, Field(description='{"day": ["weekday", "weekend"], "rain": "number"}')] = None
    payoff_is: str = "mean"


class DayWords(Words):
    """What is said of a day, before it or after it: where agents are, and in which situation."""

    placed: Placement = None
    placed_csv: CsvText = None
    allow_misfit: bool = False
    situation: Situation = None
    new_categories: bool = False


class AskWords(DayWords):
    """What is known when a plan is asked for; all of it may be left out."""

    worker: str | None = None
    size: Whole = None
    closed: Actions = None
    capacity: PerAction = None
    minimum: PerAction = None


class AttachWords(Words):
    """A plan of the caller's own: shares or whole agents."""

    distribution: Placement
    worker: str | None = None
    situation: Situation = None


class BestWords(Words):
    """Who asks for the best plan believed in, and for which situation."""

    worker: str | None = None
    situation: Situation = None


class SeenWords(DayWords):
    """What was seen of a plan: one number, single agents, cells, or several of these; as values or as CSV text."""

    payoff: Number = None
    agents: AgentPayoffs = None
    agents_csv: CsvText = None
    cells: SeenCells = None
    cells_csv: CsvText = None
    counts: SeenCells = None
    distribution: Placement = None


class TellWords(SeenWords):
    """What a plan brought. insist: take a payoff that is far outside what was told so far."""

    worker: str | None = None
    insist: bool = True


class AmendWords(SeenWords):
    """What a told plan really brought; what is not said stays as it was told."""

    by: str = ""
    reason: str = ""


class AuthorWords(Words):
    """Who says so, and why."""

    by: str = ""
    reason: str = ""


class FailWords(Words):
    """Why a plan brought no result, and where agents were counted."""

    reason: str
    placed: Placement = None
    placed_csv: CsvText = None
    allow_misfit: bool = False


class SituationWords(Words):
    """The situation in which something is asked."""

    situation: Situation = None


class PredictWords(SituationWords):
    """A distribution, and the situation."""

    distribution: Placement


class ExplainWords(SituationWords):
    """A distribution (the recommended one if none is said), and the situation."""

    distribution: Placement = None


class OutlookWords(SituationWords):
    """How far to look ahead."""

    rounds: Annotated[int, Field(ge=1, le=365)] = 30
    simulations: Annotated[int, Field(ge=1, le=64)] = 8
    feedback: Literal["payoff", "cells"] = "payoff"


class PastDay(Words):
    """A day that was played before or outside the study; size: its agents, if not as many as now."""

    distribution: Placement
    payoff: Number = None
    situation: Situation = None
    size: Whole = None


class DaysWords(Words):
    """Past days; those that are there already are left out."""

    days: Annotated[list[PastDay], Field(max_length=10_000)]
    new_categories: bool = False


class ChangeWords(AuthorWords):
    """What changes from now on, as in ``study.change``; a move budget of "none" lifts it."""

    open: Annotated[Any, Field(description="{new action: [features]}, or names.")] = None
    close: Actions = None
    rename: Annotated[Any, _one_of({"type": "object", "additionalProperties": {"type": "string"}})] = None
    size: Whole = None
    capacity: PerAction = None
    minimum: PerAction = None
    move_budget: Annotated[Any, WithJsonSchema({"anyOf": [{"type": "integer"}, {"const": "none"}, _NULL]})] = None
    weights: Anything = None


class SessionWords(Words):
    """The token, once, for a browser."""

    token: str


def by_cell(values: Any) -> Any:
    """Return a table as the library takes it: null as NaN, {context: {action: number}} with pairs as keys."""
    if isinstance(values, Mapping):
        return _flat(values)
    if isinstance(values, list):
        return [
            by_cell(value) if isinstance(value, list) else float("nan") if value is None else value for value in values
        ]
    return values


def _flat(values: Mapping[str, Any]) -> dict[Any, Any]:
    cells: dict[Any, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            cells |= {(name, action): inner for action, inner in value.items() if inner is not None}
        elif value is not None:
            cells[name] = value
    return cells
