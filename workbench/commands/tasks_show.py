"""``workbench tasks show DATASET``: what a dataset of tasks holds."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.regeneration.dataset import Dataset
    from workbench.regeneration.dataset_rows import Row


def run(arguments: argparse.Namespace, path: str) -> int:
    """Print the counts and the tasks."""
    from workbench import paths
    from workbench.commands.output import print_json, say
    from workbench.commands.tasks_build import print_counts
    from workbench.errors import UsageError
    from workbench.regeneration.dataset import read_dataset

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
    from workbench.engine.plan import Ask, chosen

    named = [(row.task_id, "", row) for row in dataset.rows]
    return chosen(Ask("", 0, tuple(arguments.task), arguments.limit), named)


def _print(rows: list[Row], total: int) -> None:
    from rich.table import Table

    from workbench.commands.terminal import Terminal

    console = Terminal()
    table = Table(box=None, pad_edge=False)
    for heading in ("repository", "task"):
        table.add_column(heading, overflow="fold")
    for heading in ("docs", "tests", "cover", "branches", "s"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        branches = f"{row.branches_covered}/{row.branches}" if row.branches else "–"
        figures = (str(row.total_tests), f"{row.coverage:.0%}", branches, f"{row.seconds:.2f}")
        table.add_row(row.repo, row.task_id, "yes" if row.doc else "no", *figures)
    console.print(table)
    console.print(f"\n{len(rows)} tasks" + (f" of {total}" if len(rows) < total else ""), style="bold")
