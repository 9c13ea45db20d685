"""100, 1,000 and 10,000 candidates through the same workers: is time linear, is memory flat?

    python tests/benchmarks/candidates_growth.py [--most 10000] [SOURCE]

Memory is proportional set size (shared pages divided) of everything that a worker runs, in MB; beside it stands what one
plain process takes that has imported pytest and the repository. Aim: at most 150 MB more, flat.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

from candidate_mix import mix, prepared
from figures import Figure, publish

from workbench.sandbox import Limits, Pool, Verdict, Workspace, choose_backend, pool

WORKERS = 2


def children(of: int) -> list[int]:
    """Return the descendants of a process."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "stat").read_bytes().rsplit(b")", 1)[1].split()
            except OSError:
                continue
            parents.setdefault(int(words[1]), []).append(int(entry.name))
    found, waiting = [], [of]
    while waiting:
        more = parents.get(waiting.pop(), [])
        found += more
        waiting += more
    return found


def footprint(pids: Sequence[int]) -> tuple[float, int]:
    """Return MB of proportional set size and the number of open descriptors."""
    kilobytes = descriptors = 0
    for pid in pids:
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            kilobytes += int(rollup.split("\nPss:")[1].split()[0])
            descriptors += len(list(Path(f"/proc/{pid}/fd").iterdir()))
        except (OSError, IndexError):
            continue
    return kilobytes / 1024, descriptors


def plain(workspace: Workspace) -> float:
    """Return MB of a process that has imported pytest, the repository and what it needs."""
    names = ("pytest", *workspace.preload, *workspace.own_modules)
    code = f"import contextlib, importlib\nfor name in {names!r}:\n"
    code += "    with contextlib.suppress(BaseException):\n        importlib.import_module(name)\n"
    code += "print([line for line in open('/proc/self/smaps_rollup') if line.startswith('Pss:')][0].split()[1])"
    roots = os.pathsep.join(str((workspace.root / entry).resolve()) for entry in workspace.import_roots)
    done = subprocess.run(
        [str(workspace.python), "-B", "-c", code], env={"PYTHONPATH": roots}, capture_output=True, text=True, check=True
    )
    return int(done.stdout.strip().splitlines()[-1]) / 1024


async def main() -> int:
    """Test more and more candidates with the same workers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("source", nargs="?", default="explosion/confection")
    parser.add_argument("--most", type=int, default=10_000)
    arguments = parser.parse_args()
    made = await asyncio.to_thread(prepared, arguments.source)
    workspace = replace(made.environment.workspace, root=made.snapshot.root)
    jobs = [each.job for each in mix(made, 400, seconds=2.0)]
    alone = plain(workspace)
    rows = []
    async with pool(choose_backend("bubblewrap"), workspace, workers=WORKERS, limits=Limits()) as workers:
        first = await asyncio.gather(*(workers.run(job) for job in jobs))
        jobs = [job for job, report in zip(jobs, first, strict=True) if report.verdict is not Verdict.TIMEOUT]
        await rounds(workers, jobs, 100)
        print(f"{arguments.source}: a plain process with pytest and the repository takes {alone:.0f} MB")
        print(
            f"{'candidates':>10} {'seconds':>9} {'ms each':>8} {'MB a worker':>12} {'beyond':>7} {'descriptors':>12} {'own MB':>7}"
        )
        size = 100
        while size <= arguments.most:
            began = time.perf_counter()
            await rounds(workers, jobs, size)
            seconds = time.perf_counter() - began
            memory, descriptors = footprint(children(os.getpid()))
            own, _ = footprint([os.getpid()])
            rows.append((seconds / size * 1000, memory / WORKERS, descriptors))
            print(
                f"{size:>10,} {seconds:>9.1f} {rows[-1][0]:>8.1f} {rows[-1][1]:>12.1f} {rows[-1][1] - alone:>7.1f} {descriptors:>12} {own:>7.0f}",
                flush=True,
            )
            size *= 10
    (first_ms, first_mb, first_open), (last_ms, last_mb, last_open) = rows[0], rows[-1]
    return publish(
        [
            Figure(
                f"a candidate of {arguments.most:,}",
                f"{last_ms:.1f} ms",
                f"of 100, {first_ms:.1f} ms",
                last_ms / first_ms,
                1.25,
            ),
            Figure(
                "memory of a worker", f"{last_mb:.0f} MB", f"after 100, {first_mb:.0f} MB", last_mb / first_mb, 1.15
            ),
            Figure(
                "memory of a worker beyond plain pytest",
                f"{last_mb - alone:.0f} MB",
                "the limit, 150 MB",
                (last_mb - alone) / 150,
                1.0,
            ),
            Figure("open descriptors", str(last_open), f"after 100, {first_open}", last_open / first_open, 1.0),
        ]
    )


async def rounds(workers: Pool, jobs: Sequence[object], number: int) -> None:
    """Test ``number`` candidates, at most 64 waiting at a time, as the engine does."""
    waiting = islice(cycle(jobs), number)

    async def work() -> None:
        for job in waiting:
            await workers.run(job)  # type: ignore[arg-type]

    await asyncio.gather(*(work() for _ in range(WORKERS)))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
