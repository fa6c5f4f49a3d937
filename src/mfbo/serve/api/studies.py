"""`/api/v1/studies`: listed, made, shown, changed and deleted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

import mfbo
from mfbo.client import wire
from mfbo.errors import InvalidInputError
from mfbo.serve.api import answers, bodies
from mfbo.serve.api.words import ChangeWords, CreateWords, DaysWords, by_cell
from mfbo.serve.desk import GivenDesk
from mfbo.serve.names import StudyName, in_path
from mfbo.serve.strict_json import StrictRoute
from mfbo.sheets.export import FORMATS, exported
from mfbo.storage.codec import situations_record
from mfbo.study import Study

router = APIRouter(route_class=StrictRoute, tags=["studies"])

MEDIA = {
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".mfbo": "application/x-ndjson",
    ".parquet": "application/vnd.apache.parquet",
}


@dataclass(frozen=True)
class Page:
    """Which part of a long list is wanted."""

    first: Annotated[int, Query(ge=0, le=10**9, description="The first one wanted.")] = 0
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000

    def of(self, listed: Sequence[Any], name: str, record: Callable[[Any], Any]) -> dict[str, Any]:
        """Return the records of that part under a name, and how many there are in all."""
        wanted = listed[self.first : self.first + self.limit]
        return {name: [record(one) for one in wanted], "total": len(listed)}


GivenPage = Annotated[Page, Depends()]


@router.get("/", response_model=answers.Service)
async def service(desk: GivenDesk) -> Any:
    """Say what serves, and where the studies are kept (without a password)."""
    return {"version": mfbo.__version__, "storage": desk.address}


@router.get("/studies", response_model=answers.Summaries)
async def list_studies(
    desk: GivenDesk,
    search: Annotated[str, Query(description="Only names that hold this text.")] = "",
    after: Annotated[str | None, Query(description="Only names after this one.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
) -> Any:
    """List studies by name."""
    found = [summary for summary in await desk.studies() if search.casefold() in summary.name.casefold()]
    rest = [summary for summary in found if after is None or summary.name > after]
    page = rest[:limit]
    return {
        "studies": [vars(summary) for summary in page],
        "total": len(found),
        "after": page[-1].name if len(rest) > limit else None,
    }


@router.post("/studies", status_code=201, response_model=answers.StudyAnswer)
async def create_study(words: CreateWords, desk: GivenDesk, response: Response) -> Any:
    """Start a study; 409 if the name is taken."""
    record = await desk.create(words.name, lambda: study_record(bodies.created(words, desk.storage)))
    response.headers["Location"] = f"/api/v1/studies/{in_path(words.name)}"
    return record


@router.get("/studies/{name}", response_model=answers.StudyAnswer)
async def show_study(name: StudyName, desk: GivenDesk) -> Any:
    """Show a study: who is placed, its settings, where agents stand, its open plans."""
    return await desk.read(name, study_record)


@router.delete("/studies/{name}", response_model=answers.Done)
async def delete_study(
    name: StudyName, desk: GivenDesk, confirm: Annotated[str, Query(description="The name once more.")]
) -> Any:
    """Delete a study with all its rounds, for ever."""
    if confirm != name:
        raise InvalidInputError("nothing was deleted: confirm must be the study's name")
    await desk.delete(name)
    return {}


@router.post("/studies/{name}/change", response_model=answers.PopulationAnswer)
async def change_study(name: StudyName, words: ChangeWords, desk: GivenDesk) -> Any:
    """Change who is placed from now on: stations, agents, limits."""
    said = words.given()
    if said.get("move_budget") == "none":
        said["move_budget"] = float("inf")
    return await desk.read(name, lambda study: wire.population_record(study.change(**said)))


@router.post("/studies/{name}/days", response_model=answers.Rounds)
async def add_days(name: StudyName, words: DaysWords, desk: GivenDesk) -> Any:
    """Bring past days along; the answer holds those that were not there already."""

    def added(study: Study) -> Any:
        days = [(by_cell(day.distribution), day.payoff, day.situation, day.size) for day in words.days]
        new = study.add_missing(days, new_categories=words.new_categories)
        return {"rounds": [wire.round_record(one) for one in new], "total": len(study.rounds)}

    return await desk.read(name, added)


@router.get("/studies/{name}/history", response_model=answers.Rounds)
async def history(name: StudyName, desk: GivenDesk, page: GivenPage) -> Any:
    """Return rounds in the order of asks, whatever their state."""
    return await desk.read(name, lambda study: page.of(study.rounds, "rounds", wire.round_record))


@router.get("/studies/{name}/log", response_model=answers.Log)
async def log(name: StudyName, desk: GivenDesk, page: GivenPage) -> Any:
    """Return all that was ever said of a study, as it was said."""
    return await desk.read(name, lambda study: page.of(study.log(), "entries", wire.log_record))


@router.get(
    "/studies/{name}/export",
    response_class=Response,
    responses={200: {"content": {media.partition(";")[0]: {} for media in MEDIA.values()}, "description": "The file."}},
)
async def export(
    name: StudyName, desk: GivenDesk, format: Annotated[str, Query(description="csv, json, parquet or mfbo.")] = "csv"
) -> Response:
    """Return all rounds as a file, or (mfbo) the study itself, which `mfbo study import` makes again."""
    suffix = f".{format}"
    if suffix not in FORMATS:
        raise InvalidInputError(f"format must be one of {', '.join(key[1:] for key in FORMATS)}, not {format!r}")
    content = await desk.read(name, lambda study: exported(study, suffix))
    disposition = f"attachment; filename*=UTF-8''{in_path(name)}{suffix}"
    return Response(content, media_type=MEDIA[suffix], headers={"Content-Disposition": disposition})


def study_record(study: Study) -> dict[str, Any]:
    """Return what a study is, in plain values."""
    history = study.history
    return {
        "name": study.name,
        "strategy": study.strategy.name,
        "seed": study.seed,
        "aim": history.aim,
        "payoff_is": study.payoff_is,
        "lease_seconds": study.lease_seconds,
        "population": wire.population_record(study.population),
        "placed": wire.table(study.placed),
        "rounds": len(study.rounds),
        "told": len(history.told),
        "open": [asked.number for asked in history.open],
        "situations": situations_record(history.situations),
    }
