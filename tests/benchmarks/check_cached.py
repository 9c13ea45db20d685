"""A check of a README whose environment is cached, against the time that its commands and snippets take: at most 1.3 times.

The commands are timed in the sandbox, each by itself, with the start of their interpreters; what a check does besides is to copy
the tree, start the sandbox, prove it, and look up the claims. The program's own start is not counted.

    python tests/benchmarks/check_cached.py
"""

from __future__ import annotations

import asyncio
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT)]

from workbench.checking import check  # noqa: E402

CASES, TIMES, LIMIT = ("word_counter", "password_generator"), 9, 1.3


def measured(case: str) -> tuple[float, float]:
    """Return the seconds of a check and of its commands, the medians of several."""
    folder = ROOT / "test_cases" / case
    pages = sorted((folder / "ground_truth").glob("README*"))
    asyncio.run(check(folder / "repository", pages))
    seconds, commands = [], []
    for _ in range(TIMES):
        checked = asyncio.run(check(folder / "repository", pages))
        assert checked.cached
        seconds.append(checked.seconds)
        commands.append(sum(part.seconds for block in checked.blocks for part in block.parts))
    return statistics.median(seconds), statistics.median(commands)


def main() -> int:
    """Print the ratio of each case; 0 if all are within the limit."""
    worst = 0.0
    for case in CASES:
        whole, commands = measured(case)
        worst = max(worst, whole / commands)
        print(f"{case}: {whole:.2f} s, its commands {commands:.2f} s: {whole / commands:.2f} times (at most {LIMIT})")
    return int(worst > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
