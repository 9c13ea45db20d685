"""Is use@1 worth believing? Usage tasks of twelve real projects and the six test cases, and a ladder of worse pages.

    python tests/benchmarks/usage_validity.py [--verbose] [SOURCE …]

The twelve were pinned before there were usage tasks: the projects of the judge's ladder whose distributions have tests,
then the first of the catalogue's repositories, by name, that have and are not among them. Every page is read by
``literal``. Aims: eight of the twelve have at least five tasks; the project's own README is at least as good as each worse page in 95 % of the pairs, where it
names anything; a page with wrong names, and no page, solve nothing; the controls have their values on every task.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from figures import Figure, publish
from ladder_projects import CASES, HELD_OUT, TUNED
from usage_rungs import first_half, wrong_names

from workbench.base.errors import WorkbenchError
from workbench.catalog import resolve_case, snapshot_of
from workbench.engine.evaluators import Evaluator
from workbench.engine.task_building import cores
from workbench.engine.usage import AttemptingReader, Prober, TableReader, UsageItem
from workbench.engine.usage_building import NoUsageTasks, PreparedUsage, dropped_usage, prepare_usage
from workbench.orders.usage import own_page
from workbench.sandbox import Limits, Pool, Verdict, choose_backend, pool
from workbench.session import SessionReader
from workbench.usage import controls, literal
from workbench.usage.page_reader import read_page
from workbench.usage.tree import usage_workspace

TWELVE = (
    *(pin for pin in (*TUNED, *HELD_OUT) if not pin.startswith("python-slugify")),  # has no tests
    "arithmetic-compressor",
    "confection",
    "dissect.esedb",
)
ENOUGH = 5
RECORDED = Path(__file__).parents[2] / "sessions" / "example.session"
EXACT = {"reference": 1.0, "stub": 0.0, "table": 0.0}


class Quiet:
    """Stages that nobody watches."""

    def update(
        self, name: str, state: str = "running", *, done: int | None = None, total: int | None = None, note: str = ""
    ) -> None:
        pass


@dataclass
class Measured:
    """The tasks of a project, the tasks that each page solves, and those that its own README names."""

    source: str
    tasks: Sequence[str] = ()
    funnel: str = ""
    readme: str = ""
    named: frozenset[str] = frozenset()
    solved: dict[str, frozenset[str]] = field(default_factory=dict)

    def share(self, reader: str) -> float | None:
        return len(self.solved[reader]) / len(self.tasks) if reader in self.solved else None


def readme_of(source: str) -> str:
    case = resolve_case(source)
    return own_page(snapshot_of(case).root, case.reference_readme, docs=False)[1]


async def prepared(source: str) -> PreparedUsage | str:
    """Return the usage tasks of a source, or why it has none."""
    try:
        return await prepare_usage(source, choose_backend(None), Quiet())
    except NoUsageTasks as nothing:
        counts = ", ".join(f"{number} {stage}" for stage, number in dropped_usage(nothing.built).items())
        return f"no task of {nothing.built.stages['callables']} callables: {counts}"
    except WorkbenchError as error:
        return str(error)


class Bench:
    """Readers of the pages of one project, and the sandboxes that test their answers."""

    def __init__(self, ready: PreparedUsage, sandboxes: Pool, limits: Limits) -> None:
        self.items = [UsageItem(task.id, task, place) for place, task in enumerate(ready.built.tasks)]
        self._sandboxes, self._limits = sandboxes, limits
        self._prober = Prober(sandboxes, limits)
        self._names = tuple((one.module, one.attribute, one.least, one.most) for one in ready.built.names)
        self._verdicts: dict[tuple[str, str], bool] = {}

    async def reads(self, page: str) -> frozenset[str]:
        """Return the tasks that ``literal`` solves with a page."""
        return await self._solved(AttemptingReader(self._prober, partial(literal.candidates, page), page))

    async def control(self, name: str) -> frozenset[str]:
        if name == "table":
            return await self._solved(TableReader())
        if name == "package":
            return await self._solved(AttemptingReader(self._prober, partial(controls.package, names=self._names)))
        texts = {item.id: item.reference if name == "reference" else item.stub for item in self.items}
        passed = await asyncio.gather(*(self._passes(item, texts[item.id]) for item in self.items))
        return frozenset(item.id for item, right in zip(self.items, passed, strict=True) if right)

    async def _solved(self, reader: Evaluator) -> frozenset[str]:
        async def solves(item: UsageItem) -> bool:
            answer = (await reader.respond(item, item.id, 0)).extraction.body
            return answer is not None and await self._passes(item, answer)

        solved = await asyncio.gather(*map(solves, self.items))
        return frozenset(item.id for item, right in zip(self.items, solved, strict=True) if right)

    async def _passes(self, item: UsageItem, answer: str) -> bool:
        if (item.id, answer) not in self._verdicts:
            report = await self._sandboxes.run(item.job(item.id, answer, self._limits))
            self._verdicts[item.id, answer] = item.judge(report).verdict is Verdict.PASSED
        return self._verdicts[item.id, answer]


def recorded_page(case: str) -> str | None:
    """Return the README that the embedded model wrote for a case in the recorded session, or None."""
    with SessionReader(RECORDED) as reader:
        for trial in reader.trials():
            if (trial.case_id, trial.agent) == (case, "white"):
                return reader.text_or_none(trial.readme_blob, "its README")
    return None


async def measure(source: str, ready: PreparedUsage, readme: str, shuffled: str) -> Measured:
    limits = Limits()
    entries = [(task.target, (*task.shown, *task.hidden)) for task in ready.built.tasks]
    workspace = await asyncio.to_thread(usage_workspace, ready.environment.workspace, entries)
    pages = {
        "own": readme,
        "half": first_half(readme),
        "wrong names": wrong_names(readme),
        "shuffled": shuffled,
        "none": "",
    }
    if written := recorded_page(source):
        pages["embedded"] = written
    found = Measured(source, [task.id for task in ready.built.tasks], _funnel(ready), readme)
    found.named = frozenset(task.id for task in ready.built.tasks if read_page(readme).names(task))
    async with pool(choose_backend(None), workspace, workers=cores(), limits=limits) as sandboxes:
        bench = Bench(ready, sandboxes, limits)
        for control in (*EXACT, "package"):
            found.solved[control] = await bench.control(control)
        for rung, page in pages.items():
            found.solved[rung] = await bench.reads(page)
    return found


def _funnel(ready: PreparedUsage) -> str:
    stages = ready.built.stages
    left = " → ".join(f"{number}" for number in dict.fromkeys(stages.values()))
    counts = ", ".join(f"{number} {stage}" for stage, number in dropped_usage(ready.built).items())
    return f"{left} ({counts})" if counts else left


RUNGS = ("half", "wrong names", "shuffled", "embedded", "none")
COLUMNS = ("own", *RUNGS, *EXACT, "package")


def print_row(found: Measured) -> None:
    own = found.solved.get("own", frozenset())
    shares = (found.share(column) for column in COLUMNS)
    print(
        f"{found.source:<24} {len(found.tasks):>5} {len(found.named):>5} {len(own & found.named):>6} ",
        *(f"{'–' if share is None else f'{share:.2f}':>11}" for share in shares),
        f"  {found.funnel}",
        flush=True,
    )


def missed(found: Measured) -> list[str]:
    """Return the tasks that the README names and ``literal`` does not solve, although the reference does."""
    return sorted((found.named & found.solved.get("reference", frozenset())) - found.solved.get("own", frozenset()))


def figures(rows: Mapping[str, Measured]) -> list[Figure]:
    found = []
    twelve = [rows[source] for source in TWELVE if source in rows]
    if twelve:
        enough = sum(len(row.tasks) >= ENOUGH for row in twelve)
        found.append(Figure(
            f"projects with at least {ENOUGH} usage tasks", f"{enough}", f"{len(twelve)} projects", enough / len(twelve),
            8 / 12, at_least=True,
        ))  # fmt: skip
    measured = [row for row in rows.values() if row.tasks]
    naming = [row for row in measured if row.named]
    pairs = [len(row.solved["own"]) >= len(row.solved[rung]) for row in naming for rung in RUNGS if rung in row.solved]
    tasks = sum(len(row.tasks) for row in measured)
    if pairs:
        found.append(Figure(
            "literal: the own README is at least as good", f"{sum(pairs)} pairs", f"{len(pairs)} pairs",
            sum(pairs) / len(pairs), 0.95, at_least=True,
        ))  # fmt: skip
    for rung in ("wrong names", "none"):
        solved = sum(len(row.solved[rung]) for row in measured)
        found.append(Figure(f"literal: solved with {rung}", f"{solved} tasks", f"{tasks} tasks", solved / tasks, 0.0))
    for control, value in EXACT.items():
        solved = sum(len(row.solved[control]) for row in measured)
        found.append(Figure(
            f"control {control} passes", f"{solved} tasks", f"{tasks} tasks", solved / tasks, value, at_least=value == 1.0
        ))  # fmt: skip
    named = sum(len(row.named & row.solved["reference"]) for row in measured)
    if named:
        solved = named - sum(len(missed(row)) for row in measured)
        what = "literal, against a reader that solves every task that the README names"
        found.append(Figure(what, f"{solved} tasks", f"{named} tasks", solved / named))
    return found


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", default=(*TWELVE, *CASES), metavar="SOURCE")
    parser.add_argument("--verbose", action="store_true", help="print the tasks that literal misses")
    arguments = parser.parse_args()
    pages = {source: readme_of(source) for source in arguments.sources}
    print(
        f"{'source':<24} {'tasks':>5} {'named':>5} {'solved':>6} ", *(f"{column:>11}" for column in COLUMNS), "  left"
    )
    rows = {}
    for place, (source, readme) in enumerate(pages.items()):
        ready = await prepared(source)
        if isinstance(ready, str):
            rows[source] = Measured(source, funnel=ready)
        else:
            other = [*pages.values()][(place + 3) % len(pages)]
            rows[source] = await measure(source, ready, readme, "" if other == readme else other)
        print_row(rows[source])
        for task in missed(rows[source]) if arguments.verbose else ():
            print(f"    misses {task}")
    return publish(figures(rows))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
