"""Lanes: the calls of one study follow one another in a pool that all studies share, so none of them can fill it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

from mfbo.serve.refusals import BusyError

WAITING = 100  # calls of one study that may wait at a time

Answer = TypeVar("Answer")


class Lane:
    """One call at a time; the others wait in their order, and too many of them are refused."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool
        self._turn = asyncio.Lock()
        self.waiting = 0

    async def run(self, work: Callable[[], Answer]) -> Answer:
        """Return what the work returns, in its turn."""
        if self.waiting >= WAITING:
            raise BusyError(f"{self.waiting} calls of this study are waiting already; try again in a moment")
        self.waiting += 1
        try:
            async with self._turn:
                return await asyncio.get_running_loop().run_in_executor(self._pool, work)
        finally:
            self.waiting -= 1
