"""Are fast verdicts the cold ones? Thousands of pairs, most of them near misses, and the embedded model's own answers.

    python tests/benchmarks/verdict_agreement.py [--pairs 2000] [SOURCE …]

Every candidate is tested on the route that the rules choose and again on the cold one. Aim: no false pass, no disagreement.
A hang agrees with a hang only, a single timeout is tried again with more time; which tests failed is compared as well.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from candidate_mix import SOURCES, Candidate, mix, prepared
from figures import Figure, publish

from workbench.engine.task_building import Prepared
from workbench.regeneration.tasks import located
from workbench.repository.splicing import SpliceError, splice
from workbench.sandbox import Job, Limits, Pool, Report, Route, Verdict, choose_backend, pool
from workbench.session import SessionReader

EXAMPLE = Path(__file__).parent.parent.parent / "sessions" / "example.session"


def model_answers(made: Prepared) -> Iterator[Candidate]:
    """Yield the bodies that the embedded model wrote in the bundled example, for the repository that it was asked about."""
    tasks = {
        task.id: (task, function, source) for task, function, source in located(made.snapshot.root, made.built.tasks)
    }
    with SessionReader(EXAMPLE) as reader:
        for run in reader.runs():
            rows = {row.id: f"{row.path}::{row.qualified_name}" for row in reader.tasks(run.id)}
            for row in reader.candidates(run.id):
                known = tasks.get(rows.get(row.task_id, ""))
                if known is None or not row.body_blob or row.control:
                    continue
                task, function, source = known
                try:
                    content = splice(source, function, reader.text(row.body_blob))
                except SpliceError:
                    continue
                name = None if task.import_time else (task.qualified_name, task.occurrence)
                job = Job(row.id, task.tests, task.path, content, task.limits(Limits(seconds=5.0)), function=name)
                yield Candidate("model", job, False)


def essence(report: Report) -> tuple[str, frozenset[tuple[str, str]]]:
    """Return the verdict and the outcome of every test that did run."""
    return str(report.verdict), frozenset((test.id, test.outcome) for test in report.tests if test.outcome != "missing")


async def compare(workers: Pool, candidate: Candidate, counts: Counter[str]) -> None:
    """Test one candidate both ways and count."""
    fast = await workers.run(candidate.job)
    cold = await workers.run(replace(candidate.job, route=Route.COLD))
    if (fast.verdict is Verdict.TIMEOUT) is not (cold.verdict is Verdict.TIMEOUT):
        # A busy machine makes timeouts; a real difference shows again with four times the time.
        counts["asked again after a timeout"] += 1
        job = replace(candidate.job, limits=replace(candidate.job.limits, seconds=4 * candidate.job.limits.seconds))
        fast = await workers.run(job)
        cold = await workers.run(replace(job, route=Route.COLD))
    counts["pairs"] += 1
    counts[f"{fast.route}"] += 1
    counts[f"{candidate.kind} bodies"] += 1
    counts[f"verdict {cold.verdict}"] += 1
    if fast.passed and not cold.passed:
        counts["FALSE PASS"] += 1
    if fast.verdict is not cold.verdict:
        counts["DISAGREE"] += 1
        print(
            f"  {candidate.job.id}: {fast.route} {fast.verdict} ({fast.detail}), cold {cold.verdict} ({cold.detail})",
            flush=True,
        )
    elif essence(fast) != essence(cold):
        counts["other tests failed"] += 1


async def run(source: str, number: int) -> Counter[str]:
    """Compare the candidates of one repository."""
    made = await asyncio.to_thread(prepared, source)
    candidates = mix(made, number, near_misses=12)
    candidates += list(model_answers(made))
    counts: Counter[str] = Counter()
    workspace = replace(made.environment.workspace, root=made.snapshot.root)
    waiting = list(candidates)
    async with pool(choose_backend("bubblewrap"), workspace, workers=2, limits=Limits()) as workers:

        async def work() -> None:
            while waiting:
                await compare(workers, waiting.pop(), counts)

        await asyncio.gather(work(), work())
    return counts


def main() -> int:
    """Print the counts; 1 when a fast verdict was not the cold one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("sources", nargs="*", default=(*SOURCES, "word_counter"))
    parser.add_argument("--pairs", type=int, default=2000)
    arguments = parser.parse_args()
    total: Counter[str] = Counter()
    for source in arguments.sources:
        began = time.perf_counter()
        counts = asyncio.run(run(source, -(-arguments.pairs // len(arguments.sources))))
        total += counts
        print(f"{source}: {dict(counts)} in {time.perf_counter() - began:.0f} s", flush=True)
    print(dict(total))
    pairs = f"{total['pairs']:,} pairs"
    return publish(
        Figure(f"fast and cold verdicts: {what}", str(count), pairs, count / total["pairs"], 0.0)
        for what, count in (("false passes", total["FALSE PASS"]), ("disagreements", total["DISAGREE"]))
    )


if __name__ == "__main__":
    sys.exit(main())
