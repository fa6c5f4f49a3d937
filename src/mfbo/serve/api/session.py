"""`/api/v1/session`: a person shows the token once, and the browser keeps a cookie that scripts cannot read."""

from typing import Any

from fastapi import APIRouter, Request, Response

from mfbo.serve.api import answers
from mfbo.serve.api.words import SessionWords
from mfbo.serve.refusals import BusyError, WrongTokenError
from mfbo.serve.strict_json import StrictRoute
from mfbo.serve.tokens import COOKIE

router = APIRouter(route_class=StrictRoute, tags=["session"])


@router.post("/session", response_model=answers.Done)
async def open_session(words: SessionWords, request: Request, response: Response) -> Any:
    """Take the token, and set the cookie."""
    guard = request.app.state.guard
    caller = request.client.host if request.client else ""
    if guard.token is None:
        return {}
    if guard.wrong.is_empty(caller):
        raise BusyError("too many wrong tokens; try again later")
    if not guard.token.is_secret(words.token):
        guard.wrong.allows(caller)
        raise WrongTokenError("this is not the token of this service")
    secure = request.url.scheme == "https"
    response.set_cookie(COOKIE, guard.token.session, httponly=True, samesite="strict", secure=secure, path="/")
    return {}


@router.delete("/session", response_model=answers.Done)
async def close_session(response: Response) -> Any:
    """Let the browser forget the cookie."""
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return {}
