"""How many honest passes stay unmarked when they are really run, and what the marking costs.

    python tests/benchmarks/plain_runs.py [--seconds 5] [SOURCE …]

Of every task of some repositories the original body with one more statement, so that it counts as an answer that nobody has
seen before, is tested by a worker as a model's answer would be. Aim: at least 0.97 of the passes without a mark. The cost is
what a verdict takes longer than that of the original body: reading, further runs.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from candidate_mix import SOURCES, prepared
from figures import Figure, publish

from workbench.engine.task_building import Prepared
from workbench.regeneration.tasks import located
from workbench.repository.splicing import SpliceError, splice
from workbench.sandbox import Job, Limits, Worker, choose_backend


def answers(made: Prepared, seconds: float) -> Iterator[tuple[Job, Job]]:
    """Yield each task's original body, and the same with one more statement."""
    for task, function, source in located(made.snapshot.root, made.built.tasks):
        try:
            content = splice(source, function, "pass\n" + textwrap.dedent(task.body.lstrip("\n")))
        except SpliceError:
            continue
        limits = task.limits(Limits(seconds=seconds))
        name = None if task.import_time else (task.qualified_name, task.occurrence)
        original = Job(task.id, task.tests, task.path, source, limits, function=name)
        yield original, replace(original, content=content)


class Counting(Worker):
    """A worker that counts what it shows by a run with checks."""

    checked = 0

    async def _passes_with_checks(self, *given: Any) -> bool:
        passes = await super()._passes_with_checks(*given)
        self.checked += passes
        return passes


async def measure(source: str, made: Prepared, seconds: float, total: Counter[str], reasons: Counter[str]) -> None:
    """Test the answers of one repository and count."""
    worker = Counting(choose_backend("bubblewrap"), made.environment.workspace)
    counts: Counter[str] = Counter()
    spent: list[float] = []
    try:
        for original, job in answers(made, seconds):
            times = [time.perf_counter()]
            await worker.run(original)  # as every run of a task begins
            times.append(time.perf_counter())
            report = await worker.run(job)
            times.append(time.perf_counter())
            counts["bodies"] += 1
            if not report.passed:
                continue
            counts["passed"] += 1
            counts["unmarked"] += not report.doubtful
            spent.append(times[2] - 2 * times[1] + times[0])
            if report.doubtful:
                reasons[report.doubtful] += 1
    finally:
        await worker.close()
    counts["with checks"] = worker.checked
    print(source, dict(counts), f"longer than the original: median {statistics.median(spent) * 1000:.2f} ms, "
          f"mean {statistics.fmean(spent) * 1000:.2f} ms", flush=True)  # fmt: skip
    total += counts


def main() -> int:
    """Run the original bodies of every source."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("sources", nargs="*", default=SOURCES)
    arguments = parser.parse_args()
    total: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for source in arguments.sources:
        asyncio.run(measure(source, prepared(source), arguments.seconds, total, reasons))
    share = total["unmarked"] / total["passed"]
    for reason, times in reasons.most_common():
        print(f"{times:5}  {reason}")
    return publish(
        [Figure("honest passes without a mark", f"{total['unmarked']}", f"{total['passed']} passes", share, 0.97, True)]
    )


if __name__ == "__main__":
    sys.exit(main())
