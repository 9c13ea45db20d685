"""A check of a README whose environment is cached, against the time that its commands and snippets take: at most 1.3 times.

The commands are timed in the sandbox, each by itself, with the start of their interpreters; what a check does besides is to copy
the tree, start the sandbox, prove it, and look up the claims. The program's own start is not counted.

A page of 12 snippets of 0.5 s that do not depend on each other is run in order and side by side, and the ratio printed with how many
processors there were and how busy these are.

    python tests/benchmarks/check_cached.py
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "checking")]

from figures import Figure, publish  # noqa: E402
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
    """Check a page of alike snippets both ways, then the READMEs of the cases."""
    with tempfile.TemporaryDirectory() as folder:
        root = write_project(Path(folder))
        (root / "README.md").write_text(page_of_snippets())
        in_order, together = both_ways(root)
    figures = [
        Figure(
            f"check {SNIPPETS} independent snippets",
            f"{together:.2f} s",
            f"in order, {in_order:.2f} s",
            together / in_order,
            0.75,
        )
    ]
    for case in CASES:
        whole, commands = measured(case)
        figures.append(
            Figure(
                f"check {case}, cached", f"{whole:.2f} s", f"its commands, {commands:.2f} s", whole / commands, LIMIT
            )
        )
    return publish(figures)


if __name__ == "__main__":
    raise SystemExit(main())
