"""The application: the HTTP interface and the pages on one desk, behind the gate that every request passes."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI

import mfbo
from mfbo.serve import api, pages
from mfbo.serve.desk import Desk
from mfbo.serve.gate import Gate, Guard
from mfbo.serve.hosts import Hosts, read_host_name
from mfbo.serve.problems import handle_errors
from mfbo.serve.tokens import Token
from mfbo.serve.undecoded import UndecodedPaths
from mfbo.serve.watching import Watch


def create_app(
    storage: Any, *, host: str = "127.0.0.1", token: Token | None = None, host_names: Iterable[str] = ()
) -> FastAPI:
    """Return the application for the studies of a storage.

    host: the address that it is served at. token: what callers must show; None: nothing. host_names: names by which it
    may be called besides, such as that of a proxy in front of it.
    """
    names = tuple(read_host_name(name) for name in host_names)
    desk = Desk(storage)
    app = FastAPI(
        title="mfbo",
        description="Place a whole fleet well, in few tries: studies asked and told over HTTP.",
        version=mfbo.__version__,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # the interactive page would load its scripts from a network
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.desk = desk
    app.state.watch = Watch(desk)
    app.state.guard = Guard(Hosts(host, names), token)
    app.include_router(api.router)
    app.include_router(pages.router)
    handle_errors(app)
    app.add_middleware(UndecodedPaths)
    app.add_middleware(Gate, guard=app.state.guard)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.watch.stop()
    app.state.desk.close()
