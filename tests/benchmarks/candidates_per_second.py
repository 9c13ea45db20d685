"""Candidates per second, isolated, beside cold pytest, which is what harnesses do.

    python tests/benchmarks/candidates_per_second.py [--candidates 150] [--cold 8] [SOURCE …]

Everything in one run, two workers unless said otherwise; opening the sandboxes and importing the repository is part of
our time. Candidates that hang are left out of all timings and reported apart. Aims: the mix at least 25 times the cold
whole suite and 12 times cold T_i with a fair baseline (bytecode present, short tracebacks), repositories whose tests take
less than 10 ms at least 40 times; beyond the tests themselves at most 15 ms + 0.4 ms a test at the median; two workers at
least 1.8 times one; a hang costs its limit and 50 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from candidate_mix import SOURCES, Candidate, Cold, mix, prepared
from figures import Figure, publish

from workbench.engine.task_building import Prepared
from workbench.regeneration.tasks import located
from workbench.repository.splicing import splice
from workbench.sandbox import Job, Limits, Report, Verdict, Workspace, choose_backend, pool

WORKERS = 2


@dataclass(frozen=True, slots=True)
class Line:
    """Milliseconds a candidate (wall clock divided by their number), or 0 for not measured."""

    source: str
    ours: float
    ours_alone: float
    whole: float
    fair: float
    floor: float
    overhead: float
    allowed: float


async def ours(workspace: Workspace, candidates: Sequence[Candidate], workers: int) -> tuple[float, dict[str, Report]]:
    """Return seconds, sandboxes opened and closed included, and the reports."""
    began = time.perf_counter()
    async with pool(choose_backend("bubblewrap"), workspace, workers=workers, limits=Limits()) as opened:
        reports = await asyncio.gather(*(opened.run(candidate.job) for candidate in candidates))
    return time.perf_counter() - began, {report.job: report for report in reports}


def side_by_side(jobs: Sequence[Candidate], one: Callable[[Candidate], bool]) -> tuple[float, dict[str, bool]]:
    """Return seconds and verdicts of a cold way, ``WORKERS`` at a time."""
    began = time.perf_counter()
    with ThreadPoolExecutor(WORKERS) as threads:
        passed = list(threads.map(one, jobs))
    return time.perf_counter() - began, {job.job.id: ok for job, ok in zip(jobs, passed, strict=True)}


def measure(source: str, number: int, cold: int) -> tuple[Line, Counter[str]]:
    """Measure one repository and print what it gives."""
    made = prepared(source)
    workspace = replace(made.environment.workspace, root=made.snapshot.root)
    candidates = mix(made, number)
    _, first = asyncio.run(ours(workspace, candidates, WORKERS))
    hangs = [each for each in candidates if first[each.job.id].verdict is Verdict.TIMEOUT]
    timed = [each for each in candidates if each not in hangs]
    seconds, reports = asyncio.run(ours(workspace, timed, WORKERS))
    alone, _ = asyncio.run(ours(workspace, timed, 1))
    sample = timed[:cold]
    plain, fair = Cold(workspace, fair=False), Cold(workspace, fair=True)
    try:
        whole_s, _ = side_by_side(sample[: max(4, cold // 2)], lambda each: plain.run(each.job, everything=True))
        fair_s, verdicts = side_by_side(sample, lambda each: fair.run(each.job, everything=False))
    finally:
        plain.close()
        fair.close()
    hot = [report for report in reports.values() if report.route == "hot"]
    floors = {report.job: sum(test.seconds for test in report.tests) for report in hot}
    beyond = [(report.seconds - floors[report.job]) * 1000 for report in hot]
    line = Line(
        source=source,
        ours=seconds / len(timed) * 1000,
        ours_alone=alone / len(timed) * 1000,
        whole=whole_s / max(4, cold // 2) * 1000,
        fair=fair_s / len(sample) * 1000,
        floor=statistics.mean(floors.values()) * 1000,
        overhead=statistics.median(beyond),
        allowed=statistics.median(15 + 0.4 * len(report.tests) for report in hot),
    )
    notes: Counter[str] = Counter(f"{report.route}" for report in reports.values())
    notes["candidates"] = len(timed)
    notes["hangs"] = len(hangs)
    notes["disagree"] = sum(reports[job].passed is not passed for job, passed in verdicts.items())
    notes["compared"] = len(verdicts)
    return line, notes


def stuck(made: Prepared) -> tuple[Job, Job]:
    """Return a job with the original of some function, and one in which it never ends; both go the hot way."""
    for task, function, source in located(made.snapshot.root, made.built.tasks):
        if not task.import_time:
            good = Job(
                id="good",
                tests=task.tests[:1],
                path=task.path,
                content=source,
                function=(task.qualified_name, task.occurrence),
                limits=Limits(seconds=1.0),
            )
            return good, replace(good, id="stuck", content=splice(source, function, "while True:\n    pass"))
    raise SystemExit("every function runs at import")


async def hang(workspace: Workspace, good: Job, endless: Job) -> float:
    """Return what an endless loop costs beyond its limit, ms, at the median of five."""
    beyond = []
    async with pool(choose_backend("bubblewrap"), workspace, workers=1, limits=Limits()) as opened:
        assert (await opened.run(good)).passed
        for _ in range(5):
            report = await opened.run(endless)
            assert report.verdict is Verdict.TIMEOUT, report
            beyond.append((report.seconds - endless.limits.seconds) * 1000)
    return statistics.median(beyond)


def main() -> int:
    """Measure every repository, then the mix."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("sources", nargs="*", default=SOURCES)
    parser.add_argument("--candidates", type=int, default=150)
    parser.add_argument("--cold", type=int, default=8)
    arguments = parser.parse_args()
    head = f"{'repository':<22}{'ours':>8}{'/s':>7}{'1 worker':>10}{'whole':>9}{'fair T_i':>10}"
    print(f"{head}{'x whole':>9}{'x fair':>8}{'2/1':>6}{'floor':>8}{'beyond':>8}{'allowed':>9}  (ms a candidate)")
    lines = []
    for source in arguments.sources:
        line, notes = measure(source, arguments.candidates, arguments.cold)
        lines.append(line)
        show(line)
        print("   " + ", ".join(f"{key} {value}" for key, value in notes.items()), flush=True)
    total = Line("the mix", *(sum(getattr(line, name) for line in lines) / len(lines) for name in Line.__slots__[1:]))
    show(total)
    made = prepared(arguments.sources[0])
    workspace = replace(made.environment.workspace, root=made.snapshot.root)
    stuck_ms = asyncio.run(hang(workspace, *stuck(made)))
    figures = [
        Figure(
            "a candidate of the mix",
            f"{total.ours:.0f} ms",
            f"cold, whole suite, {total.whole:.0f} ms",
            total.whole / total.ours,
            25,
            True,
        ),
        Figure(
            "a candidate of the mix",
            f"{total.ours:.0f} ms",
            f"cold, its own tests, {total.fair:.0f} ms",
            total.fair / total.ours,
            12,
            True,
        ),
        Figure(
            "two workers",
            f"{total.ours:.0f} ms",
            f"one worker, {total.ours_alone:.0f} ms",
            total.ours_alone / total.ours,
            1.8,
            True,
        ),
        Figure("a hang beyond its limit", f"{stuck_ms:.0f} ms", "the limit, 50 ms", stuck_ms / 50, 1.0),
    ]
    for line in lines:
        if line.floor < 10:
            figures.append(
                Figure(
                    line.source,
                    f"{line.ours:.0f} ms",
                    f"cold, whole suite, {line.whole:.0f} ms",
                    line.whole / line.ours,
                    40,
                    True,
                )
            )
        overhead = f"{line.overhead:.1f} ms"
        figures.append(
            Figure(
                f"{line.source}: beyond its tests",
                overhead,
                f"allowed, {line.allowed:.1f} ms",
                line.overhead / line.allowed,
                1.0,
            )
        )
    return publish(figures)


def show(line: Line) -> None:
    """Print one row."""
    print(
        f"{line.source:<22}{line.ours:>8.1f}{1000 / line.ours:>7.1f}{line.ours_alone:>10.1f}{line.whole:>9.0f}{line.fair:>10.0f}"
        f"{line.whole / line.ours:>9.1f}{line.fair / line.ours:>8.1f}"
        f"{line.ours_alone / line.ours:>6.2f}{line.floor:>8.1f}{line.overhead:>8.1f}{line.allowed:>9.1f}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
