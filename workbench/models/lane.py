"""One provider's share: how many requests at once, and a pause that all of them keep."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Lane:
    """Requests to one provider, at most ``width`` at once; a rate limit met by one holds back all."""

    def __init__(self, width: int) -> None:
        self._slots = asyncio.Semaphore(max(1, width))
        self._open_at = 0.0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a place and for the end of a pause."""
        async with self._slots:
            while (left := self._open_at - time.monotonic()) > 0:  # noqa: ASYNC110 - a pause may be prolonged meanwhile
                # Spread out, or everybody who waited would come back in the same millisecond.
                await asyncio.sleep(left + random.uniform(0, min(0.25, left / 4)))
            yield

    def pause(self, seconds: float) -> None:
        """Let nobody start for ``seconds``."""
        self._open_at = max(self._open_at, time.monotonic() + seconds)
