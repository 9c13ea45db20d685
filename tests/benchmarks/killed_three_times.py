"""A run of 5,000 candidates, killed three times at random points and resumed, beside an unbroken one.

Run: ``python tests/benchmarks/killed_three_times.py [CANDIDATES] [SEED]``. The tasks are those of word_counter and schema, the
candidates their originals, stubs and mutants out of samples files; a run for each of the two is executed by an engine of
its own, and every kill takes both. Target: no verdict and no failing test differs.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from engine import killing

from workbench.engine.task_building import prepare
from workbench.sandbox import choose_backend

SOURCES = ("word_counter", "schema==0.7.7")


class Quiet:
    """Hears how far the stages are and says nothing."""

    def update(
        self, name: str, state: str = "running", *, done: int | None = None, total: int | None = None, note: str = ""
    ) -> None:
        """Take note."""


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory() as folder:
        for name in ("DATA", "STATE", "CONFIG"):
            os.environ[f"WORKBENCH_{name}_DIR"] = str(Path(folder) / name.lower())
        began = time.monotonic()
        orders, candidates = [], 0
        prepared = [asyncio.run(prepare(source, choose_backend(), Quiet())) for source in SOURCES]
        tasks = sum(len(one.built.tasks) for one in prepared)
        for source, one in zip(SOURCES, prepared, strict=True):
            file = Path(folder) / f"{one.case.id}.jsonl"
            share = -(-wanted * len(one.built.tasks) // tasks)
            candidates += killing.write_samples(file, ((task.id, task.body) for task in one.built.tasks), share)
            orders.append((source, file))
        print(f"{tasks} tasks, {candidates} candidates, prepared in {time.monotonic() - began:.0f} s", flush=True)
        whole, parts = Path(folder) / "unbroken.session", Path(folder) / "broken.session"
        killing.plan(whole, orders)
        seconds = killing.run_unbroken(whole)
        unbroken = killing.verdicts(whole)
        print(
            f"unbroken: {len(unbroken)} candidates with their controls in {seconds:.0f} s, {killing.states(whole)}",
            flush=True,
        )
        print(f"  {killing.counted(unbroken)}", flush=True)
        killing.plan(parts, orders)
        broken = killing.run_broken(parts, len(unbroken), 3, seed, lambda line: print(f"  {line}", flush=True))
        again = killing.verdicts(parts)
        print(f"killed three times: {len(again)} in {broken.seconds:.0f} s, {killing.states(parts)}", flush=True)
        print(f"  {killing.counted(again)}", flush=True)
        differing = killing.disagreements(unbroken, again)
        for key, one_says, other_says in differing[:20]:
            print(f"  {key}: {one_says} / {other_says}")
        print(
            json.dumps(
                {
                    "candidates": len(unbroken),
                    "asked_for": candidates,
                    "unbroken_s": round(seconds, 1),
                    "broken_s": round(broken.seconds, 1),
                    "killed_at": broken.at,
                    "engines_killed": broken.engines,
                    "finished_that_changed": len(broken.changed),
                    "disagreements": len(differing),
                }
            )
        )
        met = not differing and candidates >= wanted and killing.states(parts) == killing.states(whole) == {"done"}
        print("met" if met else "MISSED")
        sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
