"""How long a trial of 10,000 steps with 1 MB observations takes to open, and a run of 3,000 tasks with 10 samples each.

The baselines are 10 steps and 10 tasks. Each file is opened in a fresh headless app, small and large in turn, until its parts are on
the screen. Contents are addressed by their digest, so the 10,000 observations are 20 distinct megabytes, each named by 500 steps: the
file stays small, and reading any one of them costs what it would if all were distinct. Target: at most 1.5×.

Run: ``python tests/benchmarks/huge_runs.py``
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "app"))

import recorded
import regenerated
from driving import figures as shown_figures
from driving import screen_text
from figures import Figure, publish

from workbench.app.app import WorkbenchApp
from workbench.base import settings

MEGABYTE = 1_000_000
DISTINCT = 20
SAMPLES = 10
REPEATS = 5
Parts = dict[str, Callable[[Any, int], bool]]


def trial_of(path: Path, steps: int) -> None:
    """Write a session with one finished trial of ``steps`` steps."""
    texts = []
    for number in range(DISTINCT):
        lines = (f"value_{number}_{line} = compute({line}, {number})  # line {line}\n" for line in range(30_000))
        texts.append("".join(lines)[:MEGABYTE])
    recorder = recorded.Recorder(path)
    recorder.run()
    recorder.trial("t1", state="running")
    with recorder.writer.transaction():
        for number in range(1, steps + 1):
            recorder.tool("t1", number, "read_file", f"file{number}.py", texts[number % DISTINCT])
    recorder.finish("t1")
    recorder.close()


def run_of(path: Path, tasks: int) -> None:
    """Write a run of ``tasks`` tasks with their controls."""
    recorder = regenerated.Recorder(path)
    recorder.run(samples=SAMPLES)
    with recorder.writer.transaction():
        ids = [recorder.task(f"function_{n}", n, path=f"package/module_{n % 40}.py", tests=5) for n in range(tasks)]
        recorder.controls(ids)
        for task in ids:
            recorder.cells(task, "✓✗✗✓⧖✗✓!∅✗")
    recorder.close()


def has_interval(screen: Any, tasks: int) -> bool:
    """Whether pass@k of the opened session is shown with its interval."""
    shown = shown_figures(screen)
    return shown is not None and shown.tasks == tasks and shown.pass_at[0].low is not None


# Looking at the characters of the screen costs milliseconds, so each part looks only once something is there.
STEPS: Parts = {
    "the list": lambda screen, n: bool(screen.step_list.steps) and f"Steps {n:,}" in screen_text(screen.app),
    "the first content": lambda screen, _: (
        bool(screen.content.text.document.text) and "value_1_0 = compute(0, 1)" in screen_text(screen.app)
    ),
}
TASKS: Parts = {
    "the table": lambda screen, n: bool(screen.table.rows) and f"Tasks {n:,}" in screen_text(screen.app),
    "the first sample": lambda screen, _: (
        bool(screen.sample.text.document.text) and "sample 1 ✓" in screen_text(screen.app)
    ),
    "pass@k with its interval": has_interval,
}


async def opened(path: Path, mode: str, size: int, parts: Parts) -> list[float]:
    """Return the seconds from opening a session to each part, and the CPU seconds until all were there."""
    app = WorkbenchApp(None, settings.load(), warm_engine=False)
    async with app.run_test(size=(120, 40)) as pilot:
        while app.is_opening:
            await pilot.pause()
        await app.switch_mode(mode)
        await pilot.pause()
        begin, used = time.perf_counter(), time.process_time()
        app.open_session(path)
        there: dict[str, float] = {}
        while len(there) < len(parts):
            await asyncio.sleep(0.001)
            for name, shown in parts.items():
                if name not in there and shown(app.screen, size):
                    there[name] = time.perf_counter() - begin
            if time.perf_counter() - begin > 60:
                raise TimeoutError(f"{path.name} was not shown within a minute")
        return [*(there[name] for name in parts), time.process_time() - used]


def measured(
    folder: Path, mode: str, what: str, many: int, build: Callable[[Path, int], None], parts: Parts
) -> list[Figure]:
    """Build a small and a large file and open both in turn."""
    files = {size: folder / f"{mode}{size}.session" for size in (10, many)}
    for size, path in files.items():
        build(path, size)
    times: dict[int, list[list[float]]] = {size: [] for size in files}
    for turn in range(REPEATS + 1):
        for size, path in files.items():
            seconds = asyncio.run(opened(path, mode, size, parts))
            if turn:  # the first turn imports
                times[size].append(seconds)
    few, large = ([median(column) for column in zip(*times[size], strict=True)] for size in (10, many))
    return [
        Figure(
            f"open {many:,} {what}: {name}",
            f"{last * 1000:.0f} ms",
            f"10, {first * 1000:.0f} ms",
            last / first,
            None if name == "pass@k with its interval" else 1.5,
        )
        for name, first, last in zip((*parts, "processor time"), few, large, strict=True)
    ]


def main() -> int:
    """Measure both kinds."""
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            os.environ[f"XDG_{name}_HOME"] = str(Path(folder) / name.lower())
        return publish(
            [
                *measured(Path(folder), "trajectory", "steps", 10_000, trial_of, STEPS),
                *measured(Path(folder), "regeneration", "tasks × 10", 3_000, run_of, TASKS),
            ]
        )


if __name__ == "__main__":
    sys.exit(main())
