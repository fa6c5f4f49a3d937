"""`/api/v1/studies/{name}/plans`: asked for, told, corrected."""

from typing import Annotated, Any

from fastapi import APIRouter, Path

from mfbo.client import wire
from mfbo.serve.api import answers, bodies
from mfbo.serve.api.words import (
    AmendWords,
    AskWords,
    AttachWords,
    AuthorWords,
    BestWords,
    FailWords,
    TellWords,
    by_cell,
)
from mfbo.serve.desk import GivenDesk
from mfbo.serve.light_route import LightRoute
from mfbo.serve.names import StudyName
from mfbo.serve.refusals import DoubtfulError
from mfbo.study import Study

router = APIRouter(route_class=LightRoute, prefix="/studies/{name}/plans", tags=["plans"])

PlanNumber = Annotated[int, Path(ge=0, le=10**9, description="The plan's number, counted from 0.")]


@router.get("", response_model=answers.Rounds)
async def open_plans(name: StudyName, desk: GivenDesk) -> Any:
    """Return the plans that wait for their result, with who has them and until when."""

    def waiting(study: Study) -> Any:
        return {"rounds": [wire.round_record(one) for one in study.history.open], "total": len(study.rounds)}

    return await desk.read(name, waiting)


@router.post("", response_model=answers.PlanAnswer)
async def ask(name: StudyName, words: AskWords, desk: GivenDesk) -> Any:
    """Ask for the next plan; a worker with an open plan gets that plan again, so a lost answer can be asked for."""
    return await desk.look(name, lambda study: wire.plan_record(study.ask(**bodies.counted(study, words))))


@router.post("/best", response_model=answers.PlanAnswer)
async def ask_best(name: StudyName, words: BestWords, desk: GivenDesk) -> Any:
    """Ask for the best plan believed in as the next one, or the step towards it that the move budget allows."""
    return await desk.look(name, lambda study: wire.plan_record(study.ask_best(**words.given())))


@router.post("/attach", response_model=answers.PlanAnswer)
async def attach(name: StudyName, words: AttachWords, desk: GivenDesk) -> Any:
    """Take a plan of the caller's own as the next one."""
    said = words.given("distribution")
    return await desk.read(name, lambda study: wire.plan_record(study.attach(by_cell(words.distribution), **said)))


@router.get("/{number}", response_model=answers.RoundAnswer)
async def show_plan(name: StudyName, number: PlanNumber, desk: GivenDesk) -> Any:
    """Return a plan with all that is known of it."""
    return await _with_plan(desk, name, number, lambda study: study.rounds[number])


@router.post("/{number}/result", status_code=201, response_model=answers.RoundAnswer)
async def tell(name: StudyName, number: PlanNumber, words: TellWords, desk: GivenDesk) -> Any:
    """Tell what a plan brought; 409 if it was told already, or is far outside all others and nobody insists."""

    def told(study: Study) -> Any:
        found = bodies.seen(study, number, words, "insist")
        if not words.insist and isinstance(found.get("payoff"), int | float):
            doubt = study.doubtful(number, found["payoff"])
            if doubt:
                raise DoubtfulError(f"{doubt}; if it is so, insist")
        return study.tell(number, **found)

    return await _with_plan(desk, name, number, told)


@router.patch("/{number}/result", response_model=answers.RoundAnswer)
async def amend(name: StudyName, number: PlanNumber, words: AmendWords, desk: GivenDesk) -> Any:
    """Correct what was told of a plan; what is not said stays."""
    return await _with_plan(desk, name, number, lambda study: study.amend(number, **bodies.seen(study, number, words)))


@router.post("/{number}/withdraw", response_model=answers.RoundAnswer)
async def withdraw(name: StudyName, number: PlanNumber, words: AuthorWords, desk: GivenDesk) -> Any:
    """Say that a plan that was told or failed never happened."""
    return await _with_plan(desk, name, number, lambda study: study.withdraw(number, **words.given()))


@router.post("/{number}/reinstate", response_model=answers.RoundAnswer)
async def reinstate(name: StudyName, number: PlanNumber, words: AuthorWords, desk: GivenDesk) -> Any:
    """Say that a withdrawn plan did happen."""
    return await _with_plan(desk, name, number, lambda study: study.reinstate(number, **words.given()))


@router.post("/{number}/fail", response_model=answers.RoundAnswer)
async def fail(name: StudyName, number: PlanNumber, words: FailWords, desk: GivenDesk) -> Any:
    """Say that a plan was carried out and brought no result."""
    return await _with_plan(desk, name, number, lambda study: study.fail(number, **bodies.counted(study, words)))


@router.post("/{number}/abandon", response_model=answers.RoundAnswer)
async def abandon(name: StudyName, number: PlanNumber, desk: GivenDesk) -> Any:
    """Say that a plan will not be tried: nobody was moved for it."""
    return await _with_plan(desk, name, number, lambda study: study.abandon(number))


async def _with_plan(desk: GivenDesk, name: str, number: int, work: Any) -> Any:
    """Return the round that some work on a plan returns; 404 if the study has no such plan."""

    def done(study: Study) -> Any:
        bodies.require_plan(study, number)
        return wire.round_record(work(study))

    return await desk.read(name, done)
