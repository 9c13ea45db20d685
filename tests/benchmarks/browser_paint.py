"""From an address to the painted app in a real Chromium over loopback: the header, and the list of cases.

The clock runs from the navigation until the bytes that hold the words have arrived in the page, so it holds the page, its script
and font, the start of the app's process and its first frames. Run it with ``python tests/benchmarks/browser_paint.py [rounds]``.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "web")]

from chromium import PROGRAM, chromium  # noqa: E402
from served import serving  # noqa: E402

TARGET = 1.5  # seconds to the first paint


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
    """Measure and print; exit code 1 if the median misses the target."""
    if not PROGRAM:
        print("no chromium on this machine: nothing was measured")
        return 0
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(measure(Path(folder), rounds))
    firsts, lists = zip(*found, strict=True)
    load = os.getloadavg()[0]
    print(f"first paint     median {statistics.median(firsts):.2f} s  fastest {min(firsts):.2f} s  (target {TARGET} s)")
    print(f"list of cases   median {statistics.median(lists):.2f} s  fastest {min(lists):.2f} s")
    print(f"load of the machine {load:.1f} on {os.cpu_count()} cores")
    return 0 if statistics.median(firsts) <= TARGET else 1


if __name__ == "__main__":
    raise SystemExit(main())
