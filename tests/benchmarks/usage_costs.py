"""What usage tasks cost: building them, against building regeneration tasks; and a verdict on an answer.

    python tests/benchmarks/usage_costs.py [SOURCE …]

Both builds start in the ready environment and use no earlier results. A verdict is one on the reference of a function,
whose package is imported already, on one worker. Aims: at most 1.5 times as long, and 40 ms.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time

from figures import Figure, publish

from workbench.catalog import resolve_case, snapshot_of
from workbench.engine.task_building import cores
from workbench.engine.usage import UsageItem
from workbench.regeneration.building import build_tasks
from workbench.regeneration.environment import build_environment
from workbench.sandbox import Backend, Limits, Workspace, choose_backend, pool
from workbench.usage.building import UsageTaskSet, build_usage_tasks
from workbench.usage.tree import usage_workspace

SOURCES = ("word_counter", "password_generator", "humanize==4.9.0", "tabulate==0.9.0", "schema==0.7.7")
ANSWERS = 50
MOST_TIMES, MOST_MS = 1.5, 40.0


async def verdict_ms(built: UsageTaskSet, workspace: Workspace, backend: Backend) -> float | None:
    """Return the milliseconds of a verdict on a function's reference, as the median of ``ANSWERS``."""
    items = [UsageItem(task.id, task, place) for place, task in enumerate(built.tasks) if task.target.kind != "command"]
    entries = [(task.target, (*task.shown, *task.hidden)) for task in built.tasks]
    tree, limits = await asyncio.to_thread(usage_workspace, workspace, entries), Limits()
    seconds = []
    async with pool(backend, tree, workers=1, limits=limits) as sandboxes:
        for item in (items * (ANSWERS + len(items)))[: ANSWERS + len(items)] if items else []:
            began = time.perf_counter()
            item.judge(await sandboxes.run(item.job(item.id, item.reference, limits)))
            seconds.append(time.perf_counter() - began)
    return 1000 * statistics.median(seconds[len(items) :]) if items else None  # the first round imports the package


async def measure(source: str) -> tuple[float, float | None]:
    """Print one line, and return the ratio of the builds and the milliseconds of a verdict."""
    case, backend = resolve_case(source), choose_backend(None)
    snapshot = snapshot_of(case)
    environment = await build_environment(snapshot.root, install=case.install, test=case.test)
    began = time.perf_counter()
    regeneration = await build_tasks(snapshot.root, environment, backend, workers=cores())
    between = time.perf_counter()
    usage = await build_usage_tasks(snapshot.root, environment, backend)
    ended = time.perf_counter()
    verdict = await verdict_ms(usage, environment.workspace, backend)
    ratio = (ended - between) / (between - began)
    print(
        f"{source:<24} {regeneration.counts['n_tasks']:>6} {len(usage.tasks):>6} {between - began:>8.1f} "
        f"{ended - between:>8.1f} {ratio:>6.2f} {'–' if verdict is None else f'{verdict:.0f}':>6}",
        flush=True,
    )
    return ratio, verdict


async def main() -> int:
    print("source                     tasks  usage        s  usage s  ratio     ms")
    found = [await measure(source) for source in sys.argv[1:] or SOURCES]
    ratio = statistics.median(ratio for ratio, _ in found)
    verdicts = [verdict for _, verdict in found if verdict is not None]
    figures = [Figure("building usage tasks", f"{ratio:.2f} times", "building regeneration tasks", ratio, MOST_TIMES)]
    if verdicts:
        ms = statistics.median(verdicts)
        figures.append(Figure("a verdict on an answer", f"{ms:.0f} ms", f"{MOST_MS:.0f} ms", ms / MOST_MS, 1.0))
    return publish(figures)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
