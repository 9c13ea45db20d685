"""How long a trial of 10,000 steps with 1 MB observations takes to open, against one of 10 steps.

Opens each in a fresh headless app and measures until the list of steps and the content of the first step are on the
screen. Contents are addressed by their digest, so the 10,000 observations are 20 distinct megabytes, each named by 500
steps: the file stays small, and reading any one of them costs what it would if all were distinct. Target: at most 1.5×.

Run: ``python tests/benchmarks/huge_trajectory.py``
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent / "app"))

from driving import screen_text
from figures import Figure, publish
from recorded import Recorder

from workbench.app.app import WorkbenchApp
from workbench.app.trajectory.screen import TrajectoryScreen
from workbench.base import settings

MEGABYTE = 1_000_000
DISTINCT = 20
REPEATS = 7
MANY = 10_000


def build(path: Path, steps: int) -> None:
    """Write a session with one finished trial of ``steps`` steps."""
    texts = []
    for number in range(DISTINCT):
        lines = (f"value_{number}_{line} = compute({line}, {number})  # line {line}\n" for line in range(30_000))
        texts.append("".join(lines)[:MEGABYTE])
    recorder = Recorder(path)
    recorder.run()
    recorder.trial("t1", state="running")
    with recorder.writer.transaction():
        for number in range(1, steps + 1):
            recorder.tool("t1", number, "read_file", f"file{number}.py", texts[number % DISTINCT])
    recorder.finish("t1")
    recorder.close()


async def opened(path: Path, steps: int) -> tuple[float, float, float]:
    """Return the seconds from opening a session to its steps and to the first step's content, and the CPU seconds."""
    app = WorkbenchApp(None, settings.load(), warm_engine=False)
    async with app.run_test(size=(120, 40)) as pilot:
        while app.is_opening:
            await pilot.pause()
        await app.switch_mode("trajectory")
        await pilot.pause()
        assert isinstance(app.screen, TrajectoryScreen)
        begin, used = time.perf_counter(), time.process_time()
        app.open_session(path)
        listed = None
        while time.perf_counter() - begin < 60:
            await asyncio.sleep(0.001)
            # Looking at the characters of the screen costs milliseconds, so look only once something is there.
            if listed is None and app.screen.step_list.steps and f"Steps {steps:,}" in screen_text(app):
                listed = time.perf_counter() - begin
            if app.screen.content.text.document.text and "value_1_0 = compute(0, 1)" in screen_text(app):
                content = time.perf_counter() - begin
                return listed or content, content, time.process_time() - used
    raise TimeoutError(f"{path.name} was not shown within a minute")


def main() -> int:
    """Build both, open both in turn."""
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            os.environ[f"XDG_{name}_HOME"] = str(Path(folder) / name.lower())
        files = {steps: Path(folder) / f"steps{steps}.session" for steps in (10, MANY)}
        for steps, path in files.items():
            build(path, steps)
        times: dict[int, list[tuple[float, float, float]]] = {steps: [] for steps in files}
        for turn in range(REPEATS + 1):
            for steps, path in files.items():
                measured = asyncio.run(opened(path, steps))
                if turn:  # the first turn imports
                    times[steps].append(measured)
    few, many = ([median(column) for column in zip(*times[steps], strict=True)] for steps in (10, MANY))
    return publish(
        Figure(
            f"open a trial of {MANY:,} steps: {what}",
            f"{last * 1000:.0f} ms",
            f"10 steps, {first * 1000:.0f} ms",
            last / first,
            1.5,
        )
        for what, first, last in zip(("the list", "the first content", "processor time"), few, many, strict=True)
    )


if __name__ == "__main__":
    sys.exit(main())
