"""Importing 1,000 ATIF trajectories of 50 steps: at most 20 s on two cores, with memory flat; a second time they are skipped.

Prints the ratio to reading and parsing the same files alone, and the growth of the peak memory from the first fifth to the end.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from figures import Figure, publish

from workbench.interop.formats.importing import Tally, import_files
from workbench.orders.import_files import ImportOrder
from workbench.plans.plan import ImportPlan

TRAJECTORIES, STEPS, SECONDS = 1_000, 50, 20.0


def document(number: int) -> dict[str, object]:
    steps: list[dict[str, object]] = [{"step_id": 1, "source": "system", "message": "You write READMEs."}]
    for step in range(2, STEPS + 1):
        path = f"src/module_{number % 20}/file_{step}.py"
        content = f"# {path} of {number}\n" + "\n".join(f"def f{line}(): return {line * number}" for line in range(40))
        steps.append(
            {
                "step_id": step,
                "source": "agent",
                "message": f"I read {path} next.",
                "timestamp": f"2026-01-01T00:{step:02d}:00Z",
                "tool_calls": [{"tool_call_id": f"c{step}", "function_name": "read_file", "arguments": {"path": path}}],
                "observation": {"results": [{"source_call_id": f"c{step}", "content": content}]},
                "metrics": {"prompt_tokens": 1000 + step, "completion_tokens": 50, "cost_usd": 0.001},
            }
        )
    return {
        "schema_version": "ATIF-v1.8",
        "session_id": f"task-{number}",
        "agent": {"name": "bench", "version": "1"},
        "steps": steps,
    }


def peak() -> float:
    """Return the peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    """Import, print, and return 1 where a limit is missed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(TRAJECTORIES):
            (folder / f"{number:04d}.json").write_text(json.dumps(document(number)))
        files = sorted(folder.iterdir())
        began = time.process_time()
        for file in files:
            json.loads(file.read_bytes())
        alone = time.process_time() - began
        session = folder / "bench.session"
        plan = ImportPlan(tuple(map(str, files)))
        early: list[float] = []

        def tell(tally: Tally) -> None:
            if tally.done >= TRAJECTORIES // 5 and not early:
                early.append(peak())

        began, wall = time.process_time(), time.monotonic()
        tally = import_files(session, ImportOrder(session, plan).submit().runs[0], tell)
        spent, took = time.process_time() - began, time.monotonic() - wall
        grown = peak() - early[0]
        began = time.process_time()
        again = import_files(session, ImportOrder(session, plan).submit().runs[0])
        skipped = time.process_time() - began
        assert (tally.added, again.known) == (TRAJECTORIES, TRAJECTORIES), (tally, again)
        size = session.stat().st_size / 1e6
    print(f"{size:.0f} MB, {took:.1f} s by the clock")
    return publish(
        [
            Figure(
                f"import {TRAJECTORIES:,} trajectories of {STEPS} steps",
                f"{spent:.1f} s",
                f"the limit, {SECONDS:g} s",
                spent / SECONDS,
                1.0,
            ),
            Figure("import: processor time", f"{spent:.1f} s", f"parsing them alone, {alone:.2f} s", spent / alone),
            Figure("import: growth of the peak memory", f"{grown:.0f} MB", "the limit, 50 MB", grown / 50, 1.0),
            Figure("import a second time", f"{skipped:.2f} s", f"the first time, {spent:.1f} s", skipped / spent, 0.1),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
