"""The application: the HTTP interface and the pages on one desk, behind the checks that every request passes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI

import mfbo
from mfbo.serve import pages
from mfbo.serve.desk import Desk
from mfbo.serve.undecoded import UndecodedPaths


def create_app(storage: Any) -> FastAPI:
    """Return the application for the studies of a storage."""
    desk = Desk(storage)
    app = FastAPI(
        title="mfbo",
        version=mfbo.__version__,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # the interactive page would load its scripts from a network
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.desk = desk
    app.include_router(pages.router)
    app.add_middleware(UndecodedPaths)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.desk.close()
