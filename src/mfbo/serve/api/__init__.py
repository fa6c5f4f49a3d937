"""`/api/v1`: the HTTP interface for other programs."""

from fastapi import APIRouter

from mfbo.serve.api import answers, events, plans, questions, session, studies

router = APIRouter(prefix="/api/v1", responses=answers.REFUSALS)
for part in (session, studies, plans, questions, events):
    router.include_router(part.router)
