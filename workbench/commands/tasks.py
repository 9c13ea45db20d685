"""``workbench tasks``: the tasks of a repository, datasets of the tasks of many; no model is asked for anything.

``tasks SOURCE`` lists, ``tasks build SOURCE…`` writes a dataset, ``tasks show DATASET`` reads one.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from workbench.documenters import Docstring
    from workbench.engine.task_building import Prepared
    from workbench.regeneration.tasks import Task, TaskSet

SUMMARY = "build the regeneration tasks of repositories: functions whose tests fail with a stub and pass as they are"
_USAGE = """workbench tasks SOURCE [--docs DOCS] [--limit N] [--task ID] [--sandbox NAME] [--rebuild] [--json]
       workbench tasks build SOURCE [SOURCE ...] [--out FOLDER] [--formats jsonl,parquet] [--workers N]
                             [--sandbox NAME] [--rebuild] [--json]
       workbench tasks show DATASET [--limit N] [--task ID] [--json]"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.usage = _USAGE
    parser.add_argument(
        "words",
        metavar="SOURCE",
        nargs="+",
        help="a case id, a repository of the catalogue, a folder, git URL@revision, or NAME==VERSION; "
        "'build' before sources writes a dataset, 'show' before a dataset prints it",
    )
    parser.add_argument(
        "--docs", default="original", help="whose docstrings: original (default), none, folder:PATH, source:SOURCE"
    )
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="only the first N tasks")
    parser.add_argument(
        "--task",
        action="append",
        default=[],
        metavar="ID",
        help="only this task: id, beginning, glob, or function name",
    )
    parser.add_argument("--sandbox", default="", help="bubblewrap, docker, or process; the strongest one unless given")
    parser.add_argument("--out", default="", metavar="FOLDER", help="with build: where the dataset goes")
    parser.add_argument("--formats", default="", help="with build: jsonl,parquet (both unless given)")
    parser.add_argument(
        "--workers", type=int, default=0, metavar="N", help="with build: sandboxes at once (as many as cores)"
    )
    parser.add_argument("--rebuild", action="store_true", help="build anew although the cache has them")
    parser.add_argument("--json", action="store_true", help="print JSON lines; the last is the summary")


def run(arguments: argparse.Namespace) -> int:
    """List, build or show; 1 when a repository gives no task."""
    from workbench.errors import UsageError

    match arguments.words:
        case ["build", *sources]:
            from workbench.commands import tasks_build

            return tasks_build.run(arguments, sources)
        case ["show", path]:
            from workbench.commands import tasks_show

            return tasks_show.run(arguments, path)
        case [source] if source != "show":
            arguments.source = source
            return _list(arguments)
    raise UsageError("workbench tasks takes one SOURCE, build SOURCE…, or show DATASET; see workbench tasks --help.")


def _list(arguments: argparse.Namespace) -> int:
    import asyncio

    from workbench.engine.plan import Ask
    from workbench.engine.selection import chosen
    from workbench.engine.task_building import NoTasks
    from workbench.errors import UsageError

    if arguments.out or arguments.formats or arguments.workers:
        raise UsageError("--out, --formats and --workers belong to workbench tasks build SOURCE….")
    if arguments.docs.startswith("llm:"):
        raise UsageError("A model's docstrings are written in a run: workbench regenerate SOURCE --docs llm:MODEL.")
    try:
        prepared, documented = asyncio.run(_build(arguments))
    except NoTasks as nothing:
        if arguments.json:
            _print_json(nothing.built, [], arguments)
        else:
            _print_table(nothing.built, [])
        raise
    named = [(task.id, key, (task, key, docs)) for task, key, docs in documented]
    shown = chosen(Ask("", 0, tuple(arguments.task), arguments.limit), named)
    if not shown:
        raise UsageError(f"No task is called {', '.join(arguments.task)}; leave out --task to see them all.")
    if arguments.json:
        _print_json(prepared.built, shown, arguments, prepared)
    else:
        _print_table(prepared.built, shown)
    return 0


