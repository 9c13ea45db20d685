"""Processor time of the gateway beside bare ``litellm.acompletion``, against a loopback server in another process.

Run: ``python tests/benchmarks/gateway_overhead.py [CALLS] [CONCURRENCY]``; the target is a ratio of at most 1.3.
Both are measured in turns in one run, so that a busy machine treats them alike.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from workbench.models import Answer, CallRecord, Limits, Message, Request, Sampling, provider
from workbench.models.gateway import Gateway

SERVER = Path(__file__).parent.parent / "loopback" / "server.py"
PROMPT = "Complete this function.\n" + "def f(x):\n    return x\n" * 100
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


async def measure(base_url: str, calls: int, concurrency: int) -> dict[str, object]:
    litellm = provider.load()
    gateway = Gateway(Log(), Limits(concurrency=concurrency, tries=1), base_url=base_url)

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
    return {
        "calls": calls,
        "concurrency": concurrency,
        "bare_ms": round(bare_ms, 2),
        "gateway_ms": round(ours_ms, 2),
        "ratio": round(statistics.median(second[0] / first[0] for first, second in rounds), 3),
        "target": TARGET,
        "wall_s": [round(second[1], 2) for _, second in rounds],
    }


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    concurrency = int(sys.argv[2]) if len(sys.argv) > 2 else 32
    with subprocess.Popen(
        [sys.executable, str(SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        result = asyncio.run(measure(server.stdout.readline().strip(), calls, concurrency))
        server.kill()
    print(json.dumps(result))
    met = float(str(result["ratio"])) <= TARGET
    print(f"gateway {result['gateway_ms']} ms, bare {result['bare_ms']} ms a call: {'met' if met else 'MISSED'}")


if __name__ == "__main__":
    main()
