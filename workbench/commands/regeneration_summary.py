"""The closing figures of an order and of the run that it belongs to, as one line of JSON; the domain room computes them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.orders.orders import Order, OrderedWork, is_finished, last_order, ordered_work, refusal
from workbench.plans.plan import RegenerationPlan
from workbench.regeneration.outcome import (
    PassFigures,
    TaskResult,
    group_outcomes,
    pass_by,
    pass_figures,
    task_result,
    totals,
)
from workbench.regeneration.self_check import self_check
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


def read_lines(reader: SessionReader, work: OrderedWork) -> list[Line]:
    mine = ((task, work.candidates[task.id]) for task in work.tasks)
    return [Line(task, found, task_result(task, counts_of(reader, found))) for task, found in mine]


def figures_of(lines: Sequence[Line], order: Order) -> PassFigures:
    """Return the figures of what was ordered, those of tasks that were taken out left aside."""
    return pass_figures([line.result for line in lines if line.task.state != "excluded"], order.k)


def summary(session: Path, run: str | Order, began: float = 0.0) -> dict[str, Any]:
    """Return the closing JSON line of an order, or of what a run was asked for last.

    Its own figures are those of what was ordered; ``groups`` has those of all that the run holds. Verdicts from before
    ``began`` are counted as ``kept``.
    """
    with SessionReader(session) as reader:
        row = reader.run(run.run if isinstance(run, Order) else run)
        assert row is not None, run
        order = run if isinstance(run, Order) else last_order(row)
        finished, refused, state = is_finished(reader, order), refusal(reader, order), reader.run_state(row)
        now = time.time() if state in ("queued", "running") else None
        work = ordered_work(reader, order)
        lines = read_lines(reader, work)
        ready = [line for line in lines if line.task.state != "excluded"]
        samples = [one for line in ready for one in line.candidates]
        sums = totals(counts_of(reader, samples), now=now)
        every = [one for each in work.controls.values() for one in each]
        controls = self_check(counts_of(reader, every), len(lines)).controls
        tasks, counts = reader.tasks(row.id), sample_counts(reader, row.id, by_task=True)
        check = run_check(reader, row.id, counts, len(tasks))
        groups = group_outcomes(counts, tasks, order.k, now=now)
        diagnosis = diagnose(reader, row.id, {one.group: one.results for one in groups if not one.control})
        dropped = Counter(entry.stage for entry in reader.dropped(row.id))
    plan, ask = RegenerationPlan.from_json(row.config), order.ask
    figures = figures_of(lines, order)
    errors = [one.verdict_reason or "no reason was recorded" for one in samples if one.verdict == "error"]
    return {
        "type": "summary",
        "session": str(session),
        "run": row.id,
        "state": "done" if finished else "failed" if refused else state,
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
        "controls": {one.name: one.passed / one.decided for one in controls if one.decided},
        "self_check": check.to_json(),
        "pending_rechecks": work.pending_rechecks if finished else 0,
        "excluded": len(lines) - len(ready),
        "excluded_tasks": [
            {"id": line.task.id, "task_id": row_id(line.task), "reason": line.task.reason}
            for line in lines
            if line.task.state == "excluded"
        ],
        "dropped": dict(dropped),
        **picked(sums, "tokens", "cost_usd:cost"),
        "groups": [group.to_json() for group in groups],
        # Why candidates of the run failed: the ways that most did, the tasks that nobody solves, and pass@k by file.
        "failures": [
            {**one.to_json(), "candidates": len(one.candidates), "tests": len(one.tests)}
            for one in diagnosis.groups[:_FAILURES]
        ],
        "unsolved": [one.task for one in diagnosis.unsolved],
        "files": {
            group.name: {"tasks": group.tasks, "pass_at_k": {str(e.k): e.value for e in group.pass_at}}
            for group in pass_by([(line.task.path, line.result) for line in ready if line.candidates], order.k)
        },
        "note": row.note,
        # What ended the run later, or another order, is no reason to doubt what is complete.
        "error": None if finished else refused or row.error,
    }


def self_check_line(checked: dict[str, Any]) -> str:
    """Return the quiet line: ``self-check: reference 38/38 · stub 0/38 · cold re-checks 41, disagreements 0``; "" for none."""
    parts = [f"{name} {one['passed']}/{one['tested']}" for name, one in checked["controls"].items()]
    if checked["rechecks"]:
        parts.append(f"cold re-checks {checked['rechecks']}, disagreements {checked['disagreements']}")
    return f"self-check: {' · '.join(parts)}" if parts else ""
