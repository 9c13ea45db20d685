"""Limit concurrent requests per provider, and pause all of them after a rate limit."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class ProviderLimit:
    """Allows at most ``width`` concurrent requests to one provider; a rate limit hit by one request delays all."""

    def __init__(self, width: int) -> None:
        self._slots = asyncio.Semaphore(max(1, width))
        self._open_at = 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a free slot and for the end of any pause."""
        async with self._slots:
            while (left := self._open_at - time.monotonic()) > 0:  # noqa: ASYNC110 - a pause may be prolonged meanwhile
                # Add jitter, so that waiting requests do not all resume in the same millisecond.
                await asyncio.sleep(left + random.uniform(0, min(0.25, left / 4)))
            yield

    def pause(self, seconds: float) -> None:
        """Delay new requests for ``seconds``."""
        self._open_at = max(self._open_at, time.monotonic() + seconds)
