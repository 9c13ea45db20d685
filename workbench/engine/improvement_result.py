"""What came of an order to improve docstrings, read from the session: every function, every attempt, and the change to the files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from workbench.engine.orders import Order, ordered_work
from workbench.engine.plan import Ask, ImprovementPlan, RegenerationPlan
from workbench.improving.attempts import Attempt, Gain, Refusal, Share
from workbench.improving.changes import Change, commit_message
from workbench.improving.standing import Standing, standings
from workbench.repository.functions import Function, find_functions
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
        return commit_message(self.attempts, ks, self.plan.held_out_by)

    @property
    def tried(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(attempt.task.id for attempt in self.attempts))


def improved(session: Path, improvement: str) -> Improved:
    """Read what came of an order, as far as it is known. Raises PlanDamaged: what was asked for cannot be read."""
    with SessionReader(session) as reader:
        row = reader.improvement(improvement)
        assert row is not None
        plan = ImprovementPlan.from_json(row.plan)
        attempts = attempts_of(reader, row, plan)
        found = standings_of(reader, row, plan)
        kept = [(one.task, task_source(reader, one.task)[0], one.docstring) for one in attempts if one.is_kept]
    changes = tuple(Change(path, before, after) for path, (before, after) in sorted(spliced(kept).items()))
    return Improved(found, attempts, changes, plan, row.run_id or "")


def standings_of(reader: SessionReader, row: ImprovementRow, plan: ImprovementPlan) -> tuple[Standing, ...]:
    order = base_order(reader, row, plan)
    if order is None:
        return ()
    work = ordered_work(reader, order)
    dropped = reader.dropped(order.run)
    return standings(work.tasks, work.candidates, dropped, below=plan.below, samples=plan.base.samples)


def base_order(reader: SessionReader, row: ImprovementRow, plan: ImprovementPlan) -> Order | None:
    """Return the order of the samples with the original docs, None before the run is there."""
    run = reader.run(row.run_id) if row.run_id else None
    if run is None:
        return None
    base = plan.base
    asks = base.asks or (Ask(base.evaluator, base.samples, base.tasks, base.limit, base.prompt, base.context),)
    return Order(run.id, asks[0], RegenerationPlan.from_json(run.config).k)


def attempts_of(reader: SessionReader, row: ImprovementRow, plan: ImprovementPlan) -> tuple[Attempt, ...]:
    """Return the attempts of an order, in the order of the functions, then by number; those that lie beyond it are left out."""
    found = []
    for one in reader.docstring_attempts(row.id):
        task = reader.task(one.task_id)
        if task is not None and one.number <= plan.attempts:
            found.append(_attempt(reader, one, task))
    return tuple(found)


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
        row.held_out_by,
    )


def _share(text: str | None) -> Share | None:
    return Share(*json.loads(text)) if text else None


def task_source(reader: SessionReader, task: TaskRow) -> tuple[bytes, Function]:
    assert task.source_blob is not None
    source = reader.data(task.source_blob)
    names = (task.qualified_name, task.occurrence)
    return source, next(
        one for one in find_functions(source, task.path) if (one.qualified_name, one.occurrence) == names
    )


def spliced(docstrings: Iterable[tuple[TaskRow, bytes, str]]) -> dict[str, tuple[bytes, bytes]]:
    """Return files before and after, each with new docstrings; each of these comes with its task and the file of that."""
    from workbench.regeneration.grafting import graft_file

    files: dict[str, tuple[bytes, dict[tuple[str, str, int], str | None]]] = {}
    for task, source, docstring in docstrings:
        key = (task.path, task.qualified_name, task.occurrence)
        files.setdefault(task.path, (source, {}))[1][key] = docstring
    return {path: (source, graft_file(source, path, texts)) for path, (source, texts) in files.items()}
