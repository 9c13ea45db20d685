"""What it costs to go somewhere by its name: reading all names, and finding those that a few letters mean.

python tests/benchmarks/named_places.py [COUNT …]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from app.many_trials import many_trials

from workbench.app.palette import NamedLocation, find, load_locations
from workbench.session import SessionReader

TYPED = ("white", "trial white repeat", "fn_99", "cnttst", "pkg module", "zzzz")
COUNTS = (1_000, 10_000, 100_000)
AIM_MS = 500.0


def main() -> int:
    """Print the times and how they grow."""
    counts = [int(one) for one in sys.argv[1:]] or list(COUNTS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.session"
        many_trials(path, 5_000)
        with SessionReader(path) as reader:
            began = time.perf_counter()
            trials = load_locations(reader)
            print(f"{len(trials):,} names read in {time.perf_counter() - began:.2f} s")
    worst = before = 0.0
    for count in counts:
        tasks = [NamedLocation("task", f"pkg_{n % 97}.Class{n % 1009}.fn_{n}", "task") for n in range(count)]
        places, line = [*trials, *tasks], []
        for typed in TYPED:
            began = time.perf_counter()
            found = find(typed, places)
            line.append((time.perf_counter() - began) * 1000)
            assert len(found) <= 50
        before, worst = worst, max(line)
        grown = f" · {worst / before:.1f}× the time of the size before" if before else ""
        print(f"{count:>7,} tasks: " + " · ".join(f"{ms:.0f} ms" for ms in line) + grown)
    print(f"slowest {worst:.0f} ms, aim {AIM_MS:.0f} ms: {worst / AIM_MS:.2f}×")
    return 0 if worst <= AIM_MS else 1


if __name__ == "__main__":
    sys.exit(main())
