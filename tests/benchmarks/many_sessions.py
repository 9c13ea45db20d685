"""What the list of sessions costs as the folder grows: the first look into each file, the next start, sorting and narrowing.

python tests/benchmarks/many_sessions.py [COUNT …]
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from app.many_trials import many_trials

from workbench.app.sessions.session_files import SessionCache, found_sessions, with_facts
from workbench.app.sessions.table import SessionTable, words

AIM = 10.0
"""A start that finds everything remembered is at least so many times faster than the first one."""


def main() -> int:
    """Print a row per size; return 1 where remembering saves less than :data:`AIM` times."""
    counts = [int(text) for text in sys.argv[1:]] or [20, 300]
    missed = False
    print("sessions   first look   next start   sort   words   ratio   (ms; both looks are in a thread)")
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            os.environ.update(WORKBENCH_SESSIONS_DIR=f"{folder}/sessions", WORKBENCH_CACHE_DIR=f"{folder}/cache")
            Path(folder, "sessions").mkdir()
            first = Path(folder, "sessions", "s0.session")
            many_trials(first, 20)
            for number in range(1, count):
                shutil.copyfile(first, first.with_name(f"s{number}.session"))
            began = time.perf_counter()
            memory = SessionCache()
            entries = [with_facts(entry) for entry in found_sessions()]
            for entry in entries:
                memory.note(entry)
            memory.save(entries)
            looked = time.perf_counter() - began
            began = time.perf_counter()
            memory = SessionCache()
            known = [memory.recall(entry) for entry in found_sessions()]
            recalled = time.perf_counter() - began
            assert all(known)
            table = SessionTable()
            table.put(entries)
            began = time.perf_counter()
            table.change_arrangement(order="name")
            ordered = time.perf_counter() - began
            began = time.perf_counter()
            texts = [words(entry).casefold() for entry in entries]
            assert sum("s1" in text for text in texts)
            narrowed = time.perf_counter() - began
        ratio = looked / recalled
        missed |= ratio < AIM
        figures = [one * 1000 for one in (looked, recalled, ordered, narrowed)]
        print(f"{count:8,} {figures[0]:12.1f} {figures[1]:12.1f} {figures[2]:6.1f} {figures[3]:7.1f} {ratio:7.1f}")
        print(json.dumps({"benchmark": "many_sessions", "sessions": count, "ratio": round(ratio, 1)}))
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
