"""How long building tasks takes, in plain runs of the same suite. Aim: at most 10 for about 200 functions.

    python tests/benchmarks/task_building.py [SOURCE …]

A plain run is what a person types: cold pytest over the whole suite, in the same environment, with the bytecode there
already, on one core and outside of any sandbox; the fastest of three counts. Building is everything from the ready
environment to the finished tasks: sandboxes started, three runs of the suite (one of them traced), the stub filter.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import Figure, publish

from workbench.catalog import resolve_case, snapshot_of
from workbench.engine.task_building import cores
from workbench.regeneration.building import build_tasks
from workbench.regeneration.environment import Environment, build_environment
from workbench.regeneration.tasks import BuildProgress
from workbench.sandbox import choose_backend

SOURCES = ("schema", "confection", "mocksafe", "tabulate==0.10.0", "python-dotenv==1.1.1")
AIM = 10.0


def plain_run(environment: Environment, root: Path) -> tuple[float, float]:
    """Wall and processor seconds of one cold run of the suite; the least of three, after one that writes the bytecode."""
    workspace = environment.workspace
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(root, tree, ignore=shutil.ignore_patterns(".git", "__pycache__"))
        roots = os.pathsep.join(str((tree / entry).resolve()) for entry in workspace.import_roots)
        variables = {"PATH": os.environ["PATH"], "HOME": folder, "PYTHONPATH": roots, "LANG": "C.UTF-8"}
        command = [str(environment.python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=native"]
        seconds, spent = [], []
        for _ in range(4):
            began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                [*command, *workspace.pytest_args, *workspace.test_paths],
                cwd=tree,
                env=variables,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )
            seconds.append(time.perf_counter() - began)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(seconds[1:]), min(spent[1:])


def spent_so_far() -> float:
    """Processor seconds of this process and of every live descendant, with those of its dead children."""
    table = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                table[int(entry.name)] = (int(fields[1]), sum(map(int, fields[11:15])))
    ticks, me = 0, os.getpid()
    for pid in table:
        ancestor = pid
        while ancestor in table and ancestor != me:
            ancestor = table[ancestor][0]
        if ancestor == me and pid != me:
            ticks += table[pid][1]
    own = resource.getrusage(resource.RUSAGE_SELF)
    return ticks / os.sysconf("SC_CLK_TCK") + own.ru_utime + own.ru_stime


async def measure(source: str) -> float:
    """Print one line and return the ratio."""
    case = resolve_case(source)
    snapshot = snapshot_of(case)
    environment = await build_environment(snapshot.root, install=case.install, test=case.test)
    marks: dict[str, float] = {}

    def on_progress(step: BuildProgress) -> None:
        marks.setdefault(step.stage, time.perf_counter())
        if step.stage == "done":  # the sandboxes are still there
            marks["spent"] = spent_so_far()

    plain, plain_spent = plain_run(environment, snapshot.root)
    began, before = time.perf_counter(), spent_so_far()
    built = await build_tasks(
        snapshot.root, environment, choose_backend(None), workers=cores(), on_progress=on_progress
    )
    seconds = time.perf_counter() - began
    suite = marks["functions"] - began
    counts = built.counts
    ratio = seconds / plain
    spent_ratio = (marks["spent"] - before) / cores() / plain_spent
    print(
        f"{source:<24} {counts['n_candidates']:>9} {counts['n_tasks']:>6} {counts['n_stable']:>6} "
        f"{plain:>8.2f} {suite:>8.2f} {seconds - suite:>8.2f} {seconds:>8.2f} {ratio:>6.1f} "
        f"{plain_spent:>8.2f} {spent_ratio:>6.1f}",
        flush=True,
    )
    return ratio


async def main() -> int:
    """Measure every source."""
    print("source                   functions  tasks stable  plain s  suite s filter s  total s  ratio    cpu s  ratio")
    sources = sys.argv[1:] or SOURCES
    ratios = [await measure(source) for source in sources]
    return publish(
        Figure(f"task building of {source}", f"{ratio:.1f} suites", "one plain run of its suite", ratio, AIM)
        for source, ratio in zip(sources, ratios, strict=True)
    )


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
