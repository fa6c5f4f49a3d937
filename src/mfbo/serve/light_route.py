"""Routes that are called often: a call that is as it should be is answered without FastAPI's general machinery.

The description is made by FastAPI as for all routes, and whatever is odd about a call is left to FastAPI's own handler,
which refuses it in its way. What an endpoint returns is sent as it is: ``mfbo.client.wire`` makes it, and a test
compares it with the description.
"""

import inspect
import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from pydantic import BaseModel, TypeAdapter, ValidationError

from mfbo.serve.strict_json import StrictRequest, StrictRoute, read_json

JSON = "application/json"


class LightRoute(StrictRoute):
    """A strict route whose endpoint takes parts of the path, ``words`` from the body, and ``desk``; it returns JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler for calls that are as they should be, before the usual one."""
        handle = super().get_route_handler()
        endpoint: Callable[..., Any] = self.endpoint
        status = self.status_code or 200
        read = _Reader(endpoint)

        async def lightly(request: Request) -> Response:
            strict = StrictRequest(request.scope, request.receive)
            try:
                said = read.arguments(strict, await strict.body())
            except (ValidationError, json.JSONDecodeError):
                return await handle(strict)
            answer = await endpoint(**said, desk=request.app.state.desk)
            return Response(json.dumps(answer, allow_nan=False), status, media_type=JSON)

        return lightly


class _Reader:
    """Reads the arguments of an endpoint."""

    def __init__(self, endpoint: Callable[..., Any]) -> None:
        types = {name: found.annotation for name, found in inspect.signature(endpoint).parameters.items()}
        types.pop("desk")
        self._words: type[BaseModel] | None = types.pop("words", None)
        self._parts = {name: TypeAdapter(kind) for name, kind in types.items()}

    def arguments(self, request: Request, body: bytes) -> dict[str, Any]:
        """Return what a call says; an error if it is not as it should be."""
        said = {name: kind.validate_python(request.path_params[name]) for name, kind in self._parts.items()}
        if self._words is not None:
            if request.headers.get("content-type") != JSON:
                raise json.JSONDecodeError("this is not said to be JSON", "", 0)
            said["words"] = self._words.model_validate(read_json(body))
        return said
