"""Paths are matched as they were sent: an encoded slash stays inside its segment, and ``StudyName`` decodes it."""

from starlette.types import ASGIApp, Receive, Scope, Send


class UndecodedPaths:
    """Hands the path on before it was decoded."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take the path from the bytes that came in."""
        raw = scope.get("raw_path")
        if scope["type"] == "http" and raw:
            scope = {**scope, "path": raw.partition(b"?")[0].decode("ascii", "replace")}
        await self.app(scope, receive, send)
