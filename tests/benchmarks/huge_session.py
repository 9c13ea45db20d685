"""What a session of 2 GB costs whoever opens it: first paint, its trials, any step of it, memory.

The session holds 5,000 trials with 200,000 steps, whose 200,000 observations are all different and do not compress, and
100,000 candidates of 10,000 tasks. It is compared with one of 5 trials. Each is opened by the workbench in a
pseudo-terminal of 120x40, as a user opens it, with the session's name on the command line; bare Textual starts in turn with it. Then
trials far apart are opened one after the other in a headless app, and in each a step in the middle.

Run: ``python tests/benchmarks/huge_session.py [MEGABYTES]``; building 2,000 MB takes minutes.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "app"))

from driving import until
from figures import Figure, publish
from first_paint import BARE, environment, seconds_to_paint
from recorded import Recorder, card
from regenerated import Recorder as Regeneration
from textual.pilot import Pilot

from workbench.app.app import WorkbenchApp
from workbench.app.trajectory.screen import TrajectoryScreen
from workbench.base import settings
from workbench.session import SessionReader

TRIALS, STEPS, TASKS, SAMPLES = 5_000, 40, 10_000, 10
OURS = "import sys; sys.argv = ['workbench', 'open', {path!r}]; from workbench.cli import main; main()"
AIM_PAINT, AIM_STEP_MS, AIM_MEMORY_MB = 1.2, 50.0, 150.0
OPENED = 60


def build(path: Path, trials: int, tasks: int, megabytes: int) -> None:
    """Write a session; the observations of all steps have ``megabytes`` together."""
    rng = random.Random(1)
    size = megabytes * 1_000_000 // (trials * STEPS)
    recorder = Recorder(path)
    recorder.run()
    writer = recorder.writer
    for first in range(0, trials, 50):
        with writer.transaction():
            for number in range(first, min(trials, first + 50)):
                trial = f"t{number:05}"
                recorder.trial(trial, repeat=number + 1, state="running")
                for step in range(1, STEPS + 1):
                    seen = f"value_{number}_{step} = 1\n{rng.randbytes(size // 2).hex()}"
                    recorder.tool(trial, step, "read_file", f"pkg/file{step}.py", seen)
                    recorder.seen(trial, f"pkg/file{step}.py", "read", step, size)
                recorder.finish(trial)
                recorder.score(trial, card())
    regeneration = Regeneration.__new__(Regeneration)
    regeneration.path, regeneration.writer = path, writer
    regeneration.run(samples=SAMPLES)
    for first in range(0, tasks, 500):
        with writer.transaction():
            for number in range(first, first + 500 if first + 500 < tasks else tasks):
                task = regeneration.task(f"function_{number}", number, path=f"pkg/module_{number % 90}.py", tests=3)
                regeneration.controls([task])
                regeneration.cells(task, "✓✗✗✓⧖✗✓!∅✗")
    recorder.close()


def memory_mb(pid: int) -> float:
    """Return the resident memory of a process in megabytes."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) / 1000


async def step_opened(pilot: Pilot[int], screen: TrajectoryScreen, trials: list[str], rng: random.Random) -> float:
    """Go to some trial, then to some step of it; return the seconds until the step's content is there."""
    number, step = rng.randrange(len(trials)), rng.randrange(1, STEPS - 1)
    screen.show_trial(trials[number])
    await until(pilot, lambda: screen.state and screen.state.trial.id == trials[number], "a trial", 60)
    begin = time.perf_counter()
    screen.step_list.set_cursor(step + 1)
    wanted = f"value_{number}_{step + 1} = 1"
    while wanted not in screen.content.text.document.text[:2000]:
        await asyncio.sleep(0.001)
    return time.perf_counter() - begin


async def stepped(path: Path) -> tuple[float, list[float], float]:
    """Return the seconds until the trials are known, those of each step opened, and the memory in megabytes."""
    with SessionReader(path) as reader:
        trials = [trial.id for trial in reader.trials()]
    newest = trials[-1]
    app = WorkbenchApp(None, settings.load(), warm_engine=False)
    async with app.run_test(size=(120, 40)) as pilot:
        while app.is_opening:
            await pilot.pause()
        await app.switch_mode("trajectory")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, TrajectoryScreen)
        began = time.perf_counter()
        app.open_session(path)
        # Until then the example is open, which has steps as well.
        await until(pilot, lambda: screen.state and screen.state.trial.id == newest, "its newest trial", 120)
        listed = time.perf_counter() - began
        rng, took = random.Random(2), []
        for _ in range(OPENED):
            took.append(await step_opened(pilot, screen, trials, rng))
        used = memory_mb(os.getpid())
    return listed, took, used


def main() -> int:
    """Build both sessions, open each in turn."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    keep = os.environ.get("WORKBENCH_BENCH_FOLDER")
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as own:
        folder = Path(keep or own)
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            os.environ[f"XDG_{name}_HOME"] = str(Path(own) / name.lower())
        small, huge = folder / "small.session", folder / f"huge{megabytes}.session"
        if not small.exists():
            build(small, 5, 10, 1)
        if not huge.exists():
            began = time.perf_counter()
            build(huge, TRIALS, TASKS, megabytes)
            print(f"built in {time.perf_counter() - began:.0f} s")
        print(
            f"{huge.stat().st_size / 1e6:,.0f} MB: {TRIALS:,} trials, {TRIALS * STEPS:,} steps, {TASKS * SAMPLES:,} candidates"
        )
        env = environment(Path(own))
        paints: dict[str, list[float]] = {"bare": [], "small": [], "huge": []}
        for turn in range(9):
            for name in paints:
                code, mark = (BARE, b"bare mark") if name == "bare" else (
                    OURS.format(path=str(small if name == "small" else huge)), b"Workbench")  # fmt: skip
                seconds, _ = seconds_to_paint(code, mark, env)
                if turn > 1:
                    paints[name].append(seconds)
        paint = {name: median(times) * 1000 for name, times in paints.items()}
        figures = [
            Figure(
                f"first paint with a session of {megabytes:,} MB",
                f"{paint['huge']:.0f} ms",
                f"bare Textual, {paint['bare']:.0f} ms",
                paint["huge"] / paint["bare"],
                AIM_PAINT,
            )
        ]
        for name, path in (("small", small), ("huge", huge)):
            listed, took, used = asyncio.run(stepped(path))
            p95 = quantiles(took, n=20)[-1] * 1000
            print(f"{name:<6} its trials are listed after {listed * 1000:.0f} ms")
        figures += [
            Figure(
                "a step anywhere in it, p95", f"{p95:.1f} ms", f"the limit, {AIM_STEP_MS:g} ms", p95 / AIM_STEP_MS, 1.0
            ),
            Figure(
                "memory of the headless app",
                f"{used:.0f} MB",
                f"the limit, {AIM_MEMORY_MB:g} MB",
                used / AIM_MEMORY_MB,
                1.0,
            ),
        ]
    return publish(figures)


if __name__ == "__main__":
    raise SystemExit(main())
