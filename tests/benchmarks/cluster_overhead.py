"""What a Dask cluster costs per candidate, beside the same sandboxes without one: ``python tests/benchmarks/cluster_overhead.py``.

Everything is on this machine (two sandboxes, a scheduler, two worker processes), so the candidates per second understate
a real cluster, where the scheduler and the engine have cores of their own. What carries over: the added latency of one
candidate, and the processor time per candidate of the engine's side, the scheduler and a worker; what these use while
nothing is under way is measured first and taken off.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from cluster.serving import serving
from figures import Figure, publish

from workbench.base import paths
from workbench.catalog import resolve_case, snapshot_of
from workbench.cluster.job_bundle import pack
from workbench.cluster.pool import connected
from workbench.regeneration.environment import build_environment
from workbench.repository.functions import find_functions
from workbench.repository.splicing import splice
from workbench.sandbox import Job, Limits, choose_backend, pool

_TICK = os.sysconf("SC_CLK_TCK")
_IDLE_SECONDS = 6.0


def used(pid: int) -> float:
    """Processor seconds of a process, children not included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


async def spent(tested: Any, jobs: Sequence[Job], at_once: int) -> tuple[float, list[float]]:
    """Test all jobs, so many at once; return the seconds in all and per candidate."""
    each: list[float] = []
    gate = asyncio.Semaphore(at_once)

    async def one(job: Job) -> None:
        async with gate:
            began = time.perf_counter()
            report = await tested.run(job)
            each.append(time.perf_counter() - began)
            assert report.passed, report

    began = time.perf_counter()
    await asyncio.gather(*(one(job) for job in jobs))
    return time.perf_counter() - began, each


async def main(count: int) -> int:
    case = resolve_case("word_counter")
    snapshot = snapshot_of(case)
    environment = await build_environment(snapshot.root, install=case.install, test=case.test)
    backend = choose_backend("bubblewrap")
    source = (snapshot.root / "word_counter.py").read_bytes()
    function = next(f for f in find_functions(source, "word_counter.py") if f.qualified_name == "average")
    content = splice(source, function, "return sum(numbers) / max(1, len(numbers))")
    tests = ("tests/test_counting.py::test_average",)
    jobs = [Job(str(n), tests, "word_counter.py", content, function=("average", 1)) for n in range(count)]
    alone = jobs[: max(20, count // 8)]
    limits = Limits()
    bundle = pack(
        case.name, snapshot, environment, install=case.install, test=case.test, backend=backend.name, limits=limits
    )
    rows = []
    async with pool(backend, environment.workspace, workers=2, limits=limits) as here:
        await spent(here, jobs[:8], 2)
        own = used(os.getpid())
        seconds, _ = await spent(here, jobs, 2)
        own = used(os.getpid()) - own
        _, latencies = await spent(here, alone, 1)
        rows.append(("this machine", count / seconds, statistics.median(latencies), own / count, None, None))
    with serving(paths.cache_dir(), workers=2) as served:
        async with connected(served.engine) as reached, reached.pool(bundle) as there:
            await spent(there, jobs[:8], 6)
            pids = [os.getpid(), served.process.pid, *served.pids]
            before = [used(pid) for pid in pids]
            await asyncio.sleep(_IDLE_SECONDS)
            idle = [(used(pid) - old) / _IDLE_SECONDS for pid, old in zip(pids, before, strict=True)]
            before = [used(pid) for pid in pids]
            seconds, _ = await spent(there, jobs, 6)
            client, scheduler, *workers = (
                max(0.0, used(pid) - old - seconds * nothing)
                for pid, old, nothing in zip(pids, before, idle, strict=True)
            )
            _, latencies = await spent(there, alone, 1)
            rows.append(
                ("Dask on it", count / seconds, statistics.median(latencies), client / count, scheduler / count,
                 sum(workers) / count)
            )  # fmt: skip
    print(f"{count} candidates, hot, 2 sandboxes, {len(bundle.archive)} bytes of repository")
    print(
        f"{'':14}{'per second':>12}{'one alone':>12}{'engine':>12}{'scheduler':>12}{'worker':>12}   (ms, processor time)"
    )
    for name, rate, latency, *costs in rows:
        words = "".join(f"{cost * 1000:12.2f}" if cost is not None else f"{'–':>12}" for cost in costs)
        print(f"{name:14}{rate:12.1f}{latency * 1000:12.1f}{words}")
    (_, here_rate, here_ms, *_), (_, there_rate, there_ms, *_) = rows
    return publish(
        [
            Figure(
                "candidates a second over Dask",
                f"{there_rate:.1f}",
                f"this machine, {here_rate:.1f}",
                there_rate / here_rate,
                0.8,
                True,
            ),
            Figure(
                "one candidate over Dask",
                f"{there_ms * 1000:.1f} ms",
                f"this machine, {here_ms * 1000:.1f} ms",
                there_ms / here_ms,
            ),
        ]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=400)
    sys.exit(asyncio.run(main(parser.parse_args().count)))
