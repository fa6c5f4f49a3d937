"""Templates to pages: everything is escaped, numbers and times are written in one way."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import mfbo
from mfbo.serve.pages.drawing.svg import tag
from mfbo.serve.pages.wording import banded, number, percent, signed
from mfbo.shown_text import visible

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"


def moment(seconds: float | None) -> Markup:
    """Return a time that the reader's browser writes in its own zone; without a script it is UTC."""
    if seconds is None:
        return Markup("–")
    at = datetime.fromtimestamp(seconds, UTC)
    return tag("time", f"{at:%Y-%m-%d %H:%M} UTC", datetime=at.isoformat(timespec="seconds"))


def typed(value: float | None) -> str:
    """Return a number as a form holds it: all its digits, nothing if there is none."""
    return "" if value is None else repr(float(value)).removesuffix(".0")


def in_address(name: str) -> str:
    """Return a name as one segment of an address."""
    return quote(name, safe="")


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "number": number,
        "banded": banded,
        "signed": signed,
        "typed": typed,
        "percent": percent,
        "moment": moment,
        "segment": in_address,
        "seen": visible,
    }
    made.globals["version"] = mfbo.__version__
    return made


_ENVIRONMENT = _environment()


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a whole page, or a part of one that a script asks for."""
    desk = getattr(request.app.state, "desk", None)
    address = "" if desk is None else desk.address
    text = _ENVIRONMENT.get_template(template).render(path=request.url.path, address=address, **values)
    return HTMLResponse(text, status)
