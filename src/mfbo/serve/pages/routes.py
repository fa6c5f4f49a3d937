"""The addresses of the pages. They only show; what changes a study goes through the HTTP interface."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles

from mfbo.serve.desk import Desk
from mfbo.serve.names import StudyName
from mfbo.serve.pages.rendering import STATIC, page
from mfbo.serve.pages.views import benchmarks, listing, model, progress, tell, today

PER_PAGE = 25
MOST_COMPARED = 6
LONGEST_OUTLOOK = 60

router = APIRouter(include_in_schema=False)
router.mount("/static", StaticFiles(directory=STATIC), name="static")

PlanNumber = Annotated[int | None, Query(ge=0, le=10**9)]


@router.get("/")
async def studies(request: Request, find: str = "", start: Annotated[int, Query(ge=0)] = 0) -> HTMLResponse:
    """Show the studies, so many at a time."""
    desk = _desk(request)
    names = [found.name for found in await desk.studies() if find.casefold() in found.name.casefold()]
    cards = [await desk.read(name, listing.card) for name in names[start : start + PER_PAGE]]
    shown: dict[str, Any] = {"cards": cards, "count": len(names), "start": start, "per_page": PER_PAGE, "find": find}
    return page(request, "studies.html", **shown)


@router.get("/new")
async def new(request: Request) -> HTMLResponse:
    """Show the form for a new study."""
    return page(request, "new.html")


@router.get("/login")
async def login(request: Request, next: str = "/") -> HTMLResponse:
    """Show the form for the token; afterwards the browser goes to an address of this service alone."""
    own = next if next.startswith("/") and not next.startswith(("//", "/\\")) else "/"
    return page(request, "login.html", next=own)


@router.get("/compare")
async def compare(request: Request, study: Annotated[list[str] | None, Query()] = None) -> HTMLResponse:
    """Show several studies over one another."""
    desk = _desk(request)
    names = [found.name for found in await desk.studies()]
    chosen = [name for name in study or () if name in names][:MOST_COMPARED]
    looked = [await desk.look(name, progress.compared) for name in chosen]
    shown: dict[str, Any] = {"names": names[:500], "chosen": chosen, "looked": looked, "most": MOST_COMPARED}
    return page(request, "compare.html", charts=progress.comparison(looked), **shown)


@router.get("/benchmarks")
async def report(request: Request, folder: str = "") -> HTMLResponse:
    """Show the report of a benchmark in the folder in which the service runs."""
    folders = benchmarks.folders()
    chosen = folder if folder in folders else folders[0] if folders else ""
    found = await _desk(request).in_storage(lambda: benchmarks.report(chosen))
    return page(request, "benchmarks.html", folders=folders, folder=chosen, sections=found)


@router.get("/benchmarks/figure")
async def figure(request: Request, folder: str, name: str) -> Response:
    """Return a figure of a report."""
    picture = await _desk(request).in_storage(lambda: benchmarks.figure(folder, name))
    return Response(picture, media_type="image/svg+xml")


@router.get("/studies/{name}")
async def of_today(
    request: Request, name: StudyName, plan: PlanNumber = None, van: Annotated[int, Query(ge=1, le=10**6)] = 20
) -> HTMLResponse:
    """Show the plan of the day."""
    found = await _desk(request).look(name, today.today, plan=plan, vehicle=van)
    return page(request, "today.html", **found)


@router.get("/studies/{name}/plan.csv")
async def plan_sheet(request: Request, name: StudyName, plan: Annotated[int, Query(ge=0, le=10**9)]) -> Response:
    """Return a plan as the sheet that the command line writes."""
    text = await _desk(request).read(name, today.plan_csv, plan=plan)
    headers = {"Content-Disposition": f'attachment; filename="plan-{plan}.csv"'}
    return PlainTextResponse(text, headers=headers, media_type="text/csv")


@router.get("/studies/{name}/pulse")
async def pulse(request: Request, name: StudyName) -> HTMLResponse:
    """Return the health of a study at a glance, a part of the list that comes later."""
    return page(request, "pulse.html", pulse=await _desk(request).look(name, listing.pulse))


@router.get("/studies/{name}/tell")
async def of_tell(request: Request, name: StudyName, plan: PlanNumber = None, every: bool = False) -> HTMLResponse:
    """Show the form to tell a result, or to correct one, and the rounds so far."""
    found = await _desk(request).read(name, tell.tell, plan=plan, every=every)
    return page(request, "tell.html", **found)


@router.get("/studies/{name}/progress")
async def of_progress(request: Request, name: StudyName, situation: str = "", optimum: str = "") -> HTMLResponse:
    """Show how the study goes."""
    best = progress.read_optimum(optimum)
    found = await _desk(request).look(name, progress.progress, situation=situation, optimum=best)
    return page(request, "progress.html", **found)


@router.get("/studies/{name}/model")
async def of_model(
    request: Request,
    name: StudyName,
    station: str = "",
    outlook: Annotated[int, Query(ge=0, le=LONGEST_OUTLOOK)] = 0,
) -> HTMLResponse:
    """Show what the model believes; an outlook only if it is asked for, as it takes a while."""
    desk, stated = _desk(request), _situation(request)
    found = await desk.look(name, model.model, station=station, situation=stated)
    ahead: dict[str, Any] | None = None
    if outlook and found["known"]:
        ahead = await desk.simulate(name, model.outlook, rounds=outlook, situation=stated)
    return page(request, "model.html", ahead=ahead, rounds=outlook, **found)


def error_page(request: Request, status: int, title: str, detail: str) -> Response:
    """Return what a person sees instead of a page."""
    return page(request, "error.html", status, code=status, heading=title, detail=detail)


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


def _situation(request: Request) -> dict[str, str]:
    """Return what an address says of a situation: its parameters that begin with "s."."""
    return {key[2:]: value for key, value in request.query_params.items() if key.startswith("s.")}
