"""What it costs to say why candidates fail, and to sort and group their tasks, as a run grows from 1,000 to 100,000 candidates.

python tests/benchmarks/failure_groups.py [CANDIDATES …]

All of it is done in threads; aims: a candidate of the largest run takes less than twice the time of one of the smallest, and
10,000 tasks are grouped in half a second on a quiet machine. The last line is JSON.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "app"))

from regenerated import RUN, Recorder

from workbench.app.regeneration.task_table import TaskResultTable
from workbench.app.regeneration.went_wrong import FAILURES, load_curves, load_findings
from workbench.app.toolkit.columns import ColumnLayout
from workbench.app.toolkit.table import Arrangement
from workbench.results.tasks import TaskLine, load_lines
from workbench.session import SessionReader
from workbench.session.groups import Group

SAMPLES = 10
AIM_S, AIM_GROWTH = 0.5, 2.0
EVALUATOR = "openai/gpt-5-mini"


def build(path: Path, candidates: int) -> None:
    """Write a run of ten samples a task; of those that fail, one in three raises and the others give a wrong value."""
    recorder, rng = Recorder(path), random.Random(3)
    recorder.run(samples=SAMPLES)
    writer = recorder.writer
    bodies = [writer.blob(f"    value = {n}\n    return value\n") for n in range(50)]
    traces = [
        writer.blob(f'Traceback (most recent call last):\n  File "tests/test_a.py", line 9, in test_a\n    f()\n  File "package/other.py", line {n}, in g\n    h()\nTypeError: no {n}\n')
        for n in range(20)
    ]  # fmt: skip
    with writer.transaction():
        for place in range(max(1, candidates // SAMPLES)):
            task = recorder.task(
                f"Class_{place % 30}.function_{place}", place, path=f"package/module_{place % 300}.py", tests=5
            )
            for sample in range(SAMPLES):
                key, passed, kind = f"{task}/{sample}", rng.random() < 0.3, rng.randrange(20)
                writer.insert("candidates", {
                    "id": key, "run_id": RUN, "task_id": task, "evaluator": EVALUATOR, "sample": sample, "control": 0,
                    "state": "done", "verdict": "passed" if passed else "failed", "body_blob": bodies[rng.randrange(50)],
                    "route": "hot", "at": 100.0 + sample,
                })  # fmt: skip
                for test in range(0 if passed else 3):
                    message = f"TypeError: no {kind}" if kind < 7 else f"assert {kind} == {test}"
                    writer.insert("failing_tests", {
                        "candidate_id": key, "test_id": f"tests/test_a.py::test_{place % 100}_{test}", "outcome": "failed",
                        "message": message, "traceback_blob": traces[kind],
                    })  # fmt: skip
    recorder.close()


def timed(what: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that something took, and what it gave."""
    began = time.perf_counter()
    value = what()
    return time.perf_counter() - began, value


def timed_table(lines: list[TaskLine]) -> tuple[float, float]:
    """Return the seconds in which the table sorts tasks by pass@1, and in which it groups them by file with figures."""
    table = TaskResultTable()
    table.rows, table.ks = tuple(lines), (1, 3)
    table.columns = ColumnLayout(table._columns(lines))
    table.arrangement = Arrangement("pass@1")
    sort, _ = timed(table.arrange_rows)

    def grouped() -> None:
        table.arrangement = Arrangement("pass@1", grouping="file")
        table.arrange_rows()
        for group in table.groups():
            table.columns.figures(group.rows, group.name, 120)

    return sort, timed(grouped)[0]


def main() -> int:
    """Print a row per size and by how much more the time grew than the run; return 1 where an aim was missed."""
    sizes = [int(text) for text in sys.argv[1:]] or [1_000, 10_000, 100_000]
    group, took = Group("original", EVALUATOR), {}
    print("candidates  why they fail  groups  pass@k by m  lines read    sort  by file   (seconds)")
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "many.session"
            build(path, size)
            with SessionReader(path) as reader:
                findings, found = timed(lambda: load_findings(reader, RUN, group))  # noqa: B023
                curves, _ = timed(lambda: load_curves(reader, RUN, group, (1, 3)))  # noqa: B023
                read, lines = timed(lambda: load_lines(reader, RUN, group, (1, 3)))  # noqa: B023
        sort, by_file = timed_table(lines)
        took[size] = {"findings": findings, "curves": curves, "sort": sort, "by_file": by_file}
        print(
            f"{size:10,}  {findings:13.2f}  {len(found[FAILURES].entries):6,}  {curves:11.2f}  {read:10.2f}  {sort:6.3f}  {by_file:7.3f}"
        )
    first, last = sizes[0], sizes[-1]
    growth = (took[last]["findings"] / took[first]["findings"]) / (last / first)
    print(f"why they fail: {last / first:.0f} times the candidates take {growth:.2f} times as long for each")
    print(json.dumps({"benchmark": "failure_groups", "growth": growth, "seconds": took}))
    return int(growth > AIM_GROWTH or took[last]["by_file"] > AIM_S * max(1.0, last / SAMPLES / 10_000))


if __name__ == "__main__":
    sys.exit(main())
