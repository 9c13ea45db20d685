"""How long until a regeneration run of 3,000 tasks with 10 samples each can be read, against one of 10 tasks.

Run it with ``python tests/benchmarks/huge_regeneration.py``; the last line is JSON. Targets: the table of a huge run is on
the screen after about the time that a small one needs; while it is written, a key is answered within a tenth of a second.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent / "app"))

from driving import figures, quiet, screen_text
from regenerated import RUN, Recorder

from workbench.app.app import WorkbenchApp
from workbench.app.regeneration.screen import RegenerationScreen
from workbench.base import settings

SAMPLES = 10
REPEATS = 5
MANY = 3_000
KEYS = 60


def build(path: Path, tasks: int, cells: str = "✓✗✗✓⧖✗✓!∅✗", state: str = "done") -> list[str]:
    """Write a run of ``tasks`` tasks with their controls."""
    recorder = Recorder(path)
    recorder.run(state=state, samples=SAMPLES)
    with recorder.writer.transaction():
        ids = [recorder.task(f"function_{n}", n, path=f"package/module_{n % 40}.py", tests=5) for n in range(tasks)]
        recorder.controls(ids)
        for task in ids:
            recorder.cells(task, cells)
    recorder.close()
    return ids


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
            shown = figures(screen)
            if listed and content and shown is not None and shown.pass_at[0].low is not None:
                return listed, content, time.perf_counter() - begin


async def live(path: Path, ids: list[str]) -> tuple[float, float]:
    """Return the median and the 95th percentile of the time from a key to its effect while samples are written.

    The writer is a thread of this process here, so it takes the interpreter from the app; an engine does not.
    """
    recorder = Recorder.__new__(Recorder)
    from workbench.session import SessionWriter

    recorder.path, recorder.writer = path, SessionWriter(path)
    lease = recorder.writer.acquire(RUN)
    going = threading.Event()

    def write() -> None:
        for start in range(0, len(ids), 10):
            with recorder.writer.transaction():
                for task in ids[start : start + 10]:
                    recorder.cells(task, "✓✗✗✓⧖✗✓!∅✗", at=time.time())
            if going.wait(0.02):
                return

    app = WorkbenchApp(None, settings.load(), warm_engine=False)
    times = []
    async with app.run_test(size=(120, 40)) as pilot:
        while app.is_opening:
            await pilot.pause()
        await app.switch_mode("regeneration")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, RegenerationScreen)
        app.open_session(path)
        while not (screen.table.rows and quiet(screen)):
            await asyncio.sleep(0.005)
        writing = threading.Thread(target=write)
        writing.start()
        for _ in range(KEYS):
            before = screen.table.cursor
            begin = time.perf_counter()
            app.simulate_key("j")
            while screen.table.cursor == before:
                await asyncio.sleep(0)
            times.append(time.perf_counter() - begin)
            await asyncio.sleep(0.05)
        going.set()
        writing.join()
    recorder.writer.release(lease)
    recorder.close()
    return median(times), sorted(times)[int(0.95 * len(times))]


def main() -> None:
    """Build both, open both in turn, print the medians and their ratio; then watch one while it is written."""
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
        result: dict[str, object] = {"benchmark": "huge_regeneration", "samples": SAMPLES, "repeats": REPEATS}
        for tasks in files:
            listed, content, figured = (median(item[n] for item in times[tasks]) * 1000 for n in range(3))
            print(
                f"{tasks:>6,} tasks × {SAMPLES}: table after {listed:6.1f} ms, first sample after {content:6.1f} ms, "
                f"pass@k with its interval after {figured:7.1f} ms"
            )
            result[f"table_ms_{tasks}"], result[f"sample_ms_{tasks}"] = round(listed, 1), round(content, 1)
            result[f"figures_ms_{tasks}"] = round(figured, 1)
        ratio = median(i[1] for i in times[MANY]) / median(i[1] for i in times[10])
        print(f"ratio {ratio:.2f}× (target about 1×)")
        growing = Path(folder) / "live.session"
        ids = build(growing, MANY, cells="·" * SAMPLES, state="running")
        middle, late = asyncio.run(live(growing, ids))
        print(
            f"while it is written: a key takes {middle * 1000:.1f} ms at the median, {late * 1000:.1f} ms at the 95th percentile"
        )
        result |= {"live_key_ms": round(middle * 1000, 1), "live_key_ms_p95": round(late * 1000, 1)}
        print(json.dumps(result | {"ratio": round(ratio, 2)}))


if __name__ == "__main__":
    main()
