"""Errors as problem details (RFC 9457), in the words of the library; people get a page instead."""

import json
import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from mfbo.errors import (
    ConflictError,
    DamageError,
    FaultyFileError,
    InvalidInputError,
    MfboError,
    MissingExtraError,
    NumericalError,
    RoundStateError,
    StorageError,
    UnknownNameError,
)
from mfbo.serve import pages
from mfbo.serve.refusals import BusyError, DoubtfulError, ExistsError, MissingError, WrongTokenError
from mfbo.shown_text import visible

RETRY_SECONDS = 2
LONGEST = 2_000  # letters of a detail: a name may have any number

_log = logging.getLogger(__package__)

# the first that fits counts: those of the service, then the library's, the special before the general
_KINDS: tuple[tuple[type[Exception], int, str, str], ...] = (
    (MissingError, 404, "missing", "There is no such thing"),
    (ExistsError, 409, "exists", "The name is taken"),
    (DoubtfulError, 409, "doubtful", "The payoff is far from all others"),
    (WrongTokenError, 401, "token", "Who is calling?"),
    (BusyError, 429, "busy", "Too much at a time"),
    (RoundStateError, 409, "state", "The plan is not in the state for this"),
    (ConflictError, 409, "conflict", "Another was first"),
    (FaultyFileError, 422, "faulty-file", "The file has faults"),
    (MissingExtraError, 422, "missing-extra", "A library is not installed"),
    (NumericalError, 422, "numerical", "The model cannot be computed"),
    (InvalidInputError, 422, "invalid-input", "Something given cannot be right"),
    (UnknownNameError, 422, "unknown-name", "A name is not known"),
    (DamageError, 500, "damage", "The store is damaged"),
    (StorageError, 503, "storage", "The store cannot be used now"),
)


def problem(
    request: Request, status: int, kind: str, title: str, detail: str, *, headers: Any = None, **more: Any
) -> Response:
    """Return a problem for a program, or a page for a person."""
    detail = detail if len(detail) <= LONGEST else f"{detail[:LONGEST]} …"
    headers = dict(headers or {})
    if status in (429, 503):
        headers["Retry-After"] = str(RETRY_SECONDS)
    if not request.url.path.startswith("/api/"):
        page = pages.error_page(request, status, title, visible(detail))
        page.headers.update(headers)
        return page
    record = {"type": f"urn:mfbo:{kind}", "title": title, "status": status, "detail": detail, **more}
    body = json.dumps(record, allow_nan=False)  # ASCII: what is quoted may hold half a letter
    return Response(body, status, headers, "application/problem+json")


def handle_errors(app: FastAPI) -> None:
    """Answer every error of an application with a problem."""
    app.add_exception_handler(MfboError, _of_library)
    app.add_exception_handler(RequestValidationError, _of_validation)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(Exception, _unexpected)


async def _of_library(request: Request, error: Exception) -> Response:
    for kind, status, word, title in _KINDS:
        if isinstance(error, kind):
            if status >= 500:
                _log.error("%s", visible(str(error)))
            more = {"lines": list(error.lines)} if isinstance(error, FaultyFileError) else {}
            return problem(request, status, word, title, str(error), **more)
    return await _unexpected(request, error)


async def _of_validation(request: Request, error: Exception) -> Response:
    found = error.errors() if isinstance(error, RequestValidationError) else []
    if any(entry["type"] == "json_invalid" for entry in found):
        why = "; ".join(str(entry.get("ctx", {}).get("error", "")) for entry in found)
        return problem(request, 400, "no-json", "The body is not JSON", f"the body is not JSON: {why}")
    said = [f"{'.'.join(str(part) for part in entry['loc'][1:]) or 'body'}: {entry['msg']}" for entry in found]
    return problem(request, 422, "invalid-input", "Something given cannot be right", "; ".join(said), lines=said)


async def _of_http(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = str(error.detail) if isinstance(error, HTTPException) else ""
    headers = error.headers if isinstance(error, HTTPException) else None
    if status == 404:
        detail = "there is nothing at this address"
    return problem(request, status, "http", detail, detail, headers=headers)


async def _unexpected(request: Request, error: Exception) -> Response:
    _log.error("an unexpected %s", type(error).__name__, exc_info=error)
    words = "the service made a mistake; its log says more"
    return problem(request, 500, "unexpected", "A mistake of the service", words)
