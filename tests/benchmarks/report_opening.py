"""What a report costs whoever gets it: from navigation to the load event and paint, the first search and the next, in Chromium.

Beside a bare page and with the processor time of the page's thread, because a busy machine slows both pages: what counts on it
is the processor time. Run it with ``python tests/benchmarks/report_opening.py [TRIALS]``; the last line is JSON, the exit code
1 if that of opening and a search together misses the target.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "web")]

from chromium import PROGRAM, Page, chromium  # noqa: E402
from pages.many_reported import many_reported  # noqa: E402

from workbench.pages import write_report  # noqa: E402

TARGET = 2.0  # seconds to open
TRIALS, ROUNDS = 500, 5
BARE = "<!doctype html><title>bare</title><p>bare"

# From the last key until the count stands and the page was painted again: 120 ms of it is waiting for another key.
SEARCH = """new Promise((done) => {
  const field = document.querySelector("#search input"), said = document.querySelector("#search output");
  const began = performance.now();
  new MutationObserver((_, watching) => {
    watching.disconnect();
    requestAnimationFrame(() => setTimeout(() => done([performance.now() - began, said.textContent])));
  }).observe(said, {childList: true, characterData: true, subtree: true});
  field.value = %s;
  field.dispatchEvent(new Event("input"));
})"""


async def worked(page: Page) -> float:
    """Return the seconds of processor time that the page's thread took so far."""
    metrics = (await page.call("Performance.getMetrics"))["metrics"]
    return next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")


async def opened(page: Page, path: Path) -> float:
    """Return the seconds from navigation until the page was loaded and painted."""
    await page.call("Performance.enable", timeDomain="threadTicks")
    began = time.perf_counter()
    await page.open(path.as_uri())
    await page.js("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    return time.perf_counter() - began


async def measure(folder: Path, report: Path, trials: int) -> dict[str, list[float]]:
    """Return seconds by what was measured, of each round but the first."""
    bare = folder / "bare.html"
    bare.write_text(BARE, encoding="utf-8")
    found: dict[str, list[float]] = {
        name: [] for name in ("bare", "report", "report_cpu", "search", "search_cpu", "next")
    }
    async with chromium(folder / "browser") as browser:
        for _ in range(ROUNDS + 1):
            page = await browser.page()
            found["bare"].append(await opened(page, bare))
            await page.call("Page.close")
            page = await browser.page()
            found["report"].append(await opened(page, report))
            found["report_cpu"].append(await worked(page))
            for name, wanted in (("search", f"needle{trials // 2}end"), ("next", "README")):
                took, said = await page.js(SEARCH % json.dumps(wanted))
                assert " in " in said, said
                found[name].append(took / 1000)
                if name == "search":
                    found["search_cpu"].append(await worked(page))
            await page.call("Page.close")
    return {name: values[1:] for name, values in found.items()}


def main() -> int:
    """Measure and print."""
    if not PROGRAM:
        print("no chromium on this machine: nothing was measured")
        return 0
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        many_reported(folder / "many.session", trials)
        began = time.process_time()
        report = folder / "report.html"
        write_report(folder / "many.session", "html", report)
        wrote, size = time.process_time() - began, report.stat().st_size
        found = asyncio.run(measure(folder, report, trials))
    median = {name: statistics.median(values) for name, values in found.items()}
    print(f"{trials:,} trials: {size / 1e6:.1f} MB, written with {wrote:.1f} s of processor time")
    words = {"bare": "a bare page", "report": "the report", "search": "first search", "next": "next search"}
    for name, said in words.items():
        line = f"{said:<13} median {median[name]:.2f} s  fastest {min(found[name]):.2f} s"
        if f"{name}_cpu" in median:
            after = " since it was opened" if name == "search" else ""
            line += f"  processor {median[f'{name}_cpu']:.2f} s{after} (target {TARGET:g} s)"
        print(line)
    print(f"the report takes {median['report'] / median['bare']:.1f} times as long to open as a bare page")
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    rounded = {f"{name}_s": round(value, 3) for name, value in median.items()}
    print(json.dumps({"benchmark": "report_opening", "trials": trials, "bytes": size, **rounded}))
    return int(median["search_cpu"] > TARGET)


if __name__ == "__main__":
    raise SystemExit(main())
