"""``workbench tasks``: the tasks of a repository, datasets of the tasks of many; no model is asked for anything.

``tasks SOURCE`` lists, ``tasks build SOURCE…`` writes a dataset, ``tasks show DATASET`` reads one.
"""

from __future__ import annotations

import argparse
import asyncio
import sys

from workbench import settings
from workbench.catalog import check_python, resolve_case
from workbench.commands.arguments import Argument, Verb, shared, whole
from workbench.commands.output import print_json
from workbench.commands.tasks_dataset import build, show
from workbench.commands.terminal import StageBars, Terminal
from workbench.documenters import Docstring, DocumentedFile, document_file, make_doc_system, parse_scope
from workbench.engine.plan import Ask, chosen
from workbench.engine.plan_checks import check_descriptors
from workbench.engine.task_building import NoTasks, Prepared, dropped_by_stage, prepare
from workbench.engine.task_rows import identity, located
from workbench.errors import UsageError
from workbench.regeneration.selections import parse_selection
from workbench.regeneration.suite import Rules
from workbench.regeneration.tasks import Task, TaskSet
from workbench.reports.wording import picked
from workbench.sandbox import choose_backend

_SOURCE = "a case id, a repository of the catalogue, a folder, git URL@revision, or NAME==VERSION"


_BUILT: dict[str, Argument] = {
    "--sandbox SANDBOX": "bubblewrap, docker, process, or package.module:Class; the strongest one unless given",
    "--rebuild": "build anew although the cache has them",
    "--selection SELECTION": "filtered (default): a stub fails their tests; published: the rule of the paper's counts "
    "(docs/dataset.md)",
}


def _list(arguments: argparse.Namespace) -> int:
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
    system, scope = make_doc_system(arguments.docs), parse_scope(arguments.docs_scope)
    check_python(resolve_case(arguments.source))
    check_descriptors()
    rules = Rules(selection=parse_selection(arguments.selection))
    backend = choose_backend(arguments.sandbox or settings.load().sandbox or None)
    with StageBars(Terminal(stderr=True), transient=True) as bars:
        prepared = await prepare(arguments.source, backend, bars, rebuild=arguments.rebuild, rules=rules)
        await system.prepare(prepared.snapshot, lambda progress: bars.update("documentation", note=progress.note))
    found = []
    files: dict[str, DocumentedFile] = {}
    said: DocumentedFile | Docstring
    for task, _, source in located(prepared.snapshot.root, prepared.built.tasks):
        if scope != "target":
            if task.path not in files:
                files[task.path] = await document_file(system, task.path, source, asyncio.Semaphore(), scope=scope)
            said = files[task.path]
            docs = Docstring(said.function(task.qualified_name, task.occurrence).docstring)
        else:
            said = docs = await system.docstring(task.path, task.qualified_name, task.occurrence)
        found.append(
            (task, identity(prepared.snapshot.digest, task, system.name, said, backend.name, rules.selection), docs)
        )
    return prepared, found


def _print_json(
    built: TaskSet,
    shown: list[tuple[Task, str, Docstring]],
    arguments: argparse.Namespace,
    prepared: Prepared | None = None,
) -> None:
    for task, key, docs in shown:
        print_json({
            "type": "task",
            "task_id": task.id,
            "id": key,
            **picked(task, "path", "qualified_name:function", "occurrence", "kind", "signature"),
            "lines": [task.start_line, task.end_line],
            "tests": list(task.tests),
            **picked(task, "coverage", "statements", "branches", "branches_covered"),
            "unstable": list(task.unstable),
            **picked(task, "seconds", "import_time"),
            "docs": arguments.docs.strip(),
            "docs_scope": arguments.docs_scope or "repository",
            "docstring": docs.text,
        })  # fmt: skip
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
                **{name: dict(getattr(built, name)) for name in ("failing", "taken_out", "not_collected")},
            },
            "suite_seconds": list(built.suite_seconds),
            "sandbox": built.backend,
            "snapshot": prepared.snapshot.digest if prepared else None,
            "cached": prepared.cached if prepared else False,
        }
    )


def _print_table(built: TaskSet, shown: list[tuple[Task, str, Docstring]]) -> None:
    console = Terminal()
    if shown:
        rows = []
        for task, key, _ in shown:
            branches = f"{task.branches_covered}/{task.branches}" if task.branches else "–"
            figures = (str(len(task.tests)), f"{task.coverage:.0%}", branches, f"{task.seconds:.2f}")
            rows.append((key[:8], task.path, task.id.partition("::")[2], *figures))
        heads = ("id", "file", "function", "tests", "cover", "branches", "s")
        console.table(heads, rows, range(3, 7), whole=(0, 3, 4, 5, 6))
    _print_reasons(console, "No task", [(one.stage, one.id, one.reason) for one in built.dropped])
    unstable = {test: " / ".join(outcomes) for test, outcomes in built.unstable.items()}
    kinds = (("unstable", unstable), ("failing", built.failing), ("taken out", built.taken_out))
    unused = [(kind, *pair) for kind, tests in (*kinds, ("no import", built.not_collected)) for pair in tests.items()]
    _print_reasons(console, "Not used", unused)
    tests = f"{built.stable} stable tests" + (f", {built.quarantined}" if built.quarantined else "")
    functions = len(built.tasks) + len(built.dropped)
    left = "" if len(shown) == len(built.tasks) else f" ({len(built.tasks)} in all)"
    console.print(f"\n{len(shown)} tasks{left} of {functions} functions · {tests} · {built.backend}", style="bold")


def _print_reasons(console: Terminal, title: str, reasons: list[tuple[str, str, str]]) -> None:
    if reasons:
        console.print(f"\n{title}:", style="bold")
    for kind, name, why in reasons:
        console.print(f"  {kind:<9} {name}  {why}", soft_wrap=not sys.stdout.isatty())


_LISTED: dict[str, Argument] = {
    "source SOURCE": _SOURCE,
    "--docs DOCS": (
        "whose docstrings: original (default), none, folder:PATH, source:SOURCE, package.module:Class",
        str,
        "original",
    ),
    "--docs-scope SCOPE": "repository (default), target or docstrings-only, as for regenerate",
    **shared("--limit", "--task"),
    **_BUILT,
    **shared("--json"),
}
_WRITTEN: dict[str, Argument] = {
    "sources SOURCE…": _SOURCE,
    "--out FOLDER": "where the dataset goes",
    "--formats FORMATS": "jsonl,parquet (both unless given)",
    "--workers N": ("sandboxes at once (as many as cores)", whole(1, 1_000), 0),
    **_BUILT,
    **shared("--json"),
}
_SHOWN: dict[str, Argument] = {
    "dataset DATASET": "a folder that tasks build wrote, or its name",
    **shared("--limit", "--task", "--json"),
}
VERBS: dict[str, Verb] = {
    "list": ("list the tasks of a repository, and why its other functions are none", _LISTED, _list),
    "build": ("write a dataset of the tasks of repositories", _WRITTEN, build),
    "show": ("show what a dataset holds", _SHOWN, show),
}
