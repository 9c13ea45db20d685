"""How long a key takes to reach the screen in the matrix of a study of 30 × 12 over 100,000 candidates while verdicts arrive.

A writer process settles candidates, each in its own transaction, at an even pace; the matrix is read again every half second, as
where a person follows it. Keys move the cursor over rows and columns; the time runs from the key's arrival in the app to
the moment when the frame with its effect has been handed to the driver. Target: p95 of 33 ms or less. Beside it stand the same
keys with nothing being written, which is the baseline, and the time from the mode's key to the matrix on the screen (target 150 ms
for reading and showing it).

Run: ``python tests/benchmarks/study_key_to_paint.py [VERDICTS_A_SECOND [CANDIDATES]]``
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import sys
import tempfile
import time
from itertools import cycle, islice
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import quantiles

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "app"))

from driving import until
from figures import Figure, publish
from studies.declared_studies import put_matrix
from textual.pilot import Pilot
from timed_keys import timed_keys

from workbench.app.app import WorkbenchApp
from workbench.app.study.screen import StudyScreen
from workbench.base import settings
from workbench.base.garbage_collection import collect_rarely
from workbench.session import SessionReader, SessionWriter

ROWS, DOCS, EVALUATORS, SAMPLES = 30, 4, 3, 5
VERDICTS_A_SECOND = int(sys.argv[1]) if len(sys.argv) > 1 else 200
CANDIDATES = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
KEYS = 200
OF_ONE_RUN = "SELECT id FROM candidates WHERE task_id IN (SELECT id FROM tasks WHERE run_id = 'repository01-docs1')"
PATTERN = "jjljkhjkklkh"


def write(path: Path, begin: Event, stop: Event, written: object) -> None:
    """Change verdicts of one run at an even pace until told to stop: runs of a study are executed one after the other."""
    with SessionReader(path) as reader:
        names = [row[0] for row in reader.query(OF_ONE_RUN)]
    rng = random.Random(2)
    with SessionWriter(path) as writer:
        begin.wait()
        start, done = time.perf_counter(), 0
        while not stop.is_set():
            due = int((time.perf_counter() - start) * VERDICTS_A_SECOND)
            while done < due and not stop.is_set():
                writer.update("candidates", {"id": rng.choice(names)}, {"verdict": rng.choice(("passed", "failed"))})
                done += 1
            written.value = done / (time.perf_counter() - start)  # type: ignore[attr-defined]
            stop.wait(0.002)


async def press(app: WorkbenchApp, screen: StudyScreen, keys: int) -> float:
    """Press so many keys in the matrix; return the 95th percentile of the milliseconds from a key to its frame."""
    matrix = screen.matrix
    waits, _ = await timed_keys(app, islice(cycle(PATTERN), keys), lambda: (matrix.cursor, matrix.column))
    return quantiles(waits, n=20)[-1] * 1000


async def shown(pilot: Pilot[int], app: WorkbenchApp) -> tuple[StudyScreen, float]:
    """Go to the mode; return it and the seconds until its matrix was there."""
    began = time.perf_counter()
    await pilot.press("5")
    while not (isinstance(app.screen, StudyScreen) and app.screen.outcome is not None):
        await asyncio.sleep(0.001)
    return app.screen, time.perf_counter() - began


async def measure(path: Path, begin: Event, stop: Event) -> dict[str, float]:
    """Drive the app, first with nothing being written, then beside the writer."""
    app = WorkbenchApp(path, settings.load(), warm_engine=False)
    app.after_first_paint(collect_rarely)  # as where a person opens it
    async with app.run_test(size=(160, 50)) as pilot:
        await until(pilot, lambda: app.reader is not None and not app.is_opening, "the session")
        screen, opened = await shown(pilot, app)
        await until(pilot, lambda: screen.matrix.cursor >= 0 and screen.matrix.has_focus, "the matrix")
        await press(app, screen, len(PATTERN))
        still = await press(app, screen, KEYS)
        first = screen.outcome
        begin.set()
        await until(pilot, lambda: screen.outcome is not first, "the first verdicts")
        looks = {id(screen.outcome)}
        live = await press(app, screen, KEYS)
        looks.add(id(screen.outcome))
        assert len(looks) > 1, "the matrix did not follow"
        stop.set()
    return {"opened_ms": round(opened * 1000, 1), "still_p95_ms": round(still, 1), "live_p95_ms": round(live, 1)}


def main() -> int:
    """Build the session, start the writer, drive the app."""
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            os.environ[f"XDG_{name}_HOME"] = str(Path(folder) / name.lower())
        path = Path(folder) / "matrix.session"
        tasks = max(1, round(CANDIDATES / (ROWS * DOCS * EVALUATORS * SAMPLES)))
        put_matrix(path, ROWS, DOCS, EVALUATORS, SAMPLES, tasks, random.Random(1))
        context = multiprocessing.get_context("spawn")
        begin, stop, written = context.Event(), context.Event(), context.Value("d", 0.0)
        writer = context.Process(target=write, args=(path, begin, stop, written), daemon=True)
        writer.start()
        try:
            found = asyncio.run(measure(path, begin, stop))
        finally:
            stop.set()
            begin.set()
            writer.join(20)
    live, still, opened = found["live_p95_ms"], found["still_p95_ms"], found["opened_ms"]
    return publish(
        [
            Figure(
                f"study: key to paint at {VERDICTS_A_SECOND} verdicts a second, p95",
                f"{live} ms",
                "the limit, 33 ms",
                live / 33,
                1.0,
            ),
            Figure(
                "study: key to paint while verdicts arrive, p95",
                f"{live} ms",
                f"nothing arrives, {still} ms",
                live / still,
            ),
            Figure(
                f"study: the mode's key to the matrix, {CANDIDATES:,} candidates",
                f"{opened} ms",
                "the limit, 150 ms",
                opened / 150,
                1.0,
            ),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
