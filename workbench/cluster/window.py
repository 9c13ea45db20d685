"""How many candidates are under way at once: as many as the cluster can take, and it may grow and shrink."""

from __future__ import annotations

import asyncio
from types import TracebackType


class Window:
    """A semaphore whose size may change; whoever waits longest enters first."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._inside = 0
        self._moved = asyncio.Condition()

    async def __aenter__(self) -> None:
        async with self._moved:
            await self._moved.wait_for(lambda: self._inside < self._size)
            self._inside += 1

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inside -= 1
        async with self._moved:
            self._moved.notify()

    async def resize(self, size: int) -> None:
        """Let ``size`` in from now on; who is inside stays."""
        if size != self._size:
            async with self._moved:
                self._size = size
                self._moved.notify_all()
