"""What the search costs as a session grows: filling the index, asking, and the lines around the first hits.

python tests/benchmarks/search.py [COUNT …]
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from app.many_trials import many_trials

from workbench.search import SearchIndex, parse
from workbench.search.index import line_of
from workbench.session import SessionReader, SessionWriter
from workbench.session.rows import AccessedFileRow, StepRow

ASKED = ("pyproject", '"run command"', "agent:white score:<60", "file:pyproject.toml word", "zebra")
FIRST_MS, COMPLETE_MS, AIM_COUNT = 100.0, 500.0, 5000
_STEPS = 10


def written(path: Path, count: int) -> None:
    """Write a session of so many trials, ten steps each, every fourth of which reads a file of 2 kB."""
    many_trials(path, count)
    rng = random.Random(2)
    words = [
        "word",
        "count",
        "run",
        "command",
        "install",
        "python",
        "file",
        "text",
        "line",
        "stop",
        *map(str, range(400)),
    ]
    files = {f"src/module_{n}.py": " ".join(rng.choices(words, k=300)) for n in range(40)}
    files["pyproject.toml"] = "[project]\nname = 'zebra'\n"
    names = list(files)
    with SessionWriter(path) as writer, writer.transaction():
        for number in range(count):
            key = f"trial-{number:05}"
            for step in range(1, _STEPS + 1):
                path_read = rng.choice(names) if step % 4 else "."
                seen = writer.blob(files[path_read]) if path_read in files else None
                answer = writer.blob(f"I will look at {path_read} now. " + " ".join(rng.choices(words, k=30)))
                writer.add_step(
                    StepRow(key, step, "tool", "read_file" if seen else "list_directory", path_read, None, answer, seen,
                            20, None, 900, 30, 0.0, 0.8, "m", "{}", 1.0)
                )  # fmt: skip
                if seen:
                    writer.add_accessed_file([AccessedFileRow(key, path_read, "read", step, 900, None)])
            readme = "# Title\n\n" + "\n".join(" ".join(rng.choices(words, k=12)) for _ in range(60))
            writer.set_trial(key, readme_blob=writer.blob(readme + "\n## Run command\n"))


def main() -> int:
    """Print a row per size; return 1 where first hits in 5,000 trials take longer than 100 ms, or all longer than 500."""
    counts = [int(text) for text in sys.argv[1:]] or [100, 1_000, AIM_COUNT]
    missed = False
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "many.session"
            written(path, count)
            index = SearchIndex(Path(folder) / "search.db")
            with SessionReader(path) as reader:
                began = time.perf_counter()
                parts = index.update(reader)
                fill = time.perf_counter() - began
                print(f"{count:,} trials: {parts:,} parts indexed in {fill:.1f} s ({parts / fill:,.0f}/s)")
                for text in ASKED:
                    query = parse(text)
                    began = time.perf_counter()
                    found = index.search(query)
                    complete = (time.perf_counter() - began) * 1000
                    began = time.perf_counter()
                    for hit in found.hits[:50]:
                        line_of(reader, hit, query)
                    lines = (time.perf_counter() - began) * 1000
                    print(f"  {text:26} {found.total:8,} hits  {complete:7.1f} ms  first lines {lines:5.1f} ms")
                    missed |= count == AIM_COUNT and complete > COMPLETE_MS
                    print(json.dumps({"benchmark": "search", "trials": count, "asked": text, "ms": complete}))
            index.close()
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
