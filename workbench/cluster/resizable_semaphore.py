"""Limit the number of concurrent candidates to what the cluster can take as it grows and shrinks."""

from __future__ import annotations

import asyncio
from types import TracebackType


class ResizableSemaphore:
    """A fair semaphore whose size may change: the longest waiter enters first."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entered = 0
        self._changed = asyncio.Condition()

    async def __aenter__(self) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._entered < self._size)
            self._entered += 1

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered -= 1
        async with self._changed:
            self._changed.notify()

    async def resize(self, size: int) -> None:
        """Set the size; those already inside stay."""
        if size != self._size:
            async with self._changed:
                self._size = size
                self._changed.notify_all()
