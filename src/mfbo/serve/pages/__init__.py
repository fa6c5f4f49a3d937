"""The pages: what operators see of their studies in a browser."""

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response

router = APIRouter(include_in_schema=False)


def error_page(_request: Request, status: int, title: str, detail: str) -> Response:
    """Return what a person sees instead of a page."""
    return PlainTextResponse(f"{title}: {detail}", status)
