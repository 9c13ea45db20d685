"""What it costs to put two trials side by side: steps aligned, READMEs word by word, both laid out for a screen.

python tests/benchmarks/two_trials.py
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

sys.path.insert(0, str(Path(__file__).parents[1]))

from app.recorded import Recorder, card

from workbench.app.difference_list import TextRows
from workbench.comparison.texts import word_diff
from workbench.comparison.trials import align_steps, compare, read_side
from workbench.session import SessionReader

STEPS, WORDS = 2_000, 10_000
AIM_STEPS_S = 0.5


def took(what: Callable[[], Any], times: int = 3) -> float:
    """Return the fewest seconds that something took."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        what()
        found.append(time.perf_counter() - began)
    return min(found)


def readme(rng: random.Random) -> str:
    """Return a README of 10,000 words in paragraphs under headings."""
    lines, left = ["# word_counter", ""], WORDS
    while left > 0:
        count = min(left, rng.randint(3, 24))
        words = (rng.choice(["the", "a", "of", "and", f"word{rng.randint(0, 3_000)}"]) for _ in range(count))
        lines += [f"## Part {rng.randint(0, 99)}", ""] if rng.random() < 0.1 else []
        lines += [" ".join(words), ""]
        left -= count
    return "\n".join(lines)


def record(path: Path) -> None:
    """Write two trials of 2,000 steps."""
    rng = random.Random(1)
    recorder = Recorder(path)
    recorder.run()
    for repeat, key in enumerate(("a", "b"), 1):
        recorder.trial(key, repeat=repeat, state="running")
        with recorder.writer.transaction():
            for number in range(1, STEPS + 1):
                recorder.tool(key, number, "read_file", f"package/module_{rng.randint(0, 300)}.py", "code")
                recorder.seen(key, f"package/module_{rng.randint(0, 2_000)}.py", "read", number)
        recorder.finish(key, readme=readme(rng))
        recorder.score(key, card())
    recorder.close()


def main() -> int:
    """Print what each part takes; return 1 where 2,000 steps are not aligned in half a second."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "two.session"
        record(path)
        with SessionReader(path) as reader:
            sides = [read_side(reader, key, "aeo-bench", "offline") for key in ("a", "b")]
            read = took(lambda: [read_side(reader, key, "aeo-bench", "offline") for key in ("a", "b")])
    left, right = sides
    assert left is not None
    assert right is not None
    found = compare(left, right)
    figures = {
        "read_s": read,
        "steps_s": took(lambda: align_steps(left.steps, right.steps)),
        "words_s": took(lambda: word_diff(left.readme.text, right.readme.text)),
        "compare_s": took(lambda: compare(left, right)),
        "layout_s": took(lambda: TextRows(found.panes["README"], 123)),
    }
    for name, seconds in figures.items():
        print(f"{name:<10} {seconds * 1000:8.1f} ms")
    print(json.dumps({"benchmark": "two_trials", "steps": STEPS, "words": WORDS, **figures}))
    return int(figures["steps_s"] > AIM_STEPS_S)


if __name__ == "__main__":
    raise SystemExit(main())