async def _build(arguments: argparse.Namespace) -> tuple[Prepared, list[tuple[Task, str, Docstring]]]:
    from workbench import settings
    from workbench.commands.tasks_bars import Bars
    from workbench.documenters import DocumentContext, parse_documenter
    from workbench.engine.task_building import prepare
    from workbench.engine.task_rows import identity, located
    from workbench.sandbox import choose_backend

    documenter = parse_documenter(arguments.docs)
    backend = choose_backend(arguments.sandbox or settings.load().sandbox or None)
    with Bars() as bars:
        prepared = await prepare(arguments.source, backend, bars, rebuild=arguments.rebuild)
    found = []
    for task, function, source in located(prepared.snapshot.root, prepared.built.tasks):
        docs = await documenter.document(function, source, DocumentContext(prepared.snapshot.root))
        found.append((task, identity(prepared.snapshot.digest, task, docs), docs))
    return prepared, found


def _print_json(
    built: TaskSet,
    shown: list[tuple[Task, str, Docstring]],
    arguments: argparse.Namespace,
    prepared: Prepared | None = None,
) -> None:
    from workbench.commands.watching import print_json
    from workbench.engine.task_building import dropped_by_stage

    for task, key, docs in shown:
        print_json(
            {
                "type": "task",
                "task_id": task.id,
                "id": key,
                "path": task.path,
                "function": task.qualified_name,
                "occurrence": task.occurrence,
                "kind": task.kind,
                "signature": task.signature,
                "lines": [task.start_line, task.end_line],
                "tests": list(task.tests),
                "coverage": task.coverage,
                "statements": task.statements,
                "branches": task.branches,
                "branches_covered": task.branches_covered,
                "unstable": list(task.unstable),
                "seconds": task.seconds,
                "import_time": task.import_time,
                "docs": docs.source,
                "docstring": docs.text,
            }
        )
    for entry in built.dropped:
        print_json({"type": "dropped", "task_id": entry.id, "stage": entry.stage, "reason": entry.reason})
    print_json(
        {
            "type": "summary",
            "source": arguments.source,
            "tasks": len(shown),
            "built": len(built.tasks),
            "functions": len(built.tasks) + len(built.dropped),
            "dropped": dropped_by_stage(built),
            "stages": dict(built.stages),
            "counts": built.counts,
            "tests": {
                "stable": built.stable,
                "unstable": {test: list(outcomes) for test, outcomes in built.unstable.items()},
                "failing": dict(built.failing),
                "taken_out": dict(built.taken_out),
                "not_collected": dict(built.not_collected),
            },
            "suite_seconds": list(built.suite_seconds),
            "sandbox": built.backend,
            "snapshot": prepared.snapshot.digest if prepared else None,
            "cached": prepared.cached if prepared else False,
        }
    )


def _print_table(built: TaskSet, shown: list[tuple[Task, str, Docstring]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if shown:
        table = Table(box=None, pad_edge=False)
        table.add_column("id", no_wrap=True)
        for heading in ("file", "function"):
            table.add_column(heading, overflow="fold")
        for heading in ("tests", "cover", "branches", "s"):
            table.add_column(heading, justify="right", no_wrap=True)
        for task, key, _ in shown:
            name = Text(task.id.partition("::")[2])
            branches = f"{task.branches_covered}/{task.branches}" if task.branches else "–"
            figures = (str(len(task.tests)), f"{task.coverage:.0%}", branches, f"{task.seconds:.2f}")
            table.add_row(key[:8], Text(task.path), name, *figures)
        console.print(table)
    if built.dropped:
        console.print(Text("\nNo task:", style="bold"))
    for entry in built.dropped:
        console.print(Text(f"  {entry.stage:<9} {entry.id}  {entry.reason}"), soft_wrap=not sys.stdout.isatty())
    _print_quarantined(console, built)
    tests = f"{built.stable} stable tests" + (f", {built.quarantined}" if built.quarantined else "")
    functions = len(built.tasks) + len(built.dropped)
    left = "" if len(shown) == len(built.tasks) else f" ({len(built.tasks)} in all)"
    console.print(
        Text(f"\n{len(shown)} tasks{left} of {functions} functions · {tests} · {built.backend}", style="bold")
    )


def _print_quarantined(console: Console, built: TaskSet) -> None:
    """Name what no verdict rests on."""
    from rich.text import Text

    kinds = (
        ("unstable", {test: " / ".join(outcomes) for test, outcomes in built.unstable.items()}),
        ("failing", built.failing),
        ("taken out", built.taken_out),
        ("no import", built.not_collected),
    )
    if any(tests for _, tests in kinds):
        console.print(Text("\nNot used:", style="bold"))
    for what, tests in kinds:
        for test, why in tests.items():
            console.print(Text(f"  {what:<9} {test}  {why}"), soft_wrap=not sys.stdout.isatty())
