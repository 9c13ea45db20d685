"""How long two evaluators of a large run take to be compared, against reading the samples that any figure of them needs.

Run: ``python tests/benchmarks/two_groups.py [TASKS] [SAMPLES]``; 5,000 tasks with ten samples of two evaluators are 100,000 candidates.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from app.regenerated import EVALUATOR, RUN, Recorder

from workbench.comparison.groups import compare_groups, groups_of
from workbench.session import SessionReader
from workbench.session.sample_counts import sample_counts

OTHER = "openai/other"


def record(path: Path, tasks: int, samples: int) -> None:
    """Write candidates row by row without texts: what is measured is counting, not blobs."""
    recorder = Recorder(path)
    recorder.run(samples=samples)
    with recorder.writer.transaction():
        for place in range(tasks):
            key = recorder.task(f"function_{place}", place, path=f"package/module_{place % 200}.py")
            for evaluator in (EVALUATOR, OTHER):
                for sample in range(samples):
                    passed = (place * 7 + sample * (3 if evaluator == OTHER else 5)) % 4 == 0
                    recorder.writer.insert(
                        "candidates",
                        {
                            "id": f"{key}/{evaluator}/{sample}", "run_id": RUN, "task_id": key, "evaluator": evaluator,
                            "sample": sample, "state": "done", "verdict": "passed" if passed else "failed", "route": "hot",
                            "at": 100.0 + place,
                        },
                    )  # fmt: skip
    recorder.close()


def took(work: Callable[[], object]) -> float:
    """Return seconds, the best of three."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    """Print seconds and the ratio."""
    tasks, samples = (int(text) for text in (sys.argv[1:] or ["5000", "10"]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.session"
        record(path, tasks, samples)
        with SessionReader(path) as reader:
            groups = sorted({row.group for row in sample_counts(reader, RUN)})
            counting = took(lambda: sample_counts(reader, RUN, by_task=True))
            reading = took(lambda: groups_of(reader, RUN, groups))
            left, right = groups_of(reader, RUN, groups)
            comparing = took(lambda: compare_groups([(left, right)]))
        print({
            "candidates": 2 * tasks * samples, "count_s": round(counting, 3), "read_both_s": round(reading, 3),
            "compare_s": round(comparing, 3), "ratio": round((reading + comparing) / counting, 2),
        })  # fmt: skip


if __name__ == "__main__":
    main()
