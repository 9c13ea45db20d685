"""Grounding of a README of 10,000 words against a trajectory of 10 MB: claims found, linked, and read from a session.

The observations are source files of this environment, the README names what is in them, in prose, tables and code. The
baseline looks every spelling up in every observation with a regular expression, which is what one would write first.

    python tests/benchmarks/grounding.py
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from app.recorded import Recorder  # noqa: E402
from figures import Figure, publish  # noqa: E402

from workbench.grounding import Shown, claims_of, ground, read_trial  # noqa: E402
from workbench.session.reader import SessionReader  # noqa: E402

BYTES, WORDS, LIMIT = 10_000_000, 10_000, 0.300


def observations() -> list[tuple[str, str]]:
    """Return (path, text) of Python files of this environment, 10 MB in all."""
    found, size = [], 0
    root = Path(sysconfig.get_paths()["purelib"])
    for path in sorted(root.rglob("*.py")):
        text = path.read_text("utf-8", "replace")[:60_000]
        if len(text) > 5_000:
            found.append((str(path.relative_to(root)), text))
            size += len(text.encode("utf-8", "replace"))
        if size >= BYTES:
            break
    return found


def readme(texts: list[tuple[str, str]]) -> str:
    """Return a README of 10,000 words about them: every sixth word is something to be looked up."""
    parts, words = ["# bench\n"], 0
    number = 0
    while words < WORDS:
        path, text = texts[number * 7 % len(texts)]
        names = re.findall(r"(?:def|class) ([A-Za-z]\w{3,})", text)[:4] or ["nothing_here"]
        section = f"## Part {number}\n\nThe module `{path}` holds what the project does about part {number}; read it before the rest.\n\n"
        section += "".join(
            f"- `{name}()` is called with what the caller has, and returns what was asked for.\n" for name in names
        )
        limit = f" at most {number + 3} seconds, as of version 1.{number}" if number % 4 == 0 else ""
        section += f"- `invented_{number}` waits{limit}.\n\n"
        section += f"```python\nfrom {path.split('/')[0]} import {names[0]}\n\nprint({names[0]}())\n```\n\n"
        parts.append(section)
        words += len(section.split())
        number += 1
    return "".join(parts)


def best(work: Callable[[], object], times: int = 5) -> float:
    """Return the least processor time of several runs in seconds: other programs on the machine do not count."""
    taken = []
    for _ in range(times):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return min(taken)


def main() -> int:
    """Measure and print."""
    texts = observations()
    text = readme(texts)
    modules = frozenset(path.split("/")[0] for path, _ in texts)
    shown = [Shown(number, path, said.encode("utf-8", "replace")) for number, (path, said) in enumerate(texts, 1)]
    size = sum(len(one.data) for one in shown)
    claims = claims_of(text, modules=modules)
    found = ground(claims, shown, None)
    print(
        f"README {len(text.split()):,} words, {len(claims):,} claims, {found.sentence()}; {len(shown)} steps, {size / 1e6:.1f} MB"
    )
    # A little other text each time: what was parsed before is remembered.
    nth = iter(range(1_000))
    reading = best(lambda: claims_of(f"{text}\n{next(nth)}\n", modules=modules))
    linking = best(lambda: ground(claims, shown, None))

    spellings = {name for claim in claims for group in claim.needles for name in group}
    patterns = [re.compile(rb"(?<!\w)" + re.escape(name.encode()) + rb"(?!\w)") for name in sorted(spellings)[::40]]
    few = shown[::20]
    share = len(patterns) / len(spellings) * sum(len(one.data) for one in few) / size
    naive = best(lambda: [pattern.search(one.data) for pattern in patterns for one in few], 1) / share

    with tempfile.TemporaryDirectory() as folder:
        os.environ["WORKBENCH_CACHE_DIR"] = folder
        recorder = Recorder(Path(folder) / "bench.session")
        recorder.run()
        recorder.trial("bench", state="running", case="bench")
        for number, (path, said) in enumerate(texts, 1):
            recorder.tool("bench", number, "read_file", path, said)
        recorder.finish("bench", readme=text)
        recorder.close()
        with SessionReader(Path(folder) / "bench.session") as reader:
            trial = reader.trial("bench")
            assert trial is not None
            whole = best(lambda: read_trial(reader, trial))
    return publish(
        [
            Figure(
                "grounding: find the claims",
                f"{1000 * reading:.0f} ms",
                f"all of it, {1000 * whole:.0f} ms",
                reading / whole,
            ),
            Figure(
                "grounding: link them",
                f"{1000 * linking:.0f} ms",
                f"a pattern a name, {naive:.0f} s",
                linking / naive,
                0.1,
            ),
            Figure(
                "grounding: all, from the session",
                f"{1000 * whole:.0f} ms",
                f"the limit, {1000 * LIMIT:.0f} ms",
                whole / LIMIT,
                1.0,
            ),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
