"""`/api/v1`: the HTTP interface for other programs."""

from fastapi import APIRouter

from mfbo.serve.api import answers, asking, events, plans, session, studies

router = APIRouter(prefix="/api/v1", responses=answers.REFUSALS)
for part in (plans, studies, asking, session, events):  # in this order a call is matched
    router.include_router(part.router)
