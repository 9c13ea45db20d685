"""``workbench tasks build SOURCE…``: a dataset of the tasks of several repositories."""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench import paths, settings
from workbench.catalog import check_python, resolve_case
from workbench.commands.output import print_json, say, tell
from workbench.commands.terminal import StageBars, Terminal
from workbench.engine.dataset_building import Outcome, build_dataset, summary_of
from workbench.engine.plan import Ask, chosen
from workbench.errors import UsageError, WorkbenchError
from workbench.files import expanded
from workbench.regeneration.dataset import Dataset, parse_formats, read_dataset
from workbench.regeneration.dataset_rows import Row
from workbench.regeneration.selections import parse_selection
from workbench.regeneration.suite import Rules
from workbench.sandbox import choose_backend


def build(arguments: argparse.Namespace) -> int:
    """Build, write, print the counts; 1 when a source gives no tasks."""
    sources: Sequence[str] = arguments.sources
    formats = parse_formats(arguments.formats or "jsonl,parquet")
    _require_one(sources)
    folder = expanded(arguments.out) if arguments.out else paths.data_dir() / "datasets" / _name(sources)
    backend = choose_backend(arguments.sandbox or settings.load().sandbox or None)
    with _Telling(arguments.json) as telling:
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
    """Refuse sources of which none can be built; of several, one that can makes a dataset, which names the others."""
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


class _Telling:
    """Tells of one source after the other: bars on standard error, or lines of JSON where a stage begins and ends."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._bars: StageBars | None = None

    def __enter__(self) -> _Telling:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars is not None:
            self._bars.__exit__()
            self._bars = None

    def progress(self, source: str) -> StageBars | _Lines:
        self.__exit__()
        if self._as_json:
            return _Lines(source)
        self._bars = StageBars(Terminal(stderr=True), source, transient=True).__enter__()
        return self._bars

    def outcome(self, outcome: Outcome) -> None:
        self.__exit__()
        if self._as_json:
            print_json({"type": "repository", **outcome.to_json()})
        elif outcome.error:
            tell(f"workbench: {outcome.source}: {outcome.error}")


class _Lines:
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
_WIDE = 110  # from here on there is room for what was dropped


def print_counts(summary: Mapping[str, Any]) -> None:
    """Print counts at every stage as Table 2 does, a row for each repository."""
    console = Terminal()
    wide = console.width >= _WIDE
    rows, entries = [], list(_entries(summary))
    for entry in entries:
        figures = [str(entry.get("counts", {}).get(key, "–")) for _, key in _COLUMNS]
        dropped = ", ".join(f"{number} {stage}" for stage, number in entry.get("dropped", {}).items())
        rows.append((str(entry["repo"]), *figures, *([dropped] if wide else [])))
    heads = ("repository", *(heading for heading, _ in _COLUMNS), *(["dropped"] if wide else []))
    numbers = range(1, len(_COLUMNS) + 1)
    bold = [place for place, entry in enumerate(entries) if entry.get("total")]
    console.table(heads, rows, numbers, whole=numbers, bold=bold)
    for entry in summary.get("repositories", []):
        if entry.get("error"):
            console.print(f"{entry['repo']}: {entry['error']}", soft_wrap=True)


def _entries(summary: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from summary.get("repositories", [])
    if len(summary.get("repositories", [])) > 1:
        yield {"repo": "all", "counts": summary.get("totals", {}), "total": True}


def show(arguments: argparse.Namespace) -> int:
    path = arguments.dataset
    own = paths.data_dir() / "datasets" / path
    dataset = read_dataset(own if not Path(path).exists() and own.is_dir() else path)
    rows = _chosen(dataset, arguments)
    if not rows and arguments.task:
        raise UsageError(f"No task is called {', '.join(arguments.task)}; leave out --task to see them all.")
    if arguments.json:
        for row in rows:
            print_json({"type": "task", **row.to_json()})
        print_json({"type": "summary", "tasks": len(rows), **dataset.summary})
        return 0
    if dataset.summary:
        print_counts(dataset.summary)
        say()
    _print(rows, len(dataset.rows))
    return 0


def _chosen(dataset: Dataset, arguments: argparse.Namespace) -> list[Row]:
    named = [(row.task_id, "", row) for row in dataset.rows]
    return chosen(Ask("", 0, tuple(arguments.task), arguments.limit), named)


def _print(rows: list[Row], total: int) -> None:
    console = Terminal()
    lines = []
    for row in rows:
        branches = f"{row.branches_covered}/{row.branches}" if row.branches else "–"
        figures = (str(row.total_tests), f"{row.coverage:.0%}", branches, f"{row.seconds:.2f}")
        lines.append((row.repo, row.task_id, "yes" if row.doc else "no", *figures))
    heads = ("repository", "task", "docs", "tests", "cover", "branches", "s")
    console.table(heads, lines, range(2, 7), whole=range(2, 7))
    console.print(f"\n{len(rows)} tasks" + (f" of {total}" if len(rows) < total else ""), style="bold")
