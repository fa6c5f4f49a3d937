"""`/api/v1/events`: changes as they happen, whoever made them, as server-sent events."""

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse

from mfbo.serve.desk import GivenDesk
from mfbo.serve.names import StudyName
from mfbo.serve.strict_json import StrictRoute
from mfbo.storage import Event
from mfbo.study import Study
from mfbo.study.log import read_log

router = APIRouter(route_class=StrictRoute, tags=["events"])

ALIVE = ": alive\n\n"
STREAM: dict[int | str, dict[str, Any]] = {
    200: {"description": "Events named change, as they happen.", "content": {"text/event-stream": {}}}
}


@router.get("/events", response_class=StreamingResponse, responses=STREAM)
async def all_events(request: Request) -> StreamingResponse:
    """Stream which studies are made, changed and deleted: {study, kind}."""

    async def lines() -> AsyncIterator[str]:
        async for news in request.app.state.watch.all():
            for name, kind in news or ():
                yield _line({"study": name, "kind": kind})
            if news is None:
                yield ALIVE

    return _streamed(lines())


@router.get("/studies/{name}/events", response_class=StreamingResponse, responses=STREAM)
async def study_events(
    name: StudyName,
    request: Request,
    desk: GivenDesk,
    first: Annotated[
        int | None, Query(ge=0, le=10**9, description="The first entry of the log wanted; by default from now on.")
    ] = None,
    last_event_id: Annotated[str | None, Header(description="What a browser says when it comes back.")] = None,
) -> StreamingResponse:
    """Stream what happens to a study: {study, sequence, kind, plan}; the id is the sequence in its log."""
    await desk.read(name, _nothing)  # a study that is not there is said at once, not in a stream
    if last_event_id is not None and last_event_id.isdecimal() and len(last_event_id) < 10:
        first = int(last_event_id) + 1

    async def lines() -> AsyncIterator[str]:
        async for events in request.app.state.watch.study(name, first):
            for event in events or ():
                yield _of_event(name, event)
            if events is None:
                yield ALIVE

    return _streamed(lines())


def _nothing(_study: Study) -> None:
    return None


def _of_event(name: str, event: Event) -> str:
    entry = read_log([event])[0]
    record = {"study": name, "sequence": event.sequence, "kind": event.kind, "plan": entry.plan}
    return _line(record, event.sequence)


def _line(record: dict[str, Any], number: int | None = None) -> str:
    mark = "" if number is None else f"id: {number}\n"
    return f"{mark}event: change\ndata: {json.dumps(record, allow_nan=False)}\n\n"


def _streamed(lines: AsyncIterator[str]) -> StreamingResponse:
    return StreamingResponse(lines, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
