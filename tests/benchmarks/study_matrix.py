"""How long until the matrix of a study of 30 rows × 12 columns is there, from 1,000 to 100,000 candidates.

Run it with ``python tests/benchmarks/study_matrix.py``; the last line is JSON. Target: 150 ms for 100,000. Times are CPU times
of this process, medians; reading, all means with their intervals, and what a comparison takes are printed apart.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))

from studies.declared_studies import put_matrix

from workbench.session import SessionReader
from workbench.studies.comparing import compare, rankings
from workbench.studies.following import StudyReader

ROWS, DOCS, EVALUATORS, SAMPLES = 30, 4, 3, 5
SIZES = (1_000, 10_000, 100_000)
REPEATS = 7


def took(work: Callable[[], object]) -> float:
    """Return the median of the CPU seconds that some work takes."""
    times = []
    for _ in range(REPEATS):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return median(times)


def opening(reader: SessionReader) -> None:
    """Read the matrix as a screen does when it is opened."""
    StudyReader(reader, "matrix").look()


def main() -> None:
    """Build each size, open it, print."""
    result: dict[str, object] = {
        "benchmark": "study_matrix",
        "rows": ROWS,
        "columns": DOCS * EVALUATORS,
        "repeats": REPEATS,
    }
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
        for size in SIZES:
            path = Path(folder) / f"{size}.session"
            tasks = max(1, round(size / (ROWS * DOCS * EVALUATORS * SAMPLES)))
            put_matrix(path, ROWS, DOCS, EVALUATORS, SAMPLES, tasks, random.Random(1))
            with SessionReader(path) as reader:
                count = reader.query("SELECT count(*) FROM candidates")[0][0]
                opened = took(partial(opening, reader))
                watching = StudyReader(reader, "matrix")
                outcome = watching.look()
                again = took(watching.look)
                left, right = outcome.columns[0], outcome.columns[-1]
                compared = took(partial(compare, outcome, left, right))
                ranked = took(partial(rankings, outcome))
            print(
                f"{count:>8,} candidates: matrix {1000 * opened:7.1f} ms, unchanged {1000 * again:6.3f} ms, "
                f"comparison {1000 * compared:6.1f} ms, rankings {1000 * ranked:7.1f} ms"
            )
            result |= {f"matrix_ms_{size}": round(1000 * opened, 1), f"compare_ms_{size}": round(1000 * compared, 1)}
            result |= {f"rankings_ms_{size}": round(1000 * ranked, 1)}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
