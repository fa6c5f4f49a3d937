"""What the service answers, as the OpenAPI description shows it; the values come from ``mfbo.client.wire``."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

Shares = Annotated[list[list[float]], Field(description="Rows of contexts, columns of actions.")]
Counts = Annotated[list[list[int]], Field(description="Whole agents: rows of contexts, columns of actions.")]
Seen = Annotated[list[list[float | None]], Field(description="As shares; null where nothing is known.")]
Values = dict[str, str | float]


class Problem(BaseModel):
    """Why a call was refused (RFC 9457); detail: in the library's words."""

    type: str
    title: str
    status: int
    detail: str
    lines: list[str] = []


class Service(BaseModel):
    """What serves."""

    version: str
    storage: str


class Summary(BaseModel):
    """A study in a list; created: seconds since 1970; events: entries of its log."""

    name: str
    created: float
    rounds: int
    ended: int
    events: int


class Summaries(BaseModel):
    """Studies by name; after: where the next page begins, null on the last one."""

    studies: list[Summary]
    total: int
    after: str | None


class LimitsAnswer(BaseModel):
    """What every placement keeps, in whole agents."""

    least: list[int]
    most: list[int]
    lower: Counts
    upper: Counts
    move_budget: int | None
    placed: Counts | None


class PopulationAnswer(BaseModel):
    """Who is placed."""

    actions: list[str]
    features: list[list[float]] | None
    feature_names: list[str]
    contexts: list[str]
    weights: list[float]
    context_features: list[list[float]] | None
    size: int | None
    limits: LimitsAnswer | None
    closed: list[str]
    all_open: LimitsAnswer | None


class Lease(BaseModel):
    """Who has a plan, and until when (seconds since 1970; null: for ever); former: who let it expire."""

    worker: str | None
    expires: float | None
    former: list[str | None]


class PlanAnswer(BaseModel):
    """What to try: the shares, and whole agents; assignment: the action of every single agent, if the strategy says."""

    number: int
    distribution: Shares
    allocation: Counts | None
    assignment: list[int] | None


class FeedbackAnswer(BaseModel):
    """What was seen; agents: [context, action, payoff] with positions."""

    payoff: float | None
    agents: list[tuple[int, int, float]]
    cells: Seen | None
    counts: Seen | None
    total: float | None


class RoundAnswer(BaseModel):
    """One try and what came of it; payoff: as it was told."""

    plan: PlanAnswer
    state: Literal["open", "done", "failed", "abandoned", "withdrawn"]
    told: int | None
    payoff: float | None
    feedback: FeedbackAnswer | None
    realized: Shares | None
    start: Counts | None
    placed: Counts | None
    late: bool
    added: bool
    error: str
    correction: str
    lease: Lease
    today: dict[str, Any]
    size: int | None
    weights: list[float] | None
    situation: Values
    seen: int | None
    counted: int | None


class Rounds(BaseModel):
    """Rounds in the order of asks; total: how many the study has."""

    rounds: list[RoundAnswer]
    total: int


class StudyAnswer(BaseModel):
    """A study: who is placed, how it plans, where agents stand, what is open."""

    name: str
    strategy: str
    seed: int
    aim: str
    payoff_is: str
    lease_seconds: float | None
    population: PopulationAnswer
    placed: Counts | None
    rounds: int
    told: int
    open: list[int]
    situations: list[dict[str, Any]] | None


class Prediction(BaseModel):
    """What the model expects of a distribution: of the payoff, and of every cell."""

    mean: float
    sd: float
    cell_mean: Shares
    cell_sd: Shares


class Explanation(Prediction):
    """A prediction, and what moving one agent to a cell would change; source: the action it leaves, −1: none."""

    distribution: Shares
    gain: Seen
    gain_sd: Seen
    source: list[list[int]]
    unit: str


class OutlookAnswer(BaseModel):
    """What rounds to come are expected to gain over the status quo; gains: of every simulation and round."""

    feedback: Literal["payoff", "cells"]
    status_quo: float
    noise: float
    gains: list[list[float]]
    mean: list[float]
    low: list[float]
    high: list[float]
    dominated_by_noise: bool


class Check(BaseModel):
    """One thing looked at; ok: null if there is too little to say."""

    name: str
    ok: bool | None
    message: str
    value: float | None


class Health(BaseModel):
    """Whether a study is still to be trusted."""

    checks: list[Check]


class Entry(BaseModel):
    """One event of a study's log; at: seconds since 1970; plan: null for a change of the whole study."""

    sequence: int
    at: float
    kind: str
    plan: int | None
    by: str
    reason: str
    said: dict[str, Any]


class Log(BaseModel):
    """Entries of a study's log in their order."""

    entries: list[Entry]
    total: int


class Done(BaseModel):
    """Nothing more to say."""

    done: bool = True


REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"description": words, "content": {"application/problem+json": {"schema": Problem.model_json_schema()}}}
    for status, words in {
        400: "The body is not JSON.",
        401: "The token is missing or wrong.",
        403: "The call comes from another site.",
        404: "There is no such study or plan.",
        405: "This cannot be done at this address.",
        408: "The body came too slowly.",
        409: "The plan, or the name, is not in the state for this: told already, taken already.",
        413: "The body is too large.",
        421: "The service is not called by this name.",
        422: "Something given cannot be right; detail says what, and the way out.",
        429: "Too much at a time; Retry-After says when to try again.",
        500: "The store is damaged, or the service made a mistake.",
        503: "The store cannot be reached now.",
    }.items()
}
"""What any call may be answered instead."""
