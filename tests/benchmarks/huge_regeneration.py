"""How long until a regeneration run of 3,000 tasks with 10 samples each can be read, against one of 10 tasks."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent / "app"))

from driving import figures as shown_figures
from driving import screen_text
from figures import Figure, publish
from regenerated import Recorder

from workbench.app.app import WorkbenchApp
from workbench.app.regeneration.screen import RegenerationScreen
from workbench.base import settings

SAMPLES = 10
REPEATS = 5
MANY = 3_000


def build(path: Path, tasks: int) -> None:
    """Write a run of ``tasks`` tasks with their controls."""
    recorder = Recorder(path)
    recorder.run(samples=SAMPLES)
    with recorder.writer.transaction():
        ids = [recorder.task(f"function_{n}", n, path=f"package/module_{n % 40}.py", tests=5) for n in range(tasks)]
        recorder.controls(ids)
        for task in ids:
            recorder.cells(task, "✓✗✗✓⧖✗✓!∅✗")
    recorder.close()


async def opened(path: Path, tasks: int) -> tuple[float, float, float]:
    """Return the seconds from opening a session to its table, to the first sample's text, and to pass@k with its interval."""
    app = WorkbenchApp(None, settings.load(), warm_engine=False)
    async with app.run_test(size=(120, 40)) as pilot:
        while app.is_opening:
            await pilot.pause()
        await app.switch_mode("regeneration")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, RegenerationScreen)
        begin = time.perf_counter()
        app.open_session(path)
        listed = content = None
        while True:
            await asyncio.sleep(0.001)
            # Looking at the characters of the screen costs milliseconds, so look only once something is there.
            if listed is None and screen.table.rows and f"Tasks {tasks:,}" in screen_text(app):
                listed = time.perf_counter() - begin
            if content is None and screen.sample.text.document.text and "sample 1 ✓" in screen_text(app):
                content = time.perf_counter() - begin
            shown = shown_figures(screen)
            if listed and content and shown is not None and shown.pass_at[0].low is not None:
                return listed, content, time.perf_counter() - begin


def main() -> int:
    """Build both, open both in turn."""
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            os.environ[f"XDG_{name}_HOME"] = str(Path(folder) / name.lower())
        files = {tasks: Path(folder) / f"tasks{tasks}.session" for tasks in (10, MANY)}
        for tasks, path in files.items():
            build(path, tasks)
        times: dict[int, list[tuple[float, float, float]]] = {tasks: [] for tasks in files}
        for turn in range(REPEATS + 1):
            for tasks, path in files.items():
                measured = asyncio.run(opened(path, tasks))
                if turn:  # the first turn imports
                    times[tasks].append(measured)
    few, many = ([median(column) for column in zip(*times[tasks], strict=True)] for tasks in (10, MANY))
    return publish(
        Figure(
            f"open {MANY:,} tasks × {SAMPLES}: {what}",
            f"{last * 1000:.0f} ms",
            f"10 tasks, {first * 1000:.0f} ms",
            last / first,
            target,
        )
        for what, first, last, target in zip(
            ("the table", "the first sample", "pass@k with its interval"), few, many, (1.5, 1.5, None), strict=True
        )
    )


if __name__ == "__main__":
    sys.exit(main())
