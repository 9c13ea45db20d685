"""``workbench tasks``: list the tasks of a repository, build datasets of tasks, and show them.

It uses no model.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from workbench.base import paths, settings
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.files import expanded
from workbench.base.text import NOTHING, fixed, percent, plural
from workbench.catalog import check_python, resolve_case
from workbench.commands.arguments import Argument, Verb, plan_arguments, shared, whole
from workbench.commands.output import print_json, say, tell
from workbench.commands.terminal import StageBars, Terminal
from workbench.documenters import Docstring, DocumentedFile, document_file, make_doc_system, parse_scope
from workbench.engine.dataset_building import BuiltSource, build_dataset, summary_of
from workbench.engine.task_building import NoTasks, Prepared, dropped_by_stage, prepare
from workbench.engine.task_rows import identity
from workbench.orders.plan_checks import check_descriptors
from workbench.pages.page import Note, PageTable, Part, Subheading
from workbench.plans.plan import Ask, EvaluatorArguments, chosen
from workbench.regeneration.dataset import DatasetRow, parse_formats, read_dataset
from workbench.regeneration.suite import Rules
from workbench.regeneration.tasks import Task, TaskSet, located, parse_selection
from workbench.sandbox import choose_backend
from workbench.session.json_forms import picked


def build(arguments: argparse.Namespace) -> int:
    """Return 1 if any source has no tasks, otherwise 0."""
    sources: Sequence[str] = arguments.sources
    formats = parse_formats(arguments.formats or "jsonl,parquet")
    _require_one(sources)
    folder = expanded(arguments.out) if arguments.out else paths.data_dir() / "datasets" / _name(sources)
    backend = choose_backend(arguments.sandbox or settings.load().sandbox or None)
    with _BuildProgress(arguments.json) as telling:
        outcomes = asyncio.run(
            build_dataset(
                sources,
                backend,
                telling.progress,
                folder,
                formats,
                rebuild=arguments.rebuild,
                rules=Rules(selection=parse_selection(arguments.selection)),
                workers=arguments.workers,
                on_outcome=telling.outcome,
            )
        )
    if arguments.json:
        print_json({"type": "summary", "folder": str(folder), **summary_of(outcomes)})
    else:
        print_counts(summary_of(outcomes))
        say(f"Written: {folder}")
    return 1 if any(outcome.error for outcome in outcomes) else 0


def _require_one(sources: Sequence[str]) -> None:
    """Raise the first problem if none of the sources can be built; otherwise the dataset reports each problem."""
    problems = []
    for source in sources:
        try:
            check_python(resolve_case(source))
        except WorkbenchError as problem:
            problems.append(problem)
    if len(problems) == len(sources):
        raise problems[0]


def _name(sources: Sequence[str]) -> str:
    first = re.sub(r"[^\w.-]+", "-", sources[0].rstrip("/").rpartition("/")[2]).strip("-.") or "tasks"
    if len(sources) == 1:
        return first
    return f"{first}-and-{len(sources) - 1}-{hashlib.sha256(chr(10).join(sources).encode()).hexdigest()[:8]}"


class _BuildProgress(ExitStack):
    """Reports the progress of sources: as bars on standard error, or as JSON lines when a stage begins or ends."""

    def __init__(self, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def progress(self, source: str) -> StageBars | _StageLines:
        self.close()
        if self._as_json:
            return _StageLines(source)
        return self.enter_context(StageBars(Terminal(stderr=True), source, transient=True))

    def outcome(self, outcome: BuiltSource) -> None:
        self.close()
        if self._as_json:
            print_json({"type": "repository", **outcome.to_json()})
        elif outcome.error:
            tell(f"workbench: {outcome.source}: {outcome.error}")


class _StageLines:
    def __init__(self, source: str) -> None:
        self._source = source
        self._states: dict[str, str] = {}

    def update(
        self, name: str, state: str = "running", *, done: int | None = None, total: int | None = None, note: str = ""
    ) -> None:
        if self._states.get(name) != state:
            self._states[name] = state
            values = {"name": name, "state": state, "done": done, "total": total, "note": note}
            print_json({"type": "stage", "source": self._source, **values})


_COLUMNS = (
    ("candidates", "n_candidates"), ("in time", "n_in_time"), ("tasks", "n_tasks"), ("docs", "n_documented"),
    ("stable", "n_stable"), ("unstable", "n_unstable"),
)  # fmt: skip


def print_counts(summary: Mapping[str, Any]) -> None:
    """Print the counts of each repository at every stage, in the layout of the paper's Table 2."""
    entries = list(summary.get("repositories", []))
    every = [*entries, *([{"repo": "all", "counts": summary.get("totals", {})}] if len(entries) > 1 else [])]
    rows = (
        (
            str(entry["repo"]),
            *(str(entry.get("counts", {}).get(key, "–")) for _, key in _COLUMNS),
            ", ".join(f"{number} {stage}" for stage, number in entry.get("dropped", {}).items()),
        )
        for entry in every
    )
    heads = ("repository", *(heading for heading, _ in _COLUMNS), "dropped")
    numbers = frozenset(range(1, len(_COLUMNS) + 1))
    table = PageTable(heads, tuple(rows), numbers, closing=len(every) - len(entries), droppable=("dropped",))
    problems = (Note(f"{one['repo']}: {one['error']}", "plain") for one in entries if one.get("error"))
    Terminal().parts((table, *problems))


