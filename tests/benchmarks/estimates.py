"""What an estimate costs as sessions grow: reading what they took (in a thread, once per state of a file), and each letter typed.

python tests/benchmarks/estimates.py [COUNT …]
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from app.many_trials import many_trials

from workbench.orders.estimate import estimate_trials
from workbench.orders.measured import measured_in

AIM_MS, AIM_COUNT = 50.0, 5000


def main() -> int:
    """Print a row per size; return 1 where a letter typed costs more than 50 ms after 5,000 trials."""
    missed = False
    print("trials     read    again   letter   (ms)   a letter's share of what reading takes")
    for count in [int(text) for text in sys.argv[1:]] or [300, AIM_COUNT]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "many.session"
            many_trials(path, count)
            took = []
            for _ in range(2):
                began = time.perf_counter()
                measured = measured_in([path])
                took.append((time.perf_counter() - began) * 1000)
        rate = measured.trials[0]
        began = time.perf_counter()
        estimate_trials(measured, [rate.case] * 20, rate.agent, rate.model, ["offline"], repeats=3, at_once=4)
        letter = (time.perf_counter() - began) * 1000
        print(f"{count:6,} {took[0]:8.1f} {took[1]:8.1f} {letter:8.1f}          {letter / took[0]:.2f}")
        print(json.dumps({"benchmark": "estimates", "trials": count, "read_ms": took[0], "letter_ms": letter}))
        missed |= count == AIM_COUNT and letter > AIM_MS
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
