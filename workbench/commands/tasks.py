"""``workbench tasks SOURCE``: build the tasks of a repository, without any model."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.documenters import Docstring
    from workbench.engine.task_building import Prepared
    from workbench.regeneration.tasks import Task, TaskSet

SUMMARY = "build the regeneration tasks of a repository: functions whose tests fail with a stub and pass as they are"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("source", metavar="SOURCE", help="a case id, a folder, git URL@revision, or NAME==VERSION")
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
    parser.add_argument("--rebuild", action="store_true", help="build anew although the cache has them")
    parser.add_argument("--json", action="store_true", help="print JSON lines; the last is the summary")


def run(arguments: argparse.Namespace) -> int:
    """Build and print; 1 when the repository gives no task."""
    import asyncio

    from workbench.engine.plan import Ask
    from workbench.engine.selection import chosen
    from workbench.engine.task_building import NoTasks
    from workbench.errors import UsageError

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
    from workbench.documenters import DocumentContext, parse_documenter
    from workbench.engine.task_building import prepare
    from workbench.engine.task_rows import identity, located
    from workbench.sandbox import choose_backend

    documenter = parse_documenter(arguments.docs)
    backend = choose_backend(arguments.sandbox or settings.load().sandbox or None)
    with _Bars() as bars:
        prepared = await prepare(arguments.source, backend, bars, rebuild=arguments.rebuild)
    found = []
    for task, function, source in located(prepared.snapshot.root, prepared.built.tasks):
        docs = await documenter.document(function, source, DocumentContext(prepared.snapshot.root))
        found.append((task, identity(prepared.snapshot.digest, task, docs), docs))
    return prepared, found


class _Bars:
    """The stages on a terminal, on standard error so that the output stays clean."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True, highlight=False)
        self._width = max(20, console.width - 66)
        self._progress = Progress(
            TextColumn("{task.description:<13}"),
            BarColumn(24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self._bars: dict[str, Any] = {}

    def __enter__(self) -> _Bars:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def tell(
        self, name: str, state: str = "running", *, done: int | None = None, total: int | None = None, note: str = ""
    ) -> None:
        """Show how far a stage is."""
        from workbench.text import one_line

        if name not in self._bars:
            self._bars[name] = self._progress.add_task(name, total=None, note="")
        if state == "done" and total is None:
            done = total = 1
        self._progress.update(self._bars[name], completed=done, total=total)
        if note:
            self._progress.update(self._bars[name], note=one_line(note, self._width))


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
            "tests": {
                "stable": built.stable,
                "unstable": {test: list(outcomes) for test, outcomes in built.unstable.items()},
                "failing": dict(built.failing),
                "taken_out": dict(built.taken_out),
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
        for heading in ("tests", "cover", "s"):
            table.add_column(heading, justify="right", no_wrap=True)
        for task, key, _ in shown:
            name = Text(task.id.partition("::")[2])
            figures = (str(len(task.tests)), f"{task.coverage:.0%}", f"{task.seconds:.2f}")
            table.add_row(key[:8], Text(task.path), name, *figures)
        console.print(table)
    if built.dropped:
        console.print(Text("\nNo task:", style="bold"))
    for entry in built.dropped:
        console.print(Text(f"  {entry.stage:<9} {entry.id}  {entry.reason}"), soft_wrap=not sys.stdout.isatty())
    tests = f"{built.stable} stable tests"
    for number, what in ((len(built.unstable), "unstable"), (len(built.failing) + len(built.taken_out), "not usable")):
        tests += f", {number} {what}" if number else ""
    functions = len(built.tasks) + len(built.dropped)
    left = "" if len(shown) == len(built.tasks) else f" ({len(built.tasks)} in all)"
    console.print(
        Text(f"\n{len(shown)} tasks{left} of {functions} functions · {tests} · {built.backend}", style="bold")
    )
