"""Read from a session what came of an order to improve docstrings: its attempts, and the files that they change."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from workbench.improving.attempts import Attempt, Gain, Refusal, Share, Standing
from workbench.improving.changes import Change, commit_message
from workbench.plans.plan import ImprovementPlan
from workbench.repository.functions import Function, functions_by_name
from workbench.session import SessionReader
from workbench.session.rows import AttemptRow, ImprovementRow, TaskRow


@dataclass(frozen=True, slots=True)
class Improved:
    """What came of it."""

    standings: tuple[Standing, ...]
    attempts: tuple[Attempt, ...]
    changes: tuple[Change, ...]
    plan: ImprovementPlan
    run: str

    @property
    def kept(self) -> tuple[Attempt, ...]:
        """The attempts that passed every gate, at most one of each function."""
        return tuple(attempt for attempt in self.attempts if attempt.is_kept)

    @property
    def message(self) -> str:
        ks = tuple(k for k in self.plan.base.k if k <= self.plan.held_out)
        return commit_message(self.attempts, ks, self.plan.held_out_evaluator)

    @property
    def tried(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(attempt.task.id for attempt in self.attempts))


def attempts_of(reader: SessionReader, row: ImprovementRow, plan: ImprovementPlan) -> tuple[Attempt, ...]:
    """Return the attempts of an order, by function, then number; those that lie beyond it are left out."""
    rows = [(one, reader.task(one.task_id)) for one in reader.docstring_attempts(row.id) if one.number <= plan.attempts]
    return tuple(_attempt(reader, one, task) for one, task in rows if task is not None)


def _attempt(reader: SessionReader, row: AttemptRow, task: TaskRow) -> Attempt:
    before, after = _share(row.before), _share(row.after)
    return Attempt(
        task,
        row.number,
        reader.text(row.docstring_blob) if row.docstring_blob else "",
        Refusal(row.gate, row.reason or "") if row.gate else None,
        row.run_id or "",
        _share(row.seen),
        Gain(before, after) if before is not None and after is not None else None,
        row.held_out_evaluator,
    )


def _share(text: str | None) -> Share | None:
    return Share(*json.loads(text)) if text else None


def task_source(reader: SessionReader, task: TaskRow) -> tuple[bytes, Function]:
    assert task.source_blob is not None
    source = reader.data(task.source_blob)
    return source, functions_by_name(source, task.path)[task.qualified_name, task.occurrence]


def spliced(docstrings: Iterable[tuple[TaskRow, bytes, str]]) -> dict[str, tuple[bytes, bytes]]:
    """Return files before and after, each with new docstrings; each of these comes with its task and the file of that."""
    from workbench.regeneration.grafting import graft_file

    files: dict[str, tuple[bytes, dict[tuple[str, str, int], str | None]]] = {}
    for task, source, docstring in docstrings:
        key = (task.path, task.qualified_name, task.occurrence)
        files.setdefault(task.path, (source, {}))[1][key] = docstring
    return {path: (source, graft_file(source, path, texts)) for path, (source, texts) in files.items()}
