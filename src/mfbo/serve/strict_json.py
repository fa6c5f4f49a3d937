"""Bodies are read as strict JSON: no NaN or Infinity, no key twice, nothing nested without end."""

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute


class StrictRoute(APIRoute):
    """A route whose body must be strict JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the usual handler, on a request that reads its body strictly."""
        handle = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            strict = request if isinstance(request, StrictRequest) else StrictRequest(request.scope, request.receive)
            return await handle(strict)  # a body that was read is not received again

        return strictly


class StrictRequest(Request):
    """A request whose body must be strict JSON."""

    async def json(self) -> Any:
        """Return what the body says."""
        return read_json(await self.body())


def read_json(body: bytes) -> Any:
    """Return what a text in JSON says; refuse what other readers of JSON would read otherwise, or not at all."""
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=_once)
    except json.JSONDecodeError:
        raise
    except (ValueError, RecursionError) as error:  # also bytes that are not UTF-8, and numbers of thousands of digits
        raise json.JSONDecodeError(str(error), "", 0) from error


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is not a number in JSON; null stands for what is not known")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found
