"""The closing figures of an order and of the run that it belongs to, as one line of JSON; the domain room computes them."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.orders.orders import Order, is_finished, last_order, ordered_work, refusal
from workbench.plans.plan import RegenerationPlan
from workbench.regeneration.outcome import (
    GroupOutcome,
    PassFigures,
    TaskResult,
    group_outcomes,
    pass_by,
    pass_figures,
    task_result,
    totals,
)
from workbench.regeneration.self_check import SelfCheck, self_check
from workbench.results.failures import diagnose
from workbench.results.reasons import counted
from workbench.results.samples import run_check
from workbench.session import SessionReader
from workbench.session.json_forms import picked
from workbench.session.rows import CandidateRow, TaskRow
from workbench.session.sample_counts import counts_of, sample_counts
from workbench.session.task_names import row_id

_FAILURES = 10


@dataclass(frozen=True, slots=True)
class Line:
    """A task that was meant, with its samples."""

    task: TaskRow
    candidates: tuple[CandidateRow, ...]
    result: TaskResult


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an order. ``state`` is ``done`` once all of it is there, ``groups`` are those of the whole run."""

    order: Order
    plan: RegenerationPlan
    state: str
    error: str | None
    note: str | None
    lines: tuple[Line, ...]
    controls: dict[str, float]
    check: SelfCheck
    groups: tuple[GroupOutcome, ...]
    dropped: dict[str, int]
    pending_rechecks: int
    live: bool

    @property
    def figures(self) -> PassFigures:
        return pass_figures([line.result for line in self.ready], self.order.k)

    @property
    def ready(self) -> list[Line]:
        return [line for line in self.lines if line.task.state != "excluded"]


def read_outcome(reader: SessionReader, run: str | Order) -> Outcome:
    """Read what came of an order, or of what a run was asked for last."""
    key = run.run if isinstance(run, Order) else run
    row = reader.run(key)
    assert row is not None, key
    order = run if isinstance(run, Order) else last_order(row)
    finished = is_finished(reader, order)
    work = ordered_work(reader, order)
    known = {task.id: task for task in work.tasks}
    mine = ((task, work.candidates[task.id]) for task in work.tasks)
    lines = [Line(task, found, task_result(task, counts_of(reader, found))) for task, found in mine]
    refused = refusal(reader, order)
    live = reader.run_state(row) in ("queued", "running")
    every = [one for each in work.controls.values() for one in each]
    own_controls = self_check(counts_of(reader, every), len(known)).controls
    tasks, counts = reader.tasks(row.id), sample_counts(reader, row.id, by_task=True)
    return Outcome(
        order=order,
        plan=RegenerationPlan.from_json(row.config),
        state="done" if finished else "failed" if refused else reader.run_state(row),
        # What ended the run later, or another order, is no reason to doubt what is complete.
        error=None if finished else refused or row.error,
        note=row.note,
        lines=tuple(lines),
        controls={one.name: one.passed / one.decided for one in own_controls if one.decided},
        check=run_check(reader, row.id, counts, len(tasks)),
        groups=group_outcomes(counts, tasks, order.k, now=time.time() if live else None),
        dropped=dict(Counter(entry.stage for entry in reader.dropped(key))),
        pending_rechecks=work.pending_rechecks if finished else 0,
        live=live,
    )


def summary(session: Path, run: str | Order, began: float = 0.0) -> dict[str, Any]:
    """Return the closing JSON line of an order, or of what a run was asked for last.

    Its own figures are those of what was ordered; ``groups`` has those of all that the run holds. Verdicts from before
    ``began`` are counted as ``kept``.
    """
    with SessionReader(session) as reader:
        outcome = read_outcome(reader, run)
        asked = {one.group: one.results for one in outcome.groups if not one.control}
        diagnosis = diagnose(reader, outcome.order.run, asked)
        plan, ready, ask = outcome.plan, outcome.ready, outcome.order.ask
        samples = [one for line in ready for one in line.candidates]
        counts = counts_of(reader, samples)
    figures = outcome.figures
    errors = [one.verdict_reason or "no reason was recorded" for one in samples if one.verdict == "error"]
    sums = totals(counts, now=time.time() if outcome.live else None)
    return {
        "type": "summary",
        "session": str(session),
        "run": outcome.order.run,
        "state": outcome.state,
        **picked(plan, "source", "docs", "docs_scope", "selection"),
        "evaluator": ask.evaluator,
        "prompt": ask.prompt or None,
        "context": ask.context or None,
        "sandbox": plan.sandbox,
        "tasks": len(ready),
        "samples": ask.samples or max((len(line.candidates) for line in ready), default=0),
        "candidates": sums.samples,
        "pass_at_k": {str(e.k): e.value for e in figures.pass_at},
        "interval": {str(e.k): None if e.low is None else [e.low, e.high] for e in figures.pass_at},
        # By which rule and unit the interval is, or why there is none.
        "interval_words": {str(e.k): e.interval.words if e.interval else None for e in figures.pass_at},
        "interval_over": {str(e.k): e.interval.over if e.interval else "" for e in figures.pass_at},
        # Which figure rests on what: a task with fewer than k samples has no pass@k.
        "tasks_at_k": {str(e.k): e.tasks for e in figures.pass_at},
        "samples_per_task": list(figures.samples_per_task),
        **figures.more_json(),
        "verdicts": dict(sums.verdicts),
        # Why samples have no verdict of their own, one entry for each kind of reason.
        "reasons": [reason.to_json() for reason in counted((why, 1) for why in errors)],
        "kept": sum(one.verdict is not None and (one.at or 0.0) < began for one in samples),
        # Those tested again are counted above by their former verdicts, which stay until the new ones are there.
        **picked(sums, "unfinished", "again"),
        "routes": dict(sums.routes),
        "paths": dict(sums.routes),  # the former name, for one version
        "elapsed_s": sums.elapsed_s,
        "controls": outcome.controls,
        "self_check": outcome.check.to_json(),
        "pending_rechecks": outcome.pending_rechecks,
        "excluded": len(outcome.lines) - len(ready),
        "excluded_tasks": [
            {"id": line.task.id, "task_id": row_id(line.task), "reason": line.task.reason}
            for line in outcome.lines
            if line.task.state == "excluded"
        ],
        "dropped": outcome.dropped,
        **picked(sums, "tokens", "cost_usd:cost"),
        "groups": [group.to_json() for group in outcome.groups],
        # Why candidates of the run failed: the ways that most did, the tasks that nobody solves, and pass@k by file.
        "failures": [
            {**one.to_json(), "candidates": len(one.candidates), "tests": len(one.tests)}
            for one in diagnosis.groups[:_FAILURES]
        ],
        "unsolved": [one.task for one in diagnosis.unsolved],
        "files": {
            group.name: {"tasks": group.tasks, "pass_at_k": {str(e.k): e.value for e in group.pass_at}}
            for group in pass_by([(line.task.path, line.result) for line in ready if line.candidates], outcome.order.k)
        },
        **picked(outcome, "note", "error"),
    }


def self_check_line(checked: dict[str, Any]) -> str:
    """Return the quiet line: ``self-check: reference 38/38 · stub 0/38 · cold re-checks 41, disagreements 0``; "" for none."""
    parts = [f"{name} {one['passed']}/{one['tested']}" for name, one in checked["controls"].items()]
    if checked["rechecks"]:
        parts.append(f"cold re-checks {checked['rechecks']}, disagreements {checked['disagreements']}")
    return f"self-check: {' · '.join(parts)}" if parts else ""
