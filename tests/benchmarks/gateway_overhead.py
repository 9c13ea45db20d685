"""Processor time of the gateway beside bare ``litellm.acompletion``, against a loopback server in another process.

Both are measured in turns in one run, so that a busy machine treats them alike.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from figures import Figure, publish

from workbench.models import Answer, CallLimits, CallRecord, Message, Request, Sampling, provider
from workbench.models.gateway import Gateway

SERVER = Path(__file__).parent.parent / "loopback" / "server.py"
PROMPT = "Complete this function.\n" + "def f(x):\n    return x\n" * 100
CALLS, CONCURRENCY = 300, 32
TARGET = 1.3


class Log:
    """As light as a log can be: what the gateway itself costs is measured here."""

    def __init__(self) -> None:
        self.calls = 0

    def recall(self, request: Request, nth: int) -> Answer | None:
        return None

    def record(self, call: CallRecord) -> None:
        self.calls += 1


async def spent(calls: int, concurrency: int, one: Callable[[int], Awaitable[object]]) -> tuple[float, float]:
    """Return processor milliseconds a call and wall seconds of all."""
    slots = asyncio.Semaphore(concurrency)

    async def limited(number: int) -> None:
        async with slots:
            await one(number)

    processor, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(limited(number) for number in range(calls)))
    return (time.process_time() - processor) / calls * 1000, time.perf_counter() - wall


async def measure(base_url: str, calls: int, concurrency: int) -> tuple[float, float, float]:
    """Return the milliseconds of a bare call and of one through the gateway, and the ratio of the rounds."""
    litellm = provider.load()
    gateway = Gateway(Log(), CallLimits(concurrency=concurrency, tries=1), base_url=base_url)

    async def bare(number: int) -> object:
        return await litellm.acompletion(
            model="openai/gpt-4o",
            messages=[{"role": "user", "content": f"{number} {PROMPT}"}],
            api_base=base_url,
            api_key="not-needed",
            temperature=0.3,
            max_tokens=200,
            timeout=60,
            max_retries=0,
        )

    async def ours(number: int) -> object:
        messages = (Message("user", f"{number} {PROMPT}"),)
        return await gateway.complete(
            Request("openai/gpt-4o", messages, "agent", Sampling(temperature=0.3, max_tokens=200), scope=str(number))
        )

    for one in (bare, ours):  # connections, caches
        await spent(2 * concurrency, concurrency, one)
    rounds = [(await spent(calls, concurrency, bare), await spent(calls, concurrency, ours)) for _ in range(3)]
    await gateway.aclose()
    bare_ms = statistics.median(first[0] for first, _ in rounds)
    ours_ms = statistics.median(second[0] for _, second in rounds)
    return bare_ms, ours_ms, statistics.median(second[0] / first[0] for first, second in rounds)


def main() -> int:
    with subprocess.Popen(
        [sys.executable, str(SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        bare, ours, ratio = asyncio.run(measure(server.stdout.readline().strip(), CALLS, CONCURRENCY))
        server.kill()
    what = "a call through the gateway, processor time"
    return publish([Figure(what, f"{ours:.2f} ms", f"litellm.acompletion, {bare:.2f} ms", ratio, TARGET)])


if __name__ == "__main__":
    sys.exit(main())