def show(arguments: argparse.Namespace) -> int:
    path = arguments.dataset
    own = paths.data_dir() / "datasets" / path
    dataset = read_dataset(own if not Path(path).exists() and own.is_dir() else path)
    named = [(row.task_id, "", row) for row in dataset.rows]
    rows = chosen(Ask("", 0, tasks=tuple(arguments.tasks), limit=arguments.limit), named)
    if not rows and arguments.tasks:
        raise UsageError(f"No task is called {', '.join(arguments.tasks)}; leave out --task to see them all.")
    if arguments.json:
        for row in rows:
            print_json({"type": "task", **row.to_json()})
        print_json({"type": "summary", "tasks": len(rows), **dataset.summary})
        return 0
    if dataset.summary:
        print_counts(dataset.summary)
        say()
    lines = [((row.repo, row.task_id, "yes" if row.doc else "no"), row, row.total_tests) for row in rows]
    left = f" of {len(dataset.rows)}" if len(rows) < len(dataset.rows) else ""
    Terminal().parts(
        (_table(("repository", "task", "docs"), lines), Note(f"{plural(len(rows), 'task')}{left}", "strong"))
    )
    return 0


def _table(names: tuple[str, ...], tasks: Iterable[tuple[tuple[str, ...], Task | DatasetRow, int]]) -> PageTable:
    rows = tuple(
        (
            *called,
            str(tests),
            percent(one.coverage),
            f"{one.branches_covered}/{one.branches}" if one.branches else NOTHING,
            fixed(one.seconds, 2),
        )
        for called, one, tests in tasks
    )
    heads = (*names, "tests", "cover", "branches", "s")
    return PageTable(heads, rows, frozenset(range(len(names), len(heads))), droppable=("cover",))


_SOURCE = "a case id, a repository of the catalogue, a folder, git URL@revision, or NAME==VERSION"


_BUILT: dict[str, Argument] = {
    "--sandbox SANDBOX": "bubblewrap, docker, process, or package.module:Class (default: the strongest one)",
    "--rebuild": "rebuild the tasks even if they are cached",
    "--selection SELECTION": "filtered (default): tasks whose tests fail with a stub; published: the rule of the paper's counts "
    "(docs/reference/dataset.md)",
}


