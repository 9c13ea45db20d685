"""From an address to the painted app in a real Chromium over loopback: the header, and the list of cases.

The clock runs from the navigation until the bytes that hold the words have arrived in the page, so it holds the page, its script
and font, the start of the app's process and its first frames.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "web")]

from chromium import PROGRAM, chromium  # noqa: E402
from figures import Figure, publish  # noqa: E402
from served import serving  # noqa: E402

ROUNDS = 7
TARGET_MS = 1500.0


async def measure(folder: Path, rounds: int) -> list[tuple[float, float]]:
    """Return the seconds to the header and to the list of cases, of each round but the first two, which fill caches."""
    found = []
    with serving(folder / "home") as served:
        async with chromium(folder / "browser") as browser:
            for _ in range(rounds + 2):
                page = await browser.page()
                started = time.perf_counter()
                await page.open(served.address)
                await page.sees("Workbench")
                first = time.perf_counter() - started
                await page.sees("countdown_timer")
                found.append((first, time.perf_counter() - started))
                await page.call("Page.close")
    return found[2:]


def main() -> int:
    """Open the app in several pages, one after the other."""
    if not PROGRAM:
        print("no chromium on this machine: nothing was measured")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(measure(Path(folder), ROUNDS))
    firsts, lists = ([1000 * one for one in column] for column in zip(*found, strict=True))
    first, listed = statistics.median(firsts), statistics.median(lists)
    return publish(
        [
            Figure("browser: first paint", f"{first:.0f} ms", f"the limit, {TARGET_MS:g} ms", first / TARGET_MS, 1.0),
            Figure(
                "browser: the list of cases", f"{listed:.0f} ms", f"the limit, {TARGET_MS:g} ms", listed / TARGET_MS
            ),
        ]
    )


if __name__ == "__main__":
    raise SystemExit(main())
