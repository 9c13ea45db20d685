"""How long a key takes to reach the screen while 2,000 events a second arrive and a second app watches the session.

A writer process appends steps, paths seen and scores to the trial that is shown (each its own transaction, so each is a
change that the app's feed has to take in). The second app is the program itself in a terminal of its own, on the same trial.
Meanwhile the first one is driven headlessly with j, k and l; the time runs from the key's arrival in the app to the moment when
the frame with its effect has been handed to the driver. Target: p95 of 33 ms or less. Wall time is what a person waits; the
processor time of the app's loop beside it is what a busy machine does not lengthen.

Run: ``python tests/benchmarks/key_to_paint.py [EVENTS_A_SECOND [WATCHING_APPS]]``
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pty
import select
import signal
import sys
import tempfile
import termios
import time
from itertools import cycle, islice
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import quantiles

sys.path.insert(0, str(Path(__file__).parent.parent / "app"))

from driving import quiet, until
from figures import Figure, publish
from recorded import CODE, FILES, RUN, Recorder
from timed_keys import timed_keys

from workbench.app.app import WorkbenchApp
from workbench.app.trajectory.screen import TrajectoryScreen
from workbench.base import settings
from workbench.base.garbage_collection import collect_rarely
from workbench.session import SessionWriter

EVENTS_A_SECOND = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
WATCHING = int(sys.argv[2]) if len(sys.argv) > 2 else 1
KEYS = 300
TARGET_MS = 33.0
PATTERN = "jjjjkjjllkjj"
KNOWN_STEPS = 400


def write(path: Path, begin: Event, stop: Event, written: object) -> None:
    """Write events at an even pace until told to stop."""
    recorder = Recorder.__new__(Recorder)
    recorder.path, recorder.writer = path, SessionWriter(path)
    lease = recorder.writer.acquire(RUN)
    begin.wait()
    start, done = time.perf_counter(), 0
    while not stop.is_set():
        due = int((time.perf_counter() - start) * EVENTS_A_SECOND)
        while done < due and not stop.is_set():
            number = KNOWN_STEPS + 1 + done // 2
            if done % 2:
                recorder.seen("t1", f"pkg/file{number}.py", "read", number, 800)
            else:
                recorder.tool("t1", number, "read_file", f"pkg/file{number}.py", f"# {number}\n{CODE}")
            done += 1
        written.value = done / (time.perf_counter() - start)  # type: ignore[attr-defined]
        stop.wait(0.002)
    recorder.writer.release(lease)
    recorder.close()


def watch(path: Path, watches: Event, stop: Event, used: object) -> None:
    """Run the app in a terminal of its own, reading all that it paints, until told to stop; notes its processor seconds."""
    program, terminal = pty.fork()
    if program == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(sys.executable, [sys.executable, "-m", "workbench", "open", str(path)])
    termios.tcsetwinsize(terminal, (40, 120))
    painted = b""
    while not stop.is_set():
        if select.select([terminal], [], [], 0.05)[0]:
            painted = painted[-200_000:] + os.read(terminal, 65_536)
            if b"read_file" in painted:  # a step of the trial
                watches.set()
    os.kill(program, signal.SIGTERM)
    spent = os.wait4(program, 0)[2]
    used.value = spent.ru_utime + spent.ru_stime  # type: ignore[attr-defined]


async def measure(path: Path, begin: Event, stop: Event) -> tuple[list[float], list[float], float]:
    """Press keys while the writer writes.

    Returns:
        For each key the seconds until its frame, the processor seconds of the app's loop meanwhile; the loop's busy share.
    """
    app = WorkbenchApp(path, settings.load(), warm_engine=False)
    app.after_first_paint(collect_rarely)  # as where a person opens it
    async with app.run_test(size=(120, 40)) as pilot:
        while app.is_opening:
            await pilot.pause()
        await until(pilot, lambda: isinstance(app.screen, TrajectoryScreen) and app.screen.state, "the trial")
        screen = app.screen
        assert isinstance(screen, TrajectoryScreen)
        await until(pilot, lambda: quiet(screen) and len(screen.step_list.steps) == KNOWN_STEPS, "its steps")
        screen.step_list.set_cursor(1)
        await until(pilot, lambda: quiet(screen), "the first step")
        begin.set()
        if EVENTS_A_SECOND:
            await until(pilot, lambda: len(screen.step_list.steps) > KNOWN_STEPS + 50, "the first events")
        clock, busy = time.perf_counter(), time.thread_time()
        waits, worked = await timed_keys(app, islice(cycle(PATTERN), KEYS), lambda: screen.step_list.cursor)
        print(f"while {len(screen.step_list.steps) - KNOWN_STEPS:,} new steps were shown")
        share = (time.thread_time() - busy) / (time.perf_counter() - clock)
        stop.set()
    return waits, worked, share


def main() -> int:
    """Start the writer and the second app, then press keys."""
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            os.environ[f"XDG_{name}_HOME"] = str(Path(folder) / name.lower())
        path = Path(folder) / "live.session"
        recorder = Recorder(path)
        recorder.run(state="running")
        recorder.trial("t1", state="running")
        recorder.snapshot("t1", [*FILES, *((f"pkg/file{number}.py", 900) for number in range(3_000))])
        for number in range(1, KNOWN_STEPS + 1):
            recorder.tool("t1", number, "read_file", f"pkg/file{number}.py", f"# {number}\n{CODE}")
        recorder.close()
        context = multiprocessing.get_context("spawn")
        begin, stop, written = context.Event(), context.Event(), context.Value("d", 0.0)
        writer = context.Process(target=write, args=(path, begin, stop, written), daemon=True)
        writer.start()
        eyes = [(context.Event(), context.Value("d", 0.0)) for _ in range(WATCHING)]
        watching = [context.Process(target=watch, args=(path, seen, stop, used)) for seen, used in eyes]
        for other in watching:
            other.start()
        try:
            for seen, _ in eyes:
                assert seen.wait(60), "a second app never showed the trial"
            waits, worked, share = asyncio.run(measure(path, begin, stop))
        finally:
            stop.set()
            for other in (writer, *watching):
                other.join(20)
        print(f"writer: {written.value:.0f} events a second; the app's loop was busy {share:.0%} of the time")
    return publish(
        [
            Figure(
                f"key to paint at {EVENTS_A_SECOND:,} events a second, p95 by the clock",
                f"{quantiles(waits, n=20)[-1] * 1000:.1f} ms",
                f"the limit, {TARGET_MS:g} ms",
                quantiles(waits, n=20)[-1] * 1000 / TARGET_MS,
                1.0,
            ),
            Figure(
                "key to paint, p95 of the loop's processor time",
                f"{quantiles(worked, n=20)[-1] * 1000:.1f} ms",
                f"the limit, {TARGET_MS:g} ms",
                quantiles(worked, n=20)[-1] * 1000 / TARGET_MS,
                1.0,
            ),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
