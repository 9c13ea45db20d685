"""What a report on a study takes, by format and size: seconds of processor time, and bytes.

Run it with ``python tests/benchmarks/study_report.py``; the last line is JSON. A matrix of 30 repositories × 12 columns, 5 samples a task; nothing is executed.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from studies.declared_studies import put_matrix

from workbench.reports import STUDY_FORMATS
from workbench.reports.study_report import write_study_report

TASKS = (1, 6, 56)
ROWS, DOCS, EVALUATORS, SAMPLES = 30, 6, 2, 5


def main() -> None:
    """Print a line for each size."""
    result: dict[str, object] = {"benchmark": "study_report", "rows": ROWS, "columns": DOCS * EVALUATORS}
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
        for tasks in TASKS:
            path = Path(folder) / f"{tasks}.session"
            put_matrix(path, ROWS, DOCS, EVALUATORS, SAMPLES, tasks, random.Random(1))
            write_study_report(path, "matrix", "md", None)  # imports numpy
            said = []
            for format in STUDY_FORMATS:
                began = time.process_time()
                written = write_study_report(path, "matrix", format, None)
                took = time.process_time() - began
                said.append(f"{format} {took:.2f} s, {len(written) / 1000:,.0f} kB")
                result[f"{format}_s_{tasks}"] = round(took, 2)
            print(f"{ROWS * DOCS * EVALUATORS * SAMPLES * tasks:,} candidates: {'; '.join(said)}", flush=True)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
