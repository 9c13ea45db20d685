"""What a report on a study takes, by format and size: seconds of processor time, and bytes; metrics of real texts stand last.

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

from studies.declared_studies import put_matrix, put_texts

from workbench.pages import STUDY_FORMATS
from workbench.pages.study_report import write_study_report

TASKS = (1, 6, 56)
ROWS, DOCS, EVALUATORS, SAMPLES = 30, 6, 2, 5
TEXT_ROWS, TEXT_TASKS = 10, 50


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
        path = Path(folder) / "texts.session"
        put_texts(path, random.Random(1), rows=[f"repository{number}" for number in range(TEXT_ROWS)], tasks=TEXT_TASKS)
        began = time.process_time()
        written = write_study_report(path, "texts", "html", None)
        result["html_s_with_texts"] = round(time.process_time() - began, 2)
        print(
            f"{TEXT_ROWS * TEXT_TASKS * 24:,} candidates with texts of {TEXT_ROWS * TEXT_TASKS * 4:,} tasks: "
            f"html {result['html_s_with_texts']} s, {len(written) / 1000:,.0f} kB"
        )
    print(json.dumps(result))


if __name__ == "__main__":
    main()