def _list(arguments: argparse.Namespace) -> int:
    try:
        prepared, documented = asyncio.run(_build(arguments))
    except NoTasks as nothing:
        if arguments.json:
            _print_json(nothing.built, [], arguments)
        else:
            Terminal().parts(_parts(nothing.built, []))
        raise
    named = [(task.id, key, (task, key, docs)) for task, key, docs in documented]
    shown = chosen(Ask("", 0, tasks=tuple(arguments.tasks), limit=arguments.limit), named)
    if not shown:
        raise UsageError(f"No task is called {', '.join(arguments.tasks)}; leave out --task to see them all.")
    if arguments.json:
        _print_json(prepared.built, shown, arguments, prepared)
    else:
        Terminal().parts(_parts(prepared.built, shown))
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
    documented: DocumentedFile | Docstring
    for task, _, source in located(prepared.snapshot.root, prepared.built.tasks):
        if scope != "target":
            if task.path not in files:
                files[task.path] = await document_file(system, task.path, source, asyncio.Semaphore(), scope=scope)
            documented = files[task.path]
            docs = Docstring(documented.function(task.qualified_name, task.occurrence).docstring)
        else:
            documented = docs = await system.docstring(task.path, task.qualified_name, task.occurrence)
        found.append(
            (
                task,
                identity(prepared.snapshot.digest, task, system.name, documented, backend.name, rules.selection),
                docs,
            )
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


def _parts(built: TaskSet, shown: list[tuple[Task, str, Docstring]]) -> Iterator[Part]:
    if shown:
        tasks = [((key[:8], task.path, task.id.partition("::")[2]), task, len(task.tests)) for task, key, _ in shown]
        yield _table(("id", "file", "function"), tasks)
    unstable = {test: " / ".join(outcomes) for test, outcomes in built.unstable.items()}
    kinds = (("unstable", unstable), ("failing", built.failing), ("taken out", built.taken_out))
    unused = [(kind, *pair) for kind, tests in (*kinds, ("no import", built.not_collected)) for pair in tests.items()]
    for title, reasons in (
        ("No task", [(one.stage, one.id, one.reason) for one in built.dropped]),
        ("Not used", unused),
    ):
        if reasons:
            yield from (Subheading(title, f"{len(reasons):,}"), PageTable(("", "", ""), tuple(reasons)))
    tests = plural(built.stable, "stable test") + (f", {built.quarantined}" if built.quarantined else "")
    functions = len(built.tasks) + len(built.dropped)
    left = "" if len(shown) == len(built.tasks) else f" ({len(built.tasks)} in all)"
    yield Note(
        f"{plural(len(shown), 'task')}{left} of {plural(functions, 'function')} · {tests} · {built.backend}", "strong"
    )


_LISTED: dict[str, Argument] = {
    "source SOURCE": _SOURCE,
    "--docs DOCS": (
        "source of docstrings: original (default), none, folder:PATH, source:SOURCE, package.module:Class",
        str,
        "original",
    ),
    "--docs-scope SCOPE": "repository (default), target or docstrings-only, as for regenerate",
    **plan_arguments(EvaluatorArguments, "limit", "tasks"),
    **_BUILT,
    **shared("--json"),
}
_WRITTEN: dict[str, Argument] = {
    "sources SOURCE…": _SOURCE,
    "--out FOLDER": "folder of the dataset",
    "--formats FORMATS": "jsonl, parquet, or both (default: jsonl,parquet)",
    "--workers N": ("concurrent sandboxes (default: one per core)", whole(1, 1_000), 0),
    **_BUILT,
    **shared("--json"),
}
_SHOWN: dict[str, Argument] = {
    "dataset DATASET": "a folder written by tasks build, or its name",
    **plan_arguments(EvaluatorArguments, "limit", "tasks"),
    **shared("--json"),
}
VERBS: dict[str, Verb] = {
    "list": ("list the tasks of a repository, and why other functions have none", _LISTED, _list),
    "build": ("build a dataset of the tasks of repositories", _WRITTEN, build),
    "show": ("show a dataset", _SHOWN, show),
}
