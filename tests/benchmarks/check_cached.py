"""A check of a README whose environment is cached, against the time that its commands and snippets take: at most 1.3 times.

The commands are timed in the sandbox, each by itself, with the start of their interpreters; what a check does besides is to copy
the tree, start the sandbox, prove it, and look up the claims. The program's own start is not counted.

A page of 12 snippets of 0.5 s that do not depend on each other is run in order and side by side, and the ratio printed with how many
processors there were and how busy these are.

    python tests/benchmarks/check_cached.py
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "checking")]

from planted import write_project  # noqa: E402

from workbench.checking import check, executing  # noqa: E402

CASES, TIMES, LIMIT = ("word_counter", "password_generator"), 9, 1.3
SNIPPETS, SNIPPET_SECONDS, TURNS = 12, 0.5, 3


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


def page_of_snippets() -> str:
    """Return a page of snippets that do not depend on each other."""
    code = (
        "import time\nfrom wordstat import top_words\nwords = top_words('a b a')\ntime.sleep({seconds})\nprint(words)\n"
    )
    block = code.format(seconds=SNIPPET_SECONDS)
    return "# wordstat\n" + "".join(f"\n## Part {at}\n\n```python\n{block}```\n" for at in range(SNIPPETS))


def both_ways(root: Path) -> tuple[float, float]:
    """Return the seconds of a check in order and side by side, the medians of several taken in turns."""
    chains_of = executing.chains_of
    found: tuple[list[float], list[float]] = ([], [])
    asyncio.run(check(root))
    for _ in range(TURNS):
        for seconds, chains in zip(found, (lambda plan: (), chains_of), strict=True):
            executing.chains_of = chains
            checked = asyncio.run(check(root))
            assert [str(one.verdict) for one in checked.blocks] == ["works"] * SNIPPETS
            seconds.append(checked.seconds)
    executing.chains_of = chains_of
    return statistics.median(found[0]), statistics.median(found[1])


def main() -> int:
    """Print the ratio of each case; 0 if all are within the limit."""
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        root = write_project(Path(folder))
        (root / "README.md").write_text(page_of_snippets())
        in_order, side_by_side = both_ways(root)
    print(
        f"{SNIPPETS} snippets of {SNIPPET_SECONDS} s: in order {in_order:.2f} s, side by side {side_by_side:.2f} s: "
        f"{in_order / side_by_side:.2f} : 1 on {os.cpu_count()} processors with a load of {os.getloadavg()[0]:.1f}"
    )
    for case in CASES:
        whole, commands = measured(case)
        worst = max(worst, whole / commands)
        print(f"{case}: {whole:.2f} s, its commands {commands:.2f} s: {whole / commands:.2f} times (at most {LIMIT})")
    return int(worst > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
