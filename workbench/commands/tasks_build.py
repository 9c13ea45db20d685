"""``workbench tasks build SOURCE…``: a dataset of the tasks of several repositories."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.commands.tasks_bars import Bars, Lines
    from workbench.engine.dataset_building import Outcome


def run(arguments: argparse.Namespace, sources: Sequence[str]) -> int:
    """Build, write, print the counts; 1 when a source gives no tasks."""
    import asyncio

    from workbench import paths, settings
    from workbench.commands.watching import print_json
    from workbench.engine.dataset_building import build_dataset, summary_of
    from workbench.errors import UsageError
    from workbench.regeneration.dataset import parse_formats
    from workbench.sandbox import choose_backend

    if not sources:
        raise UsageError("workbench tasks build takes at least one SOURCE.")
    if arguments.workers < 0 or arguments.task or arguments.limit or arguments.docs != "original":
        raise UsageError(
            "workbench tasks build takes --workers N of 0 or more, and neither --task, --limit nor --docs."
        )
    formats = parse_formats(arguments.formats or "jsonl,parquet")
    folder = Path(arguments.out).expanduser() if arguments.out else paths.data_dir() / "datasets" / _name(sources)
    backend = choose_backend(arguments.sandbox or settings.load().sandbox or None)
    with _Telling(arguments.json) as telling:
        outcomes = asyncio.run(
            build_dataset(
                sources,
                backend,
                telling.teller,
                folder,
                formats,
                rebuild=arguments.rebuild,
                workers=arguments.workers,
                on_outcome=telling.outcome,
            )
        )
    if arguments.json:
        print_json({"type": "summary", "folder": str(folder), **summary_of(outcomes)})
    else:
        print_counts(summary_of(outcomes))
        print(f"Written: {folder}")
    return 1 if any(outcome.error for outcome in outcomes) else 0


def _name(sources: Sequence[str]) -> str:
    """Return a folder's name for a dataset of these sources: the same for the same ones."""
    import hashlib
    import re

    first = re.sub(r"[^\w.-]+", "-", sources[0].rstrip("/").rpartition("/")[2]).strip("-.") or "tasks"
    if len(sources) == 1:
        return first
    return f"{first}-and-{len(sources) - 1}-{hashlib.sha256(chr(10).join(sources).encode()).hexdigest()[:8]}"


class _Telling:
    """Tells one source after the other."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> _Telling:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def teller(self, source: str) -> Bars | Lines:
        """Return who is told about the next source."""
        from workbench.commands.tasks_bars import Bars, Lines

        self._stack.close()
        return Lines(source) if self._as_json else self._stack.enter_context(Bars(source))

    def outcome(self, outcome: Outcome) -> None:
        """Tell what became of a source."""
        import sys

        from workbench.commands.watching import print_json

        self._stack.close()
        if self._as_json:
            print_json({"type": "repository", **outcome.to_json()})
        elif outcome.error:
            print(f"workbench: {outcome.source}: {outcome.error}", file=sys.stderr)


_COLUMNS = (
    ("candidates", "n_candidates"),
    ("all tasks", "n_all_tasks"),
    ("tasks", "n_tasks"),
    ("docs", "n_documented"),
    ("stable", "n_stable"),
    ("unstable", "n_unstable"),
)
_WIDE = 110  # from here on there is room for what was dropped


def print_counts(summary: Mapping[str, Any]) -> None:
    """Print counts at every stage as Table 2 does, a row for each repository."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False)
    table.add_column("repository", overflow="fold")
    for heading, _ in _COLUMNS:
        table.add_column(heading, justify="right", no_wrap=True)
    wide = console.width >= _WIDE
    if wide:
        table.add_column("dropped", overflow="fold")
    for entry in _entries(summary):
        counts = entry.get("counts", {})
        figures = [str(counts.get(key, "–")) for _, key in _COLUMNS]
        dropped = ", ".join(f"{number} {stage}" for stage, number in entry.get("dropped", {}).items())
        more = [dropped] if wide else []
        table.add_row(Text(str(entry["repo"])), *figures, *more, style="bold" if entry.get("total") else "")
    console.print(table)
    for entry in summary.get("repositories", []):
        if entry.get("error"):
            console.print(Text(f"{entry['repo']}: {entry['error']}"), soft_wrap=True)


def _entries(summary: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from summary.get("repositories", [])
    if len(summary.get("repositories", [])) > 1:
        yield {"repo": "all", "counts": summary.get("totals", {}), "total": True}
