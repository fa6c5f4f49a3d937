"""The desk: opens the studies of one storage and works on them in bounded pools; the API and the pages call it."""

import asyncio
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request

from mfbo.arrays import one_blas_thread
from mfbo.errors import DamageError, InvalidInputError, StorageError, UnknownNameError
from mfbo.journal import KnownLog
from mfbo.serve.lanes import Lane
from mfbo.serve.refusals import ExistsError, MissingError
from mfbo.storage import StudySummary, open_storage
from mfbo.study import Study, load_study

KEPT_OPEN = 64  # studies with their models in memory; the longest unused ones are loaded again when needed
READERS = 8  # threads that wait for the storage
CLOSE_SECONDS = 5.0  # for work that nobody waits for any more, when the service stops
PLANNERS = 8  # studies whose models are worked on at a time, at least; those of more than this take turns

Answer = TypeVar("Answer")


class Desk:
    """The studies of one storage.

    Every open study has two lanes: in one the model is worked on, in the other its log is read and written. Whoever
    tells or looks never waits for a plan that is being made, and a study never waits for the model of another.
    """

    def __init__(self, storage: Any) -> None:
        """Open the storage at an address; an SQLite file that is missing is made."""
        self.storage = open_storage(storage)
        self.is_stuck = False  # work went on after it was closed
        self._held = ExitStack()
        self._held.enter_context(one_blas_thread())  # for all threads at once: a limit that changes would change bits
        planners = max(os.cpu_count() or 1, PLANNERS)  # plans wait for the storage too, not for processors alone
        self._planning = ThreadPoolExecutor(planners, thread_name_prefix="planning")
        self._reading = ThreadPoolExecutor(READERS, thread_name_prefix="reading")
        self._drawers: OrderedDict[str, _Drawer] = OrderedDict()

    @property
    def address(self) -> str:
        """Where the studies are, without a password."""
        return self.storage.address

    async def look(self, name: str, view: Callable[..., Answer], /, **words: Any) -> Answer:
        """Return ``view(study, **words)``, which may use the model; such calls of one study follow one another."""
        drawer = self._drawer(name)
        return await drawer.planning.run(lambda: drawer.planner.used(view, words))

    async def read(self, name: str, view: Callable[..., Answer], /, **words: Any) -> Answer:
        """Return ``view(study, **words)``, which uses no model, and so never waits for one."""
        drawer = self._drawer(name)
        return await drawer.reading.run(lambda: drawer.clerk.used(view, words))

    async def simulate(self, name: str, view: Callable[..., Answer], /, **words: Any) -> Answer:
        """Return ``view(study, **words)`` on a study object of its own: it takes long, and nobody waits for it."""
        drawer = self._drawer(name)
        return await drawer.simulating.run(lambda: _Opened(name, self.storage, _Newest()).used(view, words))

    async def studies(self) -> list[StudySummary]:
        """List all studies by name."""
        return await self.in_storage(self.storage.studies)

    async def in_storage(self, work: Callable[[], Answer]) -> Answer:
        """Return what some work on the storage returns; it belongs to no open study."""
        return await asyncio.get_running_loop().run_in_executor(self._reading, work)

    async def create(self, name: str, make: Callable[[], Answer]) -> Answer:
        """Make a study and return what the maker returns; refuse a name that is taken."""

        def made() -> Answer:
            refused = ExistsError(f"the study {name!r} already exists; choose another name")
            if self._has(name):
                raise refused
            try:
                return make()
            except InvalidInputError as error:
                if self._has(name):  # another made it in this very moment
                    raise refused from error
                raise

        return await self.in_storage(made)

    async def delete(self, name: str) -> None:
        """Remove a study with all its rounds."""

        def deleted() -> None:
            try:
                self.storage.delete(name)
            except UnknownNameError as error:
                raise MissingError(str(error)) from error

        await self.in_storage(deleted)
        self._drawers.pop(name, None)

    def close(self, wait: float = CLOSE_SECONDS) -> None:
        """Let work that has begun come to its end, then let go of the storage; what takes longer is left behind."""
        pools = (self._planning, self._reading)
        ends = [threading.Thread(target=pool.shutdown, kwargs={"cancel_futures": True}, daemon=True) for pool in pools]
        deadline = time.monotonic() + wait
        for end in ends:
            end.start()
        for end in ends:
            end.join(max(0.0, deadline - time.monotonic()))
        self.is_stuck = any(end.is_alive() for end in ends)
        if not self.is_stuck:
            self.storage.close()
            self._held.close()

    def _has(self, name: str) -> bool:
        return any(found.name == name for found in self.storage.studies())

    def _drawer(self, name: str) -> "_Drawer":
        """Return an open study, the latest used last; of those that nobody uses the oldest are put away."""
        if name not in self._drawers:
            self._drawers[name] = _Drawer(name, self)
        self._drawers.move_to_end(name)
        if len(self._drawers) > KEPT_OPEN:
            idle = [other for other, drawer in self._drawers.items() if not drawer.busy and other != name]
            for other in idle[: len(self._drawers) - KEPT_OPEN]:
                del self._drawers[other]
        return self._drawers[name]


class _Drawer:
    """An open study: one object to plan with, one to keep its log, and the lanes in which they are used."""

    def __init__(self, name: str, desk: Desk) -> None:
        newest = _Newest()
        self.planner = _Opened(name, desk.storage, newest)
        self.clerk = _Opened(name, desk.storage, newest)
        self.planning = Lane(desk._planning)
        self.simulating = Lane(desk._planning)
        self.reading = Lane(desk._reading)

    @property
    def busy(self) -> bool:
        """Whether somebody works with it, or waits to."""
        return any(lane.waiting for lane in (self.planning, self.simulating, self.reading))


class _Newest:
    """What the objects of one study know of its log, so that none reads what another wrote or read just now."""

    known: KnownLog | None = None


class _Opened:
    """A study that is loaded when first used, and again if another took its name."""

    def __init__(self, name: str, storage: Any, newest: _Newest) -> None:
        self._name = name
        self._storage = storage
        self._newest = newest
        self._study: Study | None = None

    def used(self, view: Callable[..., Answer], words: dict[str, Any]) -> Answer:
        """Return ``view(study, **words)`` with what others did to the study."""
        study = self._opened()
        try:
            return view(study, **words)
        finally:
            self._newest.known = study.known()

    def _opened(self) -> Study:
        try:
            if self._study is not None:
                try:
                    known = self._newest.known  # once: the study's other object may forget it meanwhile
                    if known is not None:
                        self._study.take(known)
                    self._study.refresh(ahead=True)
                    return self._study
                except DamageError:
                    raise
                except StorageError:  # deleted and made again, or restored: then it is another study of this name
                    self._study, self._newest.known = None, None
            self._study = load_study(self._name, self._storage)
            return self._study
        except UnknownNameError as error:
            self._study = None
            raise MissingError(str(error)) from error


async def _desk_of(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


GivenDesk = Annotated[Desk, Depends(_desk_of)]
"""The application's desk, as a parameter of a handler."""
