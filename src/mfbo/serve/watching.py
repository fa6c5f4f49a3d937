"""Who changed what, other processes included: the storage is looked at once a second, however many are watching."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from mfbo.errors import UnknownNameError
from mfbo.serve.desk import Desk
from mfbo.serve.refusals import BusyError, MissingError
from mfbo.storage import Event, StudySummary

SECONDS = 1.0  # between two looks
SHARE = 0.05  # of the time, at most, is spent on looking at a long list
HEARTBEAT = 15.0  # seconds of silence after which a sign of life is sent, so that nobody in between hangs up
MOST_WATCHING = 200

Look = Callable[[], Awaitable[Any]]


class Watch:
    """Tells everybody who watches something when it changed."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._spots: dict[str | None, _Spot] = {}  # what is watched: a study, or the list of all
        self._stopped = False

    def stop(self) -> None:
        """End all streams; called when the service stops."""
        self._stopped = True
        for spot in self._spots.values():
            spot.wake()

    async def study(self, name: str, first: int | None) -> AsyncIterator[list[Event] | None]:
        """Yield the events of a study from sequence ``first`` on (None: from now on); None as a sign of life."""
        storage = self._desk.storage

        async def since(start: int) -> list[Event]:
            try:
                return await self._desk.in_storage(lambda: storage.events(name, start))
            except UnknownNameError as error:
                raise MissingError(str(error)) from error

        seen = len(await since(0)) if first is None else first
        async for _ in self._changes(name, lambda: self._count(name)):
            try:
                events = await since(seen)
            except MissingError:  # deleted under those who watch it: the stream ends, and coming back is refused
                return
            seen += len(events)
            yield events or None

    async def all(self) -> AsyncIterator[list[tuple[str, str]] | None]:
        """Yield what became of studies, (name, created | changed | deleted); None as a sign of life."""
        before = await self._summaries()
        async for _ in self._changes(None, self._summaries):
            now = self._spots[None].last
            yield _differences(before, now) or None
            before = before if now is None else now

    async def _count(self, name: str) -> int:
        """Return how many events a study has; a deleted one has none."""
        spot = self._spots[name]
        known = max(spot.last or 0, 0)
        try:
            return known + len(await self._desk.in_storage(lambda: self._desk.storage.events(name, known)))
        except UnknownNameError:
            return -1

    async def _summaries(self) -> dict[str, StudySummary]:
        return {summary.name: summary for summary in await self._desk.studies()}

    async def _changes(self, key: str | None, look: Look) -> AsyncIterator[None]:
        """Yield at once, at every change, and as a sign of life."""
        if sum(spot.watching for spot in self._spots.values()) >= MOST_WATCHING:
            raise BusyError(f"{MOST_WATCHING} streams are open already; try again later")
        if key not in self._spots:
            self._spots[key] = _Spot(look)
        spot = self._spots[key]
        spot.watching += 1
        try:
            version = -1
            while not self._stopped:
                if spot.version != version:
                    version = spot.version
                    yield
                elif not await spot.changed(HEARTBEAT):
                    yield
        finally:
            spot.watching -= 1
            if not spot.watching:
                spot.end()
                del self._spots[key]


class _Spot:
    """Something that is looked at again and again as long as anybody watches it."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._news = asyncio.Event()
        self.version = 0
        self.last: Any = None
        self.watching = 0
        self._task = asyncio.get_running_loop().create_task(self._keep_looking())

    async def changed(self, seconds: float) -> bool:
        """Wait for the next change; False if there is none for so long."""
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
            return True
        except TimeoutError:
            return False

    def wake(self) -> None:
        """Let everybody who waits look up."""
        self._news.set()
        self._news = asyncio.Event()

    def end(self) -> None:
        """Stop looking."""
        self._task.cancel()

    async def _keep_looking(self) -> None:
        while True:
            began = time.monotonic()
            try:
                found = await self._look()
            except Exception:  # a store that cannot be reached now is looked at again later
                found = self.last
            if found != self.last:
                self.last = found
                self.version += 1
                self.wake()
            await asyncio.sleep(max(SECONDS, (time.monotonic() - began) / SHARE))


def _differences(before: dict[str, StudySummary], now: dict[str, StudySummary] | None) -> list[tuple[str, str]]:
    """Return which studies were made, changed and deleted between two lists; none if the second is not known yet."""
    if now is None:
        return []
    made = [(name, "created") for name in now if name not in before]
    changed = [(name, "changed") for name in now if name in before and now[name] != before[name]]
    return [*made, *changed, *((name, "deleted") for name in before if name not in now)]
