"""The gate that every request passes: host, origin, rate, token, size; and the headers that every answer carries."""

import asyncio
from collections.abc import MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mfbo.serve.hosts import Hosts, is_own_origin
from mfbo.serve.problems import problem
from mfbo.serve.rates import Rate
from mfbo.serve.tokens import COOKIE, Token

LARGEST_BODY = 8_000_000  # bytes: a plan of a hundred thousand cells has two million
BODY_SECONDS = 30.0
AT_ONCE = 256  # requests in work at a time
PER_SECOND, BURST = 500.0, 1000.0  # requests of one address
WRONG_PER_SECOND, WRONG_BURST = 0.1, 10.0  # wrong tokens of one address

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_OPEN = ("/login", "/api/v1/session")  # where a token is shown


class Guard:
    """What the gate knows: the names of the service, its token, and how much every caller asked for."""

    def __init__(self, hosts: Hosts, token: Token | None) -> None:
        self.hosts = hosts
        self.token = token
        self.rate = Rate(PER_SECOND, BURST)
        self.wrong = Rate(WRONG_PER_SECOND, WRONG_BURST)


class Gate:
    """Lets through what the service may answer."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self.app = app
        self.guard = guard
        self.at_work = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        answer = _with_headers(scope["path"], send)
        request = Request(scope)
        refused = self._refused(request)
        if refused is not None:
            await refused(scope, receive, answer)
            return
        self.at_work += 1
        try:
            await self._answered(request, receive, answer)
        finally:
            self.at_work -= 1

    async def _answered(self, request: Request, receive: Receive, send: Send) -> None:
        body, refused = await _body(request, receive)
        if refused is not None:
            await refused(request.scope, receive, send)
            return
        await self.app(request.scope, _replayed(body, receive), send)

    def _refused(self, request: Request) -> Response | None:
        """Return why a request is refused before its body is read; None if it is not."""
        headers, path = request.headers, str(request.scope["path"])
        host = headers.get("host", "")
        caller = request.client.host if request.client else ""
        if not self.guard.hosts.knows(host):
            words = "the service is not called by this name; `mfbo serve --allow-host NAME` allows it"
            return problem(request, 421, "host", "Not the name of this service", words)
        if not is_own_origin(headers.get("origin"), headers.get("sec-fetch-site"), host, request.method):
            return problem(request, 403, "origin", "From another site", "other sites may not call this service")
        if not self.guard.rate.allows(caller) or self.at_work >= AT_ONCE:
            return problem(request, 429, "busy", "Too much at a time", "too many requests; try again in a moment")
        token = self.guard.token
        if token is None or path in _OPEN or path.startswith("/static/"):
            return None
        return self._unknown(request, token, caller)

    def _unknown(self, request: Request, token: Token, caller: str) -> Response | None:
        """Return the refusal of a caller who does not know the token; None for one who does."""
        if self.guard.wrong.is_empty(caller):
            return problem(request, 429, "busy", "Too many wrong tokens", "too many wrong tokens; try again later")
        scheme, _, said = request.headers.get("authorization", "").partition(" ")
        if scheme.casefold() == "bearer" and token.is_secret(said.strip()):
            return None
        if token.is_session(_session(request.headers)):
            return None
        if said:
            self.guard.wrong.allows(caller)
        if not request.url.path.startswith("/api/"):
            return RedirectResponse(f"/login?next={quote(request.url.path, safe='')}", 303)
        words = "this service wants a token: Authorization: Bearer …"
        return problem(request, 401, "token", "Who is calling?", words, headers={"WWW-Authenticate": "Bearer"})


def _session(headers: Any) -> str:
    cookies: SimpleCookie = SimpleCookie()
    try:
        cookies.load(headers.get("cookie", ""))
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""


async def _body(request: Request, receive: Receive) -> tuple[bytes, Response | None]:
    """Read the whole body, or say why it is refused."""
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length[:20]) > LARGEST_BODY:
        return b"", _too_large(request)
    parts: list[bytes] = []
    size, more = 0, True
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while more:
                message = await receive()
                if message["type"] != "http.request":
                    break
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > LARGEST_BODY:
                    return b"", _too_large(request)
                more = message.get("more_body", False)
    except TimeoutError:
        words = f"the body did not come within {BODY_SECONDS:.0f} s"
        return b"", problem(request, 408, "slow", "Too slow", words, headers={"Connection": "close"})
    return b"".join(parts), None


def _too_large(request: Request) -> Response:
    words = f"a body may have at most {LARGEST_BODY} bytes"
    return problem(request, 413, "too-large", "The body is too large", words)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that gives a body that was read before, and then whatever comes."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return pending.pop() if pending else await receive()

    return replay


def _with_headers(path: str, send: Send) -> Send:
    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            if not path.startswith("/static/"):
                headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sent
