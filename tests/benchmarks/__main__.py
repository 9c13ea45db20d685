"""Run benchmarks one after the other and print the figures of all in one table: ``python tests/benchmarks [NAME …]``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from figures import COLLECTED, Figure, print_figures

FOLDER = Path(__file__).parent


def benchmarks() -> list[Path]:
    """Return the files that publish figures; the others in this folder are their support code."""
    return [
        file for file in sorted(FOLDER.glob("[!_]*.py")) if "publish(" in file.read_text() and file.stem != "figures"
    ]


def main() -> int:
    """Return 1 if a benchmark fails or misses a target."""
    chosen = [file for file in benchmarks() if file.stem in sys.argv[1:] or not sys.argv[1:]]
    failed = []
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as collected:
        for number, file in enumerate(chosen, 1):
            print(f"[{number}/{len(chosen)}] {file.stem}", flush=True)
            done = subprocess.run(
                [sys.executable, str(file)], env=os.environ | {COLLECTED: collected.name}, check=False
            )
            failed += [file.stem] if done.returncode else []
        figures = [Figure(**json.loads(line)) for line in Path(collected.name).read_text().splitlines()]
    print_figures(figures)
    if failed:
        print(f"Failed or missed a target: {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
